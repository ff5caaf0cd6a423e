//! Tables by the number of a document: the address of its record, its norms, its deletion.
//!
//! All are paged tables that are read through the frame pool, which pins the pages of norms and of
//! the live set; in memory are else only the pages changed since the last checkpoint and a few
//! dozen bytes for each page.
//!
//! Invariants:
//! 1. Documents are pushed in the order of their numbers, without gaps; `end` is the next.
//! 2. A clone is a snapshot: it shares pages and sees no later change.
//! 3. Before a change, the pages that [`DocumentTables::missing`] names for it are loaded.
//! 4. A norm of 0 says that the document lacks the field; a page that is absent is all zeros. In
//!    the live set a set bit says deleted, so that an index without deletes stores none of it.

use std::sync::Arc;

use super::address::Address;
use super::addresses::AddressTable;
use super::bytes::ByteTable;
use super::cursor::{LiveCursor, NormCursor, bit};
use crate::analysis::FieldId;
use crate::base::{
    ByteReader, DocId, END, Error, PAGE_PAYLOAD, PageAddress, Result, Span, ZoneNumber, put_varint,
};
use crate::cache::{Frame, FramePool, Pages, Step, finish};
use crate::storage::{Store, StreamWriter, Table, TableContent};

/// The part of the frames that pages which move take at a time.
const MOVED_ONE_OF: usize = 4;

/// The tables of all documents; a clone is a snapshot.
#[derive(Clone, Debug)]
pub struct DocumentTables {
    end: DocId,
    deleted: u64,
    addresses: AddressTable,
    deletions: ByteTable,
    norms: Arc<Vec<ByteTable>>,
}

/// A change that is about to be made.
#[derive(Clone, Copy, Debug)]
pub enum TableChange {
    /// [`DocumentTables::push`] of this document.
    Push(DocId),
    /// [`DocumentTables::set_address`] of this document.
    SetAddress(DocId),
    /// [`DocumentTables::delete`] of this document.
    Delete(DocId),
}

/// A page that must be read before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingPage {
    /// Its address.
    pub address: PageAddress,
    part: TablePart,
    page: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TablePart {
    Addresses,
    Deletions,
    Norms(FieldId),
}

impl Default for DocumentTables {
    fn default() -> DocumentTables {
        DocumentTables::new()
    }
}

impl DocumentTables {
    /// Tables without documents.
    pub fn new() -> DocumentTables {
        DocumentTables {
            end: 0,
            deleted: 0,
            addresses: AddressTable::new(),
            deletions: ByteTable::new(),
            norms: Arc::default(),
        }
    }

    /// One past the highest doc ID.
    pub fn end(&self) -> DocId {
        self.end
    }

    /// Returns the number of deleted documents.
    pub fn deleted_count(&self) -> u64 {
        self.deleted
    }

    /// The same tables with no frames of their own, as if they were just opened.
    #[cfg(test)]
    pub fn unpinned(&self) -> DocumentTables {
        let norms = self.norms.iter().map(ByteTable::unpinned).collect();
        DocumentTables {
            deletions: self.deletions.unpinned(),
            norms: Arc::new(norms),
            ..self.clone()
        }
    }

    /// Adds the next document with the norms of its fields.
    pub fn push(&mut self, doc: DocId, span: Span, norms: &[(FieldId, u8)]) -> Result<()> {
        if doc != self.end || doc == END {
            return Err(Error::internal(format!(
                "document {doc} is not the next one, {}",
                self.end
            )));
        }
        self.addresses.push(Address::of(span)?)?;
        for (field, norm) in norms.iter().filter(|(_, norm)| *norm != 0) {
            self.norms_mut(*field).table.set(doc as u64, &[*norm]);
        }
        self.end = doc + 1;
        Ok(())
    }

    /// Notes that a document's record was moved.
    pub fn set_address(&mut self, doc: DocId, span: Span) -> Result<()> {
        self.check(doc)?;
        self.addresses.set(doc, Address::of(span)?)
    }

    /// Deletes a document. Tells whether it was live.
    pub fn delete(&mut self, doc: DocId) -> Result<bool> {
        self.check(doc)?;
        let deletions = &mut self.deletions.table;
        let (page, at) = deletions.position(doc as u64 / 8);
        let bits = &mut deletions.page_mut(page)[at];
        let was_live = *bits & bit(doc) == 0;
        *bits |= bit(doc);
        self.deleted += u64::from(was_live);
        Ok(was_live)
    }

    /// The live set below `below`: a set bit says deleted.
    pub fn deletions(&self, below: DocId, pages: &mut Pages<'_>) -> Result<Vec<u8>> {
        let mut cursor = self.deletions.cursor();
        let mut bytes = Vec::with_capacity(below as usize / 8 + 1);
        for doc in (0..below as u64).step_by(8) {
            pages.trim();
            bytes.push(finish(pages, |pages| cursor.get(doc / 8, pages))?);
        }
        if let Some(last) = bytes.last_mut().filter(|_| !below.is_multiple_of(8)) {
            *last &= bit(below) - 1;
        }
        Ok(bytes)
    }

    /// Forgets the norms of the dead documents from `first` to `last`, and where their records
    /// were: no postings lead to them any more. `are_dead` tells whether all documents from one to
    /// another are dead. Gives how many of them had each field. The changed pages stay in memory
    /// until they are written.
    pub fn forget(
        &mut self,
        first: DocId,
        last: DocId,
        are_dead: &dyn Fn(DocId, DocId) -> bool,
        pages: &mut Pages<'_>,
    ) -> Result<Vec<(FieldId, u64)>> {
        let mut had = Vec::new();
        for field in 0..self.norms.len() {
            let mut cursor = self.norms[field].cursor();
            let mut forgotten = Vec::new();
            for doc in (first..=last).filter(|doc| are_dead(*doc, *doc)) {
                pages.trim();
                if finish(pages, |pages| cursor.get(doc as u64, pages))? != 0 {
                    forgotten.push(doc);
                }
            }
            let field = field as FieldId;
            let missing = self.missing_norms(field, &forgotten);
            finish(pages, |pages| self.load_all(&missing, pages))?;
            forget_norms(&mut self.norms_mut(field).table, &forgotten);
            had.push((field, forgotten.len() as u64));
        }
        self.addresses.forget(first, last, are_dead);
        Ok(had)
    }

    /// The pages with these norms that are not in memory.
    fn missing_norms(&self, field: FieldId, docs: &[DocId]) -> Vec<MissingPage> {
        let table = &self.norms[field as usize].table;
        let mut pages: Vec<usize> = docs
            .iter()
            .map(|doc| table.position(*doc as u64).0)
            .collect();
        pages.dedup();
        let pages = pages.into_iter().map(Some);
        let missing = pages.filter_map(|page| self.missing_page(TablePart::Norms(field), page));
        missing.collect()
    }

    /// The pages that must be loaded before `changes`, sorted by address, each once.
    pub fn missing(&self, changes: &[TableChange]) -> Vec<MissingPage> {
        let mut missing = Vec::new();
        for change in changes {
            match *change {
                TableChange::Push(doc) => self.missing_for_push(doc, &mut missing),
                TableChange::SetAddress(doc) => {
                    let page = self.addresses.page_of(doc);
                    missing.extend(self.missing_page(TablePart::Addresses, page));
                }
                TableChange::Delete(doc) => {
                    let (page, _) = self.deletions.table.position(doc as u64 / 8);
                    missing.extend(self.missing_page(TablePart::Deletions, Some(page)));
                }
            }
        }
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Gives the tables a missing page that was read.
    pub fn load(&mut self, missing: MissingPage, payload: &[u8]) {
        self.table_mut(missing.part).load(missing.page, payload);
    }

    /// Loads all that `changes` miss, in one round.
    pub fn load_for(&mut self, changes: &[TableChange], pages: &mut Pages<'_>) -> Step<()> {
        let missing = self.missing(changes);
        self.load_all(&missing, pages)
    }

    /// Returns the addresses of the pages of all tables.
    pub fn table_pages(&self) -> impl Iterator<Item = PageAddress> {
        let bytes = [&self.deletions].into_iter().chain(self.norms.iter());
        let tables = bytes.map(|table| &table.table);
        let tables = tables.chain([self.addresses.pages()]);
        tables.flat_map(|table| table.addresses().map(|(_, address)| address))
    }

    /// Returns the address of a document's record.
    pub fn address(&self, doc: DocId, pages: &mut Pages<'_>) -> Step<Address> {
        self.check(doc)?;
        self.addresses.get(doc, pages)
    }

    /// Pages of addresses on flash.
    pub fn address_pages(&self) -> usize {
        self.addresses.pages().page_count()
    }

    /// Fails if a page of addresses is not whole.
    pub fn check_addresses(&self, page: usize, pages: &mut Pages<'_>) -> Step<()> {
        self.addresses.check(page, pages)
    }

    /// A document's norm in a field; 0 if it has none.
    pub fn norm(&self, field: FieldId, doc: DocId, pages: &mut Pages<'_>) -> Step<u8> {
        let Some(table) = self.norms.get(field as usize) else {
            return Ok(0);
        };
        table.cursor().get(doc as u64, pages)
    }

    /// Returns true if a document exists and is not deleted.
    pub fn is_live(&self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        let bits = self.deletions.cursor().get(doc as u64 / 8, pages)?;
        Ok(doc < self.end && bits & bit(doc) == 0)
    }

    /// Notes the pages that [`DocumentTables::address`] needs for `docs`. Tells whether all are at
    /// hand.
    pub fn prefetch_addresses(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<bool> {
        let mut complete = true;
        for page in docs.iter().filter_map(|doc| self.addresses.page_of(*doc)) {
            if let TableContent::Device(address) = self.addresses.pages().place(page) {
                complete &= pages.want(address)?;
            }
        }
        Ok(complete)
    }

    /// Returns the addresses of the pages with the norms of a field, nothing for those that are all
    /// zeros; nothing at all if one of them is not on the device.
    pub fn norm_pages(&self, field: FieldId) -> Option<Vec<Option<PageAddress>>> {
        match self.norms.get(field as usize) {
            Some(norms) => norms.device_pages(),
            None => Some(Vec::new()),
        }
    }

    /// The same of the live set, of which a set bit says deleted.
    pub fn deletion_pages(&self) -> Option<Vec<Option<PageAddress>>> {
        self.deletions.device_pages()
    }

    /// A reader of the norms of a field, which keeps the page it stands in.
    pub fn norm_cursor(&self, field: FieldId) -> NormCursor {
        match self.norms.get(field as usize) {
            Some(norms) => NormCursor::new(norms),
            None => NormCursor::new(&ByteTable::new()),
        }
    }

    /// A reader of the live set, which keeps the page it stands in. One that meets no dead
    /// documents, since it is asked only for what lists have after a vacuum, reads nothing.
    pub fn live_cursor(&self, meets_dead: bool) -> LiveCursor {
        LiveCursor::new(&self.deletions, self.end, meets_dead && self.deleted > 0)
    }

    /// Writes the changed pages, releasing those they replace.
    pub fn write_changes(&mut self, store: &Store, stream: &mut StreamWriter) -> Result<()> {
        self.addresses.pages_mut().write_changes(store, stream)?;
        self.deletions.write_changes(store, stream)?;
        for table in Arc::make_mut(&mut self.norms) {
            table.write_changes(store, stream)?;
        }
        Ok(())
    }

    /// Moves the pages in victim zones: those in memory are marked as changed, for the next
    /// [`DocumentTables::write_changes`]; the others are appended to `stream` as they are, so that
    /// no memory is needed for them beyond a part of the frames of `pool`.
    pub fn move_out_of(
        &mut self,
        is_victim: &dyn Fn(ZoneNumber) -> bool,
        pool: &FramePool,
        store: &Store,
        stream: &mut StreamWriter,
    ) -> Result<()> {
        let missing = self.mark_pages_of(is_victim);
        for batch in missing.chunks((pool.capacity() / MOVED_ONE_OF).max(1)) {
            let mut pages = Pages::new(pool);
            let frames = finish(&mut pages, |pages| frames_of(batch, pages))?;
            for (page, frame) in batch.iter().zip(&frames) {
                let table = self.table_mut(page.part);
                table.relocate(page.page, frame, store, stream)?;
            }
        }
        Ok(())
    }

    /// Bytes of memory that the tables hold.
    pub fn memory_bytes(&self) -> usize {
        let norms: usize = self.norms.iter().map(ByteTable::memory_bytes).sum();
        self.addresses.memory_bytes() + self.deletions.memory_bytes() + norms
    }

    /// Appends what the root record keeps. There must be no unwritten change.
    pub fn encode(&self, out: &mut Vec<u8>) {
        debug_assert!(self.deleted <= self.end as u64);
        put_varint(out, self.end as u64);
        put_varint(out, self.deleted);
        self.addresses.encode(out);
        self.deletions.table.encode(out);
        put_varint(out, self.norms.len() as u64);
        for table in self.norms.iter() {
            table.table.encode(out);
        }
    }

    /// Reads what [`DocumentTables::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<DocumentTables> {
        let (end, deleted) = (reader.varint_u32()?, reader.varint()?);
        if deleted > end as u64 {
            return Err(reader.damaged(&format!("at most {end} deleted documents"), deleted));
        }
        let addresses = AddressTable::decode(end, reader)?;
        let deletions = ByteTable::decode((end as u64).div_ceil(8), reader)?;
        let fields = reader.length(FieldId::MAX as usize + 1)?;
        let mut norms = Vec::new();
        for _ in 0..fields {
            norms.push(ByteTable::decode(end as u64, reader)?);
        }
        Ok(DocumentTables {
            end,
            deleted,
            addresses,
            deletions,
            norms: Arc::new(norms),
        })
    }

    fn check(&self, doc: DocId) -> Result<()> {
        if doc < self.end {
            return Ok(());
        }
        Err(Error::damaged(
            "reference to a document",
            format!("expected a doc ID below {}, got {doc}", self.end),
        ))
    }

    fn norms_mut(&mut self, field: FieldId) -> &mut ByteTable {
        let norms = Arc::make_mut(&mut self.norms);
        if norms.len() <= field as usize {
            norms.resize_with(field as usize + 1, ByteTable::new);
        }
        &mut norms[field as usize]
    }

    fn missing_for_push(&self, doc: DocId, missing: &mut Vec<MissingPage>) {
        missing.extend(self.missing_page(TablePart::Addresses, self.addresses.last_page()));
        for (field, norms) in (0..).zip(self.norms.iter()) {
            let (page, _) = norms.table.position(doc as u64);
            missing.extend(self.missing_page(TablePart::Norms(field), Some(page)));
        }
    }

    fn missing_page(&self, part: TablePart, page: Option<usize>) -> Option<MissingPage> {
        let page = page?;
        let address = self.part(part)?.missing(page)?;
        Some(MissingPage {
            address,
            part,
            page,
        })
    }

    fn part(&self, part: TablePart) -> Option<&Table> {
        match part {
            TablePart::Addresses => Some(self.addresses.pages()),
            TablePart::Deletions => Some(&self.deletions.table),
            TablePart::Norms(field) => self.norms.get(field as usize).map(|norms| &norms.table),
        }
    }

    fn table_mut(&mut self, part: TablePart) -> &mut Table {
        match part {
            TablePart::Addresses => self.addresses.pages_mut(),
            TablePart::Deletions => &mut self.deletions.table,
            TablePart::Norms(field) => &mut self.norms_mut(field).table,
        }
    }

    fn load_all(&mut self, missing: &[MissingPage], pages: &mut Pages<'_>) -> Step<()> {
        let frames = frames_of(missing, pages)?;
        for (page, frame) in missing.iter().zip(&frames) {
            self.load(*page, frame);
        }
        Ok(())
    }

    /// Marks what is in memory; gives the pages that are not.
    fn mark_pages_of(&mut self, is_victim: &dyn Fn(ZoneNumber) -> bool) -> Vec<MissingPage> {
        let mut left = vec![
            (
                TablePart::Addresses,
                self.addresses.pages_mut().move_out_of(is_victim),
            ),
            (
                TablePart::Deletions,
                self.deletions.table.move_out_of(is_victim),
            ),
        ];
        let norms = Arc::make_mut(&mut self.norms).iter_mut().enumerate();
        left.extend(norms.map(|(field, table)| {
            let part = TablePart::Norms(field as FieldId);
            (part, table.table.move_out_of(is_victim))
        }));
        let mut missing = Vec::new();
        for (part, ordinals) in left {
            let ordinals = ordinals.into_iter().map(Some);
            missing.extend(ordinals.filter_map(|page| self.missing_page(part, page)));
        }
        missing
    }
}

/// The frames of pages, fetched in one round.
fn frames_of(missing: &[MissingPage], pages: &mut Pages<'_>) -> Step<Vec<Frame>> {
    for page in missing {
        pages.want(page.address)?;
    }
    let frames = missing.iter().map(|page| pages.page(page.address));
    frames.collect()
}

/// Sets the norms of documents (ascending) to 0. Pages on which no other is left become absent.
fn forget_norms(norms: &mut Table, docs: &[DocId]) {
    let of = |doc: DocId| doc as usize / PAGE_PAYLOAD;
    for docs in docs.chunk_by(|a, b| of(*a) == of(*b)) {
        docs.iter().for_each(|doc| norms.set(*doc as u64, &[0]));
        let page = of(docs[0]);
        if norms.page_mut(page).iter().all(|norm| *norm == 0) {
            norms.clear_page(page);
        }
    }
}

#[cfg(test)]
mod tests;
