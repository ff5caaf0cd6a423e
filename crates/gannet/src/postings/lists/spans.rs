//! Spans read for maintenance: past the frame pool, so that a flush does not push out what queries
//! use.

use crate::base::{Error, PAGE_PAYLOAD, PageAddress, Result, Span};
use crate::device::PagePool;
use crate::postings::codec::entry::ChunkRef;
use crate::storage::{PageKind, ReadPage, Store, wrong_kind};

/// Reads the bytes of chunks in large batches.
pub(crate) struct SpanReader<'a> {
    store: &'a Store,
    pool: PagePool,
}

/// A page that a run of a chunk's bytes touches: where it is, whose it is, and where its bytes go.
struct Piece {
    address: PageAddress,
    chunk: usize,
    /// The first byte of the run in the page, and how many follow.
    skip: usize,
    length: usize,
    /// Their position in the chunk.
    at: usize,
}

impl SpanReader<'_> {
    /// A reader that has so many pages in flight at once.
    pub(crate) fn new(store: &Store, pages: usize) -> SpanReader<'_> {
        SpanReader {
            store,
            pool: PagePool::new(pages),
        }
    }

    /// The bytes of each chunk. All of them must have been written out.
    pub(crate) fn chunks(&self, chunks: &[ChunkRef]) -> Result<Vec<Vec<u8>>> {
        let empty = |chunk: &ChunkRef| vec![0; chunk.length() as usize];
        let mut out: Vec<Vec<u8>> = chunks.iter().map(empty).collect();
        let mut pieces = pieces(chunks);
        pieces.sort_unstable_by_key(|piece| piece.address);
        let mut addresses: Vec<PageAddress> = pieces.iter().map(|piece| piece.address).collect();
        addresses.dedup();
        let mut waiting = &pieces[..];
        for batch in addresses.chunks(self.pool.pages()) {
            for page in self.read(batch)? {
                let here = waiting.partition_point(|piece| piece.address <= page.address);
                for piece in &waiting[..here] {
                    piece.copy(&page.buffer[..PAGE_PAYLOAD], &mut out[piece.chunk]);
                }
                waiting = &waiting[here..];
            }
        }
        Ok(out)
    }

    /// Counts a chunk that was replaced as no longer needed.
    pub(crate) fn release(&self, chunk: &ChunkRef) {
        chunk.place.spans().for_each(|run| self.release_run(run));
    }

    /// Counts a run of a chunk as no longer needed.
    pub(crate) fn release_run(&self, run: Span) {
        self.store.release_span(run);
    }

    fn read(&self, addresses: &[PageAddress]) -> Result<Vec<ReadPage>> {
        let mut wanted = Vec::with_capacity(addresses.len());
        for address in addresses {
            let buffer = self.pool.take();
            let none = || Error::internal("maintenance ran out of its own read buffers");
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
    /// Copies the run's part of a page to its place.
    fn copy(&self, page: &[u8], out: &mut [u8]) {
        let from = &page[self.skip..self.skip + self.length];
        out[self.at..self.at + self.length].copy_from_slice(from);
    }
}

fn pieces(chunks: &[ChunkRef]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        let mut start = 0;
        for run in chunk.place.spans() {
            push_pieces(number, start, &run, &mut pieces);
            start += run.length as usize;
        }
    }
    pieces
}

/// Adds the pieces of a run that begins `start` bytes into its chunk.
fn push_pieces(chunk: usize, start: usize, run: &Span, pieces: &mut Vec<Piece>) {
    let (mut skip, mut done) = (run.offset as usize, 0);
    for address in run.pages() {
        let length = (PAGE_PAYLOAD - skip).min(run.length as usize - done);
        pieces.push(Piece {
            address,
            chunk,
            skip,
            length,
            at: start + done,
        });
        (skip, done) = (0, done + length);
    }
}
