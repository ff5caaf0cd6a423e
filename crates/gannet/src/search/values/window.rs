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

/// The values of consecutive documents that have one, each by the place of its document.
///
/// A bit tells which documents have one, so that beginning anew and going through few of them take
/// little time.
#[derive(Default)]
pub(super) struct DocumentValues {
    numbers: Vec<Number>,
    present: Vec<u64>,
}

impl DocumentValues {
    /// Bytes of memory for so many documents.
    pub(super) fn bytes(documents: usize) -> usize {
        documents * size_of::<Number>() + documents.div_ceil(64) * size_of::<u64>()
    }

    /// Begins anew with so many documents, of which none has a value.
    pub(super) fn begin(&mut self, documents: usize) {
        if self.numbers.len() < documents {
            self.numbers.resize(documents, Number::Long(0));
        }
        self.present.clear();
        self.present.resize(documents.div_ceil(64), 0);
    }

    /// Returns the value of a document, if it has one.
    pub(super) fn get(&self, at: usize) -> Option<Number> {
        let is_there = self.word(at / 64) >> (at % 64) & 1 == 1;
        self.numbers.get(at).copied().filter(|_| is_there)
    }

    /// Sets the value of a document, which is among those that it began with.
    pub(super) fn set(&mut self, at: usize, number: Number) {
        let word = self.present.get_mut(at / 64);
        if let (Some(word), Some(place)) = (word, self.numbers.get_mut(at)) {
            *word |= 1 << (at % 64);
            *place = number;
        }
    }

    /// Returns a bit for each of the 64 documents from 64 times `at` on that has a value.
    pub(super) fn word(&self, at: usize) -> u64 {
        self.present.get(at).copied().unwrap_or(0)
    }
}

/// Takes the values of a window.
pub(super) struct WindowValues<'w> {
    /// The documents that are put in order.
    pub(super) docs: &'w DocBits,
    /// The first document of the window.
    pub(super) first: DocId,
    /// The value that counts of each document of the window.
    pub(super) values: &'w mut DocumentValues,
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
        let (Some(at), Some(number)) = (doc.checked_sub(self.first), number) else {
            return;
        };
        let counts = match self.values.get(at as usize) {
            Some(known) if self.key.descending => known.max(number),
            Some(known) => known.min(number),
            None => number,
        };
        self.values.set(at as usize, counts);
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
