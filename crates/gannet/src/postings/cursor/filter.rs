//! The phrase filter of a list: whether a word may stand beside others in a document, without a look at theirs.
//!
//! The fingerprints of a posting lie at the numbers of its positions (see `positions`): in the first half of the
//! filter those of the words before, in the second those of the words after. A *piece* of the filter is as long
//! as a page; in a split chunk it is one.

use std::ops::Range;

use super::parts::{Part, note, read};
use super::{TermCursor, noted};
use crate::base::{DocId, END, Error, PAGE_PAYLOAD, Result, Span};
use crate::cache::{Bytes, Pages, Step, Stop};
use crate::postings::entry::ChunkRef;
use crate::postings::tokens::Neighbours;

const WHAT: &str = "a phrase filter";

/// Pieces that are asked for together by who goes through the whole list.
const AHEAD: u64 = 16;

/// Which half of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before = 0,
    After = 1,
}

/// What reading a filter has at hand.
#[derive(Clone, Debug, Default)]
pub(super) struct FilterState {
    /// The part and the place of the piece that was last read for each side, and its bytes.
    pieces: [Option<(usize, u64, Bytes)>; 2],
    /// The fingerprints that were read, for each side that was asked for, and which tokens fit.
    found: [Vec<u8>; 2],
    fit: Vec<bool>,
}

/// The sides that are asked for, each with its fingerprint.
fn sides(wanted: Neighbours) -> impl Iterator<Item = (Side, u8)> {
    let both = [(Side::Before, wanted.before), (Side::After, wanted.after)];
    both.into_iter()
        .filter(|(_, fingerprint)| *fingerprint != 0)
}

impl TermCursor {
    /// How many tokens of the current doc may stand between words with these fingerprints (0 for any word): all
    /// where the list has no filter that could tell.
    pub fn tokens_between(&mut self, wanted: Neighbours, pages: &mut Pages<'_>) -> Step<u32> {
        let frequency = self.frequency();
        match self.read_filter(frequency as u64, wanted, false, pages)? {
            true => Ok(self.filter.count(0, frequency)),
            false => Ok(frequency),
        }
    }

    /// Puts into `docs` those from the current one to the end of its block of which tokens may stand so, and into
    /// `between` how many. Reads the filter ahead for whoever goes through the list. Gives the last doc of the block.
    pub fn block_between(
        &mut self,
        wanted: Neighbours,
        pages: &mut Pages<'_>,
        (docs, between): (&mut Vec<DocId>, &mut Vec<u32>),
    ) -> Step<DocId> {
        self.decode_frequencies();
        let rest = self.decoded.at..self.decoded.length;
        let frequencies = self.decoded.frequencies[rest.clone()].iter();
        let tokens = frequencies.map(|frequency| *frequency as u64).sum();
        let filtered = self.read_filter(tokens, wanted, true, pages)?;
        let mut first = 0;
        docs.clear();
        between.clear();
        for at in rest {
            let (doc, frequency) = (self.decoded.docs[at], self.decoded.frequencies[at]);
            let tokens = match filtered {
                true => self.filter.count(first, frequency),
                false => frequency,
            };
            if tokens > 0 {
                docs.push(doc);
                between.push(tokens);
            }
            first += frequency as usize;
        }
        Ok(self.decoded.docs[..self.decoded.length]
            .last()
            .map_or(END, |last| *last))
    }

    /// Tells the filter of the next `tokens` tokens from the current doc's first on; false if there is none.
    fn read_filter(
        &mut self,
        tokens: u64,
        wanted: Neighbours,
        ahead: bool,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let at = self.decoded.at;
        let skip = self.positions.skip_to(at, &self.decoded.frequencies);
        let chunk = match &mut self.parts[self.part] {
            Part::Chunk(chunk) => *chunk.chunk(),
            Part::Fragment(fragment) => {
                let [before, after] = &mut self.filter.found;
                let filtered = fragment.neighbours(skip, tokens, before, after)?;
                self.filter.compare(wanted);
                return Ok(filtered);
            }
        };
        let Some(page) = self.page.as_ref().filter(|_| chunk.filtered) else {
            return Ok(false);
        };
        let first = page.docs.blocks()[self.decoded.block].first_position as u64 + skip;
        let numbers = first..first + tokens;
        self.filter
            .read(self.part, &chunk, wanted, numbers, ahead, pages)?;
        self.filter.compare(wanted);
        Ok(true)
    }

    /// Notes the front pieces of all filters, which the entry knows.
    pub fn prefetch_filters(&mut self, wanted: Neighbours, pages: &mut Pages<'_>) -> Step<()> {
        for part in &self.parts {
            if let Part::Chunk(chunk) = part {
                for (side, _) in sides(wanted) {
                    note_ahead(chunk.chunk(), side, 0, AHEAD, pages)?;
                }
            }
        }
        Ok(())
    }

    /// Notes the pieces with the fingerprints of these ascending docs, as far as the round has room. Needs the
    /// docs' own pages.
    pub fn prefetch_filters_of(
        &mut self,
        docs: &[DocId],
        wanted: Neighbours,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.prefetch_tokens(docs, pages, |cursor, part, _, numbers, pages| {
            if let Part::Chunk(chunk) = &cursor.parts[part]
                && chunk.chunk().filtered
            {
                for (side, _) in sides(wanted) {
                    for span in pieces(chunk.chunk(), side, numbers.0..numbers.1)? {
                        note(span, pages)?;
                    }
                }
            }
            Ok(true)
        })
    }
}

impl FilterState {
    /// Puts the fingerprints of tokens into `found`.
    fn read(
        &mut self,
        part: usize,
        chunk: &ChunkRef,
        wanted: Neighbours,
        numbers: Range<u64>,
        ahead: bool,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let mut complete = true;
        for (side, _) in sides(wanted) {
            let read = noted(self.read_side(part, chunk, side, numbers.clone(), pages))?;
            if read.is_none() && ahead {
                let place = place(chunk, side, numbers.start) / PIECE;
                note_ahead(chunk, side, place, AHEAD, pages)?;
            }
            complete &= read.is_some();
        }
        if complete { Ok(()) } else { Err(Stop::Pages) }
    }

    fn read_side(
        &mut self,
        part: usize,
        chunk: &ChunkRef,
        side: Side,
        numbers: Range<u64>,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let found = &mut self.found[side as usize];
        found.clear();
        let end = place(chunk, side, numbers.end);
        let mut at = place(chunk, side, numbers.start);
        while at < end {
            let held = &mut self.pieces[side as usize];
            if !matches!(held, Some((p, piece, _)) if (*p, *piece) == (part, at / PIECE)) {
                let bytes = read(piece(chunk, at / PIECE)?, pages)?;
                *held = Some((part, at / PIECE, bytes));
            }
            let Some((.., bytes)) = held else { break };
            let from = (at % PIECE) as usize;
            let to = bytes.len().min((end - (at - at % PIECE)) as usize);
            if from >= to {
                return Err(Error::damaged(WHAT, "expected a longer piece").into());
            }
            found.extend_from_slice(&bytes[from..to]);
            at += (to - from) as u64;
        }
        Ok(())
    }

    /// Compares the fingerprints that were read with the wanted ones, token by token.
    fn compare(&mut self, wanted: Neighbours) {
        let [before, after] = &self.found;
        self.fit.clear();
        match (wanted.before, wanted.after) {
            (wanted, 0) => self.fit.extend(before.iter().map(|seen| *seen == wanted)),
            (0, wanted) => self.fit.extend(after.iter().map(|seen| *seen == wanted)),
            both => {
                let seen = before.iter().zip(after);
                self.fit
                    .extend(seen.map(|(before, after)| (*before, *after) == both));
            }
        }
    }

    /// How many of the tokens from `first` on fit.
    #[inline]
    fn count(&self, first: usize, tokens: u32) -> u32 {
        let tokens = self.fit.get(first..first + tokens as usize).unwrap_or(&[]);
        tokens.iter().map(|fits| *fits as u32).sum()
    }
}

const PIECE: u64 = PAGE_PAYLOAD as u64;

/// Where the fingerprint of the token with this number lies in the filter.
fn place(chunk: &ChunkRef, side: Side, number: u64) -> u64 {
    side as u64 * chunk.total_frequency as u64 + number
}

/// A piece of a chunk's filter.
fn piece(chunk: &ChunkRef, ordinal: u64) -> Result<Span> {
    let filter = chunk.filter();
    let start = filter.start + ordinal * PIECE;
    let length = filter.end.saturating_sub(start).min(PIECE);
    match length {
        0 => Err(Error::damaged(WHAT, "expected fewer tokens")),
        _ => Ok(chunk.place.part(start as u32, length as u32)),
    }
}

/// The pieces with the fingerprints of tokens of one side.
fn pieces(chunk: &ChunkRef, side: Side, numbers: Range<u64>) -> Result<Vec<Span>> {
    let first = place(chunk, side, numbers.start) / PIECE;
    let last = place(chunk, side, numbers.end.saturating_sub(1)) / PIECE;
    (first..=last)
        .map(|ordinal| piece(chunk, ordinal))
        .collect()
}

/// Notes pieces of one side from `first` on.
fn note_ahead(
    chunk: &ChunkRef,
    side: Side,
    first: u64,
    most: u64,
    pages: &mut Pages<'_>,
) -> Step<()> {
    if !chunk.filtered {
        return Ok(());
    }
    let total = chunk.total_frequency as u64;
    let first = first.max(place(chunk, side, 0) / PIECE);
    let end = place(chunk, side, total - 1) / PIECE + 1;
    for ordinal in first..end.min(first + most) {
        note(piece(chunk, ordinal)?, pages)?;
    }
    Ok(())
}
