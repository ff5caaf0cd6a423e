//! The lifetime write statistics of an index that is written.

use std::time::Duration;

use crate::index::state::{BytesWritten, Lifetime};

/// The statistics from before the opening, and those since.
pub(crate) struct LifetimeTotals {
    before: Lifetime,
    since: Lifetime,
}

impl LifetimeTotals {
    /// Goes on with those of the root.
    pub(crate) fn go_on(before: Lifetime) -> LifetimeTotals {
        LifetimeTotals {
            before,
            since: Lifetime::default(),
        }
    }

    /// Counts bytes of source that were written.
    pub(super) fn note_source(&mut self, bytes: u64) {
        self.since.source_bytes += bytes;
    }

    /// Notes a wait of a write for a flush.
    pub(super) fn note_stall(&mut self, stall: Duration) {
        self.since.longest_stall = self.since.longest_stall.max(stall);
    }

    /// Returns all of it, where so many bytes were written since the opening.
    pub(super) fn with(&mut self, written: BytesWritten) -> Lifetime {
        self.since.written = written;
        self.before.and(&self.since)
    }
}
