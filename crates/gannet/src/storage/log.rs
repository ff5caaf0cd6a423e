//! The log, whose pages become the document store.
//!
//! A record is `varint(body length + 1)`, a head byte (bit 0: the batch ends here; the rest: its
//! kind) and the body. A zero where a length should be says that the rest of the page is padding. A
//! document's record carries the compressed document, and the document table points into the log,
//! so a document's bytes are written once; a checkpoint only moves the place where replay starts.
//!
//! Invariants:
//! 1. The first record of a log zone names the zone that it goes on from, how many of that zone's
//!    pages count, and whether a recovery stands between the two. So the log's zones form one
//!    chain.
//! 2. A batch takes effect only if all its pages are whole and its last record is there. A recovery
//!    drops an unfinished batch, and the link that follows says so, so that every later replay
//!    drops it too.
//! 3. A commit ends its page: what is durable is never in a page that is written again.

use std::sync::Arc;

use super::log_start::LogStart;
use super::store::Store;
use super::stream::StreamWriter;
use super::{PageKind, Unsynced};
use crate::base::{ByteReader, Error, Result, Span, put_varint, varint_length};

/// The content of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// The link to the zone before; only ever the first record of a zone.
    Link = 1,
    /// A document.
    Document = 2,
    /// The deletion of a document.
    Delete = 3,
    /// A dictionary for the compression of documents.
    CompressionDictionary = 4,
    /// The fields of the index, when they have grown.
    Schema = 5,
    /// The decisions on columns.
    Columns = 6,
}

/// The link at the front of a log zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) from: LogStart,
    pub(super) recovered: bool,
}

/// The writing end of the log.
pub struct Log {
    stream: StreamWriter,
    store: Arc<Store>,
    end: LogStart,
    recovered: bool,
}

impl RecordKind {
    fn from_number(number: u8) -> Option<RecordKind> {
        use RecordKind::*;
        [
            Link,
            Document,
            Delete,
            CompressionDictionary,
            Schema,
            Columns,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == number)
    }
}

impl Log {
    /// A log that goes on from `end`, where a replay ended, in a zone of its own.
    pub fn resume(store: Arc<Store>, end: LogStart) -> Log {
        Log {
            stream: StreamWriter::new(Arc::clone(&store), PageKind::Log),
            store,
            end,
            recovered: true,
        }
    }

    /// Appends a record. The span covers the whole record, as [`record_body`] expects it. Only
    /// documents count as live bytes.
    pub fn append(&mut self, kind: RecordKind, ends_batch: bool, body: &[u8]) -> Result<Span> {
        let record = frame(kind, ends_batch, body);
        if self.stream.needs_zone(record.len()) {
            self.open_zone(record.len())?;
        }
        let span = self.stream.append(&record)?;
        if kind != RecordKind::Document {
            self.store.release_span(span);
        }
        Ok(span)
    }

    /// Bytes left in the page being filled.
    pub fn room(&self) -> usize {
        self.stream.room()
    }

    /// Writes everything out; what is returned must be synced to make it durable.
    pub fn flush(&mut self) -> Result<Unsynced> {
        self.stream.flush()?;
        Ok(self.stream.take_unsynced())
    }

    /// The place after everything appended so far, for a checkpoint. Ends the page being filled.
    pub fn end(&mut self) -> LogStart {
        self.stream.finish_page();
        match self.stream.next_page() {
            Some(next) => LogStart {
                zone: Some(next.zone),
                page: next.page,
            },
            None => self.end,
        }
    }

    fn open_zone(&mut self, record: usize) -> Result<()> {
        let link = Link {
            from: self.end(),
            recovered: self.recovered,
        };
        let mut body = Vec::new();
        link.encode(&mut body);
        let head = frame(RecordKind::Link, false, &body);
        self.stream.close_zone()?;
        self.stream.open_zone(head.len() + record)?;
        let span = self.stream.append(&head)?;
        self.store.release_span(span);
        self.recovered = false;
        Ok(())
    }
}

impl Link {
    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.from.zone.map_or(0, |zone| zone as u64 + 1));
        put_varint(out, self.from.page as u64);
        out.push(self.recovered as u8);
    }

    pub(super) fn decode(body: &[u8]) -> Result<Link> {
        let mut reader = ByteReader::new(body, "the link of a log zone");
        let from = LogStart::decode(&mut reader)?;
        Ok(Link {
            from,
            recovered: reader.u8()? != 0,
        })
    }
}

/// A record as it stands in the log.
pub fn frame(kind: RecordKind, ends_batch: bool, body: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(body.len() + 6);
    put_varint(&mut record, body.len() as u64 + 1);
    record.push((kind as u8) << 1 | ends_batch as u8);
    record.extend_from_slice(body);
    debug_assert!(
        matches!(parse_record(&record), Ok(Some(read)) if read.kind == kind && read.body == body)
    );
    record
}

/// Bytes of a record whose body has `body` bytes.
pub fn record_length(body: usize) -> usize {
    varint_length(body as u64 + 1) + 1 + body
}

/// A record taken apart.
#[derive(Debug)]
pub struct Record<'a> {
    /// Its content.
    pub kind: RecordKind,
    /// Set if it is the last of its batch.
    pub ends_batch: bool,
    /// Its content.
    pub body: &'a [u8],
}

/// Takes the record at the front of `bytes` apart; nothing if there is padding.
pub fn parse_record(bytes: &[u8]) -> Result<Option<Record<'_>>> {
    let mut reader = ByteReader::new(bytes, "a log record");
    if bytes.first().is_none_or(|first| *first == 0) {
        return Ok(None);
    }
    let length = (reader.varint_u32()? as usize)
        .checked_sub(1)
        .ok_or_else(|| reader.damaged("the length of a record", 0))?;
    let head = reader.u8()?;
    let kind = RecordKind::from_number(head >> 1)
        .ok_or_else(|| reader.damaged("a kind of record", head >> 1))?;
    let body = reader.take(length)?;
    Ok(Some(Record {
        kind,
        ends_batch: head & 1 != 0,
        body,
    }))
}

/// The body of the document record whose bytes these are.
pub fn document_body(bytes: &[u8]) -> Result<&[u8]> {
    match parse_record(bytes)? {
        Some(record) if record.kind == RecordKind::Document => Ok(record.body),
        _ => Err(Error::damaged(
            "a stored document",
            "expected a document record, got another",
        )),
    }
}

/// The front of the body of a document record of which no more than the front is at hand.
pub fn document_front(bytes: &[u8]) -> Result<&[u8]> {
    let mut reader = ByteReader::new(bytes, "a stored document");
    reader.varint_u32()?;
    let head = reader.u8()?;
    match RecordKind::from_number(head >> 1) {
        Some(RecordKind::Document) => Ok(reader.rest()),
        _ => Err(reader.damaged("a document record", head >> 1)),
    }
}

/// Finds in the payload of a page the record of `length` bytes whose body `is_wanted`, if records
/// begin at `first`. A record that goes on in the next page cannot be judged yet: it is the one if
/// it is long enough.
pub fn find_record(
    payload: &[u8],
    first: usize,
    length: usize,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Option<usize> {
    let mut at = first;
    while payload.get(at).is_some_and(|byte| *byte != 0) {
        let rest = &payload[at..];
        let whole = length_at(rest).ok().flatten().filter(|n| *n <= rest.len());
        let Some(whole) = whole else {
            return (length > rest.len()).then_some(at);
        };
        let is_it = whole == length && document_body(&rest[..whole]).is_ok_and(&is_wanted);
        if is_it {
            return Some(at);
        }
        at += whole;
    }
    None
}

/// The length of the record at the front of a page's payload, as far as its first bytes tell.
pub(super) fn length_at(bytes: &[u8]) -> Result<Option<usize>> {
    if bytes.first().is_none_or(|first| *first == 0) {
        return Ok(None);
    }
    let mut reader = ByteReader::new(bytes, "a log record");
    let length = reader.varint_u32()? as usize;
    Ok(Some(reader.position() + length))
}
