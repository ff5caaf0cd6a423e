//! Asking Gannet's lists: pages of lists go through frames in which there is little or nothing yet,
//! as everything is read from the device for the others.

use std::sync::{Mutex, PoisonError};

use gannet::Result;
use gannet::lab::{FramePool, Pages, Stop, TermCursor, TermList, TermLists, finish};

use super::coding::Postings;
use super::queries::Both;
use super::queries::{Scoring, keep};

/// Frames for the lists of a query. So large that the allocator gives fresh pages, of which only
/// those that are used cost anything.
const QUERY_BYTES: usize = 36 << 20;

/// After so many queries their frames are given up, so that lists are read from the device.
const QUERIES_OF_FRAMES: u32 = 16;

/// How many times longer the other list may be for all of it to be read, as in the engine's
/// conjunction.
const DENSE: u64 = 512;

/// Up to how many times longer it is decoded, in place of looking documents up in it.
const DECODED: u64 = 32;

/// Frames for the pages of lists, given up every few queries.
#[derive(Default)]
pub struct FreshFrames {
    kept: Mutex<Vec<(FramePool, u32)>>,
}

impl FreshFrames {
    /// Does something with such frames; threads have their own.
    pub fn with<T>(
        &self,
        lists: &TermLists,
        act: impl FnOnce(&mut Pages<'_>) -> Result<T>,
    ) -> Result<T> {
        let frames = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = frames().pop();
        let (pool, uses) = match kept {
            Some(kept) => kept,
            None => (lists.frames(QUERY_BYTES)?, 0),
        };
        let done = act(&mut Pages::new(&pool));
        if uses + 1 < QUERIES_OF_FRAMES {
            frames().push((pool, uses + 1));
        }
        done
    }
}

/// Decodes the shorter list, and the longer one too or what the documents of the shorter ask for of
/// it: all that will be needed is noted before, as in the engine's conjunction.
pub fn both(lists: [TermList; 2], scoring: &Scoring, pages: &mut Pages<'_>) -> Result<Both> {
    let mut cursors = lists.map(|list| list.cursor());
    cursors.sort_by_key(TermCursor::document_frequency);
    let [mut short, mut long] = cursors;
    let counts = [&short, &long].map(TermCursor::document_frequency);
    let is_dense = counts[1] < DENSE * counts[0];
    finish(pages, |pages| {
        short.prefetch_whole(pages)?;
        if is_dense {
            long.prefetch_whole(pages)?;
        }
        let opened = short.open(pages);
        long.open(pages)?;
        opened
    })?;
    let short = decoded(&mut short, pages)?;
    if counts[1] < DECODED * counts[0] {
        let long = decoded(&mut long, pages)?;
        return Ok(scoring.both(&[short, long]));
    }
    if !is_dense {
        finish(pages, |pages| {
            long.prefetch(&short.docs, pages)?;
            if pages.has_wanted() {
                Err(Stop::Pages)
            } else {
                Ok(())
            }
        })?;
    }
    let weights = counts.map(|count| scoring.weight(count as usize));
    let mut both = Both::default();
    for (doc, frequency) in short.docs.into_iter().zip(short.frequencies) {
        if finish(pages, |pages| long.advance(doc, pages))? == doc {
            both.count += 1;
            let score = scoring.part(weights[0], doc, frequency)
                + scoring.part(weights[1], doc, long.frequency());
            keep(&mut both.top, doc, score);
        }
    }
    Ok(both)
}

/// All documents and frequencies of a list.
fn decoded(cursor: &mut TermCursor, pages: &mut Pages<'_>) -> Result<Postings> {
    let mut list = Postings::default();
    let mut doc = finish(pages, |pages| cursor.next(pages))?;
    while doc != u32::MAX {
        let (docs, frequencies) = cursor.block();
        list.docs.extend_from_slice(docs);
        list.frequencies.extend_from_slice(frequencies);
        let behind = list.docs.last().map_or(u32::MAX, |last| last + 1);
        doc = finish(pages, |pages| cursor.advance(behind, pages))?;
    }
    Ok(list)
}
