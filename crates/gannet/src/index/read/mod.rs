//! Snapshots and what is asked of them.

mod listing;
mod results;
mod snapshot;

pub use listing::Listing;
pub use snapshot::{Search, Snapshot};
