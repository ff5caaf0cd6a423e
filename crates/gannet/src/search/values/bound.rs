//! A place that the last wanted hit is not behind by the first key, found in few pieces.
//!
//! The maps tell which pieces may have the first hits. These are read, the most promising first,
//! until none of the others can make the place better. Whichever documents were looked at, as many
//! as are wanted stand at the place or before it, so what lies wholly behind it need not be read.
//! Below a query that few documents match it takes many pieces to find the place: the greatest
//! value of a piece is seldom that of a document which matches.

use std::collections::BinaryHeap;
use std::ops::Range;

use gannet_values::{PIECE_DOCUMENTS, ValueType};

use super::FEW;
use super::sort_key::{Place, SortKey};
use super::window::places_of;
use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::columns::{ColumnReader, ColumnValues, MapEntry, PieceUse, ValueVisitor};
use crate::search::scoring::doc_bits::DocBits;

/// Pieces that are read in the first round, and in a later one at most: each reads twice as many as
/// the one before, so that few hits cost few reads and many cost few rounds.
const READ_FIRST: usize = 8;
const READ_MOST: usize = 64;

/// Pieces that are kept, those with the best places: of up to a million documents and more all are.
const PIECES_KEPT: usize = 2_048;

/// With fewer documents than these pieces have, all may as well be read.
const PIECES_LEAST: usize = 4;

/// With more wanted hits nearly all pieces are read anyway.
const WANTED_MAX: usize = 1_000;

/// A piece with the best place of its values.
type BoundPiece = (Place, MapEntry);

/// A place being looked for.
pub(super) struct BoundRun {
    key: SortKey,
    wanted: usize,
    /// The walk over all maps, and whether it has ended.
    walk: ColumnValues,
    has_walked: bool,
    /// The pieces with the best places; once the walk has ended, the best last.
    pieces: Vec<BoundPiece>,
    /// Those being read, ascending.
    reads: Vec<MapEntry>,
    read_next: usize,
    /// The best places of documents, the worst on top.
    best: BinaryHeap<Place>,
    _memory: Reservation,
}

/// Takes the pieces with the best places from maps.
struct PieceBounds<'b> {
    docs: &'b DocBits,
    key: &'b SortKey,
    after: Option<Place>,
    pieces: &'b mut Vec<BoundPiece>,
}

/// Takes the best places of documents from pieces that are read.
struct BestPlaces<'b> {
    docs: &'b DocBits,
    key: &'b SortKey,
    after: Option<Place>,
    wanted: usize,
    best: &'b mut BinaryHeap<Place>,
}

impl BoundRun {
    /// Will look for a place in a column of numbers. Gives nothing where that gains nothing.
    pub(super) fn new(
        key: &SortKey,
        column: &ColumnReader,
        wanted: usize,
        below: DocId,
        budget: &Budget,
    ) -> Result<Option<BoundRun>> {
        let is_small = below as usize <= PIECES_LEAST * PIECE_DOCUMENTS;
        if key.missing_first || is_small || !(1..=WANTED_MAX).contains(&wanted) {
            return Ok(None);
        }
        let pieces = 2 * PIECES_KEPT * size_of::<BoundPiece>();
        let bytes = pieces + READ_MOST * size_of::<MapEntry>() + wanted * size_of::<Place>();
        Ok(Some(BoundRun {
            key: key.clone(),
            wanted,
            walk: column.values(0..below),
            has_walked: false,
            pieces: Vec::new(),
            reads: Vec::new(),
            read_next: READ_FIRST,
            best: BinaryHeap::new(),
            _memory: budget.reserve("the bounds of an order", bytes)?,
        }))
    }

    /// Works until the place is known, of documents behind `after` alone.
    pub(super) fn step(
        &mut self,
        docs: &DocBits,
        after: Option<Place>,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        while !self.has_walked {
            let mut bounds = PieceBounds {
                docs,
                key: &self.key,
                after,
                pieces: &mut self.pieces,
            };
            if !self.walk.advance(&mut bounds, pages)? {
                bounds.cut();
                self.pieces.reverse();
                self.has_walked = true;
            }
        }
        loop {
            let mut places = BestPlaces {
                docs,
                key: &self.key,
                after,
                wanted: self.wanted,
                best: &mut self.best,
            };
            self.walk.show_pieces(&self.reads, &mut places, pages)?;
            self.reads.clear();
            if !self.begin_reads() {
                return Ok(());
            }
        }
    }

    /// The place, if there is one that so many documents reach as are wanted.
    pub(super) fn finish(self) -> Option<Place> {
        let is_full = self.best.len() == self.wanted;
        self.best.peek().copied().filter(|_| is_full)
    }

    /// Begins to read the next pieces that may have a better place. Returns false if there are
    /// none.
    fn begin_reads(&mut self) -> bool {
        let worst = self.best.peek().filter(|_| self.best.len() == self.wanted);
        while self.reads.len() < self.read_next
            && let Some((_, entry)) = self
                .pieces
                .pop_if(|(best, _)| worst.is_none_or(|worst| *best < *worst))
        {
            self.reads.push(entry);
        }
        self.reads.sort_unstable_by_key(|entry| entry.first);
        self.read_next = READ_MOST.min(2 * self.read_next);
        !self.reads.is_empty()
    }
}

impl PieceBounds<'_> {
    /// Keeps the pieces with the best places, the best first.
    fn cut(&mut self) {
        self.pieces
            .sort_unstable_by_key(|(best, entry)| (*best, entry.first));
        self.pieces.truncate(PIECES_KEPT);
    }
}

impl ValueVisitor for PieceBounds<'_> {
    fn judge(&self, entry: &MapEntry) -> PieceUse {
        let (_, last) = places_of(entry, self.key);
        let is_before = self.after.is_some_and(|after| last <= after);
        if is_before || !self.docs.has_any(entry.first..entry.end()) {
            PieceUse::Skip
        } else {
            PieceUse::Summary
        }
    }

    fn summary(&mut self, entry: &MapEntry) -> Result<()> {
        let (best, _) = places_of(entry, self.key);
        self.pieces.push((best, *entry));
        if self.pieces.len() >= 2 * PIECES_KEPT {
            self.cut();
        }
        Ok(())
    }

    /// Documents that are not flushed are in memory: nothing is gained by a bound of theirs.
    fn values(&mut self, _: ValueType, _: &[DocId], _: &[u64]) -> Result<()> {
        Ok(())
    }
}

impl BestPlaces<'_> {
    fn offer(&mut self, place: Place) {
        // At the place behind which hits begin later keys decide.
        if self.after.is_some_and(|after| place <= after) {
            return;
        }
        if self.best.len() < self.wanted {
            self.best.push(place);
        } else if let Some(mut worst) = self.best.peek_mut()
            && place < *worst
        {
            *worst = place;
        }
    }
}

impl ValueVisitor for BestPlaces<'_> {
    fn few_docs(&self, docs: Range<DocId>, found: &mut Vec<DocId>) -> bool {
        self.docs.few_within(docs, FEW, found)
    }

    fn values(&mut self, value_type: ValueType, docs: &[DocId], keys: &[u64]) -> Result<()> {
        let mut left = keys;
        for same in docs.chunk_by(|one, other| one == other) {
            let (own, others) = left.split_at(same.len());
            left = others;
            // The keys of a document ascend.
            let counts = if self.key.descending {
                own.last()
            } else {
                own.first()
            };
            let number = counts.and_then(|key| value_type.number_of_key(*key));
            if number.is_some() && self.docs.contains(same[0]) {
                self.offer(self.key.place(number));
            }
        }
        Ok(())
    }
}
