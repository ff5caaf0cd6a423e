//! Chunks read from front to back out of memory, for maintenance.

use crate::base::{DocId, Error, PAGE_PAYLOAD, PhraseFilters, Result, Span};
use crate::cache::Bytes;
use crate::postings::codec::block::{BLOCK, Numbers};
use crate::postings::codec::common_code;
use crate::postings::codec::dead::DeadDocs;
use crate::postings::codec::docs_page::{DocsPage, GroupRef};
use crate::postings::codec::entry::{ChunkPlace, ChunkRef};
use crate::postings::codec::head::Head;
use crate::postings::codec::position_page::PositionPage;
use crate::postings::codec::tokens::Tokens;

const WHAT: &str = "a postings chunk";

/// Reads all postings of a chunk whose bytes are in memory.
pub struct ChunkReader {
    head: Head,
    bytes: Vec<u8>,
    page: u32,
    docs: Option<DocsPage>,
    block: usize,
    /// The place of the next posting in the block, and the number of postings there.
    at: usize,
    count: usize,
    numbers: Box<[Numbers; 2]>,
    positions: PositionReader,
    filter: FilterReader,
    left: u32,
}

/// The phrase filter: where it stands among the chunk's bytes, of the words before and of those
/// after.
struct FilterReader {
    filters: PhraseFilters,
    sides: [usize; 2],
    /// The common neighbours of a block.
    neighbours: [Vec<u8>; 2],
    /// The number of neighbours of postings that were read.
    read: usize,
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
                    place: ChunkPlace::nowhere(chunk.length()),
                    ..*chunk
                },
                &bytes,
            )?,
            filter: FilterReader::of(chunk),
            bytes,
            page: 0,
            docs: None,
            block: 0,
            at: 0,
            count: 0,
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

    /// The next doc, its tokens put into `tokens`; nothing at the end.
    pub fn next(&mut self, tokens: &mut Tokens) -> Result<Option<DocId>> {
        tokens.clear();
        let Some((doc, frequency)) = self.next_posting()? else {
            return Ok(None);
        };
        let has_filter = self.filter.filters != PhraseFilters::None;
        let Tokens { positions, filter } = tokens;
        let mut position = 0;
        self.each_token(frequency, |distance, neighbours| {
            position += distance;
            positions.push(position);
            for (side, neighbour) in filter.iter_mut().zip(neighbours) {
                side.extend(has_filter.then_some(neighbour));
            }
        })?;
        Ok(Some(doc))
    }

    /// The next doc and its frequency; nothing at the end. Its tokens are to be read next, with
    /// [`ChunkReader::each_token`].
    #[inline]
    pub(crate) fn next_posting(&mut self) -> Result<Option<(DocId, u32)>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.at == self.count {
            self.load_block()?;
            self.load_filter()?;
        }
        let posting = (self.numbers[0][self.at], self.numbers[1][self.at]);
        self.at += 1;
        self.left -= 1;
        Ok(Some(posting))
    }

    /// Shows the tokens of a posting: the distance of each from the one before, and its common
    /// neighbours, before and after.
    #[inline]
    pub(crate) fn each_token(
        &mut self,
        frequency: u32,
        mut see: impl FnMut(u32, [u8; 2]),
    ) -> Result<()> {
        let has_filter = self.filter.filters != PhraseFilters::None;
        let mut position = 0u32;
        for _ in 0..frequency {
            let distance = self.positions.next(&self.head, &self.bytes)?;
            position = position
                .checked_add(distance)
                .ok_or_else(|| Error::damaged(WHAT, "expected 32-bit positions"))?;
            let neighbours = if has_filter {
                self.filter.next()
            } else {
                [0; 2]
            };
            see(distance, neighbours);
        }
        Ok(())
    }

    /// Reads what the filter knows of the tokens of the block.
    fn load_filter(&mut self) -> Result<()> {
        let Some(docs) = &self.docs else {
            return Ok(());
        };
        if self.filter.filters == PhraseFilters::None {
            return Ok(());
        }
        let frequencies = &self.numbers[1][..self.count];
        let tokens = frequencies.iter().map(|f| *f as usize).sum();
        self.filter.load(&self.bytes, docs, self.block, tokens)
    }

    /// Tells whether the chunk has a dead document, and gives its bytes back. The reader stands
    /// before the first posting.
    pub(crate) fn find(mut self, dead: &DeadDocs) -> Result<(bool, Vec<u8>)> {
        while self.left > 0 {
            self.load_block()?;
            let blocks = self.docs.as_ref().map(DocsPage::blocks);
            let count = blocks.map_or(0, |blocks| blocks[self.block].count);
            let docs = &self.numbers[0][..count as usize];
            if docs.iter().any(|doc| dead.has(*doc)) {
                return Ok((true, self.bytes));
            }
            self.left = self.left.saturating_sub(count.max(1) as u32);
        }
        Ok((false, self.bytes))
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
        self.count = docs.blocks()[self.block].count as usize;
        self.docs = Some(docs);
        self.at = 0;
        Ok(())
    }

    fn load_page(&mut self) -> Result<DocsPage> {
        let bytes = part(&self.bytes, self.head.docs_page(self.page)?);
        let length = bytes.len();
        self.page += 1;
        self.block = 0;
        DocsPage::parse(bytes, 0..length, self.filter.filters)
    }
}

/// The bytes of a part of a chunk that begins with page 0.
fn part(bytes: &[u8], span: Span) -> Bytes {
    let start = span.page as usize * PAGE_PAYLOAD + span.offset as usize;
    Bytes::Owned(bytes[start..start + span.length as usize].to_vec())
}

impl FilterReader {
    fn of(chunk: &ChunkRef) -> FilterReader {
        let before = chunk.filter().start as usize;
        FilterReader {
            filters: chunk.filters,
            sides: [before, before + chunk.filter_lengths[0] as usize],
            neighbours: Default::default(),
            read: 0,
        }
    }

    /// Reads the common neighbours of a block, which has so many tokens.
    fn load(&mut self, bytes: &[u8], docs: &DocsPage, block: usize, tokens: usize) -> Result<()> {
        for (side, group) in docs.groups(block)?.into_iter().enumerate() {
            let group = group_bytes(bytes, self.sides[side], group)?;
            common_code::read_group(group, tokens, &mut self.neighbours[side])?;
        }
        self.read = 0;
        Ok(())
    }

    /// The common neighbours of the next token of the block, before and after.
    #[inline]
    fn next(&mut self) -> [u8; 2] {
        let at = self.read;
        self.read += 1;
        let [before, after] = &self.neighbours;
        [before, after].map(|side| side.get(at).copied().unwrap_or_default())
    }
}

/// The bytes of a group on the side that begins at `start`.
fn group_bytes(bytes: &[u8], start: usize, group: GroupRef) -> Result<&[u8]> {
    let from = start + group.start as usize;
    let group = bytes.get(from..from + group.length as usize);
    group.ok_or_else(|| Error::damaged(WHAT, "expected a longer phrase filter"))
}

impl PositionReader {
    /// The next value.
    #[inline]
    fn next(&mut self, head: &Head, bytes: &[u8]) -> Result<u32> {
        if self.number - self.block.0 >= self.block.1 as u32 {
            self.load_block(head, bytes)?;
        }
        let value = self.values[(self.number - self.block.0) as usize];
        self.number += 1;
        Ok(value)
    }

    fn load_block(&mut self, head: &Head, bytes: &[u8]) -> Result<()> {
        let page = match self.page.take() {
            Some((ordinal, page)) if self.number < page.end() => (ordinal, page),
            other => {
                let ordinal = other.map_or(0, |(ordinal, _)| ordinal + 1);
                let span = head.position_page(ordinal);
                let span = span.ok_or_else(|| Error::damaged(WHAT, "expected more positions"))?;
                let bytes = part(bytes, span);
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
