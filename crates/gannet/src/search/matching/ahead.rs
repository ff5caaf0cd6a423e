//! Candidates gathered from a matcher ahead of what is given out, so that what they need is read in
//! few rounds.
//!
//! Batches are small while all pages are in memory, so that no more is looked at than can matter,
//! and grow once one had to wait for pages.
//!
//! Invariants:
//! 1. `found[at..]` are candidates not yet given out, in ascending order.
//! 2. Every candidate below `next` was given out, dropped, or is in `found`.

use super::matcher::Matcher;
use super::matches::{DocRange, Matches};
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};

/// Sizes of the batches in which candidates are gathered.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// The size while all pages are in memory.
    pub first: usize,
    /// The factor by which a batch that waited for pages enlarges the next.
    pub growth: usize,
    /// At most.
    pub most: usize,
}

/// Candidates at hand.
#[derive(Debug)]
pub struct Ahead {
    /// All of the batch.
    pub found: Matches,
    at: usize,
    batch: Batch,
    next: DocId,
    ended: bool,
    /// Set once a batch has waited for pages.
    waited: bool,
}

impl Ahead {
    /// Nothing yet; each candidate with the frequencies of `width` leaves.
    pub fn new(width: usize, batch: Batch) -> Ahead {
        Ahead {
            found: Matches::new(0..width),
            at: 0,
            batch,
            next: 0,
            ended: false,
            waited: false,
        }
    }

    /// Bytes that the candidates take at most if so many leaves occur in them.
    pub fn buffer_bytes(&self, leaves: usize) -> usize {
        // Buffers double as they grow.
        2 * self.batch.most * Matches::bytes_per_document(leaves) + self.found.row_bytes()
    }

    /// Replaces what is at hand by the next batch of `source` in a range. It may go beyond the end
    /// of the range if an earlier one had to wait for pages.
    pub fn gather(
        &mut self,
        source: &mut dyn Matcher,
        range: DocRange,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        self.found.clear();
        self.at = 0;
        let limit = self.batch.first;
        self.next = self.next.max(range.first);
        let batch = DocRange {
            first: self.next,
            last: if self.keeps_to_ends() {
                range.last
            } else {
                END - 1
            },
        };
        self.found.reserve(limit);
        self.next = source.gather(batch, limit, &mut self.found, pages)?;
        self.ended = self.next == END;
        Ok(())
    }

    /// Returns true if the next batch will end at the end that it is given.
    pub fn keeps_to_ends(&self) -> bool {
        !self.waited
    }

    /// The batch at hand waited for pages: the next will be larger.
    pub fn waited(&mut self) {
        let Batch {
            first,
            growth,
            most,
        } = self.batch;
        self.waited = true;
        self.batch.first = (first * growth).min(most);
    }

    /// Passes over candidates below `target`; gives the first that is left.
    #[inline]
    pub fn skip_to(&mut self, target: DocId) -> Option<DocId> {
        let rest = self.rest();
        match rest.first() {
            Some(doc) if *doc >= target => Some(*doc),
            _ => {
                self.at += rest.partition_point(|doc| *doc < target);
                self.rest().first().copied()
            }
        }
    }

    /// Passes over the first `count` candidates that are left.
    #[inline]
    pub fn pass(&mut self, count: usize) {
        self.at += count;
    }

    /// The candidates that are left.
    #[inline]
    pub fn rest(&self) -> &[DocId] {
        self.found.docs().get(self.at..).unwrap_or(&[])
    }

    /// The place of the first candidate that is left.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns true if the source is exhausted.
    pub fn is_last(&self) -> bool {
        self.ended
    }

    /// Returns true if the source was gone through up to `to`.
    pub fn is_beyond(&self, to: DocId) -> bool {
        self.ended || self.next > to
    }

    /// Moves candidates up to `to` that are left, `most` of them at most, to the end of `out`.
    pub fn give(&mut self, to: DocId, most: usize, out: &mut Matches) {
        let count = self.rest().partition_point(|doc| *doc <= to).min(most);
        out.append(&self.found, self.at..self.at + count);
        self.at += count;
    }
}
