//! Reading stored documents back, in steps: a round for the addresses, a round for the records.

use super::compress::Dictionaries;
use super::record::DocumentRecord;
use super::tables::DocumentTables;
use crate::base::{DocId, Error, Result, Sequence, Span};
use crate::cache::{Pages, Step, Stop};
use crate::storage::document_body;

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

/// Reads one document, deleted or not.
pub fn stored(
    doc: DocId,
    tables: &DocumentTables,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<StoredDocument> {
    let span = tables.address(doc, pages)?;
    let bytes = pages.span(span)?;
    Ok(read_record(doc, &bytes, dictionaries)?)
}

/// Reads documents together: one round for all addresses, one for all records.
pub fn stored_many(
    docs: &[DocId],
    tables: &DocumentTables,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<Vec<StoredDocument>> {
    if !tables.prefetch_addresses(docs, pages)? {
        return Err(Stop::Pages);
    }
    let addresses = docs.iter().map(|doc| tables.address(*doc, pages));
    let spans = addresses.collect::<Step<Vec<Span>>>()?;
    let mut complete = true;
    for address in spans.iter().flat_map(Span::pages) {
        complete &= pages.want(address)?;
    }
    if !complete {
        return Err(Stop::Pages);
    }
    let mut documents = Vec::with_capacity(docs.len());
    for (doc, span) in docs.iter().zip(spans) {
        documents.push(read_record(*doc, &pages.span(span)?, dictionaries)?);
    }
    Ok(documents)
}

fn read_record(doc: DocId, bytes: &[u8], dictionaries: &Dictionaries) -> Result<StoredDocument> {
    let record = DocumentRecord::decode(document_body(bytes)?)?;
    if record.doc != doc {
        return Err(Error::damaged(
            format!("record of document {doc}"),
            format!("expected its own number, got {}", record.doc),
        ));
    }
    Ok(StoredDocument {
        id: record.id.to_owned(),
        source: dictionaries.decompress(&record)?,
        version: record.version,
        sequence: record.sequence,
    })
}
