//! The command from outside: every test runs the built program as a user would.

mod backups;
mod bad_input;
mod command;
mod compressed;
mod damage;
mod limits;
mod round_trip;
mod settings;
