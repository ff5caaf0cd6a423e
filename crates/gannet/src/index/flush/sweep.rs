//! The sweep of a vacuum, as far as a flush does it.

use crate::base::{DocId, Error, Reservation};
use crate::columns::ColumnSweep;
use crate::index::state::Vacuumed;
use crate::postings::{DeadDocs, SweepProgress};

/// The sweep under way.
pub(crate) struct Sweep {
    pub(crate) dead: DeadDocs,
    /// One past the last document that was looked at.
    pub(crate) end: DocId,
    pub(crate) lists: SweepProgress,
    pub(crate) lists_are_done: bool,
    /// The columns, which are swept behind the lists.
    pub(crate) columns: ColumnSweep,
    pub(crate) columns_are_done: bool,
    /// Documents below this are forgotten.
    pub(crate) forgotten: DocId,
    pub(crate) _memory: Reservation,
}

/// The part of vacuum that a flush does.
#[derive(Default)]
pub(crate) struct Vacuum {
    pub(crate) so_far: Vacuumed,
    pub(crate) sweep: Option<Sweep>,
    /// Deleted documents that the last slice knew.
    pub(crate) deleted: u64,
    /// Set once a sweep of this process has looked at all strings of columns.
    pub(crate) knows_strings: bool,
    /// Why a sweep that was asked for did not begin.
    pub(crate) rejected: Option<Error>,
}

impl Vacuum {
    /// One of an index that was opened.
    pub(crate) fn resumed(so_far: Vacuumed) -> Vacuum {
        Vacuum {
            so_far,
            ..Vacuum::default()
        }
    }
}
