//! The value buffer: the newest values of all columns, in memory, until a flush moves them into the
//! tree.
//!
//! One writer adds batches; readers copy out what they need. A column is only ever appended to, in
//! the order of documents, so a reader that stops at its snapshot's mark sees what it saw before.
//! Readers hold the lock for a few thousand values at most.

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustc_hash::FxHashMap;

use gannet_values::{
    Number, ValueType, key_of_boolean, key_of_date, key_of_double, key_of_long, parse_date,
};

use super::column::{Column, ColumnId, Columns};
use super::found::{FoundCounts, FoundValue, FoundValues, KEYWORD_BYTES_MAX, TEXT_BYTES_MAX};
use super::terms::{TermSlots, grown, make_room};
use crate::base::{Budget, DocId, Reservation, Result};

/// Memory of a value, without its string.
const VALUE_BYTES: usize = size_of::<DocId>() + size_of::<u64>();

/// Memory of a column beside its values, with its place in the map.
const COLUMN_BYTES: usize = 2 * size_of::<BufferedColumn>();

/// Processor time that a replay takes for a value, in nanoseconds, about.
const VALUE_NANOSECONDS: u64 = 60;

/// Bytes that are reserved at once, so that the shared count is not touched for each batch.
const RESERVED_AHEAD: usize = 64 << 10;

/// The values added since the last flush.
#[derive(Debug)]
pub struct ValueBuffer {
    inner: RwLock<Buffered>,
}

/// The content of a buffer.
#[derive(Debug)]
pub(super) struct Buffered {
    columns: FxHashMap<ColumnId, BufferedColumn>,
    reservation: Reservation,
}

/// The values of a column.
#[derive(Debug, Default)]
pub(super) struct BufferedColumn {
    /// The document of each value, ascending.
    docs: Vec<DocId>,
    /// Values as keys; of a keyword column the slots of its strings.
    keys: Vec<u64>,
    /// Values before this were longs when the column had become one of doubles.
    doubles_from: usize,
    pub(super) terms: TermSlots,
}

/// The part of processor time that replaying the values of a batch takes, in nanoseconds.
pub fn work_of_values(values: &FoundValues) -> u64 {
    values.counted() as u64 * VALUE_NANOSECONDS
}

/// The key of a value that is written as text where its type was declared.
fn key_of_text(value_type: ValueType, text: &str) -> Option<u64> {
    match value_type {
        ValueType::Boolean => match text {
            "true" => Some(key_of_boolean(true)),
            "false" => Some(key_of_boolean(false)),
            _ => None,
        },
        ValueType::Date => parse_date(text).map(|date| key_of_date(date.first_ms)),
        ValueType::Double => key_of_double(Number::parse(text)?.nearest_double()),
        ValueType::Long => Number::parse(text)?.exact_long().map(key_of_long),
        ValueType::Ip | ValueType::Keyword => None,
    }
}

impl ValueBuffer {
    /// An empty buffer that takes its memory from `budget`.
    pub fn new(budget: &Budget) -> Result<ValueBuffer> {
        let inner = Buffered {
            columns: FxHashMap::default(),
            reservation: budget.reserve("the values of new documents", 0)?,
        };
        Ok(ValueBuffer {
            inner: RwLock::new(inner),
        })
    }

    /// Reserves the memory that adding `values` can take at most, to columns that these are or that
    /// they lead to.
    pub fn reserve_for(&self, values: &FoundValues, columns: &Columns) -> Result<()> {
        let mut inner = self.write();
        let mut needed = inner.memory_bytes();
        for (field, FoundCounts { values, bytes }) in values.counts() {
            // A field that is new has a keyword and a date at most.
            let known = columns.of_field(field);
            let new = COLUMN_BYTES + BufferedColumn::default().memory_with(values, values, bytes);
            needed += match known {
                [] => 2 * new,
                [_] => new,
                _ => 0,
            };
            for id in known {
                let column = inner.columns.get(id);
                let now = column.map_or(0, BufferedColumn::memory_bytes);
                let then = column.map_or(new, |column| column.memory_with(values, values, bytes));
                // While a vector is copied both are there.
                needed += then.saturating_sub(now) + if then > now { now } else { 0 };
            }
        }
        if needed > inner.reservation.bytes() {
            inner.reservation.grow_to(needed + RESERVED_AHEAD)
        } else {
            Ok(())
        }
    }

    /// Adds the values of documents from `base` on, higher than any added before. The memory was
    /// reserved. Gives the columns that some did not fit, and how many.
    pub fn add(
        &self,
        values: &FoundValues,
        base: DocId,
        columns: &Columns,
    ) -> Vec<(ColumnId, u64)> {
        let mut misfits: Vec<(ColumnId, u64)> = Vec::new();
        if values.is_empty() {
            return misfits;
        }
        let mut inner = self.write();
        let mut keys = Vec::new();
        for run in values.all().chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let Some((document, field, _)) = run.first() else {
                continue;
            };
            for id in columns.of_field(*field) {
                let Some(column) = columns.get(*id).filter(|column| !column.closed) else {
                    continue;
                };
                let own = inner.columns.entry(*id).or_default();
                keys.clear();
                let found = run.iter().map(|(.., value)| value);
                let missed = own.fit(column, values, found, &mut keys);
                own.push(base + document, column.value_type, &mut keys);
                match misfits.iter_mut().find(|(other, _)| other == id) {
                    Some((_, count)) => *count += missed,
                    None if missed > 0 => misfits.push((*id, missed)),
                    None => {}
                }
            }
        }
        misfits
    }

    /// Bytes of memory held, with those that a flush will take.
    pub fn memory_bytes(&self) -> usize {
        self.read().memory_bytes()
    }

    /// Bytes on flash that its values take, at most, and how many entries of the tree they change.
    pub fn flushed_bytes(&self) -> (u64, u64) {
        let inner = self.read();
        let (mut bytes, mut entries) = (0, 0);
        for column in inner.columns.values() {
            let terms = column.terms.len() as u64;
            bytes += column.keys.len() as u64 * 10 + 2 * column.terms.term_bytes() as u64;
            bytes += terms * 24;
            entries += terms + 2;
        }
        (bytes, entries)
    }

    /// Returns the columns that have values, in order.
    pub(super) fn columns(&self) -> Vec<ColumnId> {
        let mut all: Vec<ColumnId> = self.read().columns.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// Keeps all as it is while it is looked at.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Buffered> {
        self.inner.read().unwrap_or_else(|e| e.into_inner())
    }

    fn write(&self) -> RwLockWriteGuard<'_, Buffered> {
        self.inner.write().unwrap_or_else(|e| e.into_inner())
    }
}

impl Buffered {
    pub(super) fn column(&self, id: ColumnId) -> Option<&BufferedColumn> {
        self.columns.get(&id)
    }

    fn memory_bytes(&self) -> usize {
        let columns = self.columns.values();
        let own = columns.map(|column| COLUMN_BYTES + column.memory_bytes());
        own.sum()
    }
}

impl BufferedColumn {
    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.docs.len()
    }

    /// The documents of all values.
    pub(super) fn docs(&self) -> &[DocId] {
        &self.docs
    }

    /// The values of documents below `below` from a place on, at most so many, and their type.
    pub(super) fn part(
        &self,
        from: usize,
        most: usize,
        below: DocId,
        value_type: ValueType,
    ) -> (ValueType, impl Iterator<Item = (DocId, u64)> + '_) {
        let (end, part_type) = if value_type == ValueType::Double && from < self.doubles_from {
            (self.doubles_from, ValueType::Long)
        } else {
            (self.docs.len(), value_type)
        };
        let end = end.min(from.saturating_add(most)).max(from);
        let docs = self.docs.get(from..end).unwrap_or_default();
        let keys = self.keys.get(from..end).unwrap_or_default();
        let visible = docs.partition_point(|doc| *doc < below);
        let pairs = docs[..visible].iter().copied().zip(keys.iter().copied());
        (part_type, pairs)
    }

    /// Appends the keys of values that fit a column. Gives how many did not.
    fn fit<'v>(
        &mut self,
        column: &Column,
        batch: &FoundValues,
        values: impl Iterator<Item = &'v FoundValue>,
        keys: &mut Vec<u64>,
    ) -> u64 {
        let mut misfits = 0;
        for value in values {
            let key = match (column.value_type, *value) {
                (ValueType::Long, FoundValue::Whole(value)) => Some(key_of_long(value)),
                (ValueType::Double, FoundValue::Whole(value)) => key_of_double(value as f64),
                (ValueType::Double, FoundValue::Fraction(value) | FoundValue::Beyond(value)) => {
                    key_of_double(value)
                }
                (ValueType::Boolean, FoundValue::Boolean(value)) => Some(key_of_boolean(value)),
                (ValueType::Date, FoundValue::Text { date, .. }) if !column.declared => {
                    date.map(key_of_date)
                }
                (
                    ValueType::Ip | ValueType::Keyword,
                    FoundValue::Text { at, length, .. } | FoundValue::Spelled { at, length },
                ) => {
                    let text = batch.text(at, length);
                    let most = if column.beside_text {
                        TEXT_BYTES_MAX
                    } else {
                        KEYWORD_BYTES_MAX
                    };
                    if text.len() <= most {
                        Some(self.terms.slot(text) as u64)
                    } else {
                        None
                    }
                }
                (value_type, FoundValue::Text { at, length, .. }) if column.declared => {
                    let text = batch.text(at, length);
                    std::str::from_utf8(text)
                        .ok()
                        .and_then(|text| key_of_text(value_type, text))
                }
                (ValueType::Date, FoundValue::Spelled { at, length }) if column.declared => {
                    let text = std::str::from_utf8(batch.text(at, length)).unwrap_or_default();
                    text.parse().ok().map(key_of_date)
                }
                // Texts that are too long are no values of a column of short ones.
                (ValueType::Keyword, FoundValue::LongText) if column.beside_text => continue,
                (_, FoundValue::Misfits(count)) => {
                    misfits += count as u64;
                    continue;
                }
                _ => None,
            };
            match key {
                Some(key) => keys.push(key),
                None => misfits += 1,
            }
        }
        misfits
    }

    /// Adds the values of a document.
    fn push(&mut self, doc: DocId, value_type: ValueType, keys: &mut Vec<u64>) {
        keys.sort_unstable();
        if value_type.has_strings() {
            keys.dedup();
        }
        if value_type != ValueType::Double {
            // Should it become one of doubles, these were longs.
            self.doubles_from = self.docs.len() + keys.len();
        }
        make_room(&mut self.docs, keys.len());
        make_room(&mut self.keys, keys.len());
        self.docs.extend(std::iter::repeat_n(doc, keys.len()));
        self.keys.append(keys);
    }

    fn memory_bytes(&self) -> usize {
        self.memory_with(0, 0, 0)
    }

    /// Bytes of memory after so many more values, strings and bytes of these.
    fn memory_with(&self, values: usize, terms: usize, bytes: usize) -> usize {
        let places = grown(self.docs.capacity(), self.docs.len(), values);
        places * VALUE_BYTES + self.terms.memory_with(terms, bytes)
    }
}
