//! Hashes of keys for Bloom filters of words of 64 bits.
//!
//! A key sets four bits of one word, so that it costs one cache miss. Source: Putze, Sanders,
//! Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.

/// The hash of a key, by which each filter finds its word and bits.
#[derive(Clone, Copy, Debug)]
pub struct KeyHash(u64);

impl KeyHash {
    /// The hash of these bytes.
    pub fn of(key: &[u8]) -> KeyHash {
        KeyHash((crc32c::crc32c(key) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The word of the key among so many words, at least one, and its bits there.
    pub fn place(self, words: u64) -> (u64, u64) {
        let word = ((self.0 >> 32) * words) >> 32;
        let bit = |at: u32| 1u64 << (self.0 >> (6 * at) & 63);
        (word, bit(0) | bit(1) | bit(2) | bit(3))
    }
}
