//! Chunks in the making, and chunks read from front to back.
//!
//! A builder takes postings one by one and holds coded pages only, so that its memory is about the chunk's
//! size. Where the parts fit one page the chunk is *grouped*, so that one read gives all; else it is
//! *split*, so that a query that needs no positions reads none (see `postings::head` for both layouts).

use super::block::{BLOCK, NO_DOC, Numbers};
use super::docs_page::{DocsDraft, DocsPage, Gathered};
use super::entry::{ChunkRef, Layout};
use super::frontier::Frontier;
use super::head::{self, Head};
use super::position_page::{PositionPage, PositionsDraft};
use crate::base::{DocId, Error, PAGE_PAYLOAD, Result, Span};
use crate::cache::Bytes;
use crate::storage::StreamWriter;

const WHAT: &str = "a postings chunk";

/// Makes a chunk out of postings in doc order.
#[derive(Debug)]
pub struct ChunkBuilder {
    first: Option<DocId>,
    count: u32,
    gathered: Gathered,
    page: DocsDraft,
    pages: Vec<DocsDraft>,
    positions: PositionsDraft,
    /// The number of the first position of the gathered block.
    block_start: u32,
}

/// A chunk that is not placed yet.
#[derive(Debug)]
pub struct BuiltChunk {
    bytes: Vec<u8>,
    reference: ChunkRef,
    /// Sum of the frequencies.
    pub total_frequency: u64,
}

impl Default for ChunkBuilder {
    fn default() -> ChunkBuilder {
        ChunkBuilder {
            first: None,
            count: 0,
            gathered: Gathered::default(),
            page: DocsDraft::new(NO_DOC, 0),
            pages: Vec::new(),
            positions: PositionsDraft::default(),
            block_start: 0,
        }
    }
}

impl ChunkBuilder {
    /// Whether there is no posting yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Coded bytes so far, about.
    pub fn bytes(&self) -> usize {
        self.pages.len() * PAGE_PAYLOAD + self.page.bytes() + self.positions.bytes()
    }

    /// Whether a posting with this many positions still fits: positions are numbered in 32 bits.
    pub fn has_room(&self, positions: usize) -> bool {
        self.positions.total() as u64 + positions as u64 <= u32::MAX as u64
    }

    /// Adds a posting behind the last.
    pub fn push(&mut self, doc: DocId, norm: u8, positions: &[u32]) {
        debug_assert!(!positions.is_empty() && self.has_room(positions.len()));
        self.first.get_or_insert(doc);
        self.gathered.push(doc, positions.len() as u32, norm);
        self.positions.push(positions);
        self.count += 1;
        if self.gathered.count == BLOCK {
            self.place_block();
        }
    }

    /// The chunk, if there is any posting.
    pub fn finish(mut self) -> Option<BuiltChunk> {
        let first = self.first?;
        if self.gathered.count > 0 {
            self.place_block();
        }
        let last = self.page.last();
        self.pages.push(self.page);
        let total = self.positions.total();
        let (positions, starts) = self.positions.finish();
        let docs = finish_pages(&self.pages, &starts, total);
        let grouped = match (&docs[..], &positions[..]) {
            ([(docs, _, frontier)], [positions]) => {
                head::assemble_grouped(docs, frontier, positions)
            }
            _ => None,
        };
        let (layout, (bytes, head_length)) = match grouped {
            Some(grouped) => (Layout::Grouped, grouped),
            None => (Layout::Split, head::assemble_split(docs, positions)),
        };
        let span = Span {
            zone: 0,
            page: 0,
            offset: 0,
            length: bytes.len() as u32,
        };
        Some(BuiltChunk {
            bytes,
            reference: ChunkRef {
                span,
                layout,
                first,
                last,
                count: self.count,
                head_length,
            },
            total_frequency: total as u64,
        })
    }

    fn place_block(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        let pages = self.position_pages_max();
        if !self.page.push(&gathered, pages) {
            let fresh = DocsDraft::new(self.page.last(), self.block_start);
            self.pages.push(std::mem::replace(&mut self.page, fresh));
            let pages = self.position_pages_max();
            let placed = self.page.push(&gathered, pages);
            debug_assert!(placed, "the first block of a page always fits");
        }
        self.block_start = self.positions.total();
    }

    /// How many position pages the page being filled touches, at most.
    fn position_pages_max(&self) -> usize {
        let first = self.page.first_position();
        let starts = self.positions.starts();
        let before = starts.partition_point(|start| *start <= first);
        self.positions.page_count_max() - before.saturating_sub(1)
    }
}

fn finish_pages(
    pages: &[DocsDraft],
    starts: &[u32],
    total: u32,
) -> Vec<(Vec<u8>, DocId, Frontier)> {
    let ends = pages[1..].iter().map(DocsDraft::first_position);
    let finished = pages.iter().zip(ends.chain([total]));
    finished
        .map(|(page, end)| (page.finish(starts, end), page.last(), page.frontier))
        .collect()
}

impl BuiltChunk {
    /// Bytes of the chunk.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Appends the chunk to a stream.
    pub fn place(&self, stream: &mut StreamWriter) -> Result<ChunkRef> {
        place_chunk(&self.bytes, self.reference, stream)
    }
}

/// Appends a chunk's bytes and gives the reference with its new place.
pub fn place_chunk(bytes: &[u8], chunk: ChunkRef, stream: &mut StreamWriter) -> Result<ChunkRef> {
    let span = match chunk.layout {
        Layout::Grouped => stream.append(bytes),
        Layout::Split => stream.append_aligned(bytes),
    }?;
    Ok(ChunkRef { span, ..chunk })
}

/// Reads all postings of a chunk whose bytes are in memory.
pub struct ChunkReader {
    head: Head,
    bytes: Vec<u8>,
    page: u32,
    docs: Option<DocsPage>,
    block: usize,
    at: usize,
    numbers: Box<[Numbers; 2]>,
    positions: PositionReader,
    left: u32,
}

/// Reads the position stream of a chunk from its start.
struct PositionReader {
    page: Option<(u32, PositionPage)>,
    number: u32,
    values: Numbers,
    block: (u32, usize),
}

impl ChunkReader {
    /// A reader that stands before the first posting.
    pub fn new(chunk: &ChunkRef, bytes: Vec<u8>) -> Result<ChunkReader> {
        Ok(ChunkReader {
            head: Head::parse(
                &ChunkRef {
                    span: Span {
                        zone: 0,
                        page: 0,
                        ..chunk.span
                    },
                    ..*chunk
                },
                &bytes,
            )?,
            bytes,
            page: 0,
            docs: None,
            block: 0,
            at: 0,
            numbers: Box::new([[0; BLOCK]; 2]),
            positions: PositionReader {
                page: None,
                number: 0,
                values: [0; BLOCK],
                block: (0, 0),
            },
            left: chunk.count,
        })
    }

    /// The next doc, its positions put into `positions`; nothing at the end.
    pub fn next(&mut self, positions: &mut Vec<u32>) -> Result<Option<DocId>> {
        positions.clear();
        if self.left == 0 {
            return Ok(None);
        }
        let count = self
            .docs
            .as_ref()
            .map_or(0, |docs| docs.blocks()[self.block].count);
        if self.at == count as usize {
            self.load_block()?;
        }
        let (doc, frequency) = (self.numbers[0][self.at], self.numbers[1][self.at]);
        self.positions
            .read(&self.head, &self.bytes, frequency, positions)?;
        self.at += 1;
        self.left -= 1;
        Ok(Some(doc))
    }

    fn load_block(&mut self) -> Result<()> {
        let next = self.block + 1;
        let docs = match self.docs.take() {
            Some(docs) if next < docs.blocks().len() => {
                self.block = next;
                docs
            }
            _ => self.load_page()?,
        };
        let [numbers, frequencies] = &mut *self.numbers;
        if !docs.docs(self.block, numbers, frequencies)? {
            docs.frequencies(self.block, frequencies)?;
        }
        self.docs = Some(docs);
        self.at = 0;
        Ok(())
    }

    fn load_page(&mut self) -> Result<DocsPage> {
        if self.page >= self.head.docs_pages {
            return Err(Error::damaged(WHAT, "expected more pages of postings"));
        }
        let bytes = part(&self.bytes, &self.head, self.head.docs_page(self.page));
        let length = bytes.len();
        self.page += 1;
        self.block = 0;
        DocsPage::parse(bytes, 0..length)
    }
}

/// The bytes of a part of a chunk that lies at page 0 of zone 0.
fn part(bytes: &[u8], head: &Head, span: Span) -> Bytes {
    let start = span.page as usize * PAGE_PAYLOAD + span.offset as usize - head.offset();
    Bytes::Owned(bytes[start..start + span.length as usize].to_vec())
}

impl PositionReader {
    fn read(
        &mut self,
        head: &Head,
        bytes: &[u8],
        frequency: u32,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let mut position = 0u32;
        for _ in 0..frequency {
            if self.number - self.block.0 >= self.block.1 as u32 {
                self.load_block(head, bytes)?;
            }
            let value = self.values[(self.number - self.block.0) as usize];
            position = position
                .checked_add(value)
                .ok_or_else(|| Error::damaged(WHAT, "expected 32-bit positions"))?;
            out.push(position);
            self.number += 1;
        }
        Ok(())
    }

    fn load_block(&mut self, head: &Head, bytes: &[u8]) -> Result<()> {
        let page = match self.page.take() {
            Some((ordinal, page)) if self.number < page.end() => (ordinal, page),
            other => {
                let ordinal = other.map_or(0, |(ordinal, _)| ordinal + 1);
                let span = head.position_page(ordinal);
                let span = span.ok_or_else(|| Error::damaged(WHAT, "expected more positions"))?;
                let bytes = part(bytes, head, span);
                let length = bytes.len();
                (ordinal, PositionPage::parse(bytes, 0..length)?)
            }
        };
        if self.number < page.1.first || self.number >= page.1.end() {
            return Err(Error::damaged(WHAT, "expected positions in order"));
        }
        self.block = page.1.block(self.number, &mut self.values)?;
        self.page = Some(page);
        Ok(())
    }
}
