//! The documents that have any value of a field, from any document on.
//!
//! Maps tell of most pieces that all of their documents have a value, or that there are none. Only
//! the others are read. Documents are looked for window by window. A window grows as long as the
//! next one begins where it ends, and is small again behind a jump.

use super::blocks::{DocBlock, DocBlocks};
use super::column::Column;
use super::map::SPAN;
use super::select::Selection;
use super::view::{ColumnReader, ColumnsView};
use crate::analysis::FieldId;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};

/// Spans of a window at most: as many as have the pieces that are read at once.
const SPANS_MAX: DocId = 4;

/// The documents that have a value.
#[derive(Debug)]
pub struct PresentDocs {
    reader: ColumnReader,
    /// The documents of the window, which begins below `end`.
    blocks: DocBlocks,
    /// The end of the window.
    end: DocId,
    spans: DocId,
    block: Option<DocBlock>,
}

impl ColumnsView {
    /// Returns the documents that have any value of a field, if a column of numbers, dates or
    /// booleans has all of its values.
    pub fn present(&self, field: FieldId) -> Option<PresentDocs> {
        let mut all = self.columns().of_field(field).iter();
        let is_whole = |column: &Column| {
            let lacks_none = column.misfits == 0 && !column.closed;
            // An empty string has no word, and stands in a column of strings all the same.
            lacks_none && !column.value_type.has_strings()
        };
        let id = all.find(|id| self.columns().get(**id).is_some_and(is_whole))?;
        self.reader(*id).map(PresentDocs::new)
    }
}

impl PresentDocs {
    fn new(reader: ColumnReader) -> PresentDocs {
        PresentDocs {
            blocks: reader.documents(Selection::All, 0..0),
            reader,
            end: 0,
            spans: 1,
            block: None,
        }
    }

    /// The first from `target` on, or [`END`]; targets ascend. Deleted documents are among them.
    pub fn next(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        loop {
            if let Some(doc) = self.block.as_ref().and_then(|block| block.next(target)) {
                return Ok(doc);
            }
            self.block = None;
            if target < self.end {
                self.block = self.blocks.advance(pages)?;
                if self.block.is_some() {
                    continue;
                }
            }
            if self.end >= self.reader.view.below {
                return Ok(END);
            }
            self.open_window(target);
        }
    }

    /// Goes on with the window behind the last one, or from `target` if that is further.
    fn open_window(&mut self, target: DocId) {
        let follows = target <= self.end;
        self.spans = if follows {
            (2 * self.spans).min(SPANS_MAX)
        } else {
            1
        };
        let first = target.max(self.end);
        let end = (first / SPAN).saturating_add(self.spans);
        self.end = end.saturating_mul(SPAN);
        self.blocks = self.reader.documents(Selection::All, first..self.end);
    }
}
