//! The columns of a snapshot, and what one of them can be asked.

use std::fmt;
use std::sync::Arc;

use gannet_values::{Piece, ValueType};

use super::buffer::ValueBuffer;
use super::column::{Column, ColumnId, Columns};
use super::entries::{EntryKind, damaged_piece};
use super::map::{BLOCK, MapEntry, SPAN};
use super::pieces::{PieceCursor, PieceUse};
use super::select::TermKeys;
use super::tree::ColumnTreeView;
use crate::base::{DocId, Error, Result};
use crate::btree::NearNodes;
use crate::cache::{Pages, Step, gather};

/// The bits of a keyword's key that say in which buffer it stands; none of one that has a number.
const BUFFER_SHIFT: u32 = 32;

/// The columns of a snapshot. Clones are cheap.
#[derive(Clone, Default)]
pub struct ColumnsView {
    pub(super) tree: ColumnTreeView,
    columns: Arc<Columns>,
    /// The older first.
    pub(super) buffers: Arc<[Arc<ValueBuffer>]>,
    /// Every document of the snapshot is below this.
    pub(super) below: DocId,
}

/// One column of a snapshot.
#[derive(Clone)]
pub struct ColumnReader {
    pub(super) view: ColumnsView,
    pub(super) id: ColumnId,
    pub(super) column: Column,
}

/// Numbers for the keywords of a column that are in buffers: those of the tree where it has them,
/// and others behind these. With them all keywords can be counted in one table.
#[derive(Clone, Debug, Default)]
pub struct KeywordNumbers {
    buffers: Vec<Vec<u32>>,
    /// Those that the tree does not have: buffer and slot, by number from `next` on.
    new: Vec<(usize, u32)>,
    next: u32,
}

impl fmt::Debug for ColumnReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnReader({}, {:?})", self.id, self.column)
    }
}

/// The key of a keyword that stands in a slot of a buffer.
pub(super) fn tagged(buffer: usize, slot: u64) -> u64 {
    (buffer as u64 + 1) << BUFFER_SHIFT | slot
}

impl ColumnsView {
    /// Joins the parts of a snapshot: buffers with documents below `below`, the older first.
    pub fn new(
        tree: ColumnTreeView,
        columns: Arc<Columns>,
        buffers: Vec<Arc<ValueBuffer>>,
        below: DocId,
    ) -> ColumnsView {
        ColumnsView {
            tree,
            columns,
            buffers: buffers.into(),
            below,
        }
    }

    /// Which columns there are.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// A column, if there is one of this number.
    pub fn reader(&self, id: ColumnId) -> Option<ColumnReader> {
        let column = self.columns.get(id)?.clone();
        Some(ColumnReader {
            view: self.clone(),
            id,
            column,
        })
    }
}

impl ColumnReader {
    /// The decisions on the column.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// The values of some documents, which ascend: the type of the values and the keys of each.
    /// Maps are read in one round, pieces in another. What it gives takes memory for each document;
    /// ask for some hundreds at a time.
    pub fn values_of(
        &self,
        docs: &[DocId],
        pages: &mut Pages<'_>,
    ) -> Step<Vec<(ValueType, Vec<u64>)>> {
        let mut values: Vec<(ValueType, Vec<u64>)> =
            vec![(self.column.value_type, Vec::new()); docs.len()];
        self.values_in_tree(docs, &mut values, pages)?;
        for (number, buffer) in self.view.buffers.iter().enumerate() {
            self.values_in_buffer(docs, number, buffer, &mut values);
        }
        Ok(values)
    }

    fn values_in_tree(
        &self,
        docs: &[DocId],
        values: &mut [(ValueType, Vec<u64>)],
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let Some((_, last)) = self.view.tree.flushed(self.id).last else {
            return Ok(());
        };
        let end = docs.partition_point(|doc| doc / BLOCK <= last / BLOCK);
        let spans: Vec<&[DocId]> = docs[..end].chunk_by(|a, b| a / SPAN == b / SPAN).collect();
        let entries = gather(&spans, |docs| self.entries_of(docs, pages))?;
        let mut wanted: Vec<(usize, MapEntry)> = Vec::new();
        for (place, doc) in docs[..end].iter().enumerate() {
            let entry = entries.iter().flatten().find(|entry| covers(entry, *doc));
            wanted.extend(entry.map(|entry| (place, *entry)));
        }
        let pieces: Vec<&[(usize, MapEntry)]> =
            wanted.chunk_by(|a, b| a.1.first == b.1.first).collect();
        let (tree, mut near) = (&self.view.tree, NearNodes::default());
        let read = gather(&pieces, |run| {
            tree.piece(self.id, run[0].1.first, &mut near, pages)
        })?;
        for (run, bytes) in pieces.iter().zip(read) {
            let entry = run[0].1;
            let piece = Piece::parse(&bytes, entry.documents as usize)
                .map_err(|reason| damaged_piece(self.id, entry.first, reason))?;
            for (place, _) in *run {
                let (value_type, keys) = &mut values[*place];
                *value_type = entry.value_type;
                piece.keys_of((docs[*place] - entry.first) as usize, keys);
            }
        }
        Ok(())
    }

    /// The pieces that have any of some documents of one span.
    fn entries_of(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<Vec<MapEntry>> {
        let (Some(first), Some(last)) = (docs.first(), docs.last()) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut pieces = PieceCursor::new(self.id, *first..last + 1);
        let judge = |entry: &MapEntry| {
            let at = docs.partition_point(|doc| *doc < entry.first);
            let is_wanted = docs.get(at).is_some_and(|doc| covers(entry, *doc));
            if is_wanted {
                PieceUse::Summary
            } else {
                PieceUse::Skip
            }
        };
        let end = *last + 1;
        while let Some((entry, _)) = pieces.advance_below(end, &judge, &self.view.tree, pages)? {
            found.push(entry);
        }
        Ok(found)
    }

    fn values_in_buffer(
        &self,
        docs: &[DocId],
        number: usize,
        buffer: &ValueBuffer,
        values: &mut [(ValueType, Vec<u64>)],
    ) {
        let inner = buffer.read();
        let Some(column) = inner.column(self.id) else {
            return;
        };
        for (doc, (found_type, keys)) in docs.iter().zip(values) {
            if *doc >= self.view.below {
                continue;
            }
            let from = column.docs().partition_point(|other| other < doc);
            let behind = column.docs().partition_point(|other| other <= doc);
            if from == behind {
                continue;
            }
            let value_type = self.column.value_type;
            let (part_type, part) = column.part(from, behind - from, self.view.below, value_type);
            *found_type = part_type;
            keys.extend(part.map(|(_, key)| match part_type {
                own if own.has_strings() => tagged(number, key),
                _ => key,
            }));
        }
    }

    /// Finds keywords, for [`Selection::Terms`](super::Selection::Terms). Those that no document
    /// has are left out.
    pub fn terms(&self, terms: &[&[u8]], pages: &mut Pages<'_>) -> Step<TermKeys> {
        let tree = &self.view.tree;
        let numbers = gather(terms, |term| tree.number(self.id, term, pages))?;
        let mut numbers: Vec<u64> = numbers.into_iter().flatten().map(u64::from).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let slots = self.view.buffers.iter().map(|buffer| {
            let inner = buffer.read();
            let known = inner.column(self.id).map(|column| &column.terms);
            let found = terms.iter().filter_map(|term| known?.find(term));
            let mut slots: Vec<u64> = found.map(u64::from).collect();
            slots.sort_unstable();
            slots.dedup();
            slots
        });
        Ok(TermKeys {
            slots: slots.collect(),
            numbers,
        })
    }

    /// The numbers of some strings, with those that buffers were given; none of a string that no
    /// document has.
    pub fn numbers_of(
        &self,
        terms: &[&[u8]],
        numbers: &KeywordNumbers,
        pages: &mut Pages<'_>,
    ) -> Step<Vec<Option<u32>>> {
        let tree = &self.view.tree;
        let known = gather(terms, |term| tree.number(self.id, term, pages))?;
        let found = known.into_iter().zip(terms).map(|(number, term)| {
            number.or_else(|| {
                let mut buffers = (0..).zip(self.view.buffers.iter());
                buffers.find_map(|(at, buffer)| {
                    let inner = buffer.read();
                    let slot = inner.column(self.id)?.terms.find(term)?;
                    let number = numbers.number(tagged(at, slot.into()));
                    (number != u32::MAX).then_some(number)
                })
            })
        });
        Ok(found.collect())
    }

    /// The string of a keyword's key.
    pub fn term(&self, key: u64, pages: &mut Pages<'_>) -> Step<Vec<u8>> {
        let number = key as u32;
        let lost = || {
            let reason = format!("expected a keyword for the number {key}, got none");
            Error::damaged(format!("column {}", self.id), reason)
        };
        let buffer = (key >> BUFFER_SHIFT) as usize;
        if let Some(buffer) = buffer.checked_sub(1) {
            let inner = self.view.buffers.get(buffer).map(|buffer| buffer.read());
            let inner = inner.ok_or_else(lost)?;
            let terms = inner.column(self.id).map(|column| &column.terms);
            let terms = terms.filter(|terms| (number as usize) < terms.len());
            return Ok(terms.ok_or_else(lost)?.term(number).to_vec());
        }
        let value = self
            .view
            .tree
            .entry(self.id, EntryKind::Term, number, pages)?;
        Ok(value.ok_or_else(lost)?.to_vec())
    }

    /// The strings of several keys, read together.
    pub fn term_strings(&self, keys: &[u64], pages: &mut Pages<'_>) -> Step<Vec<Vec<u8>>> {
        gather(keys, |key| self.term(key, pages))
    }

    /// The number that the next keyword gets in a flush: all in the tree are below.
    pub fn next_number(&self) -> u32 {
        self.view.tree.flushed(self.id).next_number
    }

    /// The number of keywords in the tree.
    pub fn keywords(&self) -> u64 {
        let flushed = self.view.tree.flushed(self.id);
        u64::from(flushed.next_number.saturating_sub(flushed.dropped))
    }

    /// The number of keywords of the buffers; they take 4 bytes each in [`KeywordNumbers`].
    pub fn buffered_terms(&self) -> usize {
        let count = |buffer: &Arc<ValueBuffer>| {
            let inner = buffer.read();
            inner.column(self.id).map_or(0, |column| column.terms.len())
        };
        self.view.buffers.iter().map(count).sum()
    }

    /// Gives the keywords of buffers numbers beside those of the tree. `numbers` is empty at the
    /// first call, and goes on where it stopped.
    pub fn number_buffers(&self, numbers: &mut KeywordNumbers, pages: &mut Pages<'_>) -> Step<()> {
        numbers.next = self.next_number();
        for (at, buffer) in self.view.buffers.iter().enumerate() {
            if numbers.buffers.len() <= at {
                numbers.buffers.push(Vec::new());
            }
            loop {
                let from = numbers.buffers[at].len();
                let some = terms_from(buffer, self.id, from);
                if some.is_empty() {
                    break;
                }
                let tree = &self.view.tree;
                let slots: Vec<usize> = (0..some.len()).collect();
                let known = gather(&slots, |slot| tree.number(self.id, &some[slot], pages))?;
                for (slot, number) in known.into_iter().enumerate() {
                    let number = match number {
                        Some(number) => number,
                        None => self.number_of_new(numbers, at, &some[slot], from + slot)?,
                    };
                    numbers.buffers[at].push(number);
                }
                pages.trim();
            }
        }
        Ok(())
    }

    /// The number of a keyword that the tree does not have; an earlier buffer may.
    fn number_of_new(
        &self,
        numbers: &mut KeywordNumbers,
        buffer: usize,
        term: &[u8],
        slot: usize,
    ) -> Result<u32> {
        for (at, earlier) in self.view.buffers.iter().enumerate().take(buffer) {
            let inner = earlier.read();
            let terms = inner.column(self.id).map(|column| &column.terms);
            let slot = terms.and_then(|terms| terms.find(term));
            let known = slot.and_then(|slot| numbers.buffers[at].get(slot as usize));
            if let Some(number) = known {
                return Ok(*number);
            }
        }
        numbers.new.push((buffer, slot as u32));
        let number = numbers.next.checked_add(numbers.new.len() as u32 - 1);
        number.ok_or_else(|| Error::invalid("all numbers of keywords are used up"))
    }
}

/// Strings of a buffer that are looked up at once.
const TERMS_AT_ONCE: usize = 64;

fn terms_from(buffer: &ValueBuffer, column: ColumnId, from: usize) -> Vec<Vec<u8>> {
    let inner = buffer.read();
    let Some(terms) = inner.column(column).map(|column| &column.terms) else {
        return Vec::new();
    };
    let end = terms.len().min(from + TERMS_AT_ONCE);
    let slots = from..end;
    slots.map(|slot| terms.term(slot as u32).to_vec()).collect()
}

impl KeywordNumbers {
    /// The number of a key that a pass gave.
    pub fn number(&self, key: u64) -> u32 {
        let number = key as u32;
        let Some(buffer) = ((key >> BUFFER_SHIFT) as usize).checked_sub(1) else {
            return number;
        };
        let of_buffer = self.buffers.get(buffer);
        let known = of_buffer.and_then(|numbers| numbers.get(number as usize));
        known.copied().unwrap_or(u32::MAX)
    }

    /// The key of a number, for [`ColumnReader::term`].
    pub fn key(&self, number: u32) -> u64 {
        let new = number.checked_sub(self.next);
        let place = new.and_then(|new| self.new.get(new as usize));
        place.map_or(number as u64, |(buffer, slot)| {
            tagged(*buffer, *slot as u64)
        })
    }

    /// One past the greatest number.
    pub fn end(&self) -> u32 {
        self.next.saturating_add(self.new.len() as u32)
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        let known: usize = self.buffers.iter().map(Vec::capacity).sum();
        known * size_of::<u32>() + self.new.capacity() * size_of::<(usize, u32)>()
    }
}

fn covers(entry: &MapEntry, doc: DocId) -> bool {
    entry.first <= doc && doc < entry.end()
}
