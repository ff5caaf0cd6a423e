//! The terms of a posting buffer, in runs: adding one never copies the others, and no room is kept
//! for twice as many.

use super::arena::Stream;
use crate::base::{DocId, PhraseFilters};

/// Slots of one run: 10 KiB, little beside the smallest buffer.
const RUN_SLOTS: usize = 256;

/// The entry of a term in a posting buffer. Most terms of a buffer have a posting or two, so half
/// of its memory would be slots if they were larger than they must be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    /// Of the key, so that few other keys are compared, and none is read where the table grows.
    pub(crate) hash: u32,
    pub(crate) count: u32,
    /// Below the bytes of the stream, which are below 4 GiB.
    pub(crate) total_frequency: u32,
    pub(crate) first: DocId,
    pub(crate) last: DocId,
    /// The key and the postings.
    pub(crate) stream: Stream,
    /// The neighbours that stand behind the positions.
    pub(crate) filters: PhraseFilters,
}

const _: () = assert!(size_of::<Slot>() == 40, "a slot holds no needless byte");

/// Slots by number, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    runs: Vec<Vec<Slot>>,
    length: usize,
}

impl Slots {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.runs.len() * RUN_SLOTS * size_of::<Slot>()
    }

    pub(crate) fn get(&self, number: u32) -> &Slot {
        &self.runs[number as usize / RUN_SLOTS][number as usize % RUN_SLOTS]
    }

    pub(crate) fn set(&mut self, number: u32, slot: Slot) {
        self.runs[number as usize / RUN_SLOTS][number as usize % RUN_SLOTS] = slot;
    }

    /// Adds a slot and gives its number.
    pub(crate) fn push(&mut self, slot: Slot) -> u32 {
        if self.length.is_multiple_of(RUN_SLOTS) {
            self.runs.push(Vec::with_capacity(RUN_SLOTS));
        }
        if let Some(run) = self.runs.last_mut() {
            run.push(slot);
        }
        self.length += 1;
        (self.length - 1) as u32
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.runs.iter().flatten()
    }
}
