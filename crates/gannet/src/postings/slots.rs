//! The terms of a posting buffer, in runs: adding one never copies the others, and no room is kept for twice
//! as many.

use super::arena::Stream;
use crate::base::{DocId, PhraseFilters};

/// Slots of one run: 10 KiB, little beside the smallest buffer.
const RUN_SLOTS: usize = 256;

/// What a posting buffer keeps of a term. Most terms of a buffer have a posting or two, so half of its memory would be slots
/// if they were larger than they must be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// Of the key, so that few other keys are compared, and none is read where the table grows.
    pub(super) hash: u32,
    pub(super) count: u32,
    /// Below the bytes of the stream, which are below 4 GiB.
    pub(super) total_frequency: u32,
    pub(super) first: DocId,
    pub(super) last: DocId,
    /// The key and the postings.
    pub(super) stream: Stream,
    /// Which neighbours stand behind the positions.
    pub(super) filters: PhraseFilters,
}

const _: () = assert!(size_of::<Slot>() == 40, "a slot holds no needless byte");

/// Slots by number, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Slots {
    runs: Vec<Vec<Slot>>,
    length: usize,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.runs.len() * RUN_SLOTS * size_of::<Slot>()
    }

    pub(super) fn get(&self, number: u32) -> &Slot {
        &self.runs[number as usize / RUN_SLOTS][number as usize % RUN_SLOTS]
    }

    pub(super) fn set(&mut self, number: u32, slot: Slot) {
        self.runs[number as usize / RUN_SLOTS][number as usize % RUN_SLOTS] = slot;
    }

    /// Adds a slot and gives its number.
    pub(super) fn push(&mut self, slot: Slot) -> u32 {
        if self.length.is_multiple_of(RUN_SLOTS) {
            self.runs.push(Vec::with_capacity(RUN_SLOTS));
        }
        if let Some(run) = self.runs.last_mut() {
            run.push(slot);
        }
        self.length += 1;
        (self.length - 1) as u32
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.runs.iter().flatten()
    }
}
