//! Reading stored documents back, in steps: a round for the addresses, if their pages are not in
//! memory, and a round for the records. A record is found in its page by walking over those before
//! it.

use super::address::Address;
use super::compress::Dictionaries;
use super::flatten::ID_BYTES_MAX;
use super::json::Document;
use super::merge::merge;
use super::record::DocumentRecord;
use super::tables::DocumentTables;
use crate::base::{
    Budget, DocId, Error, PAGE_PAYLOAD, PageAddress, Reservation, Result, Sequence, Span,
};
use crate::cache::{Pages, Step, Stop};
use crate::storage::{document_body, document_front, find_record, record_length};

/// Bytes of the front of a record that has its ID: the record's own head, numbers, and the longest
/// ID.
const FRONT_BYTES: usize = 48 + ID_BYTES_MAX;

/// Pages that the front of a record has at most.
const FRONT_PAGES: usize = 2;

/// Bytes of a decoder of zstd, about.
const DECODER_BYTES: usize = 160 << 10;

/// A document as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The external ID.
    pub id: String,
    /// The JSON object, byte for byte as it came.
    pub source: Vec<u8>,
    /// The number of times a document with this external ID was written.
    pub version: u64,
    /// The operation that brought it.
    pub sequence: Sequence,
    /// Set if the source's member `id` is the external ID, and so no field.
    pub(crate) id_in_source: bool,
}

impl StoredDocument {
    /// The document with the members of the JSON object `partial` in place of its own; what both
    /// have as objects is merged likewise, and all other members stay byte for byte.
    pub fn merged(&self, partial: &[u8]) -> Result<Document> {
        let rejected =
            |error| Error::invalid(format!("the change of document {}: {error}", self.id));
        let source = std::str::from_utf8(&self.source).map_err(|error| {
            Error::damaged(format!("record of document {}", self.id), error.to_string())
        })?;
        let partial = std::str::from_utf8(partial).map_err(|error| rejected(error.to_string()))?;
        let merged = merge(source, partial).map_err(|error| rejected(error.to_string()))?;
        if self.id_in_source {
            Document::parse(merged.as_bytes())
        } else {
            Document::parse_as(Some(self.id.clone()), merged.as_bytes())
        }
    }
}

/// Bytes that reading a document takes whose source has `source` bytes: the source, its record if
/// that has several pages, and what decompresses it.
pub fn reading_bytes(source: usize) -> usize {
    // A record is stored as it came if it does not shrink.
    source + record_bytes(source + FRONT_BYTES) + DECODER_BYTES
}

/// Bytes of a copy of a record: of one that lies in one page there is none.
fn record_bytes(length: usize) -> usize {
    if length > PAGE_PAYLOAD { length } else { 0 }
}

/// Reads one document, deleted or not, whatever memory it takes: for checks, which read one at a
/// time.
pub fn stored(
    doc: DocId,
    tables: &DocumentTables,
    dictionaries: &Dictionaries,
    pages: &mut Pages<'_>,
) -> Step<StoredDocument> {
    let address = tables.address(doc, pages)?;
    let reading = RecordReading {
        dictionaries,
        budget: &Budget::new(usize::MAX),
    };
    want_all(&[address], pages)?;
    let (document, _) = reading.read(doc, address, pages)?;
    Ok(document)
}

/// Documents being read one group after the other, each with the memory that its source takes.
pub struct Fetch<'a> {
    tables: &'a DocumentTables,
    reading: RecordReading<'a>,
    /// Pages that are asked for at once.
    room: usize,
    /// Set if sources are read, and not IDs only.
    sources: bool,
    /// The document that is read piece by piece.
    pieces: Option<LongRecord>,
}

/// A document that was read, with the memory of its source; or its ID and why its source could not
/// be.
pub enum Fetched {
    /// All of it.
    Document(StoredDocument, Reservation),
    /// Its ID, where sources are not wanted.
    Id(String),
    /// Too little memory, with the ID.
    Failed(String, Error),
}

/// Turns records into documents.
#[derive(Clone, Copy)]
struct RecordReading<'a> {
    dictionaries: &'a Dictionaries,
    budget: &'a Budget,
}

/// A record that has more pages than are read at once.
struct LongRecord {
    doc: DocId,
    span: Span,
    bytes: Vec<u8>,
    _reserved: Reservation,
}

impl<'a> Fetch<'a> {
    /// Will read documents, asking for so many pages at once.
    pub fn new(
        tables: &'a DocumentTables,
        dictionaries: &'a Dictionaries,
        budget: &'a Budget,
        room: usize,
        sources: bool,
    ) -> Fetch<'a> {
        Fetch {
            tables,
            reading: RecordReading {
                dictionaries,
                budget,
            },
            room: room.max(1),
            sources,
            pieces: None,
        }
    }

    /// Reads the first of `docs` and gives it to `take`, and those behind it whose pages are read
    /// in the same round: tells how many. To be called again with the others, and with the same
    /// ones after a stop.
    pub fn next(
        &mut self,
        docs: &[DocId],
        pages: &mut Pages<'_>,
        mut take: impl FnMut(Fetched) -> Result<()>,
    ) -> Step<usize> {
        let docs = &docs[..docs.len().min(self.room)];
        let addresses = addresses_of(docs, self.tables, pages)?;
        if let (Some(address), true) = (addresses.first(), self.sources)
            && address.pages().count() > self.room
        {
            take(self.read_large(docs[0], *address, pages)?)?;
            return Ok(1);
        }
        let mut left = self.room;
        let fits = addresses.iter().take_while(|address| {
            let wanted = self.wanted_of(address);
            let fits = wanted <= left && (!self.sources || wanted == address.pages().count());
            left = left.saturating_sub(wanted);
            fits
        });
        let count = fits.count().max(1);
        let wanted = addresses[..count].iter();
        want_pages(
            wanted.flat_map(|a| a.pages().take(self.wanted_of(a))),
            pages,
        )?;
        for (doc, address) in docs.iter().zip(&addresses[..count]) {
            take(self.read_small(*doc, *address, pages)?)?;
        }
        Ok(count)
    }

    /// Returns the number of pages of a record to read: all, or those with the ID.
    fn wanted_of(&self, address: &Address) -> usize {
        if self.sources {
            address.pages().count().min(self.room)
        } else {
            address.pages().count().min(FRONT_PAGES)
        }
    }

    fn read_small(&self, doc: DocId, address: Address, pages: &mut Pages<'_>) -> Step<Fetched> {
        if !self.sources {
            let front = front(doc, address, pages)?;
            return Ok(Fetched::Id(front.id));
        }
        match self.reading.read(doc, address, pages) {
            Err(Stop::Failed(error @ Error::DocumentMemory { .. })) => {
                Ok(Fetched::Failed(front(doc, address, pages)?.id, error))
            }
            read => read.map(|(document, memory)| Fetched::Document(document, memory)),
        }
    }

    /// Reads a document that has more pages than are read at once.
    fn read_large(&mut self, doc: DocId, address: Address, pages: &mut Pages<'_>) -> Step<Fetched> {
        if self.pieces.as_ref().is_none_or(|pieces| pieces.doc != doc) {
            want_pages(address.pages().take(FRONT_PAGES), pages)?;
            let front = front(doc, address, pages)?;
            match self.reading.reserve(&front, address) {
                Ok(reserved) => self.pieces = Some(LongRecord::new(doc, front.span, reserved)),
                Err(error) => return Ok(Fetched::Failed(front.id, error)),
            }
        }
        let Some(pieces) = &mut self.pieces else {
            return Err(Stop::Pages);
        };
        pieces.read(self.room, pages)?;
        let read = self.reading.decode(doc, address, &pieces.bytes);
        let id = match &read {
            Err(Error::DocumentMemory { id, .. }) => Some(id.clone()),
            _ => None,
        };
        self.pieces = None;
        match (read, id) {
            (Err(error), Some(id)) => Ok(Fetched::Failed(id, error)),
            (read, _) => Ok(read.map(|(document, memory)| Fetched::Document(document, memory))?),
        }
    }
}

impl RecordReading<'_> {
    /// Reads a document whose pages are at hand.
    fn read(
        self,
        doc: DocId,
        address: Address,
        pages: &mut Pages<'_>,
    ) -> Step<(StoredDocument, Reservation)> {
        let front = front(doc, address, pages)?;
        let _record = self.reserve(&front, address)?;
        let bytes = pages.span(front.span)?;
        Ok(self.decode(doc, address, &bytes)?)
    }

    /// The memory for a copy of a record, if the whole document can be read.
    fn reserve(self, front: &Front, address: Address) -> Result<Reservation> {
        let record = record_bytes(address.length as usize);
        let whole = self.budget.reserve("a stored document", front.needed());
        let reserved = whole.and_then(|mut whole| whole.grow_to(record).map(|()| whole));
        reserved.map_err(|error| error.of_document(&front.id, front.needed()))
    }

    /// Makes a document of its record.
    fn decode(
        self,
        doc: DocId,
        address: Address,
        bytes: &[u8],
    ) -> Result<(StoredDocument, Reservation)> {
        let body = document_body(bytes)?;
        if DocumentRecord::doc_of(body)? != doc || record_length(body.len()) != bytes.len() {
            return Err(misplaced(doc, address));
        }
        let record = DocumentRecord::decode(body)?;
        let length = record.raw_length as usize;
        let reserved = self
            .budget
            .reserve("a stored document", length + DECODER_BYTES);
        let mut reserved =
            reserved.map_err(|error| error.of_document(record.id, reading_bytes(length)))?;
        let document = StoredDocument {
            id: record.id.to_owned(),
            source: self.dictionaries.decompress(&record)?,
            version: record.version,
            sequence: record.sequence,
            id_in_source: record.id_in_source,
        };
        reserved.grow_to(length + document.id.len())?;
        Ok((document, reserved))
    }
}

impl LongRecord {
    fn new(doc: DocId, span: Span, reserved: Reservation) -> LongRecord {
        LongRecord {
            doc,
            span,
            bytes: Vec::with_capacity(span.length as usize),
            _reserved: reserved,
        }
    }

    /// Reads the rest of the record, `room` pages at once.
    fn read(&mut self, room: usize, pages: &mut Pages<'_>) -> Step<()> {
        let Span { offset, length, .. } = self.span;
        loop {
            // What was read ends with a page.
            let read = (self.bytes.len() + offset as usize) / PAGE_PAYLOAD;
            let read = if self.bytes.is_empty() { 0 } else { read };
            if self.bytes.len() == length as usize {
                return Ok(());
            }
            want_pages(self.span.pages().skip(read).take(room), pages)?;
            for address in self.span.pages().skip(read).take(room) {
                let start = if self.bytes.is_empty() {
                    offset as usize
                } else {
                    0
                };
                let rest = length as usize - self.bytes.len();
                let end = PAGE_PAYLOAD.min(start + rest);
                let page = pages.page(address)?;
                self.bytes.extend_from_slice(&page[start..end]);
            }
            pages.trim();
        }
    }
}

/// The front of a record.
struct Front {
    id: String,
    version: u64,
    sequence: Sequence,
    source: usize,
    span: Span,
}

impl Front {
    /// Bytes that reading the document takes.
    fn needed(&self) -> usize {
        self.source + record_bytes(self.span.length as usize) + DECODER_BYTES
    }
}

/// Reads the front of a record, whose first pages are at hand.
fn front(doc: DocId, address: Address, pages: &mut Pages<'_>) -> Step<Front> {
    let span = find(doc, address, pages)?;
    let bytes = pages.span(Span {
        length: span.length.min(FRONT_BYTES as u32),
        ..span
    })?;
    let body = document_front(&bytes)?;
    if DocumentRecord::doc_of(body)? != doc {
        return Err(misplaced(doc, address).into());
    }
    let record = DocumentRecord::decode(body)?;
    Ok(Front {
        id: record.id.to_owned(),
        version: record.version,
        sequence: record.sequence,
        source: record.raw_length as usize,
        span,
    })
}

/// Reads the version of each document and the operation that brought it, from the fronts of
/// records.
pub fn stored_versions(
    docs: &[DocId],
    tables: &DocumentTables,
    pages: &mut Pages<'_>,
) -> Step<Vec<(u64, Sequence)>> {
    let addresses = addresses_of(docs, tables, pages)?;
    let fronts = addresses.iter();
    want_pages(
        fronts.flat_map(|address| address.pages().take(FRONT_PAGES)),
        pages,
    )?;
    let each = docs.iter().zip(addresses).map(|(doc, address)| {
        let front = front(*doc, address, pages)?;
        Ok((front.version, front.sequence))
    });
    each.collect()
}

/// Reads the records of documents together as they are stored, of as many as `room` pages hold, but
/// of one at least.
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

/// Returns the addresses of documents.
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
    want_pages(addresses.iter().flat_map(Address::pages), pages)
}

/// Notes these pages; stops unless all are at hand.
fn want_pages(addresses: impl Iterator<Item = PageAddress>, pages: &mut Pages<'_>) -> Step<()> {
    let mut complete = true;
    for address in addresses {
        complete &= pages.want(address)?;
    }
    if complete { Ok(()) } else { Err(Stop::Pages) }
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
