//! Reading stored documents back, in steps.

use super::compress::Dictionaries;
use super::tables::DocumentTables;
use crate::base::{DocId, Error, Sequence};
use crate::cache::{Pages, Step};

/// A document as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The external ID.
    pub id: String,
    /// The JSON object, byte for byte as it came.
    pub source: Vec<u8>,
    /// How often a document with this external ID was written.
    pub version: u64,
    /// The operation that brought it.
    pub sequence: Sequence,
}

/// Reads one document: a round for its address, a round for its record.
pub fn stored(
    doc: DocId,
    tables: &DocumentTables,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<StoredDocument> {
    let _ = (doc, tables, dictionaries, pages);
    Err(Error::invalid("not written yet").into())
}

/// Reads documents together: one round for all addresses, one for all records.
pub fn stored_many(
    docs: &[DocId],
    tables: &DocumentTables,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<Vec<StoredDocument>> {
    let _ = (docs, tables, dictionaries, pages);
    Err(Error::invalid("not written yet").into())
}
