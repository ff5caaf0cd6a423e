//! The phrase filter of a list: whether a word may stand beside others in a document, without a look at theirs.
//!
//! The fingerprints of a posting lie at the numbers of its positions (see `positions`): in the first half of the
//! filter those of the words before, in the second those of the words after. A *piece* of the filter is as long
//! as a page; in a split chunk it is one.

use std::ops::Range;

use super::parts::{Part, read};
use super::{TermCursor, noted};
use crate::base::{DocId, Error, PAGE_PAYLOAD, Result, Span};
use crate::cache::{Bytes, Pages, Step, Stop};
use crate::postings::entry::ChunkRef;
use crate::postings::tokens::{Neighbours, Tokens};

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
    /// Fingerprints of the current doc for each side.
    found: [Vec<u8>; 2],
    /// The tokens of a posting in memory.
    pub(super) tokens: Tokens,
}

/// The sides that are asked for, each with its fingerprint.
fn sides(wanted: Neighbours) -> impl Iterator<Item = (Side, u8)> {
    let both = [(Side::Before, wanted.before), (Side::After, wanted.after)];
    both.into_iter()
        .filter(|(_, fingerprint)| *fingerprint != 0)
}

impl TermCursor {
    /// Whether a token of the current doc stands between words with these fingerprints (0 for any word); true
    /// where the list has no filter that could tell. Asks for the pieces that follow too, if the list is gone
    /// through.
    pub fn stands_between(
        &mut self,
        wanted: Neighbours,
        through: bool,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let frequency = self.frequency();
        let at = self.decoded.at;
        let skip = self.positions.skip_to(at, &self.decoded.frequencies);
        match &mut self.parts[self.part] {
            Part::Fragment(fragment) => {
                let tokens = &mut self.filter.tokens;
                fragment.tokens(skip, frequency, tokens)?;
                Ok(tokens.neighbours.is_empty() || stand_between(&tokens.neighbours, wanted))
            }
            Part::Chunk(chunk) => {
                let chunk = *chunk.chunk();
                if !chunk.filtered {
                    return Ok(true);
                }
                let first = match &self.page {
                    Some(page) => page.docs.blocks()[self.decoded.block].first_position,
                    None => return Ok(true),
                };
                let first = first as u64 + skip;
                let numbers = first..first + frequency as u64;
                let at_hand = self.filter.at_hand(self.part, &chunk, wanted, &numbers);
                if let Some(found) = at_hand {
                    return Ok(matches(found, wanted));
                }
                self.filter
                    .read(self.part, &chunk, wanted, numbers, through, pages)?;
                let [before, after] = &self.filter.found;
                Ok(matches([before, after], wanted))
            }
        }
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
        through: bool,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let mut complete = true;
        for (side, _) in sides(wanted) {
            let read = noted(self.read_side(part, chunk, side, numbers.clone(), pages))?;
            if read.is_none() && through {
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

    /// The fingerprints of tokens where the held pieces have them all, as for nearly all postings but the first
    /// of a piece.
    #[inline]
    fn at_hand(
        &self,
        part: usize,
        chunk: &ChunkRef,
        wanted: Neighbours,
        numbers: &Range<u64>,
    ) -> Option<[&[u8]; 2]> {
        let mut found: [&[u8]; 2] = [&[], &[]];
        for (side, _) in sides(wanted) {
            let (p, ordinal, bytes) = self.pieces[side as usize].as_ref()?;
            let start = ordinal * PIECE;
            let from = place(chunk, side, numbers.start).checked_sub(start)?;
            let to = place(chunk, side, numbers.end) - start;
            let here = bytes.get(from as usize..to as usize).filter(|_| *p == part);
            found[side as usize] = here?;
        }
        Some(found)
    }
}

/// Whether one of the tokens with these fingerprints before and after them stands between the wanted words.
#[inline]
fn matches([before, after]: [&[u8]; 2], wanted: Neighbours) -> bool {
    match (wanted.before, wanted.after) {
        (wanted, 0) => before.contains(&wanted),
        (0, wanted) => after.contains(&wanted),
        both => before.iter().zip(after).any(|(b, a)| (*b, *a) == both),
    }
}

const PIECE: u64 = PAGE_PAYLOAD as u64;

/// Whether one of these tokens stands between words with these fingerprints.
fn stand_between(tokens: &[Neighbours], wanted: Neighbours) -> bool {
    let fits = |seen: u8, wanted: u8| wanted == 0 || seen == wanted;
    let mut tokens = tokens.iter();
    tokens.any(|seen| fits(seen.before, wanted.before) && fits(seen.after, wanted.after))
}

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
        _ => Ok(chunk.span.part(start as u32, length as u32)),
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

fn note(span: Span, pages: &mut Pages<'_>) -> Step<()> {
    for address in span.pages() {
        pages.want(address)?;
    }
    Ok(())
}
