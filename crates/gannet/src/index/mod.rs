//! The public index: opening, atomic batches, snapshots, flush and checkpoint, cleaning, checking.

mod backup;
mod buffers;
mod check;
mod checkpoint;
mod clean;
mod destination;
mod flush;
mod handle;
mod ids;
mod inspect;
mod lifetime;
mod matching;
mod open;
mod options;
mod packing;
mod prepare;
mod replay;
mod restore;
mod root;
mod shared;
mod snapshot;
mod space;
mod state;
mod stats;
mod survey;
#[cfg(test)]
mod tests;
mod update;
mod vacuum;
mod writer;

pub use backup::{Backup, BackupReport};
pub use check::CheckReport;
pub use handle::Index;
pub use inspect::{ChunkReport, ListReport, ZoneReport};
pub use lifetime::Lifetime;
pub use options::{Durability, Limits, MEMORY_DEFAULT, MEMORY_MIN, Options, Phase};
pub use prepare::{PreparedBatch, Workbench};
pub use restore::RestoreReport;
pub use snapshot::{Search, Snapshot};
pub use stats::{BytesByPart, BytesWritten, MemoryByPart, Stats, TreeFigures};
pub use survey::{FillReport, ListsReport};
pub use writer::Written;
