//! `gannet-lab` from outside: every test runs the built program as a user would.

#[path = "tests/command.rs"]
mod command;
#[path = "tests/modelled.rs"]
mod modelled;
#[path = "tests/one_build.rs"]
mod one_build;
