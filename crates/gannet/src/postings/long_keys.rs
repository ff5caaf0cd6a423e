//! Which terms may have long lists: a Bloom filter over the keys of the tree of long lists, in memory.
//!
//! A look-up asks the long lists first. Most words are rare, and without a filter each of them would descend that
//! tree for nothing and keep its leaves in memory, which are a quarter of the dictionary.
//!
//! Keys are only ever added, since a list that is long stays so; when there are too many for the words, all are
//! put into twice as many. A key sets four bits of one word, so that it costs one cache miss.

use std::sync::Arc;

use crate::base::{ByteReader, Result};

/// Bits a key, at least; one in seventy other keys passes then, and far fewer while there is room.
const BITS_PER_KEY: u64 = 16;

/// Words of the smallest filter.
const WORDS_MIN: usize = 64;

/// A set of keys that may hold others too. Clones are cheap.
#[derive(Clone, Debug)]
pub(super) struct LongKeys {
    words: Arc<Vec<u64>>,
}

impl LongKeys {
    /// An empty set with room for `keys` keys and as many again.
    pub(super) fn with_room_for(keys: u64) -> LongKeys {
        let words = (2 * keys * BITS_PER_KEY).div_ceil(64) as usize;
        LongKeys {
            words: Arc::new(vec![0; words.max(WORDS_MIN)]),
        }
    }

    /// Whether there is room for `keys` keys.
    pub(super) fn has_room_for(&self, keys: u64) -> bool {
        keys * BITS_PER_KEY <= self.words.len() as u64 * 64
    }

    /// Adds a key.
    pub(super) fn insert(&mut self, key: &[u8]) {
        let (word, bits) = self.place(key);
        Arc::make_mut(&mut self.words)[word] |= bits;
    }

    /// Whether a key may have been added. If not, it was not.
    pub(super) fn may_have(&self, key: &[u8]) -> bool {
        let (word, bits) = self.place(key);
        self.words[word] & bits == bits
    }

    /// Bytes of memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Appends the words.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for word in self.words.iter() {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Reads what [`LongKeys::encode`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<LongKeys> {
        let mut reader = ByteReader::new(bytes, "the filter of long lists");
        let mut words = Vec::with_capacity(bytes.len() / 8);
        while !reader.is_empty() {
            words.push(reader.u64()?);
        }
        match words.is_empty() {
            true => Err(reader.damaged("a word at least", "none")),
            false => Ok(LongKeys {
                words: Arc::new(words),
            }),
        }
    }

    /// The word of a key, and its bits there.
    fn place(&self, key: &[u8]) -> (usize, u64) {
        let hash = (crc32c::crc32c(key) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = ((hash >> 32) * self.words.len() as u64) >> 32;
        let bit = |at: u32| 1u64 << (hash >> (6 * at) & 63);
        (word as usize, bit(0) | bit(1) | bit(2) | bit(3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_all_that_was_added_and_little_else() {
        let key = |number: u32| format!("\0\u{1}word{number}").into_bytes();
        let mut keys = LongKeys::with_room_for(10_000);
        for (count, most) in [(10_000, 60), (20_000, 400)] {
            (0..count).for_each(|number| keys.insert(&key(number)));
            assert!(keys.has_room_for(count as u64));
            let mut bytes = Vec::new();
            keys.encode(&mut bytes);
            let read = LongKeys::decode(&bytes).unwrap();
            assert!((0..count).all(|number| read.may_have(&key(number))));
            let others = (count..count + 20_000).filter(|number| read.may_have(&key(*number)));
            let others = others.count();
            assert!(others <= most, "{others} of 20,000 others pass");
        }
        assert!(!keys.has_room_for(20_001));
        assert!(LongKeys::decode(&[]).is_err() && LongKeys::decode(&[0; 9]).is_err());
    }
}
