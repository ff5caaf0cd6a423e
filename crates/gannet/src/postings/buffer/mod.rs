//! The posting buffer: the newest postings of all terms, in memory, searchable as soon as they are
//! added.
//!
//! A term has a slot and a stream, in which a piece stands for each batch that has the term: the
//! lengths of its docs and of its positions, then both, coded as in a [`Fragment`]. Most terms have
//! a posting or two; these take some 60 bytes beside the key, where they took 104 with a stream of
//! each kind and a slot that held the start of the key.
//!
//! One writer adds batches; readers copy out what they need. Invariants:
//! 1. A stream only grows, in ascending order of doc IDs, so a reader that stops at its snapshot's
//!    high-water mark sees what it saw before, whatever has been added since.
//! 2. Readers hold the lock only while they copy one term's bytes or visit a few terms; a writer
//!    only while it adds a few terms of a batch, of which no reader sees any before all are there:
//!    they lie above its mark.

pub(crate) mod arena;
pub(crate) mod digest;
pub(crate) mod invert;
pub(crate) mod slots;

use std::cmp::Ordering;
use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::time::Duration;

use hashbrown::HashTable;

use self::arena::{ARENA_BYTES_MAX, Arena, StreamReader};
use self::invert::{InvertedBatch, InvertedTerm, hash_key, short_hash};
use self::slots::{Slot, Slots};
use crate::base::{Budget, ByteReader, DocId, Error, Reservation, Result, both, put_varint};
use crate::postings::Reach;
use crate::postings::codec::fragment::{Fragment, put_posting, read_posting};
use crate::postings::codec::short::ShortList;

/// Memory that a term takes beside its key, its postings and its place in the table.
const TERM_OVERHEAD: usize = size_of::<Slot>() + SORTING_BYTES;

/// Bytes of a key that are compared without going to where the keys are, when they are sorted:
/// those of the field, and some behind them.
const FIELD_BYTES: usize = 2;
const HEAD_BYTES: usize = 8;

/// Memory that a flush takes for each term to sort them: first its head and slot, then its key and
/// slot.
const SORTING_BYTES: usize = size_of::<Unsorted>() + size_of::<u32>();

const _: () = assert!(size_of::<&[u8]>() <= size_of::<Unsorted>());

/// A length from here on does not fit its half of a byte.
const LONG: usize = 15;

/// Terms whose slots are found before any of them is appended to.
const FOUND_AHEAD: usize = 32;

/// Terms of a batch that are added before readers get the lock: some 30 us. A batch of 100
/// documents holds 1 ms.
const ADDED_AT_ONCE: usize = 4 * FOUND_AHEAD;

/// Terms that are visited before a writer gets the lock.
const VISITED_AT_ONCE: usize = 256;

/// For how long a writer waits for readers that want the lock.
const WAIT_FOR_READERS: Duration = Duration::from_micros(300);

const WHAT: &str = "a posting buffer";

/// Looks at all terms of a buffer.
pub trait TermVisitor {
    /// Returns true if the docs of the term with this key are to be shown.
    fn wants(&mut self, key: &[u8]) -> Result<bool>;

    /// Takes a doc of the last term that was wanted.
    fn doc(&mut self, doc: DocId) -> Result<()>;
}

/// The postings added since the last flush.
#[derive(Debug)]
pub struct PostingBuffer {
    inner: RwLock<Inner>,
    /// Readers that want the lock, and who waits until there are none.
    readers: Mutex<usize>,
    let_in: Condvar,
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
            readers: Mutex::new(0),
            let_in: Condvar::new(),
        })
    }

    /// Adds a batch whose documents get doc IDs from `base` on, higher than any added before. The
    /// memory was reserved with [`PostingBuffer::reserve_for`].
    pub fn add(&self, batch: &InvertedBatch, base: DocId) {
        for terms in batch.terms.chunks(ADDED_AT_ONCE) {
            self.let_readers_in();
            self.add_terms(batch, terms, base);
        }
        self.write().give_back_spare();
    }

    fn add_terms(&self, batch: &InvertedBatch, terms: &[InvertedTerm], base: DocId) {
        let mut inner = self.write();
        // Slots are found a run of terms at a time, so that the misses of one look-up overlap with
        // the next.
        for terms in terms.chunks(FOUND_AHEAD) {
            let mut slots = [0; FOUND_AHEAD];
            for (slot, term) in slots.iter_mut().zip(terms) {
                *slot = inner.slot(batch.key(term), term.hash);
            }
            inner.touch(&slots[..terms.len()]);
            for (slot, term) in slots.iter().zip(terms) {
                let (docs, positions) = batch.streams(term);
                inner.append(*slot, term, docs, positions, base);
            }
        }
    }

    /// Reserves the memory that adding `batch` can take at most; fails where the budget or the
    /// buffer, which is never larger than 4 GiB, has too little.
    pub fn reserve_for(&self, batch: &InvertedBatch) -> Result<()> {
        let mut inner = self.write();
        let most =
            batch.keys.len() + 2 * batch.data.len() + batch.terms.len() * (TERM_OVERHEAD + 64);
        if !inner.arena.has_room_for(most) {
            return Err(Error::Memory {
                what: "a posting buffer".into(),
                needed: most,
                free: ARENA_BYTES_MAX.saturating_sub(inner.arena.memory_bytes()),
                budget: ARENA_BYTES_MAX,
            });
        }
        let bytes = inner.memory_bytes() + most + inner.growth(batch.terms.len()) + (1 << 17);
        inner.reservation.grow_to(bytes)
    }

    /// Bytes of memory held, with those that a flush will take to sort the terms.
    pub fn memory_bytes(&self) -> usize {
        self.read().memory_bytes()
    }

    /// Bytes of memory of postings, keys and terms alone.
    pub fn posting_bytes(&self) -> usize {
        let inner = self.read();
        inner.arena.memory_bytes() + inner.slots.memory_bytes()
    }

    /// Number of terms.
    pub fn terms(&self) -> usize {
        self.read().slots.len()
    }

    /// The postings of a term in documents below `below`, with positions if `reach` goes so far.
    /// Before they are copied, `reserve` is told how many bytes the copy takes.
    pub fn term(
        &self,
        key: &[u8],
        below: DocId,
        reach: Reach,
        reserve: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Option<Fragment>> {
        let inner = self.read();
        let slot = inner.find(key, short_hash(hash_key(key)));
        let slot = slot.map(|slot| *inner.slots.get(slot));
        let Some(slot) = slot.filter(|slot| slot.first < below) else {
            return Ok(None);
        };
        let [docs, positions] = inner.lengths(&slot);
        let lengths = match reach {
            Reach::Docs => [docs, 0],
            Reach::Filter | Reach::Positions => [docs, positions],
        };
        reserve(lengths.iter().sum())?;
        let fragment = inner.fragment(&slot, lengths, reach);
        drop(inner);
        Ok(Some(if slot.last < below {
            fragment
        } else {
            fragment.truncated(below)
        }))
    }

    /// Shows `visitor` all terms that have a document below `below`, in any order, until it fails.
    pub fn visit_terms(&self, below: DocId, visitor: &mut dyn TermVisitor) -> Result<()> {
        let (mut next, mut piece) = (0, Vec::new());
        // Terms that are added meanwhile have no document below.
        let count = self.terms();
        while next < count {
            // The lock is let go of between runs, so that a writer need not wait for all of them.
            let inner = self.read();
            let end = count.min(next + VISITED_AT_ONCE);
            for number in next..end {
                let slot = inner.slots.get(number as u32);
                if slot.first < below && visitor.wants(inner.key(slot))? {
                    inner.each_doc(slot, below, &mut piece, visitor)?;
                }
            }
            next = end;
        }
        Ok(())
    }

    /// The buffer as a flush reads it. Nothing can be added while this lives.
    pub fn frozen(&self) -> FrozenBuffer<'_> {
        FrozenBuffer { inner: self.read() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        if let Ok(inner) = self.inner.try_read() {
            return inner;
        }
        *self.readers() += 1;
        let inner = self.inner.read().unwrap_or_else(|e| e.into_inner());
        let mut readers = self.readers();
        *readers -= 1;
        if *readers == 0 {
            self.let_in.notify_all();
        }
        inner
    }

    fn readers(&self) -> MutexGuard<'_, usize> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits for readers that want the lock, for a while: the lock itself would go to who asks
    /// next, which is the writer.
    fn let_readers_in(&self) {
        let (readers, want) = (self.readers(), |readers: &mut usize| *readers > 0);
        drop(
            self.let_in
                .wait_timeout_while(readers, WAIT_FOR_READERS, want),
        );
    }
}

/// A buffer to which nothing is added.
pub struct FrozenBuffer<'a> {
    inner: RwLockReadGuard<'a, Inner>,
}

/// A term that is being sorted: what comes first in the order of keys, then its slot.
type Unsorted = (u16, u64, u32);

impl FrozenBuffer<'_> {
    /// The keys of all terms in order, and the slot of each. It takes [`SORTING_BYTES`] for each
    /// term.
    pub fn sorted(&self) -> (Vec<&[u8]>, Vec<u32>) {
        let inner = &*self.inner;
        let mut terms: Vec<Unsorted> = (0..)
            .zip(inner.slots.iter())
            .map(|(slot, at)| {
                let (field, head) = sorting_head(inner.key(at));
                (field, head, slot)
            })
            .collect();
        let key = |slot: u32| inner.key(inner.slots.get(slot));
        let compare = |a: &Unsorted, b: &Unsorted| {
            let heads = (a.0, a.1).cmp(&(b.0, b.1));
            heads.then_with(|| key(a.2).cmp(key(b.2)))
        };
        let half = terms.len() / 2;
        let (one, other) = terms.split_at_mut(half);
        both(
            || one.sort_unstable_by(compare),
            || other.sort_unstable_by(compare),
        );
        let mut order = Vec::with_capacity(terms.len());
        let (mut one, mut other) = (&terms[..half], &terms[half..]);
        while let (Some(a), Some(b)) = (one.first(), other.first()) {
            let least = match compare(a, b) {
                Ordering::Less => &mut one,
                _ => &mut other,
            };
            order.push(least[0].2);
            *least = &least[1..];
        }
        order.extend(one.iter().chain(other).map(|(.., slot)| *slot));
        drop(terms);
        (order.iter().map(|slot| key(*slot)).collect(), order)
    }

    /// The postings of the term in a slot.
    pub fn fragment(&self, slot: u32) -> Fragment {
        let slot = self.inner.slots.get(slot);
        // A list that is longer would otherwise be copied again and again while it grows.
        let lengths = self.inner.lengths(slot);
        self.inner.fragment(slot, lengths, Reach::Positions)
    }

    /// The postings of the term in a slot where they lie, if they are in one piece.
    pub fn short(&self, slot: u32) -> Option<ShortList<'_>> {
        let slot = self.inner.slots.get(slot);
        let (lengths, piece) = self.inner.arena.first_slice(&slot.stream)?.split_first()?;
        let [docs, positions] = [lengths & LONG as u8, lengths >> 4].map(usize::from);
        let is_one_piece = docs + positions == piece.len();
        is_one_piece.then(|| {
            let (docs, positions) = piece.split_at(docs);
            ShortList::new(slot.filters, slot.count, slot.last, docs, positions)
        })
    }

    /// Bytes that the postings of the term in a slot take at least: one for each document and each
    /// token.
    pub fn bytes_min(&self, slot: u32) -> usize {
        let slot = self.inner.slots.get(slot);
        slot.count as usize + slot.total_frequency as usize
    }
}

/// Returns the part that decides the order of nearly all keys: the field, and the first bytes
/// behind it as a number. Numbers sort as the keys do.
fn sorting_head(key: &[u8]) -> (u16, u64) {
    let mut head = [0; FIELD_BYTES + HEAD_BYTES];
    let length = key.len().min(head.len());
    head[..length].copy_from_slice(&key[..length]);
    let [a, b, head @ ..] = head;
    (u16::from_be_bytes([a, b]), u64::from_be_bytes(head))
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
    /// Bytes of memory, with those that a flush will take to sort the terms.
    fn memory_bytes(&self) -> usize {
        let sorting = self.slots.len() * SORTING_BYTES;
        self.arena.memory_bytes()
            + self.slots.memory_bytes()
            + self.table.allocation_size()
            + sorting
    }

    /// Gives back what was reserved for a batch and not taken: searches have need of it.
    fn give_back_spare(&mut self) {
        let held = self.memory_bytes();
        if held < self.reservation.bytes() {
            // To shrink does not fail.
            let _ = self.reservation.grow_to(held);
        }
    }

    /// Memory that the table takes beside its own while it grows to hold so many more terms.
    fn growth(&self, terms: usize) -> usize {
        let length = self.table.len() + terms;
        if length > self.table.capacity() {
            // A place takes a slot's number and a control byte, and at most seven eighths of them
            // are taken.
            (length * 8 / 7).next_power_of_two() * (size_of::<u32>() + 1)
        } else {
            0
        }
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

    /// Reads where these terms will be appended to: the misses overlap, those of the appends would
    /// not.
    fn touch(&self, slots: &[u32]) {
        let ends = slots.iter().map(|slot| {
            let slot = self.slots.get(*slot);
            self.arena.end_of(&slot.stream)
        });
        std::hint::black_box(ends.fold(0, |all, end| all ^ end));
    }

    fn append(
        &mut self,
        slot: u32,
        term: &InvertedTerm,
        docs: &[u8],
        positions: &[u8],
        base: DocId,
    ) {
        let mut slot_value = *self.slots.get(slot);
        let first = base + term.first;
        if slot_value.count == 0 {
            slot_value.first = first;
        }
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

    /// Shows `visitor` the docs of a term below `below`. The docs of a batch are put into `piece`.
    fn each_doc(
        &self,
        slot: &Slot,
        below: DocId,
        piece: &mut Vec<u8>,
        visitor: &mut dyn TermVisitor,
    ) -> Result<()> {
        let mut reader = self.arena.reader(&slot.stream);
        let mut previous = None;
        while !reader.is_at_end() {
            let [docs, positions] = read_lengths(&mut reader);
            piece.clear();
            reader.copy(docs, piece);
            reader.skip(positions);
            let mut docs = ByteReader::new(piece, WHAT);
            while !docs.is_empty() {
                let before = previous.unwrap_or_default();
                let (doc, _) = read_posting(&mut docs, before, previous.is_none())?;
                if doc >= below {
                    return Ok(());
                }
                visitor.doc(doc)?;
                previous = Some(doc);
            }
        }
        Ok(())
    }

    /// Bytes of the docs and of the positions of a term.
    fn lengths(&self, slot: &Slot) -> [usize; 2] {
        let (mut reader, mut all) = (self.arena.reader(&slot.stream), [0, 0]);
        while !reader.is_at_end() {
            let [docs, positions] = read_lengths(&mut reader);
            reader.skip(docs + positions);
            all = [all[0] + docs, all[1] + positions];
        }
        all
    }

    /// The postings of a term, in vectors with room for so many bytes of docs and of positions.
    fn fragment(&self, slot: &Slot, [docs, positions]: [usize; 2], reach: Reach) -> Fragment {
        let mut fragment = Fragment {
            base: 0,
            count: slot.count,
            total_frequency: slot.total_frequency as u64,
            // All others occur once at least.
            max_frequency: slot.total_frequency - slot.count + 1,
            last: slot.last,
            filters: slot.filters,
            docs: Vec::with_capacity(docs),
            positions: Vec::with_capacity(positions),
        };
        let mut reader = self.arena.reader(&slot.stream);
        while !reader.is_at_end() {
            let [docs, positions] = read_lengths(&mut reader);
            reader.copy(docs, &mut fragment.docs);
            match reach {
                Reach::Docs => reader.skip(positions),
                Reach::Filter | Reach::Positions => reader.copy(positions, &mut fragment.positions),
            }
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
