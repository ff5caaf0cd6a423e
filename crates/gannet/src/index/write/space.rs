//! Space: a batch is taken only while the device has room for it and for what it leads to.
//!
//! After a failed write nobody knows what is on the device, so it stops the writer until the index
//! is reopened. That a full disk comes to that is avoided as long as the device tells how much is
//! free: a batch is rejected, before it has changed anything, when less would be left than
//!
//! 1. what the next flush and checkpoint may write, with which all that was taken before is kept,
//!    and
//! 2. a reserve with which documents can be deleted and what they leave can be vacuumed and
//!    cleaned.
//!
//! Deletions and maintenance need only the first, so they free space on a disk on which writing has
//! stopped, and writing goes on by itself then. Work that can wait, as cleaning and vacuum, takes
//! what is left beyond the first (see `room`).
//!
//! The bytes that a flush writes are not known before, so this is an estimate from above of the
//! parts that matter: the more is in the buffers, the more it is too high. If that alone would have
//! a batch or deletions rejected, the buffers are flushed first. If the estimate is too low, or
//! another program takes the space, or a quota hides what is free, the writer stops.

use crate::base::PAGE_SIZE;
use crate::index::owners::{KeptSpace, NextFlush, delta_trees, node_bytes, owners};
use crate::index::schedule::REBUILD_SPACE;
use crate::index::state::State;
use crate::postings::TermTree;
use crate::storage::Store;

/// Source that is taken without looking again: the system is asked once in so many bytes.
const LOOK_EVERY: u64 = 16 << 10;

/// Pages that are begun, one for each stream and tree, links of new zones, root slots.
const BEGUN: u64 = 64 * PAGE_SIZE as u64;

/// The free space that each byte of source needs: a byte of log, and up to four in the posting
/// buffer, as much of which may be written twice.
const SHARE_OF_SOURCE: u64 = 8;

const PAGE: u64 = PAGE_SIZE as u64;

/// The reserve for deleting and vacuuming: one byte of so many of the index, within bounds.
const RESERVE_ONE_OF: u64 = 12;
const RESERVE_MIN: u64 = 512 << 10;
const RESERVE_MAX: u64 = 64 << 20;

/// The reserve for the steps of a vacuum of an index of so many bytes.
pub(crate) fn reserve_for_steps(allocated: u64) -> u64 {
    (allocated / RESERVE_ONE_OF).clamp(RESERVE_MIN, RESERVE_MAX)
}

/// The space on the device, as far as the writer knows it.
pub(crate) struct SpaceLooks {
    /// Bytes of source since the device was last asked how much is free.
    unasked_bytes: u64,
}

impl SpaceLooks {
    /// None so far: the first batch looks.
    pub(crate) fn none() -> SpaceLooks {
        SpaceLooks {
            unasked_bytes: u64::MAX,
        }
    }

    /// Returns true if the device was asked a short while ago, before so many bytes of source.
    pub(super) fn are_recent(&mut self, bytes: u64) -> bool {
        self.unasked_bytes = self.unasked_bytes.saturating_add(bytes);
        self.unasked_bytes < LOOK_EVERY
    }

    /// The device was asked.
    pub(super) fn note(&mut self) {
        self.unasked_bytes = 0;
    }
}

/// Returns the bytes that a batch, and what comes before the device is asked again, may add to the
/// kept space.
pub(super) fn batch_bytes(source_bytes: u64) -> u64 {
    (source_bytes + LOOK_EVERY) * SHARE_OF_SOURCE
}

/// Returns the space that writing leaves for deleting and vacuuming: a part of the index for the
/// first steps of a vacuum, each of which gives more back; the runs of IDs, which a flush of
/// deletions may merge; and a flush.
pub(super) fn reserve_bytes(store: &Store, state: &State) -> u64 {
    let allocated = store.zones().allocated_bytes();
    let first = node_bytes(&state.terms, &mut std::iter::once(TermTree::Delta(0)));
    let deltas = node_bytes(&state.terms, &mut delta_trees());
    // Of two flushes that follow each other, one at most merges all runs of IDs. One at most
    // compacts into the last level, for which all levels are kept (see `kept`). The other writes
    // the first, which may have grown meanwhile.
    reserve_for_steps(allocated) + state.ids.nodes() * PAGE + first.max(deltas / 4)
}

/// Returns the space that the next flush and its checkpoint may take.
pub(super) fn kept(next: &NextFlush<'_>) -> KeptSpace {
    let kept: KeptSpace = owners().map(|owner| owner.space(next)).sum();
    KeptSpace {
        rest: kept.rest + BEGUN,
        ..kept
    }
}

/// Returns the bytes that writing the index anew takes.
pub(super) fn rebuild_bytes(store: &Store) -> u64 {
    let zones = store.zones();
    let live: u64 = zones.iter().map(|(_, zone)| zone.live).sum();
    live * REBUILD_SPACE
}
