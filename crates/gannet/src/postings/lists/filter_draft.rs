//! Phrase filters of chunks in the making.

use crate::base::PhraseFilters;
use crate::postings::codec::common_code::{self, GROUP_LIMIT};
use crate::postings::codec::tokens::Tokens;

/// Gathers the words before and after the tokens of a chunk.
#[derive(Debug)]
pub struct FilterDraft {
    /// Its kind; none too once it was given up.
    filters: PhraseFilters,
    /// The groups as they will lie in the chunk.
    sides: [Vec<u8>; 2],
    /// The entries of the postings behind the last block.
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

    /// Returns the starts of the groups of the next block on each side.
    pub fn starts(&self) -> [u32; 2] {
        [0, 1].map(|side: usize| self.sides[side].len() as u32)
    }

    /// Takes in the tokens of a posting. Without their neighbours a filter of common ones is given
    /// up: it would have to deny nothing of them, and its numbers have no word for that.
    pub fn push(&mut self, tokens: &Tokens) {
        let known = tokens.filter.iter().map(Vec::len);
        match self.filters {
            PhraseFilters::None => {}
            PhraseFilters::Common => {
                if known.clone().all(|known| known == tokens.positions.len()) {
                    self.gather(|side| &tokens.filter[side])
                } else {
                    self.give_up()
                }
            }
        }
    }

    /// Takes in the common neighbours of a token, before and after.
    #[inline]
    pub(crate) fn push_token(&mut self, neighbours: [u8; 2]) {
        if self.filters == PhraseFilters::Common {
            for (gathered, neighbour) in self.gathered.iter_mut().zip(neighbours) {
                gathered.push(neighbour);
            }
        }
    }

    fn gather<'t>(&mut self, known: impl Fn(usize) -> &'t [u8]) {
        for (side, gathered) in self.gathered.iter_mut().enumerate() {
            // A token or two, for which a loop is less than a call.
            gathered.extend(known(side).iter().copied());
        }
    }

    /// Ends a block of postings: makes groups of what is known of them. Gives the bytes of these on
    /// each side.
    pub fn end_block(&mut self) -> [u32; 2] {
        let filters = self.filters;
        let lengths = [0, 1].map(|side: usize| {
            let (gathered, out) = (&mut self.gathered[side], &mut self.sides[side]);
            let start = out.len();
            match filters {
                PhraseFilters::None => {}
                PhraseFilters::Common => common_code::put_group(gathered, out),
            }
            gathered.clear();
            (out.len() - start) as u32
        });
        let most = lengths.iter().max().copied().unwrap_or(0) as usize;
        if filters == PhraseFilters::Common && most > GROUP_LIMIT {
            self.give_up();
        }
        lengths
    }

    /// Forgets all, and what comes.
    pub fn give_up(&mut self) {
        *self = FilterDraft::new(PhraseFilters::None);
    }

    /// The filter of a chunk: what is known of the words before its tokens, then of those after.
    pub fn finish(self) -> CodedFilter {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(count: u32, neighbour: u8) -> Tokens {
        Tokens {
            positions: (0..count).collect(),
            filter: [0, neighbour].map(|of: u8| vec![of; count as usize]),
        }
    }

    #[test]
    fn a_group_that_would_be_too_long_gives_the_filter_up() {
        // The rarest word takes eleven bits.
        let most = GROUP_LIMIT as u32 * 8 / 11;
        for (count, kept) in [(most, true), (most + 1, false)] {
            let mut draft = FilterDraft::new(PhraseFilters::Common);
            draft.push(&tokens(count, 94));
            draft.end_block();
            assert_eq!(draft.filters() == PhraseFilters::Common, kept, "{count}");
            draft.push(&tokens(3, 1));
            draft.end_block();
            assert_eq!(draft.finish().bytes.is_empty(), !kept);
        }
    }

    #[test]
    fn a_posting_without_neighbours_gives_the_filter_up() {
        let mut draft = FilterDraft::new(PhraseFilters::Common);
        draft.push(&tokens(3, 1));
        draft.push(&Tokens {
            positions: vec![7],
            ..Tokens::default()
        });
        assert_eq!(draft.end_block(), [0; 2]);
        assert_eq!(draft.finish().filters, PhraseFilters::None);
    }
}
