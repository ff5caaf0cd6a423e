//! Backups, and restoring them.

mod copying;
mod destination;
mod opening_pages;
mod restore;

pub use copying::{Backup, BackupReport};
pub use restore::RestoreReport;
