//! Vacuum of columns: the values of deleted documents leave the tree, and so do strings that no
//! document has any more.
//!
//! A sweep goes over the maps of each column, span by span. A block of documents of which at least
//! half are deleted is written anew without their values, or leaves the tree if none lives. Behind
//! the last span of a column of strings, the numbers that its pieces have are noted, and strings
//! with other numbers leave the tree.
//!
//! 1. The last span of a column stays as it is, since flushes append to it.
//! 2. A number is never given again, though its string is gone.
//! 3. No flush comes between noting the numbers of a column and removing strings, as the next
//!    values may have any string that is there.

use std::collections::BTreeMap;

use gannet_values::Piece;

use super::column::ColumnId;
use super::entries::{EntryKind, EntryName, damaged_piece, decode_number, head, numbered, split};
use super::flush::{PieceWriter, TreeChanges};
use super::map::{BLOCK, MapEntry, SPAN, decode_map};
use super::pieces::{PieceCursor, PieceUse};
use super::tree::{ColumnTree, ColumnTreeView};
use crate::base::{Budget, DocId, PAGE_SIZE, Result, back_off};
use crate::btree::{Change, KeyWindow, Scan};
use crate::cache::{FramePool, Pages, finish, gather};

/// Bytes of keys and values that are changed at once.
const PART_BYTES: usize = 1 << 20;

/// The progress of a sweep.
#[derive(Clone, Debug, Default)]
pub struct ColumnSweep {
    column: ColumnId,
    /// The first document that was not looked at.
    from: DocId,
    /// Set if strings are looked for, though the sweep took no value out of their column.
    all_strings: bool,
    /// Set if values of the column were taken out.
    took_out: bool,
}

/// Limits of a slice of a sweep.
pub struct SweepLimits<'l> {
    /// Bytes that are read, about.
    pub bytes: u64,
    /// Bytes that may be written.
    pub room: u64,
    /// The budget of the numbers of a column.
    pub budget: &'l Budget,
}

/// Changes by key: a new value, or none for an entry that leaves.
type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// The pieces of a span, as its maps have them.
struct SpanMaps {
    maps: Vec<DocId>,
    entries: Vec<MapEntry>,
}

impl ColumnSweep {
    /// A sweep from the first column on. `all_strings` says that earlier sweeps may have left
    /// strings that no document has.
    pub fn new(all_strings: bool) -> ColumnSweep {
        ColumnSweep {
            all_strings,
            ..ColumnSweep::default()
        }
    }

    fn end_column(&mut self) {
        self.column += 1;
        self.from = 0;
        self.took_out = false;
    }
}

impl ColumnTree {
    /// Bytes of all leaves.
    pub fn leaf_bytes(&self) -> u64 {
        self.tree.view().leaves() * PAGE_SIZE as u64
    }

    /// Goes on with a sweep. Gives true if there is more to do.
    pub fn sweep(
        &mut self,
        pool: &FramePool,
        progress: &mut ColumnSweep,
        is_dead: &dyn Fn(DocId) -> bool,
        limits: &SweepLimits<'_>,
    ) -> Result<bool> {
        let mut read = 0;
        while (progress.column as usize) < self.columns.all().len() {
            if read >= limits.bytes {
                return Ok(true);
            }
            let (is_swept, more) = self.sweep_part(pool, progress, is_dead)?;
            read += more;
            if is_swept {
                read += self.sweep_strings(pool, progress, limits)?;
                progress.end_column();
            }
        }
        Ok(false)
    }

    /// Sweeps the next spans of a column. Tells whether these were the last, and how many bytes
    /// were read.
    fn sweep_part(
        &mut self,
        pool: &FramePool,
        progress: &mut ColumnSweep,
        is_dead: &dyn Fn(DocId) -> bool,
    ) -> Result<(bool, u64)> {
        let id = progress.column;
        let Some((last, _)) = self.flushed[id as usize].last else {
            return Ok((true, 0));
        };
        self.tree.flush()?;
        let view = self.view();
        let (mut changes, mut read) = (Changes::new(), 0);
        let mut bytes = 0;
        let is_swept = loop {
            back_off();
            let span = view.next_span(id, progress.from, pool)?;
            let span = span.filter(|span| span.end() <= last / SPAN * SPAN);
            let Some(span) = span else {
                break true;
            };
            read += PAGE_SIZE as u64;
            progress.from = span.end();
            let before = changes.len();
            read += view.sweep_span(id, &span, is_dead, pool, &mut changes)?;
            if changes.len() > before {
                progress.took_out = true;
                let size = |value: &Option<Vec<u8>>| value.as_ref().map_or(0, Vec::len);
                bytes = changes
                    .iter()
                    .map(|(key, value)| key.len() + size(value))
                    .sum();
            }
            if bytes >= PART_BYTES || read >= PART_BYTES as u64 {
                break false;
            }
        };
        self.change(pool, changes)?;
        Ok((is_swept, read))
    }

    /// Takes out the strings of a column that no value is, if that may be worth it. Gives the bytes
    /// that were read.
    fn sweep_strings(
        &mut self,
        pool: &FramePool,
        progress: &ColumnSweep,
        limits: &SweepLimits<'_>,
    ) -> Result<u64> {
        let id = progress.column;
        let column = self.columns.get(id);
        let has_strings = column.is_some_and(|column| column.value_type.has_strings());
        let may_write = self.leaf_bytes() <= limits.room;
        if !has_strings || !may_write || !(progress.took_out || progress.all_strings) {
            return Ok(0);
        }
        let numbers = self.flushed[id as usize].next_number as usize;
        let words = numbers.div_ceil(64);
        // A later sweep looks again where there is too little memory.
        let Ok(_memory) = limits
            .budget
            .reserve("a vacuum of strings", words * size_of::<u64>())
        else {
            return Ok(0);
        };
        self.tree.flush()?;
        let mut used = vec![0; words];
        let read = self.view().note_numbers(id, pool, &mut used)?;
        let mut from = head(id, EntryKind::Number).to_vec();
        loop {
            self.tree.flush()?;
            let view = self.view();
            let (changes, next) = view.unused_strings(id, from, pool, &used)?;
            self.flushed[id as usize].dropped += changes.len() as u32 / 2;
            self.change(pool, changes)?;
            match next {
                Some(next) => from = next,
                None => return Ok(read),
            }
        }
    }

    fn change(&mut self, pool: &FramePool, changes: Changes) -> Result<()> {
        let (keys, mut values): (Vec<Vec<u8>>, Vec<Option<Vec<u8>>>) = changes.into_iter().unzip();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let mut decide = |window: &mut KeyWindow<'_>| {
            back_off();
            let mut indexes = window.indexes();
            indexes.try_for_each(|at| match values[at].take() {
                Some(value) => window.set(at, Change::Put(value)),
                None => window.set(at, Change::Remove),
            })
        };
        self.tree.apply(pool, &keys, &mut decide)
    }
}

impl SpanMaps {
    /// One past the last document of the span.
    fn end(&self) -> DocId {
        let first = self.maps.first().copied().unwrap_or_default();
        (first / SPAN + 1).saturating_mul(SPAN)
    }
}

impl ColumnTreeView {
    /// The maps of the next span of a column that has any, from a document on.
    fn next_span(&self, id: ColumnId, from: DocId, pool: &FramePool) -> Result<Option<SpanMaps>> {
        let mut pages = Pages::new(pool);
        let mut scan = Scan::new(&numbered(id, EntryKind::Map, from));
        let mut span = SpanMaps {
            maps: Vec::new(),
            entries: Vec::new(),
        };
        while finish(&mut pages, |pages| scan.advance(&self.tree, pages))? {
            let (column, EntryName::Map(first)) = split(scan.key())? else {
                break;
            };
            let is_other = !span.maps.is_empty() && first >= span.end();
            if column != id || is_other {
                break;
            }
            span.entries.extend(decode_map(scan.value(), first)?);
            span.maps.push(first);
        }
        Ok((!span.maps.is_empty()).then_some(span))
    }

    /// Adds the changes of a span, if it has any. Gives the bytes that were read.
    fn sweep_span(
        &self,
        id: ColumnId,
        span: &SpanMaps,
        is_dead: &dyn Fn(DocId) -> bool,
        pool: &FramePool,
        changes: &mut Changes,
    ) -> Result<u64> {
        let mut written = TreeChanges::default();
        let mut writer = PieceWriter::new(id, &mut written);
        let (mut read, mut removed) = (0, Vec::new());
        for block in span
            .entries
            .chunk_by(|a, b| a.first / BLOCK == b.first / BLOCK)
        {
            let values = if is_half_dead(block, is_dead) {
                self.values_of_pieces(id, block, pool, &mut read)?
            } else {
                Vec::new()
            };
            if !is_worth_it(&values, is_dead) {
                writer.keep(block)?;
                continue;
            }
            removed.extend(block.iter().map(|entry| entry.first));
            for (entry, values) in block.iter().zip(values) {
                for own in values.chunk_by(|a, b| a.0 == b.0) {
                    let doc = own[0].0;
                    if !is_dead(doc) {
                        let keys: Vec<u64> = own.iter().map(|(_, key)| *key).collect();
                        writer.add(doc, entry.value_type, &keys)?;
                    }
                }
            }
        }
        if removed.is_empty() {
            return Ok(read);
        }
        writer.end()?;
        let pieces = removed.iter().map(|first| (EntryKind::Piece, first));
        let maps = span.maps.iter().map(|first| (EntryKind::Map, first));
        for (kind, first) in pieces.chain(maps) {
            changes.insert(numbered(id, kind, *first).to_vec(), None);
        }
        changes.extend(
            written
                .into_entries()
                .map(|(key, value)| (key, Some(value))),
        );
        Ok(read)
    }

    /// The values of some pieces.
    fn values_of_pieces(
        &self,
        id: ColumnId,
        pieces: &[MapEntry],
        pool: &FramePool,
        read: &mut u64,
    ) -> Result<Vec<Vec<(DocId, u64)>>> {
        let mut pages = Pages::new(pool);
        let all = finish(&mut pages, |pages| {
            gather(pieces, |piece| {
                self.entry(id, EntryKind::Piece, piece.first, pages)
            })
        })?;
        let mut values = Vec::with_capacity(pieces.len());
        for (entry, bytes) in pieces.iter().zip(all) {
            let wrong = |reason: &dyn std::fmt::Display| damaged_piece(id, entry.first, reason);
            let bytes = bytes.ok_or_else(|| wrong(&"it is not there"))?;
            *read += bytes.len() as u64;
            let piece = Piece::parse(&bytes, entry.documents as usize);
            let piece = piece.map_err(|reason| wrong(&reason))?;
            let mut own = Vec::with_capacity(piece.values());
            piece.for_each(|document, key| own.push((entry.first + document as DocId, key)));
            values.push(own);
        }
        Ok(values)
    }

    /// Notes the numbers that the pieces of a column have. Gives the bytes that were read.
    fn note_numbers(&self, id: ColumnId, pool: &FramePool, used: &mut [u64]) -> Result<u64> {
        let mut pages = Pages::new(pool);
        let mut cursor = PieceCursor::new(id, 0..DocId::MAX);
        let mut read = 0;
        loop {
            back_off();
            let next = finish(&mut pages, |pages| {
                cursor.advance_below(DocId::MAX, &|_| PieceUse::Values, self, pages)
            })?;
            let Some((entry, bytes)) = next else {
                return Ok(read);
            };
            let missing = || damaged_piece(id, entry.first, "it is not there");
            let bytes = bytes.ok_or_else(missing)?;
            read += bytes.len() as u64;
            let piece = Piece::parse(&bytes, entry.documents as usize);
            let piece = piece.map_err(|reason| damaged_piece(id, entry.first, reason))?;
            let mut is_beyond = false;
            piece.for_each(|_, key| match used.get_mut(key as usize / 64) {
                Some(word) => *word |= 1 << (key % 64),
                None => is_beyond = true,
            });
            if is_beyond {
                return Err(damaged_piece(
                    id,
                    entry.first,
                    "it has a number that no string has",
                ));
            }
        }
    }

    /// The removal of strings whose numbers are not used, from a key on, and the key where that is
    /// to go on.
    fn unused_strings(
        &self,
        id: ColumnId,
        from: Vec<u8>,
        pool: &FramePool,
        used: &[u64],
    ) -> Result<(Changes, Option<Vec<u8>>)> {
        let mut pages = Pages::new(pool);
        let mut scan = Scan::new(&from);
        let (mut changes, mut bytes) = (Changes::new(), 0);
        let end = head(id, EntryKind::Term);
        while finish(&mut pages, |pages| scan.advance(&self.tree, pages))? {
            pages.trim();
            if scan.key() >= end.as_slice() {
                break;
            }
            if bytes >= PART_BYTES {
                return Ok((changes, Some(scan.key().to_vec())));
            }
            let number = decode_number(scan.value())?;
            let word = used.get(number as usize / 64).copied().unwrap_or_default();
            if word >> (number % 64) & 1 == 0 {
                bytes += scan.key().len();
                changes.insert(scan.key().to_vec(), None);
                changes.insert(numbered(id, EntryKind::Term, number).to_vec(), None);
            }
        }
        Ok((changes, None))
    }
}

/// Returns true if at least half of the documents of some pieces are deleted.
fn is_half_dead(pieces: &[MapEntry], is_dead: &dyn Fn(DocId) -> bool) -> bool {
    let all = pieces.iter().flat_map(|entry| entry.first..entry.end());
    let (mut documents, mut dead) = (0, 0);
    for doc in all {
        documents += 1;
        dead += usize::from(is_dead(doc));
    }
    2 * dead >= documents
}

/// Returns true if at least half of the values are those of deleted documents.
fn is_worth_it(pieces: &[Vec<(DocId, u64)>], is_dead: &dyn Fn(DocId) -> bool) -> bool {
    let values = pieces.iter().map(Vec::len).sum::<usize>();
    let dead = pieces.iter().flatten().filter(|(doc, _)| is_dead(*doc));
    values > 0 && 2 * dead.count() >= values
}
