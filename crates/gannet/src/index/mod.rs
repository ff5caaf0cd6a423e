//! The public index: opening, atomic batches, snapshots, flush and checkpoint, maintenance,
//! backups, checking. A folder uses only those below it in this list.
//!
//! | part | what it does |
//! |---|---|
//! | `backup` | backups, restoring |
//! | `inspect` | figures, checks |
//! | `recovery` | opening: the root, the log behind it, reading beside a writer |
//! | `maintenance` | cleaning, vacuum, rebuilding, what runs while nobody writes |
//! | `handle`, `update`, `matching` | [`Index`]; updates that expect a version; deletion by query |
//! | `write` | the one writer: batches, checkpoints, backpressure, space |
//! | `read` | snapshots |
//! | `flush` | from the posting buffer to flash |
//! | `schedule` | when maintenance runs, and how much of it |
//! | `owners` | what is done with each kind of page; the root record |
//! | `state` | what writer and readers share |
//! | `ingest` | documents become batches |

mod backup;
mod flush;
mod handle;
mod ingest;
mod inspect;
mod maintenance;
mod matching;
pub(crate) mod owners;
mod read;
mod recovery;
mod schedule;
mod state;
#[cfg(test)]
mod tests;
mod update;
mod write;

pub use backup::{Backup, BackupReport, RestoreReport};
pub use handle::Index;
#[cfg(feature = "testing")]
pub use handle::PublishedState;
pub use ingest::{FieldMapping, FieldType, PreparedBatch, Workbench};
pub use inspect::{
    CheckReport, ChunkReport, FillReport, ListReport, ListsReport, MemoryByPart, Stats,
    TreeFigures, ZoneReport,
};
pub use read::{
    ColumnBatch, ColumnReport, ColumnTable, DocumentVersion, Listing, Search, Snapshot, TableBatch,
    TableColumn,
};
pub use recovery::{AnswersOnFlash, CacheState};
#[cfg(any(test, feature = "testing"))]
pub use state::Phase;
pub use state::{
    BytesByPart, BytesWritten, Durability, Lifetime, Limits, MEMORY_BESIDE, MEMORY_DEFAULT,
    MEMORY_MIN, Options, default_memory,
};
pub use write::Written;
