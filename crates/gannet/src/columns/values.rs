//! A pass over the values of a column, with their documents.

use std::ops::Range;

use gannet_values::{Piece, ValueType};

use super::buffer::ValueBuffer;
use super::entries::damaged_piece;
use super::map::MapEntry;
use super::pieces::{PieceCursor, PieceUse};
use super::view::{ColumnReader, tagged};
use crate::base::{DocId, Result};
use crate::btree::NearNodes;
use crate::cache::{Pages, Step, gather};

/// Values of a buffer that are copied in one go.
const VALUES_AT_ONCE: usize = 4096;

/// Takes the values of a pass.
pub trait ValueVisitor {
    /// Says what is done with a piece; those of which only the summary is wanted are shown by it.
    fn judge(&self, _: &MapEntry) -> PieceUse {
        PieceUse::Values
    }

    /// Lists the documents of a piece that are wanted, if they are so few that each is looked up.
    /// Tells whether they are; if not, the values of all documents are shown.
    fn few_docs(&self, _: Range<DocId>, _docs: &mut Vec<DocId>) -> bool {
        false
    }

    /// Takes a piece that need not be read.
    fn summary(&mut self, _: &MapEntry) -> Result<()> {
        Ok(())
    }

    /// Takes values, all of one type: the document of each, ascending, and its key. The keys of a
    /// document ascend, but those of keywords, which are numbers, or say where a keyword stands
    /// that has none yet ([`ColumnReader::term`]).
    fn values(&mut self, value_type: ValueType, docs: &[DocId], keys: &[u64]) -> Result<()>;
}

/// Goes over all values of documents of a range. Those of deleted documents are among them.
#[derive(Debug)]
pub struct ColumnValues {
    reader: ColumnReader,
    docs: Range<DocId>,
    pieces: PieceCursor,
    /// The buffer that comes next, once the pieces have ended, and the place in it.
    buffer: usize,
    at: Option<usize>,
    part_docs: Vec<DocId>,
    part_keys: Vec<u64>,
    numbers: Vec<u16>,
    few: Vec<DocId>,
}

impl ColumnReader {
    /// Goes over the values of documents of a range.
    pub fn values(&self, docs: Range<DocId>) -> ColumnValues {
        ColumnValues::new(self.clone(), docs)
    }

    /// Notes the pages that [`ColumnReader::values`] of a range will read, as far as the round has
    /// room for them and maps are at hand.
    pub fn note_values(
        &self,
        docs: Range<DocId>,
        visitor: &dyn ValueVisitor,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let judge = |entry: &MapEntry| visitor.judge(entry);
        PieceCursor::new(self.id, docs).note(&judge, &self.view.tree, pages)
    }
}

impl ColumnValues {
    fn new(reader: ColumnReader, docs: Range<DocId>) -> ColumnValues {
        let docs = docs.start..docs.end.min(reader.view.below);
        ColumnValues {
            pieces: PieceCursor::new(reader.id, docs.clone()),
            reader,
            docs,
            buffer: 0,
            at: None,
            part_docs: Vec::new(),
            part_keys: Vec::new(),
            numbers: Vec::new(),
            few: Vec::new(),
        }
    }

    /// Shows the next values to `visitor`: those of a piece, or some thousands of a buffer. Tells
    /// whether there were any.
    pub fn advance(&mut self, visitor: &mut dyn ValueVisitor, pages: &mut Pages<'_>) -> Step<bool> {
        self.advance_below(self.docs.end, visitor, pages)
    }

    /// Shows the next values of documents below `end`, which no block of documents crosses and
    /// which ascends from call to call. Tells whether there were any.
    pub fn advance_below(
        &mut self,
        end: DocId,
        visitor: &mut dyn ValueVisitor,
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let judge = |entry: &MapEntry| visitor.judge(entry);
        let tree = &self.reader.view.tree;
        match self.pieces.advance_below(end, &judge, tree, pages)? {
            Some((entry, None)) => {
                visitor.summary(&entry)?;
                return Ok(true);
            }
            Some((entry, Some(bytes))) => {
                pages.count_steps(entry.summary.values as usize / 4)?;
                self.show_piece(&entry, &bytes, visitor)?;
                return Ok(true);
            }
            // Documents of buffers are behind those of all pieces.
            None => {}
        }
        while let Some(buffer) = self.reader.view.buffers.get(self.buffer) {
            let buffer = std::sync::Arc::clone(buffer);
            if let Some(value_type) = self.copy_part(&buffer, end) {
                pages.count_steps(self.part_docs.len() / 4)?;
                visitor.values(value_type, &self.part_docs, &self.part_keys)?;
                return Ok(true);
            }
            if !self.has_ended(&buffer) {
                return Ok(false);
            }
            self.buffer += 1;
            self.at = None;
        }
        Ok(false)
    }

    /// Shows the values of some pieces, which ascend and of which a pass of this column showed the
    /// summaries. They are read in one round.
    pub fn show_pieces(
        &mut self,
        entries: &[MapEntry],
        visitor: &mut dyn ValueVisitor,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let (column, tree) = (self.reader.id, &self.reader.view.tree);
        let mut near = NearNodes::default();
        let read = gather(entries, |entry| {
            tree.piece(column, entry.first, &mut near, pages)
        })?;
        for (entry, bytes) in entries.iter().zip(read) {
            pages.count_steps(entry.summary.values as usize / 4)?;
            self.show_piece(entry, &bytes, visitor)?;
        }
        Ok(())
    }

    /// Returns true if the pass is behind all values of a buffer that it shows.
    fn has_ended(&self, buffer: &ValueBuffer) -> bool {
        let inner = buffer.read();
        let left = inner.column(self.reader.id).and_then(|column| {
            let docs = column.docs();
            docs.get(self.at.unwrap_or_default()).copied()
        });
        left.is_none_or(|doc| doc >= self.docs.end)
    }

    fn show_piece(
        &mut self,
        entry: &MapEntry,
        bytes: &[u8],
        visitor: &mut dyn ValueVisitor,
    ) -> Result<()> {
        let piece = Piece::parse(bytes, entry.documents as usize)
            .map_err(|reason| damaged_piece(self.reader.id, entry.first, reason))?;
        self.numbers.clear();
        self.part_keys.clear();
        self.part_docs.clear();
        self.few.clear();
        let shown = entry.first.max(self.docs.start)..entry.end().min(self.docs.end);
        if visitor.few_docs(shown, &mut self.few) {
            let few = self.few.iter().map(|doc| (doc - entry.first) as usize);
            piece.for_each_of(few, |document, key| {
                self.part_docs.push(entry.first + document as DocId);
                self.part_keys.push(key);
            });
            return visitor.values(entry.value_type, &self.part_docs, &self.part_keys);
        }
        piece.decode(&mut self.numbers, &mut self.part_keys);
        let docs = self
            .numbers
            .iter()
            .map(|number| entry.first + *number as DocId);
        self.part_docs.extend(docs);
        let from = self.part_docs.partition_point(|doc| *doc < self.docs.start);
        let to = self.part_docs.partition_point(|doc| *doc < self.docs.end);
        visitor.values(
            entry.value_type,
            &self.part_docs[from..to],
            &self.part_keys[from..to],
        )
    }

    /// Copies the next values of a buffer, of documents below `end`.
    fn copy_part(&mut self, buffer: &ValueBuffer, end: DocId) -> Option<ValueType> {
        let inner = buffer.read();
        let column = inner.column(self.reader.id)?;
        let start = self.docs.start;
        let from = *self
            .at
            .get_or_insert_with(|| column.docs().partition_point(|doc| *doc < start));
        let value_type = self.reader.column.value_type;
        let (part_type, part) = column.part(from, VALUES_AT_ONCE, end, value_type);
        self.part_docs.clear();
        self.part_keys.clear();
        for (doc, key) in part {
            self.part_docs.push(doc);
            self.part_keys.push(match part_type {
                own if own.has_strings() => tagged(self.buffer, key),
                _ => key,
            });
        }
        self.at = Some(from + self.part_docs.len());
        (!self.part_docs.is_empty()).then_some(part_type)
    }
}
