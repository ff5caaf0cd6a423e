//! The posting buffer: the newest postings of all terms, in memory, searchable as soon as they are added.
//!
//! One writer adds batches; readers copy out what they need. Invariants:
//! 1. A stream only grows, in ascending order of doc IDs, so a reader that stops at its snapshot's high-water
//!    mark sees what it saw before, whatever has been added since.
//! 2. Readers hold the lock only while they copy one term's bytes; a writer only while it adds one batch.

use std::sync::{RwLock, RwLockReadGuard};

use hashbrown::HashTable;

use super::arena::Arena;
use super::fragment::{Fragment, put_posting};
use super::invert::{HEAD_BYTES, InvertedBatch, InvertedTerm, hash_head, hash_key, key_head};
use super::slots::{Slot, Slots};
use crate::base::{Budget, DocId, Reservation, Result};

/// Memory that a term takes beside its key and postings: its slot and its place in the table.
const TERM_OVERHEAD: usize = size_of::<Slot>() + 8;

/// Terms whose slots are found before any of them is appended to.
const FOUND_AHEAD: usize = 32;

/// The postings added since the last flush.
#[derive(Debug)]
pub struct PostingBuffer {
    inner: RwLock<Inner>,
}

#[derive(Debug)]
struct Inner {
    arena: Arena,
    slots: Slots,
    table: HashTable<u32>,
    scratch: Vec<u8>,
    reservation: Reservation,
}

impl PostingBuffer {
    /// An empty buffer that takes its memory from `budget`.
    pub fn new(budget: &Budget) -> Result<PostingBuffer> {
        let inner = Inner {
            arena: Arena::default(),
            slots: Slots::default(),
            table: HashTable::new(),
            scratch: Vec::new(),
            reservation: budget.reserve("the posting buffer", 0)?,
        };
        Ok(PostingBuffer {
            inner: RwLock::new(inner),
        })
    }

    /// Adds a batch whose documents get doc IDs from `base` on, higher than any added before. The memory
    /// was reserved with [`PostingBuffer::reserve_for`].
    pub fn add(&self, batch: &InvertedBatch, base: DocId) {
        let mut inner = self.inner.write().unwrap_or_else(|e| e.into_inner());
        // Slots are found a run of terms at a time, so that the misses of one look-up overlap with the next.
        for terms in batch.terms.chunks(FOUND_AHEAD) {
            let mut slots = [0; FOUND_AHEAD];
            for (slot, term) in slots.iter_mut().zip(terms) {
                let key = &batch.keys[term.key.0 as usize..term.key.1 as usize];
                *slot = inner.slot(key, term.hash);
            }
            inner.touch(&slots[..terms.len()]);
            for (slot, term) in slots.iter().zip(terms) {
                inner.append(*slot, term, &batch.data, base);
            }
        }
    }

    /// Reserves the memory that adding `batch` can take at most.
    pub fn reserve_for(&self, batch: &InvertedBatch) -> Result<()> {
        let mut inner = self.inner.write().unwrap_or_else(|e| e.into_inner());
        let most =
            batch.keys.len() + 2 * batch.data.len() + batch.terms.len() * (TERM_OVERHEAD + 64);
        let bytes = inner.memory_bytes() + most + (1 << 17);
        inner.reservation.grow_to(bytes)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.read().memory_bytes()
    }

    /// Number of terms.
    pub fn terms(&self) -> usize {
        self.read().slots.len()
    }

    /// The postings of a term in documents below `below`.
    pub fn term(&self, key: &[u8], below: DocId) -> Option<Fragment> {
        let inner = self.read();
        let slot = inner.find(key, hash_key(key))?;
        let slot = *inner.slots.get(slot);
        if slot.first >= below {
            return None;
        }
        let fragment = inner.fragment(&slot);
        drop(inner);
        Some(match slot.last < below {
            true => fragment,
            false => fragment.truncated(below),
        })
    }

    /// The keys that `wanted` accepts and that have a posting in a document below `below`, sorted.
    pub fn keys(&self, below: DocId, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
        let inner = self.read();
        let slots = inner.slots.iter().filter(|slot| slot.first < below);
        let keys = slots.map(|slot| inner.key(slot)).filter(|key| wanted(key));
        let mut keys: Vec<Vec<u8>> = keys.map(<[u8]>::to_vec).collect();
        keys.sort_unstable();
        keys
    }

    /// All terms in the order of their keys, for a flush: hands each to `visit`.
    pub fn sorted(&self) -> SortedTerms<'_> {
        let inner = self.read();
        // The first bytes of each key at hand, so that few comparisons go to where the keys are.
        let mut heads: Vec<(u128, u32)> = (0..)
            .zip(inner.slots.iter())
            .map(|(number, slot)| (sorting_head(inner.key(slot)), number))
            .collect();
        heads.sort_unstable_by(|(head, a), (other, b)| {
            let key = |number: &u32| inner.key(inner.slots.get(*number));
            head.cmp(other).then_with(|| key(a).cmp(key(b)))
        });
        let order = heads.into_iter().map(|(_, number)| number).collect();
        SortedTerms { inner, order }
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(|e| e.into_inner())
    }
}

/// The terms of a buffer in order. Nothing can be added while this lives.
pub struct SortedTerms<'a> {
    inner: RwLockReadGuard<'a, Inner>,
    order: Vec<u32>,
}

impl SortedTerms<'_> {
    /// The number of terms.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The key of the term with this rank.
    pub fn key(&self, rank: usize) -> &[u8] {
        self.inner.key(self.inner.slots.get(self.order[rank]))
    }

    /// The postings of the term with this rank.
    pub fn fragment(&self, rank: usize) -> Fragment {
        self.inner.fragment(self.inner.slots.get(self.order[rank]))
    }
}

/// The first bytes of a key as a number: numbers sort as the keys do.
fn sorting_head(key: &[u8]) -> u128 {
    let mut head = [0; HEAD_BYTES];
    let length = key.len().min(HEAD_BYTES);
    head[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(head)
}

fn halves(head: u128) -> [u64; 2] {
    [head as u64, (head >> 64) as u64]
}

impl Inner {
    fn memory_bytes(&self) -> usize {
        self.arena.memory_bytes() + self.slots.memory_bytes() + self.table.capacity() * 5
    }

    fn key(&self, slot: &Slot) -> &[u8] {
        self.arena.stored(slot.key, slot.key_length as usize)
    }

    fn find(&self, key: &[u8], hash: u64) -> Option<u32> {
        let head = halves(key_head(key));
        let same = |slot: &u32| {
            let slot = self.slots.get(*slot);
            slot.head == head
                && slot.key_length as usize == key.len()
                && (key.len() <= HEAD_BYTES || self.key(slot) == key)
        };
        self.table.find(hash, same).copied()
    }

    fn slot(&mut self, key: &[u8], hash: u64) -> u32 {
        if let Some(slot) = self.find(key, hash) {
            return slot;
        }
        let number = self.slots.push(Slot {
            head: halves(key_head(key)),
            key: self.arena.store(key),
            key_length: key.len() as u16,
            ..Slot::default()
        });
        let (slots, arena) = (&self.slots, &self.arena);
        let hash_again = |slot: &u32| {
            let slot = slots.get(*slot);
            match slot.key_length as usize {
                0..=HEAD_BYTES => hash_head(slot.head),
                length => hash_key(arena.stored(slot.key, length)),
            }
        };
        self.table.insert_unique(hash, number, hash_again);
        number
    }

    /// Reads where these terms will be appended to: the misses overlap, those of the appends would not.
    fn touch(&self, slots: &[u32]) {
        let ends = slots.iter().map(|slot| {
            let slot = self.slots.get(*slot);
            self.arena.end_of(&slot.docs) ^ self.arena.end_of(&slot.positions)
        });
        std::hint::black_box(ends.fold(0, |all, end| all ^ end));
    }

    fn append(&mut self, slot: u32, term: &InvertedTerm, data: &[u8], base: DocId) {
        let mut slot_value = *self.slots.get(slot);
        let first = base + term.first;
        if slot_value.count == 0 {
            slot_value.first = first;
        }
        self.scratch.clear();
        put_posting(
            &mut self.scratch,
            first - slot_value.last,
            term.first_frequency,
        );
        self.arena.append(&mut slot_value.docs, &self.scratch);
        let range = |(start, end): (u32, u32)| &data[start as usize..end as usize];
        self.arena.append(&mut slot_value.docs, range(term.docs));
        self.arena
            .append(&mut slot_value.positions, range(term.positions));
        slot_value.filters = term.filters;
        slot_value.last = base + term.last;
        slot_value.count += term.count;
        slot_value.total_frequency += term.total_frequency;
        self.slots.set(slot, slot_value);
    }

    fn fragment(&self, slot: &Slot) -> Fragment {
        let mut fragment = Fragment {
            base: 0,
            count: slot.count,
            total_frequency: slot.total_frequency as u64,
            // All others occur once at least.
            max_frequency: slot.total_frequency - slot.count + 1,
            last: slot.last,
            filters: slot.filters,
            docs: Vec::new(),
            positions: Vec::new(),
        };
        self.arena.copy(&slot.docs, &mut fragment.docs);
        self.arena.copy(&slot.positions, &mut fragment.positions);
        fragment
    }
}
