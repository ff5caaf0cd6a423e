//! The phrase filter of a list: whether a word may stand beside others in a document, without a
//! look at theirs.
//!
//! A filter has two *sides*: what it knows of the words before the tokens, and behind it of the
//! words after. Either side has a group for each block, of which the docs page knows the place. A
//! group of common neighbours is decoded as a whole and kept as long as the cursor stands in its
//! block: their codes have no places that could be known.

use std::ops::Range;

use super::TermCursor;
use super::filter_pieces::{note_ahead, pieces, sides};
use super::parts::noted;
use super::parts::{Part, note};
use crate::base::{DocId, END, Error, PhraseFilters, Result};
use crate::cache::{Pages, Step, Stop};
use crate::postings::codec::common_code::GROUP_LIMIT;
use crate::postings::codec::docs_page::DocsPage;
use crate::postings::codec::tokens::{Neighbours, Tokens};

const WHAT: &str = "a phrase filter";

impl TermCursor {
    /// Returns the number of tokens of the current doc that may stand between words with these
    /// fingerprints (0 for any word): all if the list has no filter that could tell.
    pub fn tokens_between(&mut self, wanted: Neighbours, pages: &mut Pages<'_>) -> Step<u32> {
        let frequency = self.frequency();
        if frequency == 0 {
            return Ok(0);
        }
        if self.read_filter(1, wanted, false, pages)? {
            Ok(self.filter.between.first().copied().unwrap_or(0))
        } else {
            Ok(frequency)
        }
    }

    /// Puts the positions of the current doc's tokens into `out` that stand between words with
    /// these fingerprints, 0 for any; the list has a filter that tells exactly.
    pub fn positions_between(
        &mut self,
        wanted: Neighbours,
        pages: &mut Pages<'_>,
        out: &mut Vec<u32>,
    ) -> Step<()> {
        let positions = noted(self.positions(pages, out))?;
        if wanted == Neighbours::default() || self.frequency() == 0 {
            return positions.ok_or(Stop::Pages);
        }
        if !self.read_filter(1, wanted, false, pages)? {
            return Err(Error::internal("a list without a filter was asked for neighbours").into());
        }
        let mut fit = self.filter.fit.iter();
        out.retain(|_| fit.next().is_some_and(|fits| *fits));
        positions.ok_or(Stop::Pages)
    }

    /// Puts into `out` what the filter knows of the current doc's tokens, as [`Tokens`] has it:
    /// nothing where there is no filter.
    ///
    /// [`Tokens`]: crate::postings::codec::tokens::Tokens
    pub(in crate::postings) fn filter_of_doc(
        &mut self,
        pages: &mut Pages<'_>,
        out: &mut [Vec<u8>; 2],
    ) -> Step<()> {
        out.iter_mut().for_each(Vec::clear);
        let frequency = self.frequency();
        if frequency == 0 {
            return Ok(());
        }
        if let Part::Fragment(fragment) = &mut self.parts[self.part] {
            let skip = self
                .positions
                .skip_to(self.decoded.at, &self.decoded.frequencies);
            let mut tokens = Tokens::default();
            fragment.tokens(skip, frequency, &mut tokens)?;
            *out = tokens.filter;
            return Ok(());
        }
        // Any words will do: what is wanted is what was read to compare with them.
        let wanted = Neighbours {
            before: 1,
            after: 1,
        };
        if !self.read_filter(1, wanted, false, pages)? {
            return Ok(());
        }
        let at = self.decoded.at;
        match self.parts[self.part].filters() {
            PhraseFilters::None => {}
            PhraseFilters::Common => {
                let first = self.positions.skip_to(at, &self.decoded.frequencies) as usize;
                let tokens = first..first + frequency as usize;
                for ((known, _), out) in self.filter.neighbours.iter().zip(out) {
                    let known = known.get(tokens.clone());
                    let known =
                        known.ok_or_else(|| Error::damaged(WHAT, "expected more tokens"))?;
                    out.extend_from_slice(known);
                }
            }
        }
        Ok(())
    }

    /// Tokens of the current block, if the filter may have to look at each of them.
    pub fn tokens_to_look_at(&mut self) -> usize {
        match self.parts[self.part].filters() {
            PhraseFilters::None => 0,
            PhraseFilters::Common => {
                self.decode_frequencies();
                let frequencies = &self.decoded.frequencies[..self.decoded.length];
                frequencies.iter().map(|f| *f as usize).sum()
            }
        }
    }

    /// Puts into `docs` those from the current one to the end of its block of which tokens may
    /// stand so, and into `between` how many. Reads the filter ahead for whoever goes through the
    /// list. Gives the last doc of the block.
    pub fn block_between(
        &mut self,
        wanted: Neighbours,
        pages: &mut Pages<'_>,
        docs: &mut Vec<DocId>,
        between: &mut Vec<u32>,
    ) -> Step<DocId> {
        self.decode_frequencies();
        let rest = self.decoded.at..self.decoded.length;
        let filtered = self.read_filter(rest.len(), wanted, true, pages)?;
        let tokens = if filtered {
            &self.filter.between
        } else {
            &self.decoded.frequencies[rest.clone()]
        };
        docs.clear();
        between.clear();
        for (doc, tokens) in self.decoded.docs[rest].iter().zip(tokens) {
            if *tokens > 0 {
                docs.push(*doc);
                between.push(*tokens);
            }
        }
        Ok(self.decoded.docs[..self.decoded.length]
            .last()
            .map_or(END, |last| *last))
    }

    /// Asks the filter of the tokens of `postings` docs from the current one on; false if there is
    /// none.
    fn read_filter(
        &mut self,
        postings: usize,
        wanted: Neighbours,
        ahead: bool,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let (at, block) = (self.decoded.at, self.decoded.block);
        let skip = self.positions.skip_to(at, &self.decoded.frequencies);
        let frequencies = &self.decoded.frequencies[at..at + postings];
        let tokens = frequencies.iter().map(|frequency| *frequency as u64).sum();
        let chunk = match &mut self.parts[self.part] {
            Part::Chunk(chunk) => *chunk.chunk(),
            Part::Fragment(fragment) => {
                let known = fragment.between(skip, tokens, wanted, &mut self.filter.fit)?;
                self.filter.count(frequencies);
                return Ok(known);
            }
        };
        let Some(page) = self.page.as_ref() else {
            return Ok(false);
        };
        let (part, filter) = (self.part, &mut self.filter);
        match chunk.filters {
            PhraseFilters::None => return Ok(false),
            PhraseFilters::Common => {
                let id = (part, page.docs.blocks()[block].first_position);
                if !filter.has_neighbours(wanted, id) {
                    let bytes = groups(&page.docs, block)?;
                    filter
                        .pieces
                        .read(part, &chunk, wanted, bytes, ahead, pages)?;
                    let all = &self.decoded.frequencies[..self.decoded.length];
                    let all = all.iter().map(|frequency| *frequency as usize).sum();
                    filter.decode(wanted, id, all)?;
                }
                filter.compare(wanted, skip as usize..(skip + tokens) as usize);
                filter.count(frequencies);
            }
        }
        Ok(true)
    }

    /// Notes the front pieces of all filters, which the entry knows.
    pub fn prefetch_filters(&mut self, wanted: Neighbours, pages: &mut Pages<'_>) -> Step<()> {
        for part in &self.parts {
            if let Part::Chunk(chunk) = part {
                for (side, _) in sides(wanted) {
                    note_ahead(chunk.chunk(), side, 0, pages)?;
                }
            }
        }
        Ok(())
    }

    /// Notes the pieces with what the filter knows of these ascending docs, as far as the round has
    /// room. Needs the docs' own pages.
    pub fn prefetch_filters_of(
        &mut self,
        docs: &[DocId],
        wanted: Neighbours,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.prefetch_tokens(docs, pages, |cursor, part, docs, numbers, pages| {
            if let Part::Chunk(chunk) = &cursor.parts[part] {
                let bytes = match chunk.chunk().filters {
                    PhraseFilters::None => return Ok(true),
                    PhraseFilters::Common => groups(docs, block_of(docs, numbers.0))?,
                };
                for (side, _) in sides(wanted) {
                    for span in pieces(chunk.chunk(), side, bytes[side as usize].clone())? {
                        note(span, pages)?;
                    }
                }
            }
            Ok(true)
        })
    }
}

/// Returns the ranges of a block's groups on each side.
fn groups(docs: &DocsPage, block: usize) -> Result<[Range<u64>; 2]> {
    let groups = docs.groups(block)?;
    let longest = groups.iter().map(|group| group.length as usize).max();
    if longest.is_none_or(|length| length <= GROUP_LIMIT) {
        Ok(groups.map(|group| {
            let start = group.start as u64;
            start..start + group.length as u64
        }))
    } else {
        Err(Error::damaged(
            WHAT,
            format!("expected groups of at most {GROUP_LIMIT} bytes, got {longest:?}"),
        ))
    }
}

/// The block that has the position with this number.
fn block_of(docs: &DocsPage, number: u64) -> usize {
    let blocks = docs.blocks();
    let behind = blocks.partition_point(|block| block.first_position as u64 <= number);
    behind.saturating_sub(1)
}
