//! The tokens of one posting: where they stand, and between which neighbours.
//!
//! A *phrase filter* keeps, for each token of a list, one byte for the word before it and one for the word
//! after it. So the rarer word of a pair tells alone which of its documents may have both side by side, and
//! no other list is read for the rest. The paper's filters (He et al., WiSER, 2020: Bloom filters of nine
//! bytes for each posting and direction) answer the same question in several times the space; bytes in the
//! order of the tokens need no lengths and say at which token to look.

/// Fingerprints of the words around a token; 0 where there is none in the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// Of the word at the position before.
    pub before: u8,
    /// Of the word at the position after.
    pub after: u8,
}

/// Bytes of both fingerprints.
pub(super) const NEIGHBOURS_BYTES: usize = 2;

/// The tokens of one posting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Their positions, ascending.
    pub positions: Vec<u32>,
    /// Their neighbours, in the same order; none where the list has no phrase filter.
    pub neighbours: Vec<Neighbours>,
}

impl Tokens {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.neighbours.clear();
    }
}

/// The fingerprint of a term key, 1 to 255.
pub fn fingerprint(key: &[u8]) -> u8 {
    (crc32c::crc32c(key) % 255) as u8 + 1
}
