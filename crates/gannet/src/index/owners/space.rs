//! The space that is kept for what was taken: each owner estimates its part.

use std::iter::Sum;

use crate::index::state::State;
use crate::storage::{PageKind, Store};

/// The greatest number of bytes that the next flush and checkpoint may write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptSpace {
    /// For what is in the buffers.
    pub(crate) buffered: u64,
    /// For delta postings that move on with a flush, tables and the root.
    pub(crate) rest: u64,
}

impl KeptSpace {
    /// Nothing: its pages are written only by work that claims space itself.
    pub(crate) const NONE: KeptSpace = KeptSpace {
        buffered: 0,
        rest: 0,
    };

    pub(crate) fn bytes(&self) -> u64 {
        self.buffered + self.rest
    }
}

impl Sum for KeptSpace {
    fn sum<I: Iterator<Item = KeptSpace>>(all: I) -> KeptSpace {
        all.fold(KeptSpace::NONE, |sum, of_kind| KeptSpace {
            buffered: sum.buffered + of_kind.buffered,
            rest: sum.rest + of_kind.rest,
        })
    }
}

/// The next flush, with one under way, and its checkpoint: all they have to write.
pub(crate) struct NextFlush<'a> {
    pub(crate) state: &'a State,
    pub(crate) store: &'a Store,
    /// Bytes of the postings that wait for it, and of IDs.
    pub(crate) posting_bytes: u64,
    pub(crate) id_bytes: u64,
    /// Flushes, with one under way.
    pub(crate) flushes: u64,
    /// Bytes of source in the log.
    pub(crate) log_source_bytes: u64,
    /// Bytes of the newest root record.
    pub(crate) root_bytes: u64,
}

impl NextFlush<'_> {
    /// Returns the live bytes of all pages of a kind.
    pub(crate) fn live_bytes(&self, kind: PageKind) -> u64 {
        let zones = self.store.zones();
        let of_kind = zones.iter().filter(|(_, zone)| zone.kind == kind);
        of_kind.map(|(_, zone)| zone.live).sum()
    }
}
