//! Snapshots and what is asked of them.

mod columns;
mod listing;
mod results;
mod snapshot;
mod table;
mod versions;

pub use columns::ColumnReport;
pub use listing::Listing;
pub use snapshot::{Search, Snapshot};
pub use table::{ColumnBatch, ColumnTable, TableBatch, TableColumn};
pub use versions::DocumentVersion;
