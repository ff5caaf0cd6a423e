//! The engine's integration tests, in one binary.

#[path = "tests/rooms.rs"]
mod rooms;
