//! Readers that walk a table in ascending order and keep the page they stand in, so that most reads are an
//! array access and no page is looked up twice.

use std::sync::Arc;

use super::tables::bit;
use crate::base::{DocId, PAGE_PAYLOAD};
use crate::cache::{Frame, Pages, Step};
use crate::storage::{Table, TablePage, TablePlace};

/// Reads one field's norms.
#[derive(Debug)]
pub struct NormCursor {
    bytes: ByteCursor,
}

/// Reads whether documents are live.
#[derive(Debug)]
pub struct LiveCursor {
    bytes: ByteCursor,
    end: DocId,
    /// Without deletes nothing needs to be read.
    any_deleted: bool,
}

/// Reads a table of single bytes.
#[derive(Debug)]
struct ByteCursor {
    table: Table,
    /// The entry that the held page starts with; beyond all entries while none is held.
    first: u64,
    held: HeldPage,
}

#[derive(Debug)]
enum HeldPage {
    Zeros,
    Memory(Arc<TablePage>),
    Frame(Frame),
}

impl NormCursor {
    pub(super) fn new(norms: Table) -> NormCursor {
        NormCursor {
            bytes: ByteCursor::new(norms),
        }
    }

    /// A document's norm; 0 if it lacks the field.
    #[inline]
    pub fn norm(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<u8> {
        self.bytes.get(doc as u64, pages)
    }
}

impl LiveCursor {
    pub(super) fn new(deletions: Table, end: DocId, any_deleted: bool) -> LiveCursor {
        LiveCursor {
            bytes: ByteCursor::new(deletions),
            end,
            any_deleted,
        }
    }

    /// Whether a document exists and is not deleted.
    #[inline]
    pub fn is_live(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        if doc >= self.end {
            return Ok(false);
        }
        Ok(!self.any_deleted || self.bytes.get(doc as u64 / 8, pages)? & bit(doc) == 0)
    }
}

impl ByteCursor {
    fn new(table: Table) -> ByteCursor {
        debug_assert_eq!(table.entries_per_page(), PAGE_PAYLOAD);
        ByteCursor {
            table,
            first: u64::MAX / 2,
            held: HeldPage::Zeros,
        }
    }

    #[inline]
    fn get(&mut self, index: u64, pages: &mut Pages<'_>) -> Step<u8> {
        let mut at = index.wrapping_sub(self.first);
        if at >= PAGE_PAYLOAD as u64 {
            self.turn_to(index, pages)?;
            at = index - self.first;
        }
        Ok(match &self.held {
            HeldPage::Zeros => 0,
            HeldPage::Memory(page) => page[at as usize],
            HeldPage::Frame(frame) => frame[at as usize],
        })
    }

    #[cold]
    fn turn_to(&mut self, index: u64, pages: &mut Pages<'_>) -> Step<()> {
        let (page, _) = self.table.position(index);
        self.held = match self.table.place(page) {
            TablePlace::Absent => HeldPage::Zeros,
            TablePlace::Memory(page) => HeldPage::Memory(Arc::clone(page)),
            TablePlace::Device(address) => HeldPage::Frame(pages.page(address)?),
        };
        self.first = page as u64 * PAGE_PAYLOAD as u64;
        Ok(())
    }
}
