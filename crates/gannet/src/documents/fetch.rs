//! Reading stored documents back, in steps: a round for the addresses, if their pages are not in memory, and a
//! round for the records. A record is found in its page by walking over those before it.

use super::address::Address;
use super::compress::Dictionaries;
use super::json::Document;
use super::merge::merge;
use super::record::DocumentRecord;
use super::tables::DocumentTables;
use crate::base::{DocId, Error, Result, Sequence, Span};
use crate::cache::{Pages, Step, Stop};
use crate::storage::{document_body, find_record, record_length};

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
    /// Whether the source's member `id` is the external ID, and so no field.
    pub(crate) id_in_source: bool,
}

impl StoredDocument {
    /// The document with the members of the JSON object `partial` in place of its own; what both have as objects is merged
    /// likewise, and all other members stay byte for byte.
    pub fn merged(&self, partial: &[u8]) -> Result<Document> {
        let refused =
            |error| Error::invalid(format!("the change of document {}: {error}", self.id));
        let source = std::str::from_utf8(&self.source).map_err(|error| {
            Error::damaged(format!("record of document {}", self.id), error.to_string())
        })?;
        let partial = std::str::from_utf8(partial).map_err(|error| refused(error.to_string()))?;
        let merged = merge(source, partial).map_err(|error| refused(error.to_string()))?;
        match self.id_in_source {
            true => Document::parse(merged.as_bytes()),
            false => Document::parse_as(Some(self.id.clone()), merged.as_bytes()),
        }
    }
}

/// Reads one document, deleted or not.
pub fn stored(
    doc: DocId,
    tables: &DocumentTables,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<StoredDocument> {
    let address = tables.address(doc, pages)?;
    want_all(&[address], pages)?;
    read_record(doc, address, dictionaries, pages)
}

/// Reads documents together: one round for all addresses, one for all records.
pub fn stored_many(
    docs: &[DocId],
    tables: &DocumentTables,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<Vec<StoredDocument>> {
    let addresses = addresses_of(docs, tables, pages)?;
    want_all(&addresses, pages)?;
    let mut documents = Vec::with_capacity(docs.len());
    for (doc, address) in docs.iter().zip(addresses) {
        documents.push(read_record(*doc, address, dictionaries, pages)?);
    }
    Ok(documents)
}

/// Reads the records of documents together as they are stored, of as many as `room` pages hold, but of one at least.
pub fn stored_records(
    docs: &[DocId],
    room: usize,
    tables: &DocumentTables,
    pages: &mut Pages<'_>,
) -> Step<Vec<Vec<u8>>> {
    let mut addresses = addresses_of(docs, tables, pages)?;
    let mut taken = 0;
    let fits = addresses.iter().take_while(|address| {
        taken += address.pages().count();
        taken <= room
    });
    let count = fits.count().max(1);
    addresses.truncate(count);
    want_all(&addresses, pages)?;
    let mut records = Vec::with_capacity(addresses.len());
    for (doc, address) in docs.iter().zip(addresses) {
        let take = |body: &[u8]| Ok(body.to_vec());
        records.push(with_record(*doc, address, pages, take)?);
    }
    Ok(records)
}

/// Where documents stand.
fn addresses_of(
    docs: &[DocId],
    tables: &DocumentTables,
    pages: &mut Pages<'_>,
) -> Step<Vec<Address>> {
    if !tables.prefetch_addresses(docs, pages)? {
        return Err(Stop::Pages);
    }
    docs.iter().map(|doc| tables.address(*doc, pages)).collect()
}

/// Notes all pages of the records; stops unless all are at hand.
fn want_all(addresses: &[Address], pages: &mut Pages<'_>) -> Step<()> {
    let mut complete = true;
    for address in addresses.iter().flat_map(Address::pages) {
        complete &= pages.want(address)?;
    }
    match complete {
        true => Ok(()),
        false => Err(Stop::Pages),
    }
}

fn read_record(
    doc: DocId,
    address: Address,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<StoredDocument> {
    with_record(doc, address, pages, |body| {
        let record = DocumentRecord::decode(body)?;
        Ok(StoredDocument {
            id: record.id.to_owned(),
            source: dictionaries.decompress(&record)?,
            version: record.version,
            sequence: record.sequence,
            id_in_source: record.id_in_source,
        })
    })
}

/// Finds the record of a document and takes from it what is wanted.
fn with_record<T>(
    doc: DocId,
    address: Address,
    pages: &mut Pages<'_>,
    take: impl FnOnce(&[u8]) -> Result<T>,
) -> Step<T> {
    let span = find(doc, address, pages)?;
    let bytes = pages.span(span)?;
    let body = document_body(&bytes)?;
    if DocumentRecord::doc_of(body)? != doc || record_length(body.len()) != bytes.len() {
        return Err(misplaced(doc, address).into());
    }
    Ok(take(body)?)
}

/// Finds the record in its page.
fn find(doc: DocId, address: Address, pages: &mut Pages<'_>) -> Step<Span> {
    let page = pages.page(address.first())?;
    let is_doc = |body: &[u8]| DocumentRecord::doc_of(body).is_ok_and(|found| found == doc);
    let length = address.length as usize;
    match find_record(&page, page.first_record(), length, is_doc) {
        Some(offset) => Ok(address.at(offset as u16)),
        None => Err(misplaced(doc, address).into()),
    }
}

fn misplaced(doc: DocId, address: Address) -> Error {
    Error::damaged(
        format!("record of document {doc}"),
        format!("expected it at {address:?}, got other records there"),
    )
}
