//! The whole crate against stores in memory that count and fail, and against local folders.

mod bad_input;
mod beside;
mod conforming;
mod faulty;
mod object_folder;
mod publishing;
mod reading;
mod sent;
mod shared_cache;
mod world;
