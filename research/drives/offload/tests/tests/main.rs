//! Integration tests, in one binary.

mod answers;
mod faults;
mod long;
mod plans;
mod world;
