//! The tokens of one posting: where they stand, and between which neighbours.
//!
//! A *phrase filter* tells which words may stand before and after the tokens of a posting. So the rarer word of a
//! pair tells alone which of its documents may have both side by side, and no other list is read for the rest.
//! Gannet's own keeps one byte for the word before and one for the word after each token. The paper's (He et al.,
//! WiSER, 2020: Bloom filters of nine bytes for each posting and direction, see `postings::bloom`) answer the same
//! question in several times the space; bytes in the order of the tokens need no lengths and say at which token to
//! look.

use crate::base::{ByteReader, PhraseFilters, Result};

/// Fingerprints of the words around a token; 0 where there is none in the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// Of the word at the position before.
    pub before: u16,
    /// Of the word at the position after.
    pub after: u16,
}

/// The tokens of one posting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Their positions, ascending.
    pub positions: Vec<u32>,
    /// What a chunk's phrase filter has of them, of the words before and of those after: one fingerprint a token, or
    /// one Bloom filter. Nothing where no neighbours are known.
    pub filter: [Vec<u8>; 2],
}

impl Tokens {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.filter.iter_mut().for_each(Vec::clear);
    }
}

/// Bytes of both fingerprints behind a position in a fragment.
pub(super) fn neighbours_bytes(filters: PhraseFilters) -> usize {
    match filters {
        PhraseFilters::None => 0,
        PhraseFilters::Fingerprints => 2,
        PhraseFilters::Bloom => 4,
    }
}

impl Neighbours {
    /// Whether a token with these may stand between the words that are `wanted`, 0 for any.
    pub(super) fn may_be(self, wanted: Neighbours) -> bool {
        let fits = |seen, wanted| wanted == 0 || seen == wanted;
        fits(self.before, wanted.before) && fits(self.after, wanted.after)
    }

    /// Appends both fingerprints to a stream of positions.
    #[inline]
    pub(super) fn encode(self, filters: PhraseFilters, stream: &mut Vec<u8>) {
        let Neighbours { before, after } = self;
        match filters {
            PhraseFilters::None => {}
            PhraseFilters::Fingerprints => stream.extend_from_slice(&[before as u8, after as u8]),
            PhraseFilters::Bloom => {
                stream.extend_from_slice(&before.to_le_bytes());
                stream.extend_from_slice(&after.to_le_bytes());
            }
        }
    }

    /// Reads what [`Neighbours::encode`] wrote.
    #[inline]
    pub(super) fn decode(
        filters: PhraseFilters,
        stream: &mut ByteReader<'_>,
    ) -> Result<Neighbours> {
        let mut one = || match filters {
            PhraseFilters::None => Ok(0),
            PhraseFilters::Fingerprints => stream.u8().map(u16::from),
            PhraseFilters::Bloom => stream.u16(),
        };
        Ok(Neighbours {
            before: one()?,
            after: one()?,
        })
    }
}
