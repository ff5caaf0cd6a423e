//! The posting buffer: the newest postings of all terms, in memory, searchable as soon as they are added.
//!
//! A term has a slot and a stream, in which a piece stands for each batch that has the term: the lengths of its docs and of
//! its positions, then both, coded as in a [`Fragment`]. Most terms have a posting or two; these take some 60 bytes beside
//! the key, where they took 104 with a stream of each kind and a slot that held the start of the key.
//!
//! One writer adds batches; readers copy out what they need. Invariants:
//! 1. A stream only grows, in ascending order of doc IDs, so a reader that stops at its snapshot's high-water
//!    mark sees what it saw before, whatever has been added since.
//! 2. Readers hold the lock only while they copy one term's bytes; a writer only while it adds a few terms of a batch, of
//!    which no reader sees any before all are there: they lie above its mark.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::Duration;

use hashbrown::HashTable;

use super::arena::{ARENA_BYTES_MAX, Arena, StreamReader};
use super::fragment::{Fragment, put_posting};
use super::invert::{InvertedBatch, InvertedTerm, hash_key};
use super::slots::{Slot, Slots};
use crate::base::{Budget, DocId, Error, Reservation, Result, both, put_varint};

/// Memory that a term takes beside its key and postings: its slot and its place in the table.
const TERM_OVERHEAD: usize = size_of::<Slot>() + 8;

/// Bytes of a key that are compared without going to where the keys are, when they are sorted.
const HEAD_BYTES: usize = 16;

/// A length from here on does not fit its half of a byte.
const LONG: usize = 15;

/// Terms whose slots are found before any of them is appended to.
const FOUND_AHEAD: usize = 32;

/// Terms of a batch that are added before readers get the lock: some 30 us. A batch of 100 documents holds 1 ms.
const ADDED_AT_ONCE: usize = 4 * FOUND_AHEAD;

/// How often and for how long a writer waits for readers that want the lock.
const WAITS_FOR_READERS: usize = 4;
const WAIT_FOR_READERS: Duration = Duration::from_micros(20);

/// The postings added since the last flush.
#[derive(Debug)]
pub struct PostingBuffer {
    inner: RwLock<Inner>,
    /// Readers that want the lock.
    readers: AtomicUsize,
}

#[derive(Debug)]
struct Inner {
    arena: Arena,
    slots: Slots,
    table: HashTable<u32>,
    first_posting: Vec<u8>,
    lengths: Vec<u8>,
    reservation: Reservation,
}

impl PostingBuffer {
    /// An empty buffer that takes its memory from `budget`.
    pub fn new(budget: &Budget) -> Result<PostingBuffer> {
        let inner = Inner {
            arena: Arena::default(),
            slots: Slots::default(),
            table: HashTable::new(),
            first_posting: Vec::new(),
            lengths: Vec::new(),
            reservation: budget.reserve("the posting buffer", 0)?,
        };
        Ok(PostingBuffer {
            inner: RwLock::new(inner),
            readers: AtomicUsize::new(0),
        })
    }

    /// Adds a batch whose documents get doc IDs from `base` on, higher than any added before. The memory
    /// was reserved with [`PostingBuffer::reserve_for`].
    pub fn add(&self, batch: &InvertedBatch, base: DocId) {
        for terms in batch.terms.chunks(ADDED_AT_ONCE) {
            self.let_readers_in();
            self.add_terms(batch, terms, base);
        }
    }

    fn add_terms(&self, batch: &InvertedBatch, terms: &[InvertedTerm], base: DocId) {
        let mut inner = self.write();
        // Slots are found a run of terms at a time, so that the misses of one look-up overlap with the next.
        for terms in terms.chunks(FOUND_AHEAD) {
            let mut slots = [0; FOUND_AHEAD];
            for (slot, term) in slots.iter_mut().zip(terms) {
                let key = &batch.keys[term.key.0 as usize..term.key.1 as usize];
                *slot = inner.slot(key, short_hash(term.hash));
            }
            inner.touch(&slots[..terms.len()]);
            for (slot, term) in slots.iter().zip(terms) {
                inner.append(*slot, term, &batch.data, base);
            }
        }
    }

    /// Reserves the memory that adding `batch` can take at most; fails where the budget or the buffer, which is never larger than 4 GiB, has
    /// too little.
    pub fn reserve_for(&self, batch: &InvertedBatch) -> Result<()> {
        let mut inner = self.write();
        let most =
            batch.keys.len() + 2 * batch.data.len() + batch.terms.len() * (TERM_OVERHEAD + 64);
        if !inner.arena.has_room_for(most) {
            return Err(Error::Memory {
                what: "a posting buffer",
                needed: most,
                free: ARENA_BYTES_MAX.saturating_sub(inner.arena.memory_bytes()),
                budget: ARENA_BYTES_MAX,
            });
        }
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
        let slot = inner.find(key, short_hash(hash_key(key)))?;
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

    /// Bytes of the postings of a term, of all documents.
    pub fn term_bytes(&self, key: &[u8]) -> usize {
        let inner = self.read();
        let slot = inner.find(key, short_hash(hash_key(key)));
        slot.map_or(0, |slot| inner.slots.get(slot).stream.length as usize)
    }

    /// Shows the keys that have a posting in a document below `below` to `visit`, in any order, until it fails.
    pub fn each_key(&self, below: DocId, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let inner = self.read();
        let mut slots = inner.slots.iter().filter(|slot| slot.first < below);
        slots.try_for_each(|slot| visit(inner.key(slot)))
    }

    /// All terms in the order of their keys, for a flush: hands each to `visit`.
    pub fn sorted(&self) -> SortedTerms<'_> {
        let inner = self.read();
        // The first bytes of each key at hand, so that few comparisons go to where the keys are.
        let mut heads: Vec<(u128, u32)> = (0..)
            .zip(inner.slots.iter())
            .map(|(number, slot)| (sorting_head(inner.key(slot)), number))
            .collect();
        let compare = |(head, a): &(u128, u32), (other, b): &(u128, u32)| {
            let key = |number: &u32| inner.key(inner.slots.get(*number));
            head.cmp(other).then_with(|| key(a).cmp(key(b)))
        };
        let (one, other) = heads.split_at_mut(inner.slots.len() / 2);
        both(
            || one.sort_unstable_by(compare),
            || other.sort_unstable_by(compare),
        );
        // A stable sort finds what is sorted and merges it.
        heads.sort_by(compare);
        let order = heads.into_iter().map(|(_, number)| number).collect();
        SortedTerms { inner, order }
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        if let Ok(inner) = self.inner.try_read() {
            return inner;
        }
        self.readers.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.read().unwrap_or_else(|e| e.into_inner());
        self.readers.fetch_sub(1, Ordering::Relaxed);
        inner
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits for readers that want the lock, for a while: the lock itself would go to who asks next, which is the writer.
    fn let_readers_in(&self) {
        for _ in 0..WAITS_FOR_READERS {
            if self.readers.load(Ordering::Relaxed) == 0 {
                return;
            }
            thread::sleep(WAIT_FOR_READERS);
        }
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

/// What a slot keeps of a key's hash.
fn short_hash(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

/// The hash by which the table finds a slot: all of its bits depend on all that the slot keeps.
fn table_hash(hash: u32) -> u64 {
    (hash as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Appends two lengths, short ones as a byte.
fn put_lengths(out: &mut Vec<u8>, lengths: [usize; 2]) {
    let [low, high] = lengths.map(|length| length.min(LONG) as u8);
    out.push(low | high << 4);
    let long = lengths.iter().filter(|length| **length >= LONG);
    long.for_each(|length| put_varint(out, *length as u64));
}

/// Reads what [`put_lengths`] appended.
fn read_lengths(reader: &mut StreamReader<'_>) -> [usize; 2] {
    let byte = reader.byte() as usize;
    [byte & LONG, byte >> 4].map(|length| match length {
        LONG => read_varint(reader),
        length => length,
    })
}

fn read_varint(reader: &mut StreamReader<'_>) -> usize {
    let mut value = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = reader.byte() as usize;
        value |= (byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

impl Inner {
    fn memory_bytes(&self) -> usize {
        self.arena.memory_bytes() + self.slots.memory_bytes() + self.table.capacity() * 5
    }

    fn key(&self, slot: &Slot) -> &[u8] {
        self.arena.key(&slot.stream)
    }

    fn find(&self, key: &[u8], hash: u32) -> Option<u32> {
        let same = |slot: &u32| {
            let slot = self.slots.get(*slot);
            slot.hash == hash && self.key(slot) == key
        };
        self.table.find(table_hash(hash), same).copied()
    }

    fn slot(&mut self, key: &[u8], hash: u32) -> u32 {
        if let Some(slot) = self.find(key, hash) {
            return slot;
        }
        let number = self.slots.push(Slot {
            hash,
            stream: self.arena.begin(key),
            ..Slot::default()
        });
        let slots = &self.slots;
        let hash_again = |slot: &u32| table_hash(slots.get(*slot).hash);
        self.table
            .insert_unique(table_hash(hash), number, hash_again);
        number
    }

    /// Reads where these terms will be appended to: the misses overlap, those of the appends would not.
    fn touch(&self, slots: &[u32]) {
        let ends = slots.iter().map(|slot| {
            let slot = self.slots.get(*slot);
            self.arena.end_of(&slot.stream)
        });
        std::hint::black_box(ends.fold(0, |all, end| all ^ end));
    }

    fn append(&mut self, slot: u32, term: &InvertedTerm, data: &[u8], base: DocId) {
        let mut slot_value = *self.slots.get(slot);
        let first = base + term.first;
        if slot_value.count == 0 {
            slot_value.first = first;
        }
        let range = |(start, end): (u32, u32)| &data[start as usize..end as usize];
        let (docs, positions) = (range(term.docs), range(term.positions));
        self.first_posting.clear();
        put_posting(
            &mut self.first_posting,
            first - slot_value.last,
            term.first_frequency,
        );
        self.lengths.clear();
        let lengths = [self.first_posting.len() + docs.len(), positions.len()];
        put_lengths(&mut self.lengths, lengths);
        for part in [&self.lengths, &self.first_posting, docs, positions] {
            self.arena.append(&mut slot_value.stream, part);
        }
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
        let mut reader = self.arena.reader(&slot.stream);
        while !reader.is_at_end() {
            let [docs, positions] = read_lengths(&mut reader);
            reader.copy(docs, &mut fragment.docs);
            reader.copy(positions, &mut fragment.positions);
        }
        fragment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_any_size_come_back() {
        let lengths = [0, 1, 14, 15, 16, 127, 128, 70_000, 5_000_000];
        let mut arena = Arena::default();
        let mut stream = arena.begin(b"sea");
        let pairs = || lengths.iter().flat_map(|a| lengths.map(|b| [*a, b]));
        for pair in pairs() {
            let mut coded = Vec::new();
            put_lengths(&mut coded, pair);
            arena.append(&mut stream, &coded);
        }
        let mut reader = arena.reader(&stream);
        for pair in pairs() {
            assert_eq!(read_lengths(&mut reader), pair);
        }
        assert!(reader.is_at_end());
    }
}
