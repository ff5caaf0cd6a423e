//! `gannet-lab` from outside: every test runs the built program as a user would.

mod command;
mod modelled;
mod one_build;
