//! A place that the last wanted hit is not behind by the first key, found in few pieces.
//!
//! The maps tell which pieces may have the first hits. These are read, the most promising first,
//! until none of the others can make the place better. Whichever documents were looked at, as many
//! as are wanted stand at the place or before it, so what lies wholly behind it need not be read.

use std::collections::BinaryHeap;
use std::ops::Range;

use gannet_values::{PIECE_DOCUMENTS, ValueType};

use super::sort_key::{Place, SortKey};
use super::window::{DocumentValues, PlaceLimits, WindowValues, places_of};
use crate::base::{Budget, DocId, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::columns::{ColumnReader, ColumnValues, MapEntry, PieceUse, ValueVisitor};
use crate::search::matching::matcher::for_all;
use crate::search::scoring::doc_bits::DocBits;

/// Pieces that are read at once.
const READ_AT_ONCE: usize = 8;

/// Pieces that are kept for each wanted hit, and beside these: a piece that has a document that
/// matches may lack a value of it.
const PIECES_FOR_A_HIT: usize = 2;
const PIECES_BESIDE: usize = 16;

/// With more wanted hits nearly all pieces are read anyway.
const WANTED_MAX: usize = 1_000;

/// A piece with the best place of its values.
type BoundPiece = (Place, DocId, DocId);

/// A place being looked for.
pub(super) struct BoundRun {
    key: SortKey,
    column: ColumnReader,
    wanted: usize,
    /// The walk over all maps, until it has ended.
    walk: Option<ColumnValues>,
    /// The pieces with the best places; once the walk has ended, the best last.
    pieces: Vec<BoundPiece>,
    reads: Vec<PieceRead>,
    /// The best places of documents, the worst on top.
    best: BinaryHeap<Place>,
    _memory: Reservation,
}

/// A piece being read.
struct PieceRead {
    docs: Range<DocId>,
    /// Nothing once it was read.
    pass: Option<ColumnValues>,
    values: DocumentValues,
}

/// Takes the pieces with the best places from maps.
struct PieceBounds<'b> {
    docs: &'b DocBits,
    key: &'b SortKey,
    after: Option<Place>,
    most: usize,
    pieces: &'b mut Vec<BoundPiece>,
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
        let is_small = below as usize <= PIECES_BESIDE / 4 * PIECE_DOCUMENTS;
        if key.missing_first || is_small || !(1..=WANTED_MAX).contains(&wanted) {
            return Ok(None);
        }
        let pieces = 2 * most_pieces(wanted) * size_of::<BoundPiece>();
        let values = READ_AT_ONCE * DocumentValues::bytes(PIECE_DOCUMENTS);
        let bytes = pieces + values + wanted * size_of::<Place>();
        Ok(Some(BoundRun {
            key: key.clone(),
            column: column.clone(),
            wanted,
            walk: Some(column.values(0..below)),
            pieces: Vec::new(),
            reads: Vec::new(),
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
        while let Some(walk) = &mut self.walk {
            let mut bounds = PieceBounds {
                docs,
                key: &self.key,
                after,
                most: most_pieces(self.wanted),
                pieces: &mut self.pieces,
            };
            if !walk.advance(&mut bounds, pages)? {
                bounds.cut();
                self.pieces.reverse();
                self.walk = None;
            }
        }
        loop {
            for_all(&mut self.reads, |read| read.step(docs, &self.key, pages))?;
            self.take_read(docs, after);
            if !self.wants_more() {
                return Ok(());
            }
            let from = self.pieces.len().saturating_sub(READ_AT_ONCE);
            for (_, first, end) in self.pieces.drain(from..) {
                let mut values = DocumentValues::default();
                values.begin((end - first) as usize);
                self.reads.push(PieceRead {
                    pass: Some(self.column.values(first..end)),
                    values,
                    docs: first..end,
                });
            }
        }
    }

    /// The place, if there is one that so many documents reach as are wanted.
    pub(super) fn finish(self) -> Option<Place> {
        let is_full = self.best.len() == self.wanted;
        self.best.peek().copied().filter(|_| is_full)
    }

    /// Returns true if a piece may have a better place.
    fn wants_more(&self) -> bool {
        match (self.pieces.last(), self.best.peek()) {
            (None, _) => false,
            (Some((best, ..)), Some(worst)) => self.best.len() < self.wanted || best < worst,
            (Some(_), None) => true,
        }
    }

    /// Takes the places of documents that match from pieces that were read.
    fn take_read(&mut self, docs: &DocBits, after: Option<Place>) {
        for read in self.reads.drain(..) {
            for (at, doc) in read.docs.enumerate() {
                let value = read.values.get(at);
                let place = self.key.place(value);
                let counts = value.is_some()
                    && docs.has_any(doc..doc + 1)
                    // At the place itself later keys decide.
                    && after.is_none_or(|after| place > after);
                if !counts {
                    continue;
                }
                self.best.push(place);
                if self.best.len() > self.wanted {
                    self.best.pop();
                }
            }
        }
    }
}

impl PieceRead {
    fn step(&mut self, docs: &DocBits, key: &SortKey, pages: &mut Pages<'_>) -> Step<()> {
        if let Some(pass) = &mut self.pass {
            let mut visitor = WindowValues {
                docs,
                first: self.docs.start,
                values: &mut self.values,
                key,
                ranks: None,
                limits: PlaceLimits::default(),
            };
            while pass.advance(&mut visitor, pages)? {}
        }
        self.pass = None;
        Ok(())
    }
}

impl PieceBounds<'_> {
    /// Keeps the pieces with the best places, the best first.
    fn cut(&mut self) {
        self.pieces.sort_unstable();
        self.pieces.truncate(self.most);
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
        self.pieces.push((best, entry.first, entry.end()));
        if self.pieces.len() >= 2 * self.most {
            self.cut();
        }
        Ok(())
    }

    /// Documents that are not flushed are in memory: nothing is gained by a bound of theirs.
    fn values(&mut self, _: ValueType, _: &[DocId], _: &[u64]) -> Result<()> {
        Ok(())
    }
}

fn most_pieces(wanted: usize) -> usize {
    PIECES_FOR_A_HIT * wanted + PIECES_BESIDE
}
