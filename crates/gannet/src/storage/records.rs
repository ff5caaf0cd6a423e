//! Reading the records of a zone, page by page, as replay and cleaning do.

use super::log::{RecordKind, length_at, parse_record};
use super::{PageKind, Store, seal};
use crate::base::{PAGE_PAYLOAD, PageAddress, Result, Span, ZoneNumber};
use crate::device::{FileId, PageBuffer, PagePool, Transfer};

/// Pages read at once: 1 MiB.
const READ_PAGES: u32 = 256;

/// Bytes that hold the length of any record, and the byte after it.
const HEAD_BYTES: usize = 6;

/// The most bytes that are allocated at once for a record.
const RESERVED_MAX: usize = 32 << 20;

/// One record of a zone.
#[derive(Debug)]
pub struct ZoneRecord {
    /// Its content.
    pub kind: RecordKind,
    /// Set if it is the last of its batch.
    pub ends_batch: bool,
    /// The span of the whole record.
    pub span: Span,
    /// Its content.
    pub body: Vec<u8>,
}

/// Takes the records of a zone.
pub trait RecordVisitor {
    /// Tells that the next record will take so many bytes, before they are read.
    fn reserve(&mut self, bytes: usize) -> Result<()>;

    /// Takes the next record.
    fn visit(&mut self, record: ZoneRecord) -> Result<()>;
}

/// A visitor of records for which nothing is reserved.
impl<F: FnMut(ZoneRecord) -> Result<()>> RecordVisitor for F {
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn visit(&mut self, record: ZoneRecord) -> Result<()> {
        self(record)
    }
}

/// Reads the records of a zone that begin in its pages from `first` up to `limit` and hands them to
/// `visitor`. Gives the number of the first page that is no whole page of `kind`, or `limit`.
pub fn read_records(
    store: &Store,
    kind: PageKind,
    first: PageAddress,
    limit: u32,
    visitor: &mut dyn RecordVisitor,
) -> Result<u32> {
    let mut partial = Partial::default();
    let mut at = first;
    while at.page < limit {
        let asked = READ_PAGES.min(limit - at.page);
        let pages = read_whole_pages(store, kind, at, asked)?;
        for page in &pages {
            // What stands before belongs to a record of the page before.
            let from = if at == first {
                seal::first_record(page)
            } else {
                0
            };
            partial.read_page(at, &page[..PAGE_PAYLOAD], from, visitor)?;
            at.page += 1;
        }
        if pages.len() < asked as usize {
            break;
        }
    }
    Ok(at.page)
}

/// The first record of a zone, if its first page is whole and of `kind`.
pub(super) fn first_record(
    store: &Store,
    kind: PageKind,
    zone: ZoneNumber,
) -> Result<Option<(RecordKind, Vec<u8>)>> {
    let pages = read_whole_pages(store, kind, PageAddress { zone, page: 0 }, 1)?;
    let Some(page) = pages.first() else {
        return Ok(None);
    };
    Ok(match parse_record(&page[..PAGE_PAYLOAD]) {
        Ok(Some(record)) => Some((record.kind, record.body.to_vec())),
        _ => None,
    })
}

/// The pages from `first` on, up to the first that does not prove itself.
fn read_whole_pages(
    store: &Store,
    kind: PageKind,
    first: PageAddress,
    count: u32,
) -> Result<Vec<PageBuffer>> {
    let pool = PagePool::new(count as usize);
    let file = FileId::Zone(first.zone);
    let mut batch = [Transfer {
        file,
        page: first.page,
        buffers: (0..count).map_while(|_| pool.take()).collect(),
    }];
    store.device().read(&mut batch)?;
    let [Transfer { mut buffers, .. }] = batch;
    let is_whole = |(page, buffer): (u32, &PageBuffer)| {
        let found = seal::verify(buffer, store.identity(), seal::SealAddress { file, page });
        found.is_ok_and(|found| found == kind)
    };
    let whole = (first.page..)
        .zip(&buffers)
        .take_while(|page| is_whole(*page));
    buffers.truncate(whole.count());
    Ok(buffers)
}

/// The record being read, which may go on over pages.
#[derive(Default)]
struct Partial {
    bytes: Vec<u8>,
    start: Option<(PageAddress, u16)>,
}

impl Partial {
    fn read_page(
        &mut self,
        at: PageAddress,
        payload: &[u8],
        from: usize,
        visitor: &mut dyn RecordVisitor,
    ) -> Result<()> {
        let mut offset = from;
        while offset < payload.len() {
            if self.start.is_none() {
                if payload[offset] == 0 {
                    return Ok(());
                }
                self.start = Some((at, offset as u16));
            }
            offset += self.take(&payload[offset..], visitor)?;
            if let Some(record) = self.finish()? {
                visitor.visit(record)?;
            }
        }
        Ok(())
    }

    /// Adds to the record what belongs to it; gives how many bytes that were.
    fn take(&mut self, bytes: &[u8], visitor: &mut dyn RecordVisitor) -> Result<usize> {
        let before = self.bytes.len();
        // The length itself may stand on two pages.
        let head = HEAD_BYTES.saturating_sub(before).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..head]);
        let Some(length) = self.length() else {
            return Ok(head);
        };
        self.bytes.truncate(length.max(before));
        let have = self.bytes.len() - before;
        let left = length.saturating_sub(self.bytes.len());
        let rest = left.min(bytes.len() - have);
        if self.bytes.capacity() < self.bytes.len() + rest {
            visitor.reserve(length)?;
            // A length that is damaged may be more than there is.
            self.bytes.reserve_exact(left.min(RESERVED_MAX));
        }
        self.bytes.extend_from_slice(&bytes[have..have + rest]);
        Ok(have + rest)
    }

    fn length(&self) -> Option<usize> {
        length_at(&self.bytes).ok().flatten()
    }

    fn finish(&mut self) -> Result<Option<ZoneRecord>> {
        let length = if self.bytes.len() < HEAD_BYTES {
            self.length()
        } else {
            // More bytes would say no more.
            length_at(&self.bytes)?
        };
        if length.is_none_or(|length| length > self.bytes.len()) {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        let (Some((at, offset)), Some(record)) = (self.start.take(), parse_record(&bytes)?) else {
            return Ok(None);
        };
        let (kind, ends_batch) = (record.kind, record.ends_batch);
        let (length, body) = (bytes.len(), record.body.len());
        // In place: a copy would take the memory of a long record twice.
        bytes.drain(..length - body);
        Ok(Some(ZoneRecord {
            kind,
            ends_batch,
            span: Span {
                zone: at.zone,
                page: at.page,
                offset,
                length: length as u32,
            },
            body: bytes,
        }))
    }
}
