//! Phrase filters of chunks in the making.

use super::bloom::{self, BLOOM_BYTES};
use super::tokens::Tokens;
use crate::base::PhraseFilters;

/// What is known so far of the words before and after the tokens of a chunk.
#[derive(Debug)]
pub struct FilterDraft {
    filters: PhraseFilters,
    /// The bytes as they will lie in the chunk.
    sides: [Vec<u8>; 2],
    /// The Bloom filters of the postings behind the last block.
    gathered: [Vec<u8>; 2],
}

/// A phrase filter as it lies in a chunk.
#[derive(Debug)]
pub struct CodedFilter {
    /// Its kind; none if there are no bytes.
    pub filters: PhraseFilters,
    /// All bytes.
    pub bytes: Vec<u8>,
    /// Bytes of the words before, and of those after.
    pub lengths: [u32; 2],
}

impl FilterDraft {
    /// A filter of no tokens so far.
    pub fn new(filters: PhraseFilters) -> FilterDraft {
        FilterDraft {
            filters,
            sides: Default::default(),
            gathered: Default::default(),
        }
    }

    /// Its kind.
    pub fn filters(&self) -> PhraseFilters {
        self.filters
    }

    /// Bytes so far.
    pub fn bytes(&self) -> usize {
        let sides = self.sides.iter().chain(&self.gathered);
        sides.map(Vec::len).sum()
    }

    /// Where the groups of the next block will start on each side.
    pub fn starts(&self) -> [u32; 2] {
        [0, 1].map(|side: usize| self.sides[side].len() as u32)
    }

    /// Takes in the tokens of a posting.
    pub fn push(&mut self, tokens: &Tokens) {
        for (side, known) in tokens.filter.iter().enumerate() {
            match self.filters {
                PhraseFilters::None => {}
                // A token or two, for which a loop is less than a call.
                PhraseFilters::Fingerprints => self.sides[side].extend(known.iter().copied()),
                PhraseFilters::Bloom => self.gathered[side].extend_from_slice(match known.len() {
                    BLOOM_BYTES => known,
                    _ => &bloom::ANY,
                }),
            }
        }
    }

    /// Ends a block of postings: puts their Bloom filters into groups. Gives how many these have on each side.
    pub fn end_block(&mut self) -> [u8; 2] {
        [0, 1].map(|side: usize| {
            let filters = std::mem::take(&mut self.gathered[side]);
            bloom::put_group(&filters, &mut self.sides[side])
        })
    }

    /// The filter of a chunk of `total` tokens: what is known of the words before them, then of those after. None
    /// of fingerprints if a chunk without was taken in, or if the chunk is too dense to be worth the bytes.
    pub fn finish(self, total: u32, dense: bool) -> CodedFilter {
        let complete = match self.filters {
            PhraseFilters::None => false,
            PhraseFilters::Fingerprints => !dense && self.sides[0].len() == total as usize,
            PhraseFilters::Bloom => true,
        };
        if !complete {
            return CodedFilter {
                filters: PhraseFilters::None,
                bytes: Vec::new(),
                lengths: [0; 2],
            };
        }
        let lengths = self.starts();
        let [mut bytes, mut after] = self.sides;
        bytes.append(&mut after);
        CodedFilter {
            filters: self.filters,
            bytes,
            lengths,
        }
    }
}
