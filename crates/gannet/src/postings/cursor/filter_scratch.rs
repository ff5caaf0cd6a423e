//! The state of asking a phrase filter.

use std::ops::Range;

use super::filter_pieces::{Pieces, sides};
use crate::base::Result;
use crate::postings::codec::common_code;
use crate::postings::codec::tokens::Neighbours;

/// The state of asking a filter.
#[derive(Clone, Debug, Default)]
pub(super) struct FilterScratch {
    pub(super) pieces: Pieces,
    /// The common neighbours of the tokens of a block on each side, and of which block.
    pub(super) neighbours: [(Vec<u8>, Option<BlockId>); 2],
    /// The tokens that fit.
    pub(super) fit: Vec<bool>,
    /// The number of tokens of each doc that may stand between the wanted words.
    pub(super) between: Vec<u32>,
}

/// Tells a block from every other of its list: its part, and the number of its first position.
pub(super) type BlockId = (usize, u32);

impl FilterScratch {
    /// Returns true if the common neighbours of a block are at hand on the sides that are asked
    /// for.
    pub(super) fn has_neighbours(&self, wanted: Neighbours, block: BlockId) -> bool {
        sides(wanted).all(|(side, _)| self.neighbours[side as usize].1 == Some(block))
    }

    /// Decodes the groups that were read of a block with so many tokens.
    pub(super) fn decode(
        &mut self,
        wanted: Neighbours,
        block: BlockId,
        tokens: usize,
    ) -> Result<()> {
        for (side, _) in sides(wanted) {
            let (known, of) = &mut self.neighbours[side as usize];
            *of = None;
            common_code::read_group(&self.pieces.found[side as usize], tokens, known)?;
            *of = Some(block);
        }
        Ok(())
    }

    /// Compares the neighbours of these tokens of the block with the wanted ones, token by token.
    pub(super) fn compare(&mut self, wanted: Neighbours, tokens: Range<usize>) {
        // A side that is not asked for may hold another block.
        let of = |side: usize| {
            self.neighbours[side]
                .0
                .get(tokens.clone())
                .unwrap_or_default()
        };
        let (before, after) = (of(0), of(1));
        self.fit.clear();
        match (wanted.before as u8, wanted.after as u8) {
            (wanted, 0) => self.fit.extend(before.iter().map(|seen| *seen == wanted)),
            (0, wanted) => self.fit.extend(after.iter().map(|seen| *seen == wanted)),
            both => {
                let seen = before.iter().zip(after);
                self.fit
                    .extend(seen.map(|(before, after)| (*before, *after) == both));
            }
        }
    }

    /// Counts the tokens that fit of each doc, by their frequencies.
    pub(super) fn count(&mut self, frequencies: &[u32]) {
        let mut rest = self.fit.as_slice();
        self.between.clear();
        self.between.extend(frequencies.iter().map(|frequency| {
            let tokens;
            (tokens, rest) = rest.split_at((*frequency as usize).min(rest.len()));
            tokens.iter().map(|fits| *fits as u32).sum::<u32>()
        }));
    }
}
