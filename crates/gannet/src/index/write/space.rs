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

use super::writer::Writer;
use crate::base::{PAGE_SIZE, Result};
use crate::index::owners::{KeptSpace, NextFlush, RECENT, owners};
use crate::index::schedule::{Condition, MaintenanceTask, Occasion, REBUILD_SPACE, rows};
use crate::index::state::no_space;
use crate::postings::TermTree;

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

impl Writer {
    /// Rejects a batch of so many bytes if there is not enough space for it and for what it leads
    /// to; the writer goes on.
    pub(crate) fn check_space(&mut self, source_bytes: u64) -> Result<()> {
        if self.has_looked(source_bytes) {
            return Ok(());
        }
        let (batch, reserve) = (self.batch_bytes(source_bytes), self.reserve_bytes());
        self.keep_or_reject(
            batch,
            reserve,
            "for the batch, for what was written before it, and to delete and vacuum",
        )
    }

    /// Rejects deletions of so many bytes of IDs if there is not enough space for them: the reserve
    /// is there for them.
    pub(crate) fn check_space_to_delete(&mut self, id_bytes: u64) -> Result<()> {
        if self.has_looked(id_bytes) {
            return Ok(());
        }
        let batch = self.batch_bytes(id_bytes);
        self.keep_or_reject(
            batch,
            0,
            "for the deletions and what was written before them",
        )
    }

    /// Rejects work that brings no documents if there is not enough space for it.
    pub(crate) fn check_space_now(&mut self) -> Result<()> {
        let batch = self.batch_bytes(0);
        self.keep_or_reject(batch, 0, "for what was written before")
    }

    /// Rejects to write the index anew if there is not enough space for that.
    pub(crate) fn check_space_to_write_anew(&self) -> Result<()> {
        let live: u64 = self
            .shared
            .store
            .zones()
            .iter()
            .map(|(_, zone)| zone.live)
            .sum();
        let needed = live * REBUILD_SPACE;
        match self.shared.room.keep(self.kept().bytes(), 0, needed)? {
            Some((free, needed)) => Err(no_space(free, needed, "to write the index anew")),
            None => Ok(()),
        }
    }

    /// Keeps what the next flush and checkpoint may write, once those before are done.
    pub(crate) fn keep_space(&self) -> Result<()> {
        self.shared.room.keep(self.kept().bytes(), 0, 0).map(drop)
    }

    /// Returns true if the device was asked a short while ago.
    fn has_looked(&mut self, bytes: u64) -> bool {
        self.unasked_bytes = self.unasked_bytes.saturating_add(bytes);
        self.unasked_bytes < LOOK_EVERY
    }

    /// Before anything is rejected, space is made: zones that no reader needs any more are removed,
    /// a flush under way is ended, and the buffers are flushed where that helps.
    fn keep_or_reject(&mut self, batch: u64, reserve: u64, purpose: &str) -> Result<()> {
        let mut rows = rows(Occasion::FullDevice);
        loop {
            let kept = self.kept();
            let Some((free, needed)) = self.shared.room.keep(kept.bytes(), batch, reserve)? else {
                break;
            };
            let row = rows.next().ok_or_else(|| no_space(free, needed, purpose))?;
            let condition = Condition {
                kept,
                lacking: needed - free,
                ..self.condition()
            };
            if self.retries
                && self.flushing.is_some()
                && matches!(row.task, MaintenanceTask::EndFlush)
            {
                // It is waited for without the lock.
                return Err(no_space(free, needed, purpose));
            }
            if (row.is_due)(&condition) {
                self.carry_out(row.task)?;
            }
        }
        self.unasked_bytes = 0;
        Ok(())
    }

    /// Returns the bytes that a batch, and what comes before the device is asked again, may add to
    /// the kept space.
    fn batch_bytes(&self, source_bytes: u64) -> u64 {
        (source_bytes + LOOK_EVERY) * SHARE_OF_SOURCE
    }

    /// Returns the space that writing leaves for deleting and vacuuming: a part of the index for
    /// the first steps of a vacuum, each of which gives more back; the tree of IDs twice, most
    /// leaves of which many deletions write anew; and a flush.
    fn reserve_bytes(&self) -> u64 {
        let allocated = self.shared.store.zones().allocated_bytes();
        let ids = 2 * self.state.ids.nodes();
        // Of two flushes that follow each other, one at most compacts into the last level, for
        // which all levels are kept (see `kept`). The other writes the first, which may have grown
        // meanwhile.
        let [first, all] =
            [&RECENT[..1], &RECENT[..]].map(|some| self.nodes_of(some.iter().copied()));
        let recent = first.max(all / 4);
        reserve_for_steps(allocated) + (ids + recent) * PAGE
    }

    /// Bytes that a flush and a checkpoint of all that was taken so far may write.
    pub(crate) fn kept(&self) -> KeptSpace {
        let state = &self.state;
        let flushing = self
            .flushing
            .as_ref()
            .filter(|flushing| !flushing.is_filled());
        let ids = state.buffers.new_ids.entry_bytes() + flushing.map_or(0, |f| f.ids.entry_bytes());
        let buffers = match flushing {
            Some(_) => state.buffers.posting_bytes(),
            None => state.buffers.filling.posting_bytes(),
        };
        let next = NextFlush {
            state,
            store: &self.shared.store,
            posting_bytes: buffers as u64,
            id_bytes: ids as u64,
            // A flush under way, and one behind it.
            flushes: 1 + u64::from(flushing.is_some()),
            log_source_bytes: self.log_source_bytes,
            root_bytes: self.root.map_or(0, |root| root.length as u64),
        };
        let kept: KeptSpace = owners().map(|owner| owner.space(&next)).sum();
        KeptSpace {
            rest: kept.rest + BEGUN,
            ..kept
        }
    }

    fn nodes_of(&self, trees: impl Iterator<Item = TermTree>) -> u64 {
        trees.map(|tree| self.state.terms.tree(tree).nodes()).sum()
    }
}
