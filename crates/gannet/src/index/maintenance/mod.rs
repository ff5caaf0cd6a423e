//! What keeps an index small and quick: cleaning, vacuum, rebuilding, and when each runs.

mod bisection;
mod clean;
mod forward;
mod idle;
mod order;
mod rebuild;
mod requests;
mod vacuum;

pub use order::Order;
