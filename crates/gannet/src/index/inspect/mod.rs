//! Figures and checks of an index.

mod check;
mod lists;
mod stats;
mod survey;

pub use check::CheckReport;
pub use lists::{ChunkReport, ListReport, ZoneReport};
pub use stats::{MemoryByPart, Stats, TreeFigures};
pub use survey::{FillReport, ListsReport};
