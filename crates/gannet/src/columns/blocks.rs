//! The documents that have a wanted value, in ascending order, some hundreds at a time.

use std::ops::Range;

use gannet_values::{Bits, PIECE_DOCUMENTS, Piece};

use super::buffer::ValueBuffer;
use super::entries::damaged_piece;
use super::map::MapEntry;
use super::pieces::{PieceCursor, PieceUse};
use super::select::Selection;
use super::view::ColumnReader;
use crate::base::DocId;
use crate::cache::{Pages, Step};

/// Values of a buffer that are looked at in one go.
const VALUES_AT_ONCE: usize = 4096;

/// Documents of a stretch of at most 1,024.
#[derive(Clone, Debug)]
pub struct DocBlock {
    /// The document of the first bit.
    pub first: DocId,
    /// Those that are in it.
    pub bits: Bits,
}

impl DocBlock {
    /// Returns the documents, ascending.
    #[cfg(test)]
    pub fn docs(&self) -> impl Iterator<Item = DocId> + '_ {
        self.bits.iter().map(|bit| self.first + bit as DocId)
    }

    /// Returns the first of its documents from `target` on.
    pub fn next(&self, target: DocId) -> Option<DocId> {
        let from = target.saturating_sub(self.first) as usize;
        let words = self.bits.words();
        let mut at = from / 64;
        let mut word = words.get(at)? & (u64::MAX << (from % 64));
        while word == 0 {
            at += 1;
            word = *words.get(at)?;
        }
        Some(self.first + (at * 64) as DocId + word.trailing_zeros())
    }

    /// Takes documents outside of a range away.
    fn clip(&mut self, docs: &Range<DocId>) {
        let ends = self.first.saturating_add(PIECE_DOCUMENTS as DocId);
        if docs.start <= self.first && ends <= docs.end {
            return;
        }
        let outside: Vec<usize> = self
            .bits
            .iter()
            .filter(|bit| !docs.contains(&(self.first + *bit as DocId)))
            .collect();
        for bit in outside {
            self.bits.words_mut()[bit / 64] &= !(1 << (bit % 64));
        }
    }
}

/// Finds the documents that have a wanted value. Deleted documents are among them.
#[derive(Debug)]
pub struct DocBlocks {
    reader: ColumnReader,
    selection: Selection,
    docs: Range<DocId>,
    pieces: PieceCursor,
    /// The buffer that comes next, once the pieces have ended, and the place in it.
    buffer: usize,
    at: Option<usize>,
    pieces_ended: bool,
}

impl ColumnReader {
    /// Finds the documents of a range that have a wanted value.
    pub fn documents(&self, selection: Selection, docs: Range<DocId>) -> DocBlocks {
        DocBlocks::new(self.clone(), selection, docs)
    }
}

impl DocBlocks {
    fn new(reader: ColumnReader, selection: Selection, docs: Range<DocId>) -> DocBlocks {
        let docs = docs.start..docs.end.min(reader.view.below);
        DocBlocks {
            pieces: PieceCursor::new(reader.id, docs.clone()),
            reader,
            selection,
            docs,
            buffer: 0,
            at: None,
            pieces_ended: false,
        }
    }

    /// The next documents; at least one, each behind those before. Nothing behind the last.
    pub fn advance(&mut self, pages: &mut Pages<'_>) -> Step<Option<DocBlock>> {
        while !self.pieces_ended {
            match self.in_next_piece(pages)? {
                Some(block) if block.bits.is_empty() => {}
                Some(block) => return Ok(Some(block)),
                None => self.pieces_ended = true,
            }
        }
        while let Some(buffer) = self.reader.view.buffers.get(self.buffer) {
            let buffer = std::sync::Arc::clone(buffer);
            if let Some(block) = self.in_buffer(&buffer, pages)? {
                return Ok(Some(block));
            }
            self.buffer += 1;
            self.at = None;
        }
        Ok(None)
    }

    fn in_next_piece(&mut self, pages: &mut Pages<'_>) -> Step<Option<DocBlock>> {
        let selection = &self.selection;
        let judge = |entry: &MapEntry| {
            let wanted = selection.in_tree(entry.value_type);
            if !wanted.may_be_in(entry) {
                PieceUse::Skip
            } else if wanted.has_all_of(entry) {
                PieceUse::Summary
            } else {
                PieceUse::Values
            }
        };
        let tree = &self.reader.view.tree;
        let next = self.pieces.advance_below(DocId::MAX, &judge, tree, pages)?;
        let Some((entry, bytes)) = next else {
            return Ok(None);
        };
        let mut bits = Bits::EMPTY;
        match bytes {
            None => bits = Bits::first(entry.documents as usize),
            Some(bytes) => {
                pages.count_steps(entry.summary.values as usize / 16)?;
                let piece = Piece::parse(&bytes, entry.documents as usize);
                let piece =
                    piece.map_err(|reason| damaged_piece(self.reader.id, entry.first, reason))?;
                selection
                    .in_tree(entry.value_type)
                    .select(&piece, &mut bits);
            }
        }
        let first = entry.first;
        let mut block = DocBlock { first, bits };
        block.clip(&self.docs);
        Ok(Some(block))
    }

    /// The next documents of a buffer.
    fn in_buffer(&mut self, buffer: &ValueBuffer, pages: &mut Pages<'_>) -> Step<Option<DocBlock>> {
        let mut block: Option<DocBlock> = None;
        let value_type = self.reader.column.value_type;
        loop {
            let inner = buffer.read();
            let Some(column) = inner.column(self.reader.id) else {
                return Ok(None);
            };
            let start = self.docs.start;
            let from = *self
                .at
                .get_or_insert_with(|| column.docs().partition_point(|doc| *doc < start));
            let (part_type, part) = column.part(from, VALUES_AT_ONCE, self.docs.end, value_type);
            let wanted = self.selection.in_buffer(self.buffer, part_type);
            let mut at = from;
            for (doc, key) in part {
                if wanted.has(key) {
                    let open = block.get_or_insert(DocBlock {
                        first: doc,
                        bits: Bits::EMPTY,
                    });
                    let bit = (doc - open.first) as usize;
                    if bit >= PIECE_DOCUMENTS {
                        self.at = Some(at);
                        return Ok(block);
                    }
                    open.bits.insert(bit);
                }
                at += 1;
            }
            drop(inner);
            pages.count_steps((at - from) / 4)?;
            self.at = Some(at);
            if at == from {
                return Ok(block);
            }
        }
    }
}
