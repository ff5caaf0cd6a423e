//! Tables of single bytes by document: norms, and the bits of the live set.
//!
//! They are small and nearly every query reads most of their pages, so the frames of these are
//! pinned: a [`ByteTable`] is a table with the column of its frames, and a [`ByteCursor`] walks it
//! in ascending order and keeps the page that it stands in. Clones share the column, which is made
//! anew when pages were written.

use std::sync::Arc;

use crate::base::{ByteReader, DocId, PAGE_PAYLOAD, PageAddress, Result};
use crate::cache::{Frame, Pages, PinnedPages, Step, Stop};
use crate::storage::{Store, StreamWriter, Table, TableContent, TablePage};

/// A table of single bytes and the frames of its pages.
#[derive(Clone, Debug)]
pub(super) struct ByteTable {
    pub(super) table: Table,
    pinned: Arc<PinnedPages>,
}

/// Reads a table of single bytes.
#[derive(Debug)]
pub(super) struct ByteCursor {
    table: ByteTable,
    /// The entry that the held page starts with; beyond all entries while none is held.
    first: u64,
    held: HeldPage,
}

#[derive(Debug)]
enum HeldPage {
    Zeros,
    Memory(Arc<TablePage>),
    /// The page of this number, in the column.
    Pinned(usize),
    Frame(Frame),
}

impl ByteTable {
    /// A table without entries.
    pub(super) fn new() -> ByteTable {
        ByteTable::of(Table::new(1, false))
    }

    fn of(table: Table) -> ByteTable {
        ByteTable {
            pinned: Arc::new(PinnedPages::new(table.page_count())),
            table,
        }
    }

    /// The same table with an empty column.
    #[cfg(test)]
    pub(super) fn unpinned(&self) -> ByteTable {
        ByteTable::of(self.table.clone())
    }

    /// Returns the addresses of its pages, nothing for those that are all zeros; nothing at all if
    /// one of them is not on the device.
    pub(super) fn device_pages(&self) -> Option<Vec<Option<PageAddress>>> {
        let pages = (0..self.table.page_count()).map(|page| match self.table.place(page) {
            TableContent::Memory(_) => None,
            TableContent::Device(address) => Some(Some(address)),
            TableContent::Absent => Some(None),
        });
        pages.collect()
    }

    /// A reader, which keeps the page that it stands in.
    pub(super) fn cursor(&self) -> ByteCursor {
        ByteCursor {
            table: self.clone(),
            first: u64::MAX / 2,
            held: HeldPage::Zeros,
        }
    }

    /// Bytes of memory that it holds, but for frames.
    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + self.pinned.memory_bytes()
    }

    /// Writes the changed pages, releasing those they replace.
    pub(super) fn write_changes(&mut self, store: &Store, stream: &mut StreamWriter) -> Result<()> {
        self.table.write_changes(store, stream)?;
        let pages = self.table.page_count();
        self.pinned = Arc::new(self.pinned.renewed(pages, self.table.addresses()));
        Ok(())
    }

    /// Decodes a table that has no pages beyond `entries` entries.
    pub(super) fn decode(entries: u64, reader: &mut ByteReader<'_>) -> Result<ByteTable> {
        let table = ByteTable::new().table.decode(reader)?;
        let most = entries.div_ceil(PAGE_PAYLOAD as u64);
        if table.page_count() as u64 > most {
            return Err(reader.damaged(&format!("at most {most} pages"), table.page_count()));
        }
        Ok(ByteTable::of(table))
    }
}

impl ByteCursor {
    #[inline]
    pub(super) fn get(&mut self, index: u64, pages: &mut Pages<'_>) -> Step<u8> {
        if let Some(byte) = self.held(index) {
            return Ok(byte);
        }
        self.go_to_page(index, pages)?;
        Ok(self.held(index).unwrap_or_default())
    }

    #[inline]
    pub(super) fn held(&self, index: u64) -> Option<u8> {
        let at = index.wrapping_sub(self.first) as usize;
        self.page().1.get(at).copied()
    }

    /// The page with an entry and the number of the page's first entry, if that needs no look-up.
    #[inline]
    pub(super) fn at_hand(&mut self, index: u64, pages: &mut Pages<'_>) -> Option<(u64, &[u8])> {
        if self.held(index).is_none() {
            let page = page_of(index);
            if let TableContent::Device(at) = self.table.table.place(page)
                && !pages.is_pinned(&self.table.pinned, page, at)
            {
                return None;
            }
            self.go_to_page(index, pages).ok()?;
        }
        Some(self.page())
    }

    /// The page with an entry and the number of the page's first entry.
    #[inline]
    pub(super) fn page_with(&mut self, index: u64, pages: &mut Pages<'_>) -> Step<(u64, &[u8])> {
        if self.held(index).is_none() {
            self.go_to_page(index, pages)?;
        }
        Ok(self.page())
    }

    /// The entries of the page at hand, and the first one's number.
    #[inline]
    pub(super) fn page(&self) -> (u64, &[u8]) {
        let page = match &self.held {
            HeldPage::Zeros => &[0; PAGE_PAYLOAD],
            HeldPage::Memory(page) => &page[..PAGE_PAYLOAD],
            // What was pinned stays in its slot.
            HeldPage::Pinned(page) => self.table.pinned.held(*page).map_or(&[][..], |page| page),
            HeldPage::Frame(frame) => &frame[..PAGE_PAYLOAD],
        };
        (self.first, page)
    }

    /// Gives the entries of ascending docs, of which `per_byte` share one, to `take` in their
    /// order, as far as the pages at hand go. Tells how many; stops for pages only if there is
    /// none.
    #[inline]
    pub(super) fn each(
        &mut self,
        docs: &[DocId],
        per_byte: u64,
        pages: &mut Pages<'_>,
        mut take: impl FnMut(DocId, u8),
    ) -> Step<usize> {
        let mut done = 0;
        while done < docs.len() {
            match self.get(docs[done] as u64 / per_byte, pages) {
                Ok(_) => {}
                Err(Stop::Pages) if done > 0 => return Ok(done),
                Err(stop) => return Err(stop),
            }
            let (first, page) = self.page();
            let at = |doc: DocId| (doc as u64 / per_byte).wrapping_sub(first) as usize;
            let held = docs[done..].iter();
            let held = held.map_while(|doc| Some((*doc, *page.get(at(*doc))?)));
            held.for_each(|(doc, byte)| {
                take(doc, byte);
                done += 1;
            });
        }
        Ok(docs.len())
    }

    /// Notes the pages of ascending docs, of which `per_byte` share an entry.
    pub(super) fn prefetch(
        &self,
        docs: &[DocId],
        per_byte: usize,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let per_page = PAGE_PAYLOAD * per_byte;
        let mut rest = docs;
        while let Some(doc) = rest.first() {
            let page = *doc as usize / per_page;
            self.want(page, pages)?;
            let end = (page + 1) * per_page;
            rest = &rest[rest.partition_point(|doc| (*doc as usize) < end)..];
        }
        Ok(())
    }

    /// Notes the pages of the entries from `first` to `last`.
    pub(super) fn prefetch_within(&self, first: u64, last: u64, pages: &mut Pages<'_>) -> Step<()> {
        let (first, last) = (page_of(first), page_of(last));
        let last = last.min(self.table.table.page_count());
        (first..=last).try_for_each(|page| self.want(page, pages))
    }

    /// Notes a page that is neither pinned nor at hand, if the round has room.
    fn want(&self, page: usize, pages: &mut Pages<'_>) -> Step<()> {
        if let TableContent::Device(address) = self.table.table.place(page)
            && pages.has_room()
        {
            pages.want_unpinned(&self.table.pinned, page, address)?;
        }
        Ok(())
    }

    #[cold]
    fn go_to_page(&mut self, index: u64, pages: &mut Pages<'_>) -> Step<()> {
        let page = page_of(index);
        let ByteTable { table, pinned } = &self.table;
        self.held = match table.place(page) {
            TableContent::Absent => HeldPage::Zeros,
            TableContent::Memory(page) => HeldPage::Memory(Arc::clone(page)),
            TableContent::Device(at) if pages.is_pinned(pinned, page, at) => HeldPage::Pinned(page),
            TableContent::Device(at) => HeldPage::Frame(pages.page_to_pin(pinned, page, at)?),
        };
        self.first = (page * PAGE_PAYLOAD) as u64;
        Ok(())
    }
}

/// The page of an entry. Not the table's own arithmetic, which must divide by what it learns when
/// it runs.
fn page_of(index: u64) -> usize {
    index as usize / PAGE_PAYLOAD
}

#[cfg(test)]
mod tests;
