//! The public index: opening, atomic batches, snapshots, flush and checkpoint, cleaning, checking.

mod clean;
mod flush;
mod ids;
mod index;
mod open;
mod options;
mod prepare;
mod replay;
mod root;
mod shared;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod writer;

pub use index::Index;
pub use options::{Durability, Limits, MEMORY_DEFAULT, MEMORY_MIN, Options};
pub use prepare::{PreparedBatch, Workbench};
pub use snapshot::{Search, Snapshot};
pub use writer::Written;
