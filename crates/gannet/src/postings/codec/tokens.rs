//! The tokens of one posting: where they stand, and between which neighbours.
//!
//! A *phrase filter* tells which words may stand before and after the tokens of a posting. So the
//! rarer word of a pair tells alone which of its documents may have both side by side, and no other
//! list is read for the rest. It knows which common word stands before and after each token, if any
//! does (see `postings::codec::common_code`).

use super::common_code;
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
    /// The entries of a chunk's phrase filter for them, of the words before and of those after: one
    /// fingerprint a token, a byte. Nothing if no neighbours are known.
    pub filter: [Vec<u8>; 2],
}

impl Tokens {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.filter.iter_mut().for_each(Vec::clear);
    }
}

/// Bytes of both fingerprints behind a position in a fragment, where `rest` of its stream begins.
#[inline]
pub(crate) fn neighbours_bytes(filters: PhraseFilters, rest: &[u8]) -> usize {
    match filters {
        PhraseFilters::None => 0,
        PhraseFilters::Common => rest
            .first()
            .map_or(0, |first| common_code::pair_bytes(*first)),
    }
}

impl Neighbours {
    /// Returns true if a token with these may stand between the words that are `wanted`, 0 for any.
    pub(crate) fn may_be(self, wanted: Neighbours) -> bool {
        let fits = |seen, wanted| wanted == 0 || seen == wanted;
        fits(self.before, wanted.before) && fits(self.after, wanted.after)
    }

    /// Appends both fingerprints to a stream of positions.
    #[inline]
    pub(crate) fn encode(self, filters: PhraseFilters, stream: &mut Vec<u8>) {
        let Neighbours { before, after } = self;
        match filters {
            PhraseFilters::None => {}
            PhraseFilters::Common => common_code::put_pair(before as u8, after as u8, stream),
        }
    }

    /// Reads what [`Neighbours::encode`] wrote.
    #[inline]
    pub(crate) fn decode(
        filters: PhraseFilters,
        stream: &mut ByteReader<'_>,
    ) -> Result<Neighbours> {
        let [before, after] = match filters {
            PhraseFilters::None => [0; 2],
            PhraseFilters::Common => common_code::read_pair(stream)?.map(u16::from),
        };
        Ok(Neighbours { before, after })
    }
}
