//! Turning a batch of analysed documents into postings, in parallel with other batches.
//!
//! The tokens of a batch are gathered as (term, document, position) and sorted by term; each term's
//! postings are then coded in one go. The posting buffer takes such a batch with one look-up for
//! each distinct term and copies the coded bytes, so the part that must happen in order is short.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;

use rustc_hash::FxBuildHasher;

use crate::analysis::{fingerprint, split_term_key};
use crate::base::{Error, PhraseFilters, Reservation, Result};
use crate::postings::codec::fragment::{put_posting, put_token};
use crate::postings::codec::tokens::Neighbours;

/// The postings of a batch of documents, by term; documents are numbered from 0 within the batch.
#[derive(Debug, Default)]
pub struct InvertedBatch {
    pub(crate) keys: Vec<u8>,
    pub(crate) terms: Vec<InvertedTerm>,
    pub(crate) data: Vec<u8>,
    /// Given back with the batch.
    memory: Option<Reservation>,
}

/// One term of a batch: ranges of `keys` and `data`, and counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InvertedTerm {
    pub(crate) hash: u32,
    pub(crate) key_start: u32,
    pub(crate) key_length: u16,
    /// The neighbours that stand behind the positions.
    pub(crate) filters: PhraseFilters,
    pub(crate) count: u32,
    pub(crate) total_frequency: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) first_frequency: u32,
    /// The docs stream without its first delta, which would stand before the first frequency.
    pub(crate) docs_start: u32,
    pub(crate) positions_start: u32,
    pub(crate) positions_end: u32,
}

/// Gathers the tokens of a batch. Reused from batch to batch.
#[derive(Debug, Default)]
pub struct Inverter {
    keys: Vec<u8>,
    terms: Vec<Interned>,
    table: HashTable<u32>,
    tokens: Vec<InvertedToken>,
    /// The field of the last token.
    last_field: u16,
    /// The tokens by term.
    order: Vec<u32>,
    memory: Option<Memory>,
    failed: Option<Error>,
}

/// The reservation of an inverter.
#[derive(Debug)]
struct Memory {
    reservation: Reservation,
    /// For what its caller holds.
    beside: usize,
}

#[derive(Clone, Copy, Debug)]
struct Interned {
    head: u128,
    hash: u64,
    key: (u32, u32),
    tokens: u32,
    /// The document of the last token.
    last: u32,
    /// The key's first bytes.
    field: u16,
    filters: PhraseFilters,
    /// 0 if the field keeps no phrase filters.
    fingerprint: u8,
}

/// A token, and the fingerprints of the words beside it: these are noted as tokens come, since the
/// terms of neighbours lie anywhere in memory when tokens are coded by term.
#[derive(Clone, Copy, Debug, Default)]
struct InvertedToken {
    term: u32,
    document: u32,
    position: u32,
    fingerprint: u8,
    before: u8,
    after: u8,
}

/// The memory of a token: as it comes, in the order of terms, and coded, about.
const TOKEN_BYTES: usize = size_of::<InvertedToken>() + size_of::<u32>() + CODED_BYTES;
const CODED_BYTES: usize = 4;

/// The memory of a term: as it comes, its place among the tokens, and coded.
const TERM_BYTES: usize = size_of::<Interned>() + size_of::<u32>() + size_of::<InvertedTerm>();

/// The most that coding a token appends: a position, its neighbours, and a posting.
const CODED_BYTES_MAX: usize = 5 + 4 + 10;

/// Memory that is kept from batch to batch; an inverter that has more gives it all back.
const KEPT_BYTES: usize = 1 << 20;

/// Vectors of more bytes than this grow by half, smaller ones to twice their size.
const LARGE_BYTES: usize = 1 << 20;

/// The longest key.
const KEY_BYTES_MAX: usize = 1_022;

/// Bytes of a key that are compared without going to where the keys are: all of nearly every key.
const HEAD_BYTES: usize = 16;

/// A key in 16 bytes. Together with the length it is the whole of a key of up to 16 bytes, and the
/// start of a longer one. Two loads that may overlap take the place of a copy of varying length.
#[inline]
fn key_head(key: &[u8]) -> u128 {
    let (low, high) = match key {
        [_, _, _, _, _, _, _, _, ..] => {
            let end = key.len().min(HEAD_BYTES);
            (load(&key[..8]), load(&key[end - 8..end]))
        }
        [_, _, _, _, ..] => (load(&key[..4]), load(&key[key.len() - 4..])),
        _ => (load(key), 0),
    };
    (high as u128) << 64 | low as u128
}

/// Up to eight bytes as a number.
#[inline]
fn load(bytes: &[u8]) -> u64 {
    match bytes.len() {
        8 => u64::from_le_bytes(bytes.try_into().unwrap_or_default()),
        4 => u32::from_le_bytes(bytes.try_into().unwrap_or_default()) as u64,
        _ => bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | *byte as u64),
    }
}

/// The hash by which terms are found, here and in the posting buffer.
pub(crate) fn hash_key(key: &[u8]) -> u64 {
    match key.len() {
        0..=HEAD_BYTES => {
            let head = key_head(key);
            FxBuildHasher.hash_one((head as u64, (head >> 64) as u64))
        }
        _ => FxBuildHasher.hash_one(key),
    }
}

impl InvertedBatch {
    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.keys.capacity()
            + self.data.capacity()
            + self.terms.capacity() * size_of::<InvertedTerm>()
    }

    /// Returns the number of documents of its terms, added up.
    pub(crate) fn postings(&self) -> u64 {
        self.terms.iter().map(|term| term.count as u64).sum()
    }

    /// The key of one of its terms.
    pub(crate) fn key(&self, term: &InvertedTerm) -> &[u8] {
        let start = term.key_start as usize;
        &self.keys[start..start + term.key_length as usize]
    }

    /// Its documents and frequencies, coded but for the first, and its positions.
    pub(crate) fn streams(&self, term: &InvertedTerm) -> (&[u8], &[u8]) {
        let positions = term.positions_start as usize;
        (
            &self.data[term.docs_start as usize..positions],
            &self.data[positions..term.positions_end as usize],
        )
    }
}

impl Inverter {
    /// Begins a batch whose memory is taken from `reservation`, which grows as it must. Without
    /// one, memory is not counted.
    pub fn begin(&mut self, reservation: Reservation) {
        self.memory = Some(Memory {
            reservation,
            beside: 0,
        });
        self.failed = None;
    }

    /// Counts what the caller holds for the batch beside the inverter.
    pub fn hold_beside(&mut self, bytes: usize) -> Result<()> {
        if let Some(memory) = &mut self.memory {
            memory.beside = bytes;
        }
        self.reserve(0)
    }

    /// Adds one token of the document that has this number in the batch. Documents come in
    /// ascending order, and so do the positions of one term key in a document. `filters` are those
    /// that its field keeps.
    ///
    /// Adds a token. If memory is lacking, the token is lost, and [`Inverter::check`] tells.
    #[inline]
    pub fn add(&mut self, key: &[u8], document: u32, position: u32, filters: PhraseFilters) {
        if self.tokens.len() == self.tokens.capacity() && !self.grow() {
            return;
        }
        let Some(term) = self.intern(key, filters) else {
            return;
        };
        let interned = &mut self.terms[term as usize];
        interned.tokens += 1;
        interned.last = document;
        let mut token = InvertedToken {
            term,
            document,
            position,
            fingerprint: interned.fingerprint,
            ..InvertedToken::default()
        };
        // Neighbours stand side by side in the same field of the document.
        if let Some(last) = self.tokens.last_mut()
            && (last.document, last.position) == (document, position.wrapping_sub(1))
            && self.last_field == interned.field
        {
            last.after = token.fingerprint;
            token.before = last.fingerprint;
        }
        self.last_field = interned.field;
        self.tokens.push(token);
    }

    /// Returns true if the document has a token of a term already.
    #[inline]
    pub fn has(&self, key: &[u8], document: u32) -> bool {
        let term = self.find(key, (key_head(key), hash_key(key)));
        term.is_some_and(|term| self.terms[term as usize].last == document)
    }

    /// Fails if a token was lost.
    pub fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Codes what was gathered and starts afresh, also after an error.
    pub fn finish(&mut self) -> Result<InvertedBatch> {
        let coded = self.check().and_then(|()| self.code());
        self.clear();
        let memory = self.memory.take();
        let mut batch = coded?;
        batch.memory = memory.map(|memory| memory.reservation);
        Ok(batch)
    }

    fn code(&mut self) -> Result<InvertedBatch> {
        self.sort_by_term();
        let mut batch = InvertedBatch {
            keys: std::mem::take(&mut self.keys),
            terms: Vec::with_capacity(self.terms.len()),
            data: Vec::with_capacity(self.tokens.len() * CODED_BYTES),
            memory: None,
        };
        let mut start = 0;
        for number in 0..self.terms.len() {
            let term = self.terms[number];
            let end = start + term.tokens as usize;
            self.make_room_for_coded(&mut batch.data, end - start)?;
            batch
                .terms
                .push(self.encode(&term, start..end, &mut batch.data));
            start = end;
        }
        if let Some(memory) = &mut self.memory {
            let bytes = batch.memory_bytes() + memory.beside;
            memory.reservation.grow_to(bytes)?;
        }
        Ok(batch)
    }

    /// Forgets all. The memory is kept for the next batch unless it is much.
    fn clear(&mut self) {
        if self.scratch_bytes() > KEPT_BYTES {
            let memory = self.memory.take();
            *self = Inverter {
                memory,
                ..Inverter::default()
            };
        }
        self.keys.clear();
        self.terms.clear();
        self.table.clear();
        self.tokens.clear();
    }

    fn scratch_bytes(&self) -> usize {
        self.keys.capacity()
            + self.terms.capacity() * TERM_BYTES
            + self.tokens.capacity() * TOKEN_BYTES
            + self.table.allocation_size()
    }

    /// Reserves what is held and so many bytes more.
    fn reserve(&mut self, more: usize) -> Result<()> {
        let bytes = self.scratch_bytes() + more;
        match &mut self.memory {
            Some(memory) if memory.reservation.bytes() < bytes + memory.beside => {
                memory.reservation.grow_to(bytes + memory.beside)
            }
            _ => Ok(()),
        }
    }

    /// Makes room for tokens, terms and keys where there is none; tells whether it could.
    #[cold]
    fn grow(&mut self) -> bool {
        if self.failed.is_some() {
            return false;
        }
        let tokens = next_capacity(self.tokens.len(), self.tokens.capacity(), TOKEN_BYTES);
        let terms = next_capacity(self.terms.len(), self.terms.capacity(), TERM_BYTES);
        let keys = next_capacity(self.keys.len() + KEY_BYTES_MAX, self.keys.capacity(), 1);
        // A vector and the larger one that takes its place are there at once.
        let table = if terms > self.table.capacity() {
            (terms * 8 / 7).next_power_of_two() * (size_of::<u32>() + 1)
        } else {
            0
        };
        let grown = |new: usize, old: usize, bytes: usize| if new > old { new * bytes } else { 0 };
        let more = grown(tokens, self.tokens.capacity(), TOKEN_BYTES)
            + grown(terms, self.terms.capacity(), TERM_BYTES)
            + grown(keys, self.keys.capacity(), 1)
            + table;
        if let Err(error) = self.reserve(more) {
            self.failed = Some(error);
            return false;
        }
        self.tokens.reserve_exact(tokens - self.tokens.len());
        self.terms.reserve_exact(terms - self.terms.len());
        self.keys.reserve_exact(keys - self.keys.len());
        let interned = &self.terms;
        self.table.reserve(terms - self.table.len(), |term| {
            interned[*term as usize].hash
        });
        true
    }

    /// Makes room for the codes of so many tokens.
    fn make_room_for_coded(&mut self, data: &mut Vec<u8>, tokens: usize) -> Result<()> {
        let most = tokens * CODED_BYTES_MAX;
        if data.capacity() - data.len() >= most {
            return Ok(());
        }
        let capacity = next_capacity(data.len() + most, data.capacity(), 1);
        self.reserve(capacity)?;
        data.reserve_exact(capacity - data.len());
        Ok(())
    }

    /// The number of a term; nothing if there is no memory for it.
    #[inline]
    fn intern(&mut self, key: &[u8], filters: PhraseFilters) -> Option<u32> {
        let (head, hash) = (key_head(key), hash_key(key));
        match self.find(key, (head, hash)) {
            Some(term) => Some(term),
            None => self.intern_new(key, filters, head, hash),
        }
    }

    /// The number of a term that is known, of a key with its head and its hash.
    #[inline]
    fn find(&self, key: &[u8], (head, hash): (u128, u64)) -> Option<u32> {
        let (keys, terms) = (&self.keys, &self.terms);
        let same = |term: &u32| {
            let interned = &terms[*term as usize];
            let (start, end) = (interned.key.0 as usize, interned.key.1 as usize);
            interned.head == head
                && end - start == key.len()
                && (key.len() <= HEAD_BYTES || keys[start..end] == *key)
        };
        self.table.find(hash, same).copied()
    }

    fn intern_new(
        &mut self,
        key: &[u8],
        filters: PhraseFilters,
        head: u128,
        hash: u64,
    ) -> Option<u32> {
        let is_full = self.terms.len() == self.terms.capacity()
            || self.keys.len() + key.len() > self.keys.capacity()
            || self.table.len() == self.table.capacity();
        if is_full && !self.grow() {
            return None;
        }
        let start = self.keys.len() as u32;
        self.keys.extend_from_slice(key);
        let term = self.terms.len() as u32;
        self.terms.push(Interned {
            head,
            hash,
            key: (start, self.keys.len() as u32),
            tokens: 0,
            last: u32::MAX,
            field: split_term_key(key).map_or(0, |(field, _)| field),
            filters,
            // There are fewer common words than a byte has numbers.
            fingerprint: fingerprint(key, filters) as u8,
        });
        let terms = &self.terms;
        self.table
            .insert_unique(hash, term, |term| terms[*term as usize].hash);
        Some(term)
    }

    /// A stable counting sort: within a term, tokens stay in the order of documents and positions.
    fn sort_by_term(&mut self) {
        let mut next = Vec::with_capacity(self.terms.len());
        let mut start = 0u32;
        for term in &self.terms {
            next.push(start);
            start += term.tokens;
        }
        self.order.clear();
        self.order.reserve_exact(self.tokens.len());
        self.order.resize(self.tokens.len(), 0);
        for (at, token) in (0..).zip(&self.tokens) {
            let place = &mut next[token.term as usize];
            self.order[*place as usize] = at;
            *place += 1;
        }
    }

    /// Codes the tokens of one term, those at these places of the order.
    fn encode(&self, term: &Interned, places: Range<usize>, data: &mut Vec<u8>) -> InvertedTerm {
        let mut coded = InvertedTerm {
            hash: short_hash(term.hash),
            key_start: term.key.0,
            key_length: (term.key.1 - term.key.0) as u16,
            filters: term.filters,
            count: 0,
            total_frequency: term.tokens,
            first: 0,
            last: 0,
            first_frequency: 0,
            docs_start: data.len() as u32,
            positions_start: 0,
            positions_end: 0,
        };
        let tokens = &self.order[places];
        let document = |at: &u32| self.tokens[*at as usize].document;
        for posting in tokens.chunk_by(|a, b| document(a) == document(b)) {
            coded.add(document(&posting[0]), posting.len() as u32, data);
        }
        coded.positions_start = data.len() as u32;
        let mut previous = InvertedToken::default();
        for (place, at) in tokens.iter().enumerate() {
            let token = self.tokens[*at as usize];
            let same = place > 0 && token.document == previous.document;
            let before = if same { previous.position } else { 0 };
            put_token(
                data,
                token.position - before,
                token.neighbours(),
                term.filters,
            );
            previous = token;
        }
        coded.positions_end = data.len() as u32;
        coded
    }
}

impl InvertedToken {
    #[inline]
    fn neighbours(self) -> Neighbours {
        Neighbours {
            before: u16::from(self.before),
            after: u16::from(self.after),
        }
    }
}

impl InvertedTerm {
    /// Takes in the next posting.
    fn add(&mut self, document: u32, frequency: u32, data: &mut Vec<u8>) {
        match self.count {
            0 => (self.first, self.first_frequency) = (document, frequency),
            _ => put_posting(data, document - self.last, frequency),
        }
        self.last = document;
        self.count += 1;
    }
}

/// The capacity with which a vector goes on that has to hold more than `length`.
fn next_capacity(length: usize, capacity: usize, bytes: usize) -> usize {
    if length < capacity {
        return capacity;
    }
    let more = if capacity * bytes > LARGE_BYTES {
        capacity / 2
    } else {
        capacity
    };
    (capacity + more).max(length + 1).max(64)
}

/// Returns the part of a key's hash that a slot of the posting buffer keeps.
pub(crate) fn short_hash(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_another_field_are_no_neighbours() {
        let filters = PhraseFilters::Common;
        let mut inverter = Inverter::default();
        for (field, word, position) in [(1, b"was", 0), (2, b"the", 1), (2, b"and", 2)] {
            let key = [&[0, field], &word[..]].concat();
            inverter.add(&key, 0, position, filters);
        }
        let the = fingerprint(b"\0\x02the", filters);
        let and = fingerprint(b"\0\x02and", filters);
        let seen = [0, 1, 2].map(|at: usize| inverter.tokens[at].neighbours());
        assert_eq!(seen.map(|seen| seen.before), [0, 0, the]);
        assert_eq!(seen.map(|seen| seen.after), [0, and, 0]);
    }
}
