//! Spans read for maintenance: past the frame pool, so that a flush does not push out what queries use.

use super::entry::ChunkRef;
use crate::base::{Error, PAGE_PAYLOAD, PAGE_SIZE, PageAddress, Result, Span};
use crate::device::PagePool;
use crate::storage::{PageKind, ReadPage, Store, wrong_kind};

/// Pages in flight at once.
const BATCH_PAGES: usize = 256;

/// Memory that a reader holds for pages in flight.
pub(super) const BATCH_MEMORY: usize = BATCH_PAGES * PAGE_SIZE;

/// Reads the bytes of chunks in large batches.
pub(super) struct SpanReader<'a> {
    store: &'a Store,
    pool: PagePool,
}

/// A page that a span touches: where it is, whose it is, and where its bytes go.
struct Piece {
    address: PageAddress,
    span: usize,
    at: usize,
}

impl SpanReader<'_> {
    pub(super) fn new(store: &Store) -> SpanReader<'_> {
        SpanReader {
            store,
            pool: PagePool::new(BATCH_PAGES),
        }
    }

    /// The bytes of each chunk. All of them must have been written out.
    pub(super) fn chunks(&self, chunks: &[ChunkRef]) -> Result<Vec<Vec<u8>>> {
        let spans: Vec<Span> = chunks.iter().map(|chunk| chunk.span).collect();
        let mut out: Vec<Vec<u8>> = spans.iter().map(|s| vec![0; s.length as usize]).collect();
        let mut pieces = pieces(&spans);
        pieces.sort_unstable_by_key(|piece| piece.address);
        let mut addresses: Vec<PageAddress> = pieces.iter().map(|piece| piece.address).collect();
        addresses.dedup();
        let mut waiting = &pieces[..];
        for batch in addresses.chunks(BATCH_PAGES) {
            for page in self.read(batch)? {
                let here = waiting.partition_point(|piece| piece.address <= page.address);
                for piece in &waiting[..here] {
                    piece.copy(&page.buffer[..PAGE_PAYLOAD], &spans, &mut out[piece.span]);
                }
                waiting = &waiting[here..];
            }
        }
        Ok(out)
    }

    /// Counts a chunk that was replaced as no longer needed.
    pub(super) fn release(&self, chunk: &ChunkRef) {
        self.store.release_span(chunk.span);
    }

    fn read(&self, addresses: &[PageAddress]) -> Result<Vec<ReadPage>> {
        let mut wanted = Vec::with_capacity(addresses.len());
        for address in addresses {
            let buffer = self.pool.take();
            let none = || Error::invalid("maintenance ran out of its own read buffers");
            wanted.push((*address, buffer.ok_or_else(none)?));
        }
        let (pages, _) = self.store.read(wanted)?;
        match pages.iter().find(|page| page.kind != PageKind::Postings) {
            Some(page) => Err(wrong_kind(page.address, PageKind::Postings, page.kind)),
            None => Ok(pages),
        }
    }
}

impl Piece {
    /// Copies the span's part of a page to its place.
    fn copy(&self, page: &[u8], spans: &[Span], out: &mut [u8]) {
        let skip = if self.at == 0 {
            spans[self.span].offset as usize
        } else {
            0
        };
        let length = (PAGE_PAYLOAD - skip).min(out.len() - self.at);
        out[self.at..self.at + length].copy_from_slice(&page[skip..skip + length]);
    }
}

fn pieces(spans: &[Span]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (span, placed) in spans.iter().enumerate() {
        for (i, address) in placed.pages().enumerate() {
            let at = (i * PAGE_PAYLOAD).saturating_sub(placed.offset as usize);
            pieces.push(Piece { address, span, at });
        }
    }
    pieces
}
