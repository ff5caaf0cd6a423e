//! A set of documents of one piece.

use crate::PIECE_DOCUMENTS;

const WORDS: usize = PIECE_DOCUMENTS / 64;

/// A set of documents of one piece, by their numbers in it: 1,024 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    words: [u64; WORDS],
}

impl Bits {
    /// The empty set.
    pub const EMPTY: Bits = Bits { words: [0; WORDS] };

    /// Returns the set of the documents below `documents`, at most 1,024.
    pub fn first(documents: usize) -> Bits {
        let mut bits = Bits::EMPTY;
        for (number, word) in bits.words.iter_mut().enumerate() {
            let here = documents.saturating_sub(number * 64).min(64);
            *word = low_bits(here);
        }
        bits
    }

    /// Returns the words, the first documents in the low bits of the first.
    pub fn words(&self) -> &[u64; WORDS] {
        &self.words
    }

    /// Returns the words to be changed.
    pub fn words_mut(&mut self) -> &mut [u64; WORDS] {
        &mut self.words
    }

    /// Adds a document. One of 1,024 or more is left out.
    pub fn insert(&mut self, document: usize) {
        if let Some(word) = self.words.get_mut(document / 64) {
            *word |= 1 << (document % 64);
        }
    }

    /// Returns if the set has a document.
    pub fn contains(&self, document: usize) -> bool {
        let word = self.words.get(document / 64);
        word.is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    /// Returns the number of documents.
    pub fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Returns if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the documents, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(number, word)| ones(*word).map(move |bit| number * 64 + bit))
    }
}

/// Returns the numbers of the bits of a word that are set, ascending.
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (bit < 64).then(|| {
            word &= word - 1;
            bit
        })
    })
}

/// Returns a word whose lowest `count` bits are set, at most 64.
pub(crate) fn low_bits(count: usize) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}
