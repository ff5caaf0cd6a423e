//! Which values are wanted, and which documents of a piece or a buffer have one.

use std::ops::RangeInclusive;

use gannet_values::{Bits, NumberRange, Piece, ValueType};

use super::map::MapEntry;

/// The values that documents are wanted for.
#[derive(Clone, Debug)]
pub enum Selection {
    /// Any.
    All,
    /// One in any of these ranges: longs, doubles, booleans as 0 and 1, and dates as their
    /// milliseconds.
    Ranges(Vec<NumberRange>),
    /// One of these keywords, as [`ColumnReader::terms`](super::ColumnReader::terms) finds them.
    Terms(TermKeys),
}

/// Keywords by their numbers in the tree, and by their slots in each buffer; ascending.
#[derive(Clone, Debug, Default)]
pub struct TermKeys {
    pub(super) numbers: Vec<u64>,
    pub(super) slots: Vec<Vec<u64>>,
}

impl TermKeys {
    /// Adds others of the same column.
    pub fn join(&mut self, other: TermKeys) {
        add(&mut self.numbers, other.numbers);
        self.slots
            .resize(self.slots.len().max(other.slots.len()), Vec::new());
        for (own, slots) in self.slots.iter_mut().zip(other.slots) {
            add(own, slots);
        }
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        let slots: usize = self.slots.iter().map(Vec::capacity).sum();
        (self.numbers.capacity() + slots) * size_of::<u64>()
    }
}

/// Adds keys to others, in order.
fn add(keys: &mut Vec<u64>, more: Vec<u64>) {
    keys.extend(more);
    keys.sort_unstable();
    keys.dedup();
}

/// The wanted keys of values of one type.
pub(super) enum WantedKeys<'s> {
    All,
    Ranges(Vec<RangeInclusive<u64>>),
    Some(&'s [u64]),
}

impl Selection {
    /// The wanted keys in pieces of the tree.
    pub(super) fn in_tree(&self, value_type: ValueType) -> WantedKeys<'_> {
        match self {
            Selection::Terms(terms) => WantedKeys::Some(&terms.numbers),
            other => other.of_numbers(value_type),
        }
    }

    /// The wanted keys in a buffer.
    pub(super) fn in_buffer(&self, buffer: usize, value_type: ValueType) -> WantedKeys<'_> {
        match self {
            Selection::Terms(terms) => {
                WantedKeys::Some(terms.slots.get(buffer).map_or(&[], Vec::as_slice))
            }
            other => other.of_numbers(value_type),
        }
    }

    fn of_numbers(&self, value_type: ValueType) -> WantedKeys<'_> {
        match self {
            Selection::All => WantedKeys::All,
            Selection::Ranges(ranges) => {
                let keys = ranges.iter().filter_map(|range| range.keys(value_type));
                WantedKeys::Ranges(keys.collect())
            }
            Selection::Terms(_) => WantedKeys::Some(&[]),
        }
    }
}

impl WantedKeys<'_> {
    /// Returns true if a piece may have a wanted key.
    pub(super) fn may_be_in(&self, entry: &MapEntry) -> bool {
        let (least, greatest) = (entry.summary.least, entry.summary.greatest);
        match self {
            WantedKeys::All => true,
            WantedKeys::Ranges(ranges) => ranges
                .iter()
                .any(|range| *range.start() <= greatest && *range.end() >= least),
            WantedKeys::Some(keys) => {
                let at = keys.partition_point(|key| *key < least);
                keys.get(at).is_some_and(|key| *key <= greatest)
            }
        }
    }

    /// Returns true if all documents of a piece have a value, and each is wanted.
    pub(super) fn has_all_of(&self, entry: &MapEntry) -> bool {
        let summary = &entry.summary;
        let (least, greatest) = (summary.least, summary.greatest);
        let is_dense = summary.documents_with_values == entry.documents;
        is_dense
            && match self {
                WantedKeys::All => true,
                WantedKeys::Ranges(ranges) => ranges
                    .iter()
                    .any(|range| range.contains(&least) && range.contains(&greatest)),
                WantedKeys::Some(keys) => least == greatest && keys.binary_search(&least).is_ok(),
            }
    }

    /// Adds the documents of a piece that have a wanted key.
    pub(super) fn select(&self, piece: &Piece<'_>, bits: &mut Bits) {
        match self {
            WantedKeys::All => piece.select_all(bits),
            WantedKeys::Ranges(ranges) => {
                for range in ranges {
                    piece.select(range.clone(), bits);
                }
            }
            WantedKeys::Some(keys) => piece.select_any(keys, bits),
        }
    }

    /// Returns true if a key is wanted.
    pub(super) fn has(&self, key: u64) -> bool {
        match self {
            WantedKeys::All => true,
            WantedKeys::Ranges(ranges) => ranges.iter().any(|range| range.contains(&key)),
            WantedKeys::Some(keys) => keys.binary_search(&key).is_ok(),
        }
    }
}
