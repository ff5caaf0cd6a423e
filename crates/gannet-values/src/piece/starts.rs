//! Which values are the first of their document: one bit a value.

use std::ops::Range;

use super::reader::{Reader, word_at};
use super::{Damaged, WORD};
use crate::bits::{Bits, low_bits, ones};
use crate::{DOCUMENT_VALUES, PIECE_DOCUMENTS};

#[derive(Clone, Debug)]
pub(super) struct Starts<'a> {
    bytes: &'a [u8],
    values: usize,
}

/// A word of starts, and the number of documents that begin before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartsPlace {
    block: usize,
    before: usize,
}

impl<'a> Starts<'a> {
    /// Reads the starts of `present` documents.
    pub(super) fn parse(present: usize, reader: &mut Reader<'a>) -> Result<Starts<'a>, Damaged> {
        let values = reader.u32()? as usize;
        if values > PIECE_DOCUMENTS * DOCUMENT_VALUES {
            return Err(Damaged("it has more values than its documents can have"));
        }
        let bytes = reader.take(values.div_ceil(8))?;
        let starts = Starts { bytes, values };
        let words = (0..values.div_ceil(WORD)).map(|number| starts.word(number));
        let set: usize = words.map(|word| word.count_ones() as usize).sum();
        let last = starts.word(values / WORD);
        let is_beyond = last & !low_bits(values % WORD) != 0 && !values.is_multiple_of(WORD);
        let begins = values == 0 || starts.word(0) & 1 == 1;
        if set != present || is_beyond || !begins {
            return Err(Damaged("its values are not those of its documents"));
        }
        Ok(starts)
    }

    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// Returns the bits of 64 values.
    pub(super) fn word(&self, block: usize) -> u64 {
        word_at(self.bytes, block * 8)
    }

    /// Returns the numbers of the values of the document of an ordinal.
    pub(super) fn of(&self, ordinal: usize) -> Range<usize> {
        self.of_from(ordinal, &mut StartsPlace::default())
    }

    /// Returns the numbers of the values of the document of an ordinal that is not below the one of
    /// the call before.
    pub(super) fn of_from(&self, ordinal: usize, place: &mut StartsPlace) -> Range<usize> {
        while place.block < self.values.div_ceil(WORD) {
            let word = self.word(place.block);
            let count = word.count_ones() as usize;
            if ordinal < place.before + count {
                let start = ones(word).nth(ordinal - place.before).unwrap_or_default();
                let start = place.block * WORD + start;
                return start..self.next_start(start);
            }
            place.before += count;
            place.block += 1;
        }
        0..0
    }

    /// Lists the document of every value, given those with values.
    pub(super) fn repeat(&self, present: &[u16], documents: &mut Vec<u16>) {
        documents.reserve(self.values);
        // The first value is a start, so that one document has begun at every value.
        let mut begun = 0;
        for block in 0..self.values.div_ceil(WORD) {
            let word = self.word(block);
            let here = WORD.min(self.values - block * WORD);
            documents.extend((0..here).map(|bit| {
                begun += (word >> bit & 1) as usize;
                present
                    .get(begun.wrapping_sub(1))
                    .copied()
                    .unwrap_or_default()
            }));
        }
    }

    /// Returns the next start after a value, or the end.
    fn next_start(&self, value: usize) -> usize {
        let after = value + 1;
        let here = self.word(after / WORD) & !low_bits(after % WORD);
        let blocks = after / WORD + 1..self.values.div_ceil(WORD);
        let later = blocks.map(|block| (block, self.word(block)));
        let mut words = std::iter::once((after / WORD, here)).chain(later);
        let found = words.find(|(_, word)| *word != 0);
        found.map_or(self.values, |(block, word)| {
            block * WORD + word.trailing_zeros() as usize
        })
    }
}

/// Adds the ordinals of the documents that have the values of a mask, in a block with these starts
/// before which so many documents begin.
pub(super) fn add_ordinals(starts: u64, before: usize, mask: u64, ordinals: &mut Bits) {
    for bit in ones(mask) {
        let begun = before + (starts & low_bits(bit + 1)).count_ones() as usize;
        // The first value of all is a start, so at least one document has begun.
        ordinals.insert(begun.saturating_sub(1));
    }
}
