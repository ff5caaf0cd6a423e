//! Integration tests, in one binary.

#[path = "tests/answers.rs"]
mod answers;
#[path = "tests/faults.rs"]
mod faults;
#[path = "tests/long.rs"]
mod long;
#[path = "tests/plans.rs"]
mod plans;
#[path = "tests/world.rs"]
mod world;
