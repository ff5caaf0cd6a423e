//! The strings of a keyword column that are not flushed yet, each once, numbered as they came.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Strings with slots from 0 on.
#[derive(Debug, Default)]
pub(super) struct TermSlots {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

fn hash(term: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(term);
    hasher.finish()
}

/// The capacity of a vector with so many more: as it is, or twice as large.
pub(super) fn grown(capacity: usize, length: usize, more: usize) -> usize {
    match length + more {
        needed if needed <= capacity => capacity,
        needed => needed.max(2 * capacity),
    }
}

/// Makes room as [`grown`] reckons it.
pub(super) fn make_room<T>(items: &mut Vec<T>, more: usize) {
    let wanted = grown(items.capacity(), items.len(), more);
    items.reserve_exact(wanted - items.len());
}

impl TermSlots {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn term(&self, slot: u32) -> &[u8] {
        let slot = slot as usize;
        let start = match slot {
            0 => 0,
            _ => self.ends[slot - 1],
        };
        &self.bytes[start..self.ends[slot]]
    }

    pub(super) fn find(&self, term: &[u8]) -> Option<u32> {
        let found = self.table.find(hash(term), |slot| self.term(*slot) == term);
        found.copied()
    }

    pub(super) fn slot(&mut self, term: &[u8]) -> u32 {
        if let Some(slot) = self.find(term) {
            return slot;
        }
        let slot = self.ends.len() as u32;
        make_room(&mut self.bytes, term.len());
        make_room(&mut self.ends, 1);
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        let of = |slot: &u32| {
            let slot = *slot as usize;
            let start = if slot == 0 { 0 } else { ends[slot - 1] };
            hash(&bytes[start..ends[slot]])
        };
        self.table.insert_unique(hash(term), slot, of);
        slot
    }

    /// The slots in the order of their strings.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by(|a, b| self.term(*a).cmp(self.term(*b)));
        order
    }

    /// Bytes of the strings themselves.
    pub(super) fn term_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory after so many more strings of so many bytes in all, with those that a flush
    /// takes for keys and numbers.
    pub(super) fn memory_with(&self, terms: usize, bytes: usize) -> usize {
        let places = grown(self.ends.capacity(), self.len(), terms);
        let slots = (2 * places).next_power_of_two() * (size_of::<u32>() + 1);
        let flush = places * (5 * size_of::<u32>());
        let own = grown(self.bytes.capacity(), self.bytes.len(), bytes);
        let ends = places * size_of::<usize>();
        own + ends + flush + if places == 0 { 0 } else { slots }
    }
}
