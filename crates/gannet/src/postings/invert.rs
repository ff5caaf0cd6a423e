//! Turning a batch of analysed documents into postings, in parallel with other batches.
//!
//! The tokens of a batch are gathered as (term, document, position) and sorted by term; each term's
//! postings are then coded in one go. The posting buffer takes such a batch with one look-up for each
//! distinct term and copies the coded bytes, so the part that must happen in order is short.

use hashbrown::HashTable;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::fragment::{put_posting, put_token};
use super::tokens::Neighbours;
use crate::analysis::{fingerprint, split_term_key};
use crate::base::PhraseFilters;

/// The postings of a batch of documents, by term; documents are numbered from 0 within the batch.
#[derive(Debug, Default)]
pub struct InvertedBatch {
    pub(super) keys: Vec<u8>,
    pub(super) terms: Vec<InvertedTerm>,
    pub(super) data: Vec<u8>,
}

/// One term of a batch: ranges of `keys` and `data`, and counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct InvertedTerm {
    pub(super) hash: u64,
    pub(super) key: (u32, u32),
    pub(super) count: u32,
    pub(super) total_frequency: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    /// The docs stream without its first delta: `data[docs.0..docs.1]` after [`InvertedTerm::first_frequency`].
    pub(super) docs: (u32, u32),
    pub(super) first_frequency: u32,
    pub(super) positions: (u32, u32),
    /// Which neighbours stand behind the positions.
    pub(super) filters: PhraseFilters,
}

/// Gathers the tokens of a batch. Reused from batch to batch.
#[derive(Debug, Default)]
pub struct Inverter {
    keys: Vec<u8>,
    terms: Vec<Interned>,
    table: HashTable<u32>,
    tokens: Vec<Token>,
    sorted: Vec<Sorted>,
}

#[derive(Clone, Copy, Debug)]
struct Interned {
    head: u128,
    hash: u64,
    key: (u32, u32),
    tokens: u32,
    /// The key's first bytes.
    field: u16,
    filters: PhraseFilters,
    /// 0 if the field keeps no phrase filters.
    fingerprint: u16,
}

#[derive(Clone, Copy, Debug, Default)]
struct Token {
    term: u32,
    document: u32,
    position: u32,
}

/// A token among those of its term.
#[derive(Clone, Copy, Debug, Default)]
struct Sorted {
    document: u32,
    position: u32,
    neighbours: Neighbours,
}

/// Bytes of a key that are compared without going to where the keys are: all of nearly every key.
const HEAD_BYTES: usize = 16;

/// A key in 16 bytes. Together with the length it is the whole of a key of up to 16 bytes, and the start of a
/// longer one. Two loads that may overlap take the place of a copy of varying length.
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
pub(super) fn hash_key(key: &[u8]) -> u64 {
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
}

impl Inverter {
    /// Adds one token of the document that has this number in the batch. Documents come in ascending order,
    /// and so do the positions of one term key in a document. `filters` are those that its field keeps.
    pub fn add(&mut self, key: &[u8], document: u32, position: u32, filters: PhraseFilters) {
        let term = self.intern(key, filters);
        self.terms[term as usize].tokens += 1;
        self.tokens.push(Token {
            term,
            document,
            position,
        });
    }

    /// Codes what was gathered and starts afresh.
    pub fn finish(&mut self) -> InvertedBatch {
        self.sort_by_term();
        let mut batch = InvertedBatch {
            keys: std::mem::take(&mut self.keys),
            terms: Vec::with_capacity(self.terms.len()),
            data: Vec::with_capacity(self.tokens.len() * 4),
        };
        let mut start = 0;
        for term in &self.terms {
            let end = start + term.tokens as usize;
            let coded = encode_term(term, &self.sorted[start..end], &mut batch.data);
            batch.terms.push(coded);
            start = end;
        }
        self.terms.clear();
        self.table.clear();
        self.tokens.clear();
        batch
    }

    fn intern(&mut self, key: &[u8], filters: PhraseFilters) -> u32 {
        let (head, hash) = (key_head(key), hash_key(key));
        let (keys, terms) = (&self.keys, &self.terms);
        let same = |term: &u32| {
            let interned = &terms[*term as usize];
            let (start, end) = (interned.key.0 as usize, interned.key.1 as usize);
            interned.head == head
                && end - start == key.len()
                && (key.len() <= HEAD_BYTES || keys[start..end] == *key)
        };
        if let Some(term) = self.table.find(hash, same) {
            return *term;
        }
        let start = self.keys.len() as u32;
        self.keys.extend_from_slice(key);
        let term = self.terms.len() as u32;
        self.terms.push(Interned {
            head,
            hash,
            key: (start, self.keys.len() as u32),
            tokens: 0,
            field: split_term_key(key).map_or(0, |(field, _)| field),
            filters,
            fingerprint: fingerprint(key, filters),
        });
        let terms = &self.terms;
        self.table
            .insert_unique(hash, term, |term| terms[*term as usize].hash);
        term
    }

    /// A stable counting sort: within a term, tokens stay in the order of documents and positions.
    fn sort_by_term(&mut self) {
        let mut next = Vec::with_capacity(self.terms.len());
        let mut start = 0u32;
        for term in &self.terms {
            next.push(start);
            start += term.tokens;
        }
        self.sorted.clear();
        self.sorted.resize(self.tokens.len(), Sorted::default());
        for (at, token) in self.tokens.iter().enumerate() {
            let neighbours = self.neighbours(at);
            let place = &mut next[token.term as usize];
            self.sorted[*place as usize] = Sorted {
                document: token.document,
                position: token.position,
                neighbours,
            };
            *place += 1;
        }
    }

    /// The neighbours of a token among all tokens as they came: those beside it that stand there in the field of
    /// the document too.
    fn neighbours(&self, at: usize) -> Neighbours {
        let here = &self.tokens[at];
        let field = self.terms[here.term as usize].field;
        let of = |token: Option<&Token>, position: u32| match token {
            Some(token) if (token.document, token.position) == (here.document, position) => {
                let term = &self.terms[token.term as usize];
                if term.field == field {
                    term.fingerprint
                } else {
                    0
                }
            }
            _ => 0,
        };
        let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        Neighbours {
            before: of(before, here.position.wrapping_sub(1)),
            after: of(self.tokens.get(at + 1), here.position.wrapping_add(1)),
        }
    }
}

fn encode_term(term: &Interned, tokens: &[Sorted], data: &mut Vec<u8>) -> InvertedTerm {
    let docs_start = data.len() as u32;
    let mut coded = InvertedTerm {
        hash: term.hash,
        key: term.key,
        count: 0,
        total_frequency: term.tokens,
        first: tokens.first().map_or(0, |token| token.document),
        last: tokens.last().map_or(0, |token| token.document),
        docs: (docs_start, docs_start),
        first_frequency: 0,
        positions: (0, 0),
        filters: term.filters,
    };
    let mut previous = 0;
    for posting in tokens.chunk_by(|a, b| a.document == b.document) {
        let frequency = posting.len() as u32;
        if coded.count == 0 {
            coded.first_frequency = frequency;
        } else {
            put_posting(data, posting[0].document - previous, frequency);
        }
        previous = posting[0].document;
        coded.count += 1;
    }
    coded.docs.1 = data.len() as u32;
    for posting in tokens.chunk_by(|a, b| a.document == b.document) {
        let mut previous = 0;
        for token in posting {
            let distance = token.position - previous;
            put_token(data, distance, token.neighbours, term.filters);
            previous = token.position;
        }
    }
    coded.positions = (coded.docs.1, data.len() as u32);
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_another_field_are_no_neighbours() {
        let filters = PhraseFilters::Fingerprints;
        let mut inverter = Inverter::default();
        for (field, word, position) in [(1, b"sea", 0), (2, b"the", 1), (2, b"ice", 2)] {
            let key = [&[0, field], &word[..]].concat();
            inverter.add(&key, 0, position, filters);
        }
        let the = fingerprint(b"\0\x02the", filters);
        let ice = fingerprint(b"\0\x02ice", filters);
        let seen = [0, 1, 2].map(|at| inverter.neighbours(at));
        assert_eq!(seen.map(|seen| seen.before), [0, 0, the]);
        assert_eq!(seen.map(|seen| seen.after), [0, ice, 0]);
    }
}
