//! Space: a batch is taken only while the device has room for what it leads to.
//!
//! After a failed write nobody knows what is on the device, so it stops the writer until the index is reopened. That a
//! full disk comes to that is avoided as long as the device tells how much is free: a batch is refused, before it has
//! changed anything, when less would be left than the next flush and checkpoint may take, with which all that was
//! taken before is kept. Reads go on, and so does writing as soon as there is space again.
//!
//! How much a flush takes is not known before, so this is an estimate from above of the parts that matter. Where it
//! is not enough, or another program takes the space, or a quota hides what is free, the writer stops.

use super::vacuum::SLICE_BYTES_MAX;
use super::writer::Writer;
use crate::base::{Error, PAGE_PAYLOAD, PAGE_SIZE, Result};
use crate::storage::{PageKind, WRITE_PAGES};

/// Source that is taken without looking again: the system is asked once in so many bytes.
const LOOK_EVERY: u64 = 16 << 10;

/// What cleaning may write before it gives anything back: 32 MiB of nodes, of chunks and of documents.
const CLEANING_MAX: u64 = 96 << 20;

/// Pages that are begun, one for each stream and tree, links of new zones, root slots.
const BEGUN: u64 = 64 * PAGE_SIZE as u64;

/// Documents are logged in the bytes that their source has at most, and these go into the posting buffer.
const SHARE_OF_SOURCE: u64 = 4;

/// What a new ID takes in memory, at least.
const ID_BYTES: u64 = 96;

/// When the device was last asked.
#[derive(Debug)]
pub(super) struct Space {
    /// Bytes of source since then.
    unasked: u64,
}

impl Default for Space {
    fn default() -> Space {
        Space {
            unasked: LOOK_EVERY,
        }
    }
}

impl Writer {
    /// Refuses a batch of so many bytes if there is not enough space for it and for what it leads to; the writer goes on.
    pub(super) fn check_space(&mut self, source_bytes: u64) -> Result<()> {
        self.space.unasked = self.space.unasked.saturating_add(source_bytes);
        if self.space.unasked < LOOK_EVERY {
            return Ok(());
        }
        let free = self.shared.store.device().free_bytes()?;
        let needed = self.kept_bytes() + (source_bytes + LOOK_EVERY) * SHARE_OF_SOURCE;
        if free < needed {
            let purpose = "for the batch and what was written before it";
            return Err(no_space(free, needed, purpose));
        }
        self.space.unasked = 0;
        Ok(())
    }

    /// Refuses work that brings no documents if there is not enough space for it.
    pub(super) fn check_space_now(&mut self) -> Result<()> {
        self.space = Space::default();
        self.check_space(0)
    }

    /// Refuses to write the index anew if there is not enough space for that: what lives once more, and as much again for what comes
    /// to be dead on the way.
    pub(super) fn check_space_to_write_anew(&self) -> Result<()> {
        let live: u64 = self
            .shared
            .store
            .zones()
            .iter()
            .map(|(_, zone)| zone.live)
            .sum();
        let free = self.shared.store.device().free_bytes()?;
        let needed = self.kept_bytes() + live * 2;
        match free < needed {
            true => Err(no_space(free, needed, "to write the index anew")),
            false => Ok(()),
        }
    }

    /// Bytes that a flush and a checkpoint of all that was taken so far may write.
    fn kept_bytes(&self) -> u64 {
        let (mut rewritten, mut allocated, mut lists) = (0, 0, 0);
        {
            let zones = self.shared.store.zones();
            for (_, zone) in zones.iter() {
                allocated += zone.pages as u64 * PAGE_SIZE as u64;
                if matches!(zone.kind, PageKind::Node | PageKind::Table | PageKind::Root) {
                    rewritten += zone.live;
                }
                if matches!(zone.kind, PageKind::Node | PageKind::Postings) {
                    lists += zone.live;
                }
            }
        }
        let buffers = &self.state.buffers;
        let flushing = self.flushing.as_ref().map_or(0, |f| f.ids.memory_bytes());
        let ids = (self.state.buffers.new_ids.memory_bytes() + flushing) as u64;
        let memory = buffers.memory_bytes() as u64 + ids;
        // Each term, and each ID, may have a leaf written anew, but none more than once.
        let entries = buffers.terms() as u64 + ids / ID_BYTES;
        let nodes = entries.min(rewritten / PAGE_PAYLOAD as u64 + 1);
        let pages = nodes * PAGE_SIZE as u64;
        let log = (WRITE_PAGES * PAGE_SIZE) as u64;
        let log = log.min(self.log_source_bytes);
        let slice = match self.state.dead_documents() {
            0 => 0,
            _ => SLICE_BYTES_MAX.min(lists),
        };
        pages + memory * 2 + log + CLEANING_MAX.min(allocated / 3) + slice + BEGUN
    }
}

fn no_space(free: u64, needed: u64, purpose: &str) -> Error {
    Error::Device {
        operation: "write",
        file: "the index".to_owned(),
        reason: format!(
            "no space: {free} bytes are free, and {needed} must be {purpose}; \
             nothing was written and searching goes on: make space, then try again"
        ),
        full: true,
    }
}
