//! The bytes of phrase filters, read piece by piece.
//!
//! A *piece* of a filter is as long as a page; in a split chunk it is one. The piece that was read
//! last on each side is kept, since docs are asked for in order.

use std::ops::Range;

use super::parts::noted;
use super::parts::{note, read};
use crate::base::{Error, PAGE_PAYLOAD, Result, Span};
use crate::cache::{Bytes, Pages, Step, Stop};
use crate::postings::codec::entry::ChunkRef;
use crate::postings::codec::tokens::Neighbours;

const WHAT: &str = "a phrase filter";

const PIECE: u64 = PAGE_PAYLOAD as u64;

/// Pieces that are asked for together by who goes through the whole list.
const AHEAD: u64 = 16;

/// The sides of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before = 0,
    After = 1,
}

/// The sides that are asked for, each with its fingerprint.
pub(super) fn sides(wanted: Neighbours) -> impl Iterator<Item = (Side, u16)> {
    let both = [(Side::Before, wanted.before), (Side::After, wanted.after)];
    both.into_iter()
        .filter(|(_, fingerprint)| *fingerprint != 0)
}

/// The state of reading a filter.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// The part and the place of the piece that was last read for each side, and its bytes.
    last: [Option<(usize, u64, Bytes)>; 2],
    /// The bytes read of each side that was asked for.
    pub(super) found: [Vec<u8>; 2],
}

impl Pieces {
    /// Puts these bytes of each side that is asked for into `found`.
    pub(super) fn read(
        &mut self,
        part: usize,
        chunk: &ChunkRef,
        wanted: Neighbours,
        bytes: [Range<u64>; 2],
        ahead: bool,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let mut complete = true;
        for (side, _) in sides(wanted) {
            let wanted = &bytes[side as usize];
            let read = noted(self.read_side(part, chunk, side, wanted.clone(), pages))?;
            if read.is_none() && ahead {
                let place = place(chunk, side, wanted.start) / PIECE;
                note_ahead(chunk, side, place, pages)?;
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
        bytes: Range<u64>,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let found = &mut self.found[side as usize];
        found.clear();
        let end = place(chunk, side, bytes.end);
        let mut at = place(chunk, side, bytes.start);
        while at < end {
            let held = &mut self.last[side as usize];
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
}

/// Returns the position in the filter of a byte of a side.
fn place(chunk: &ChunkRef, side: Side, at: u64) -> u64 {
    match side {
        Side::Before => at,
        Side::After => chunk.filter_lengths[0] as u64 + at,
    }
}

/// A piece of a chunk's filter.
fn piece(chunk: &ChunkRef, ordinal: u64) -> Result<Span> {
    let filter = chunk.filter();
    let start = filter.start + ordinal * PIECE;
    let length = filter.end.saturating_sub(start).min(PIECE);
    match length {
        0 => Err(Error::damaged(WHAT, "expected fewer bytes")),
        _ => Ok(chunk.place.part(start as u32, length as u32)),
    }
}

/// The pieces with these bytes of one side.
pub(super) fn pieces(chunk: &ChunkRef, side: Side, bytes: Range<u64>) -> Result<Vec<Span>> {
    let first = place(chunk, side, bytes.start) / PIECE;
    let last = place(chunk, side, bytes.end.saturating_sub(1)) / PIECE;
    (first..=last)
        .map(|ordinal| piece(chunk, ordinal))
        .collect()
}

/// Notes pieces of one side from `first` on.
pub(super) fn note_ahead(
    chunk: &ChunkRef,
    side: Side,
    first: u64,
    pages: &mut Pages<'_>,
) -> Step<()> {
    let length = chunk.filter_lengths[side as usize] as u64;
    if length == 0 {
        return Ok(());
    }
    let first = first.max(place(chunk, side, 0) / PIECE);
    let end = place(chunk, side, length - 1) / PIECE + 1;
    for ordinal in first..end.min(first + AHEAD) {
        note(piece(chunk, ordinal)?, pages)?;
    }
    Ok(())
}
