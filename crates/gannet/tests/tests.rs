//! The engine's integration tests, in one binary.

#[path = "tests/kill.rs"]
mod kill;
#[path = "tests/rooms.rs"]
mod rooms;
