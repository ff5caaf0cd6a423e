//! Maintenance that keeps an index small and quick: cleaning, vacuum, rebuilding, and when each
//! runs.

mod clean;
mod idle;
mod rebuild;
mod requests;
mod vacuum;
