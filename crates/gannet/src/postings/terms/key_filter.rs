//! Filters the keys of a tree: a Bloom filter over them, in memory.
//!
//! A look-up asks the trees of long lists and of delta postings for few of the words only. Without
//! a filter each word would descend those trees for nothing and keep their leaves in memory.
//!
//! Keys are only ever added; when there are too many for the words, all are put into twice as many.

use std::sync::Arc;

use crate::base::{ByteReader, KeyHash, Result};

/// Bits a key, at least; one in seventy other keys passes then, and far fewer while there is room.
const BITS_PER_KEY: u64 = 16;

/// Words of the smallest filter.
const WORDS_MIN: usize = 64;

/// A set of keys that may hold others too. Clones are cheap.
#[derive(Clone, Debug)]
pub(in crate::postings) struct KeyFilter {
    words: Arc<Vec<u64>>,
}

impl KeyFilter {
    /// An empty set with room for `keys` keys and as many again.
    pub(in crate::postings) fn with_room_for(keys: u64) -> KeyFilter {
        let words = (2 * keys * BITS_PER_KEY).div_ceil(64) as usize;
        KeyFilter {
            words: Arc::new(vec![0; words.max(WORDS_MIN)]),
        }
    }

    /// A set that may hold any key.
    pub(in crate::postings) fn of_any_key() -> KeyFilter {
        KeyFilter {
            words: Arc::new(vec![u64::MAX; WORDS_MIN]),
        }
    }

    /// Returns true if there is room for `keys` keys.
    pub(in crate::postings) fn has_room_for(&self, keys: u64) -> bool {
        keys * BITS_PER_KEY <= self.words.len() as u64 * 64
    }

    /// Adds a key.
    pub(in crate::postings) fn insert(&mut self, key: &[u8]) {
        let (word, bits) = self.place(key);
        Arc::make_mut(&mut self.words)[word] |= bits;
    }

    /// Returns true if a key may have been added. If not, it was not.
    pub(in crate::postings) fn may_have(&self, key: &[u8]) -> bool {
        let (word, bits) = self.place(key);
        self.words[word] & bits == bits
    }

    /// Bytes of memory.
    pub(in crate::postings) fn memory_bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Appends the words.
    pub(in crate::postings) fn encode(&self, out: &mut Vec<u8>) {
        for word in self.words.iter() {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Reads what [`KeyFilter::encode`] wrote.
    pub(in crate::postings) fn decode(bytes: &[u8]) -> Result<KeyFilter> {
        let mut reader = ByteReader::new(bytes, "a filter of keys");
        let mut words = Vec::with_capacity(bytes.len() / 8);
        while !reader.is_empty() {
            words.push(reader.u64()?);
        }
        if words.is_empty() {
            Err(reader.damaged("a word at least", "none"))
        } else {
            Ok(KeyFilter {
                words: Arc::new(words),
            })
        }
    }

    /// The word of a key, and its bits there.
    fn place(&self, key: &[u8]) -> (usize, u64) {
        let (word, bits) = KeyHash::of(key).place(self.words.len() as u64);
        (word as usize, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_all_that_was_added_and_little_else() {
        let key = |number: u32| format!("\0\u{1}word{number}").into_bytes();
        let mut keys = KeyFilter::with_room_for(10_000);
        for (count, most) in [(10_000, 60), (20_000, 400)] {
            (0..count).for_each(|number| keys.insert(&key(number)));
            assert!(keys.has_room_for(count as u64));
            let mut bytes = Vec::new();
            keys.encode(&mut bytes);
            let read = KeyFilter::decode(&bytes).unwrap();
            assert!((0..count).all(|number| read.may_have(&key(number))));
            let others = (count..count + 20_000).filter(|number| read.may_have(&key(*number)));
            let others = others.count();
            assert!(others <= most, "{others} of 20,000 others pass");
        }
        assert!(!keys.has_room_for(20_001));
        assert!(KeyFilter::decode(&[]).is_err() && KeyFilter::decode(&[0; 9]).is_err());
    }
}
