//! What is kept for each document by its number: address, norms, whether it is deleted.

use crate::base::{ByteReader, DocId, Error, PageAddress, Result, Span};
use crate::cache::{Pages, Step};
use crate::storage::{Store, StreamWriter};

/// The number of a field.
pub type FieldId = u16;

/// The tables of all documents; a clone is a snapshot.
#[derive(Clone, Debug)]
pub struct DocumentTables {}

/// A change that is about to be made.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// [`DocumentTables::push`] of this document with these fields.
    Push(DocId),
    /// [`DocumentTables::set_address`].
    SetAddress(DocId),
    /// [`DocumentTables::delete`].
    Delete(DocId),
}

/// A page that must be read before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingPage {
    /// Where it is.
    pub address: PageAddress,
}

/// Reads one field's norms for ascending documents.
#[derive(Debug)]
pub struct NormCursor {}

/// Reads whether documents are live, for ascending documents.
#[derive(Debug)]
pub struct LiveCursor {}

impl DocumentTables {
    /// Tables without documents.
    pub fn new() -> DocumentTables {
        DocumentTables {}
    }

    /// One past the highest doc ID.
    pub fn end(&self) -> DocId {
        0
    }

    /// How many documents are deleted.
    pub fn deleted_count(&self) -> u64 {
        0
    }

    /// Adds a document above all others, with the norms of its fields.
    pub fn push(&mut self, doc: DocId, span: Span, norms: &[(FieldId, u8)]) -> Result<()> {
        let _ = (doc, span, norms);
        Err(Error::invalid("not written yet"))
    }

    /// Notes that a document's record was moved (by cleaning).
    pub fn set_address(&mut self, doc: DocId, span: Span) -> Result<()> {
        let _ = (doc, span);
        Err(Error::invalid("not written yet"))
    }

    /// Deletes a document. Tells whether it was live.
    pub fn delete(&mut self, doc: DocId) -> Result<bool> {
        let _ = doc;
        Err(Error::invalid("not written yet"))
    }

    /// The pages that must be loaded before `changes`, sorted, each once.
    pub fn missing(&self, changes: &[Change]) -> Vec<MissingPage> {
        let _ = changes;
        Vec::new()
    }

    /// Gives the tables a missing page that was read.
    pub fn load(&mut self, page: MissingPage, payload: &[u8]) {
        let _ = (page, payload);
    }

    /// Loads all that `changes` miss, in one round.
    pub fn load_for(&mut self, changes: &[Change], pages: &mut Pages<'_>) -> Step<()> {
        let _ = (changes, pages);
        Ok(())
    }

    /// Where a document's record is.
    pub fn address(&self, doc: DocId, pages: &mut Pages<'_>) -> Step<Span> {
        let _ = (doc, pages);
        Err(Error::invalid("not written yet").into())
    }

    /// A document's norm in a field; 0 if it has none.
    pub fn norm(&self, field: FieldId, doc: DocId, pages: &mut Pages<'_>) -> Step<u8> {
        let _ = (field, doc, pages);
        Err(Error::invalid("not written yet").into())
    }

    /// Whether a document exists and is not deleted.
    pub fn is_live(&self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        let _ = (doc, pages);
        Err(Error::invalid("not written yet").into())
    }

    /// Notes the pages that [`DocumentTables::address`] needs for `docs`. Tells whether all are at hand.
    pub fn prefetch_addresses(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<bool> {
        let _ = (docs, pages);
        Ok(true)
    }

    /// Notes the pages that the norms of `field` need for `docs`. Tells whether all are at hand.
    pub fn prefetch_norms(
        &self,
        field: FieldId,
        docs: &[DocId],
        pages: &mut Pages<'_>,
    ) -> Step<bool> {
        let _ = (field, docs, pages);
        Ok(true)
    }

    /// Notes the pages that tell whether `docs` are live. Tells whether all are at hand.
    pub fn prefetch_live(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<bool> {
        let _ = (docs, pages);
        Ok(true)
    }

    /// A reader of the norms of a field.
    pub fn norm_cursor(&self, field: FieldId) -> NormCursor {
        let _ = field;
        NormCursor {}
    }

    /// A reader of the live set.
    pub fn live_cursor(&self) -> LiveCursor {
        LiveCursor {}
    }

    /// Writes the changed pages, releasing those they replace.
    pub fn write_changes(&mut self, store: &Store, stream: &mut StreamWriter) -> Result<()> {
        let _ = (store, stream);
        Ok(())
    }

    /// Marks the pages in victim zones as changed; gives those that must be loaded first, to call again.
    pub fn move_out_of(&mut self, is_victim: impl Fn(u32) -> bool) -> Vec<MissingPage> {
        let _ = is_victim;
        Vec::new()
    }

    /// Bytes of memory that the tables hold.
    pub fn memory_bytes(&self) -> usize {
        0
    }

    /// Appends what the root record keeps. There must be no unwritten change.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Reads what [`DocumentTables::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<DocumentTables> {
        let _ = reader;
        Ok(DocumentTables {})
    }
}

impl NormCursor {
    /// A document's norm; 0 if it has none.
    pub fn norm(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<u8> {
        let _ = (doc, pages);
        Ok(0)
    }
}

impl LiveCursor {
    /// Whether a document exists and is not deleted.
    pub fn is_live(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        let _ = (doc, pages);
        Ok(true)
    }
}
