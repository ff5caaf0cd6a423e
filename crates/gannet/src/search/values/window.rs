//! The values of consecutive documents by one key, as far as hits may need them.

use std::ops::Range;

use gannet_values::{Number, ValueType};

use super::FEW;
use super::ranks::TermRanks;
use super::sort_key::{Place, SortKey};
use crate::base::{DocId, Result};
use crate::columns::{MapEntry, PieceUse, ValueVisitor};
use crate::search::scoring::doc_bits::DocBits;

/// The places by the first key between which hits are looked for, both included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaceLimits {
    pub(super) from: Option<Place>,
    pub(super) to: Option<Place>,
}

/// Takes the values of a window.
pub(super) struct WindowValues<'w> {
    /// The documents that are put in order.
    pub(super) docs: &'w DocBits,
    /// The first document of the window.
    pub(super) first: DocId,
    /// The value of each document of the window that counts.
    pub(super) values: &'w mut [Option<Number>],
    pub(super) key: &'w SortKey,
    pub(super) ranks: Option<&'w TermRanks>,
    pub(super) limits: PlaceLimits,
}

/// The first and the last place that values of a piece have by a key of numbers.
pub(super) fn places_of(entry: &MapEntry, key: &SortKey) -> (Place, Place) {
    let place = |value| key.place(entry.value_type.number_of_key(value));
    let (least, greatest) = (entry.summary.least, entry.summary.greatest);
    if key.descending {
        (place(greatest), place(least))
    } else {
        (place(least), place(greatest))
    }
}

impl WindowValues<'_> {
    fn note(&mut self, doc: DocId, number: Option<Number>) {
        let at = doc.checked_sub(self.first);
        let Some(value) = at.and_then(|at| self.values.get_mut(at as usize)) else {
            return;
        };
        *value = match (*value, number) {
            (Some(known), Some(number)) if self.key.descending => Some(known.max(number)),
            (Some(known), Some(number)) => Some(known.min(number)),
            (known, number) => known.or(number),
        };
    }
}

impl ValueVisitor for WindowValues<'_> {
    fn judge(&self, entry: &MapEntry) -> PieceUse {
        if !self.docs.has_any(entry.first..entry.end()) {
            return PieceUse::Skip;
        }
        if self.key.missing_first || self.ranks.is_some() {
            return PieceUse::Values;
        }
        let (best, last) = places_of(entry, self.key);
        // Documents that are passed over look as if they had no value, which is worse too.
        if self.limits.to.is_some_and(|to| best > to) {
            return PieceUse::Skip;
        }
        let is_dense = entry.summary.documents_with_values == entry.documents;
        if is_dense && self.limits.from.is_some_and(|from| last < from) {
            PieceUse::Summary
        } else {
            PieceUse::Values
        }
    }

    fn few_docs(&self, docs: Range<DocId>, found: &mut Vec<DocId>) -> bool {
        self.docs.few_within(docs, FEW, found)
    }

    /// Takes a piece of documents that all stand before the hits: each as the last of them does.
    fn summary(&mut self, entry: &MapEntry) -> Result<()> {
        let last = if self.key.descending {
            entry.summary.least
        } else {
            entry.summary.greatest
        };
        let number = entry.value_type.number_of_key(last);
        (entry.first..entry.end()).for_each(|doc| self.note(doc, number));
        Ok(())
    }

    fn values(&mut self, value_type: ValueType, docs: &[DocId], keys: &[u64]) -> Result<()> {
        for (doc, key) in docs.iter().zip(keys) {
            let number = match self.ranks {
                Some(ranks) => Some(ranks.of_key(*key)),
                None => value_type.number_of_key(*key),
            };
            self.note(*doc, number);
        }
        Ok(())
    }
}
