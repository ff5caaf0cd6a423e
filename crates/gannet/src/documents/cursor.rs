//! Readers that walk a table in ascending order and keep the page they stand in, so that most reads are an
//! array access and no page is looked up twice.

use std::sync::Arc;

use super::tables::bit;
use crate::base::{DocId, PAGE_PAYLOAD};
use crate::cache::{Frame, Pages, Step, Stop};
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

    /// Notes the pages with the norms of these ascending docs, as far as the round has room.
    pub fn prefetch(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.bytes.prefetch(docs, 1, pages)
    }

    /// Notes the pages with the norms from `first` to `last`, as far as the round has room.
    pub fn prefetch_within(&self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        self.bytes.prefetch_within(first as u64, last as u64, pages)
    }

    /// Gives the norms of ascending docs to `take`, in their order, as far as the pages at hand go. Tells how
    /// many; stops for pages only if there is none.
    pub fn norms(
        &mut self,
        docs: &[DocId],
        pages: &mut Pages<'_>,
        mut take: impl FnMut(u8),
    ) -> Step<usize> {
        let mut done = 0;
        while done < docs.len() {
            match self.bytes.get(docs[done] as u64, pages) {
                Ok(_) => {}
                Err(Stop::Pages) if done > 0 => return Ok(done),
                Err(stop) => return Err(stop),
            }
            let (first, page) = (self.bytes.first, self.bytes.page());
            let at = |doc: DocId| (doc as u64).wrapping_sub(first) as usize;
            let held = docs[done..].iter().map_while(|doc| page.get(at(*doc)));
            held.for_each(|norm| {
                take(*norm);
                done += 1;
            });
        }
        Ok(docs.len())
    }

    /// A document's norm, if it stands in the page at hand.
    #[inline]
    pub fn held(&self, doc: DocId) -> Option<u8> {
        self.bytes.held(doc as u64)
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

    /// Notes the pages that tell of these ascending docs, as far as the round has room.
    pub fn prefetch(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        match self.any_deleted {
            true => self.bytes.prefetch(docs, 8, pages),
            false => Ok(()),
        }
    }

    /// Notes the pages that tell of the docs from `first` to `last`, as far as the round has room.
    pub fn prefetch_within(&self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        let (first, last) = (first as u64 / 8, last as u64 / 8);
        match self.any_deleted {
            true => self.bytes.prefetch_within(first, last, pages),
            false => Ok(()),
        }
    }

    /// Whether all documents below `below` exist and none is deleted.
    pub fn all_live(&self, below: DocId) -> bool {
        !self.any_deleted && below <= self.end
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
        if let Some(byte) = self.held(index) {
            return Ok(byte);
        }
        self.turn_to(index, pages)?;
        Ok(self.held(index).unwrap_or_default())
    }

    #[inline]
    fn held(&self, index: u64) -> Option<u8> {
        let at = index.wrapping_sub(self.first) as usize;
        self.page().get(at).copied()
    }

    /// The entries of the page at hand.
    #[inline]
    fn page(&self) -> &[u8] {
        match &self.held {
            HeldPage::Zeros => &[0; PAGE_PAYLOAD],
            HeldPage::Memory(page) => &page[..PAGE_PAYLOAD],
            HeldPage::Frame(frame) => &frame[..PAGE_PAYLOAD],
        }
    }

    /// Notes the pages of ascending docs, of which `per_byte` share an entry.
    fn prefetch(&self, docs: &[DocId], per_byte: usize, pages: &mut Pages<'_>) -> Step<()> {
        let mut rest = docs;
        while let Some(doc) = rest.first()
            && pages.has_room()
        {
            let index = *doc as u64 / per_byte as u64;
            self.prefetch_within(index, index, pages)?;
            let (page, _) = self.table.position(index);
            let end = ((page + 1) * PAGE_PAYLOAD * per_byte) as u64;
            rest = &rest[rest.partition_point(|doc| (*doc as u64) < end)..];
        }
        Ok(())
    }

    fn prefetch_within(&self, first: u64, last: u64, pages: &mut Pages<'_>) -> Step<()> {
        let (first, last) = (self.table.position(first).0, self.table.position(last).0);
        for page in first..=last.min(self.table.page_count()) {
            if let TablePlace::Device(address) = self.table.place(page)
                && pages.has_room()
            {
                pages.want(address)?;
            }
        }
        Ok(())
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
