//! A flush: the values of a buffer become pieces, and their strings get numbers.
//!
//! Changes are handed to the tree in the order of its keys, a part at a time: first all strings of
//! all columns, then what the numbers stand in. So each leaf is written about once for each of the
//! two, however many columns there are.

use gannet_values::{Piece, ValueType, encode};

use super::buffer::{BufferedColumn, ValueBuffer};
use super::column::{ColumnId, Columns, FlushedColumn};
use super::entries::{
    EntryKind, PIECE_KEY_BYTES, damaged_piece, decode_number, numbered, put_number_key,
};
use super::map::{BLOCK, MapEntry, SPAN, cut_maps, decode_map, encode_map};
use super::tree::ColumnTree;
use crate::base::{DocId, Error, Result, back_off};
use crate::btree::{Change, KeyWindow};
use crate::cache::{FramePool, Pages, Step, finish, gather};

/// The longest piece in bytes: two fit a leaf. Of longer ones a leaf would have one and much air;
/// to look a shorter one up takes as long, for fewer values.
const PIECE_BYTES_MAX: usize = 1_900;

const _: () = assert!(PIECE_BYTES_MAX >= gannet_values::PIECE_BYTES_LEAST);
const _: () = assert!(PIECE_BYTES_MAX + PIECE_KEY_BYTES + 4 <= crate::btree::ENTRY_MAX);

/// Bytes of keys and values that are handed to the tree at once.
const PART_BYTES: usize = 1 << 20;

/// Columns whose last pieces are read at once; each takes two frames.
const COLUMNS_AT_ONCE: usize = 32;

/// Values that are taken from the buffer at once.
const VALUES_AT_ONCE: usize = 4096;

/// Changes that wait for the tree, in the order of keys.
#[derive(Default)]
pub(super) struct TreeChanges {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

/// The end of a column: its last map, and the values of its last piece.
#[derive(Default)]
struct LastPiece {
    entries: Vec<MapEntry>,
    values: Vec<(u16, u64)>,
}

/// The pieces of a column that are being made.
pub(super) struct PieceWriter<'w> {
    column: ColumnId,
    /// The pieces of the last map, and those that follow.
    entries: Vec<MapEntry>,
    /// Values of one block and one type that are no piece yet.
    values: Vec<(DocId, u64)>,
    value_type: ValueType,
    changes: &'w mut TreeChanges,
}

impl ColumnTree {
    /// Takes all values of a buffer, for which this was decided. Columns that were given up get no
    /// more.
    pub fn add(&mut self, pool: &FramePool, buffer: &ValueBuffer, columns: &Columns) -> Result<()> {
        self.columns = columns.clone();
        let count = columns.all().len();
        self.flushed.resize(count, FlushedColumn::default());
        let mut open = buffer.columns();
        open.retain(|id| columns.get(*id).is_some_and(|column| !column.closed));
        let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); count];
        let new = self.number_terms(pool, buffer, &open, &mut numbers)?;
        let mut changes = TreeChanges::default();
        let mut new = new.as_slice();
        for some in open.chunks(COLUMNS_AT_ONCE) {
            let last = self.last_pieces(pool, some)?;
            for (id, last) in some.iter().zip(last) {
                let own = new.partition_point(|(column, ..)| column <= id);
                let (terms, rest) = new.split_at(own);
                new = rest;
                self.add_column(
                    pool,
                    buffer,
                    *id,
                    &numbers[*id as usize],
                    last,
                    &mut changes,
                )?;
                self.add_terms(pool, buffer, terms, &mut changes)?;
            }
        }
        self.apply(pool, &mut changes)
    }

    /// Gives numbers to all strings of keyword columns. Gives those that are new: column, number,
    /// slot.
    fn number_terms(
        &mut self,
        pool: &FramePool,
        buffer: &ValueBuffer,
        open: &[ColumnId],
        numbers: &mut [Vec<u32>],
    ) -> Result<Vec<(ColumnId, u32, u32)>> {
        let frozen = buffer.read();
        let (mut part, mut new) = (Vec::new(), Vec::new());
        let (mut keys, mut ends) = (Vec::new(), Vec::new());
        for id in open {
            let Some(terms) = frozen.column(*id).map(|column| &column.terms) else {
                continue;
            };
            numbers[*id as usize] = vec![0; terms.len()];
            for slot in terms.sorted() {
                put_number_key(*id, terms.term(slot), &mut keys);
                ends.push(keys.len());
                part.push((*id, slot));
                if keys.len() >= PART_BYTES {
                    self.number_part(pool, &part, &keys, &ends, numbers, &mut new)?;
                    part.clear();
                    keys.clear();
                    ends.clear();
                }
            }
        }
        self.number_part(pool, &part, &keys, &ends, numbers, &mut new)?;
        Ok(new)
    }

    fn number_part(
        &mut self,
        pool: &FramePool,
        part: &[(ColumnId, u32)],
        bytes: &[u8],
        ends: &[usize],
        numbers: &mut [Vec<u32>],
        new: &mut Vec<(ColumnId, u32, u32)>,
    ) -> Result<()> {
        let starts = std::iter::once(&0).chain(ends);
        let keys: Vec<&[u8]> = starts.zip(ends).map(|(a, b)| &bytes[*a..*b]).collect();
        let flushed = &mut self.flushed;
        let mut decide = |window: &mut KeyWindow<'_>| {
            back_off();
            for at in window.indexes() {
                let (id, slot) = part[at];
                let number = match window.old(at) {
                    Some(old) => decode_number(old)?,
                    None => {
                        let next = &mut flushed[id as usize].next_number;
                        let number = *next;
                        *next = next.checked_add(1).ok_or_else(no_numbers)?;
                        window.set(at, Change::Put(number.to_le_bytes().to_vec()))?;
                        new.push((id, number, slot));
                        number
                    }
                };
                numbers[id as usize][slot as usize] = number;
            }
            Ok(())
        };
        self.tree.apply(pool, &keys, &mut decide)
    }

    /// Reads what is there of columns that are appended to. Nodes must have left the write buffer
    /// before they are read.
    fn last_pieces(&mut self, pool: &FramePool, columns: &[ColumnId]) -> Result<Vec<LastPiece>> {
        self.tree.flush()?;
        let view = self.view();
        let mut pages = Pages::new(pool);
        let read = |id: ColumnId, pages: &mut Pages<'_>| -> Step<LastPiece> {
            let Some((map, piece)) = view.flushed(id).last else {
                return Ok(LastPiece::default());
            };
            let map_bytes = view.entry(id, EntryKind::Map, map, pages);
            let bytes = view.entry(id, EntryKind::Piece, piece, pages)?;
            let (Some(map_bytes), Some(bytes)) = (map_bytes?, bytes) else {
                return Err(damaged_piece(id, piece, "it is not there").into());
            };
            let entries = decode_map(&map_bytes, map)?;
            let last = entries.last().filter(|entry| entry.first == piece);
            let last = last.ok_or_else(|| damaged_piece(id, piece, "its map lacks it"))?;
            let read = Piece::parse(&bytes, last.documents as usize);
            let read = read.map_err(|reason| damaged_piece(id, piece, reason))?;
            let mut values = Vec::with_capacity(read.values());
            read.for_each(|document, key| values.push((document as u16, key)));
            Ok(LastPiece { entries, values })
        };
        finish(&mut pages, |pages| gather(columns, |id| read(id, pages)))
    }

    /// Makes the pieces and maps of a column.
    fn add_column(
        &mut self,
        pool: &FramePool,
        buffer: &ValueBuffer,
        id: ColumnId,
        numbers: &[u32],
        last: LastPiece,
        changes: &mut TreeChanges,
    ) -> Result<()> {
        let Some(value_type) = self.columns.get(id).map(|column| column.value_type) else {
            return Ok(());
        };
        let frozen = buffer.read();
        let Some(column) = frozen.column(id).filter(|column| column.len() > 0) else {
            return Ok(());
        };
        let mut writer = PieceWriter::begin(id, column, value_type, last, changes);
        let mut at = 0;
        let mut keys = Vec::new();
        while at < column.len() {
            back_off();
            let (part_type, part) = column.part(at, VALUES_AT_ONCE, DocId::MAX, value_type);
            let mut taken = part.peekable();
            while let Some((doc, first)) = taken.next() {
                keys.clear();
                keys.push(first);
                while let Some((_, key)) = taken.next_if(|(next, _)| *next == doc) {
                    keys.push(key);
                }
                at += keys.len();
                if value_type.has_strings() {
                    for key in &mut keys {
                        *key = numbers.get(*key as usize).copied().unwrap_or(0) as u64;
                    }
                }
                writer.add(doc, part_type, &keys)?;
            }
            if writer.changes.is_full() {
                self.apply(pool, writer.changes)?;
            }
        }
        let last = writer.end()?;
        self.flushed[id as usize].last = Some(last);
        Ok(())
    }

    /// Makes the entries that lead from new numbers to their strings.
    fn add_terms(
        &mut self,
        pool: &FramePool,
        buffer: &ValueBuffer,
        new: &[(ColumnId, u32, u32)],
        changes: &mut TreeChanges,
    ) -> Result<()> {
        let frozen = buffer.read();
        for (id, number, slot) in new {
            let Some(column) = frozen.column(*id) else {
                continue;
            };
            let key = numbered(*id, EntryKind::Term, *number);
            changes.put(&key, column.terms.term(*slot).to_vec());
            if changes.is_full() {
                self.apply(pool, changes)?;
            }
        }
        Ok(())
    }

    fn apply(&mut self, pool: &FramePool, changes: &mut TreeChanges) -> Result<()> {
        let mut entries = std::mem::take(changes).entries;
        let (keys, mut values): (Vec<Vec<u8>>, Vec<Vec<u8>>) = entries.drain(..).unzip();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let mut decide = |window: &mut KeyWindow<'_>| {
            back_off();
            let mut indexes = window.indexes();
            indexes.try_for_each(|at| {
                let value = std::mem::take(&mut values[at]);
                window.set(at, Change::Put(value))
            })
        };
        self.tree.apply(pool, &keys, &mut decide)
    }
}

fn no_numbers() -> Error {
    Error::invalid("all numbers of keywords of a field are used up: index the documents anew")
}

impl TreeChanges {
    /// All changes, in the order in which they were made.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
        self.entries.into_iter()
    }

    fn put(&mut self, key: &[u8], value: Vec<u8>) {
        self.bytes += key.len() + value.len() + size_of::<(Vec<u8>, Vec<u8>)>();
        self.entries.push((key.to_vec(), value));
    }

    fn is_full(&self) -> bool {
        self.bytes >= PART_BYTES
    }
}

impl<'w> PieceWriter<'w> {
    /// Begins without any piece.
    pub(super) fn new(column: ColumnId, changes: &'w mut TreeChanges) -> PieceWriter<'w> {
        PieceWriter {
            column,
            entries: Vec::new(),
            values: Vec::new(),
            value_type: ValueType::Long,
            changes,
        }
    }

    /// Goes on behind the last piece if the first new value belongs to its block, else begins anew.
    fn begin(
        column_id: ColumnId,
        column: &BufferedColumn,
        value_type: ValueType,
        last: LastPiece,
        changes: &'w mut TreeChanges,
    ) -> PieceWriter<'w> {
        let mut writer = PieceWriter::new(column_id, changes);
        let first = column.docs().first().copied().unwrap_or(0);
        let (part_type, _) = column.part(0, 1, DocId::MAX, value_type);
        writer.value_type = part_type;
        let LastPiece { entries, values } = last;
        let Some(piece) = entries.last().copied() else {
            return writer;
        };
        if piece.first / SPAN == first / SPAN {
            writer.entries = entries;
        }
        if piece.first / BLOCK == first / BLOCK && piece.value_type == part_type {
            writer.entries.pop();
            let values = values.into_iter();
            writer.values = values
                .map(|(document, key)| (piece.first + document as DocId, key))
                .collect();
        }
        writer
    }

    /// Takes pieces that are there as they are.
    pub(super) fn keep(&mut self, pieces: &[MapEntry]) -> Result<()> {
        self.write_block()?;
        self.entries.extend_from_slice(pieces);
        Ok(())
    }

    /// Adds the values of a document, which need not be sorted.
    pub(super) fn add(&mut self, doc: DocId, value_type: ValueType, keys: &[u64]) -> Result<()> {
        if let Some((earlier, _)) = self.values.last() {
            let joins = earlier / BLOCK == doc / BLOCK && self.value_type == value_type;
            if !joins {
                self.write_block()?;
            }
        }
        self.value_type = value_type;
        // The values of a document may come in two parts.
        let own = self.values.partition_point(|(earlier, _)| *earlier < doc);
        self.values.extend(keys.iter().map(|key| (doc, *key)));
        self.values[own..].sort_unstable();
        Ok(())
    }

    /// Makes pieces of the values at hand.
    fn write_block(&mut self) -> Result<()> {
        let values = std::mem::take(&mut self.values);
        let mut left = values.as_slice();
        let mut of_piece: Vec<(u16, u64)> = Vec::with_capacity(left.len());
        while let (Some((first, _)), Some((last, _))) = (left.first(), left.last()) {
            of_piece.clear();
            of_piece.extend(left.iter().map(|(doc, key)| ((doc - first) as u16, *key)));
            let documents = (last - first) as usize + 1;
            let encoded = encode(&of_piece, documents, PIECE_BYTES_MAX);
            let encoded = encoded.ok_or_else(|| Error::internal("a piece without a document"))?;
            let entry = MapEntry {
                first: *first,
                documents: encoded.documents as u32,
                value_type: self.value_type,
                summary: encoded.summary,
            };
            let key = numbered(self.column, EntryKind::Piece, *first);
            self.changes.put(&key, encoded.bytes);
            left = &left[left.partition_point(|(doc, _)| *doc < entry.end())..];
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Makes the last piece, and all maps. Gives the first documents of the last of each.
    pub(super) fn end(mut self) -> Result<(DocId, DocId)> {
        self.write_block()?;
        let mut last = (0, 0);
        for map in cut_maps(&self.entries) {
            let (Some(first), Some(piece)) = (map.first(), map.last()) else {
                continue;
            };
            let mut bytes = Vec::new();
            encode_map(map, &mut bytes);
            let key = numbered(self.column, EntryKind::Map, first.first);
            self.changes.put(&key, bytes);
            last = (first.first, piece.first);
        }
        Ok(last)
    }
}
