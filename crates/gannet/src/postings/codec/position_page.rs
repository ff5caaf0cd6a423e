//! Position pages: the positions of a chunk's postings as one stream of numbers in blocks of 128.
//!
//! A posting's first position stands as it is, the others as distances. Every position of a chunk
//! has a *number*, its ordinal in that stream. A page knows the number of its first, so that it can
//! be read alone:
//!
//! ```text
//! number of the first | blocks | numbers in the last block | shape of each block | blocks
//! ```
//! Blocks do not cross pages. All hold 128 numbers but for the last of the chunk, which holds
//! varints if it is shorter.

use std::ops::Range;

use super::block::{self, BLOCK, Numbers, Shape};
use crate::base::{ByteReader, Error, PAGE_PAYLOAD, Result, put_varint};
use crate::cache::Bytes;

const WHAT: &str = "a page of positions";

/// The header at its longest, the shapes apart.
const HEADER_LIMIT: usize = 5 + 2 + 2;

/// A position page as it was read.
#[derive(Clone, Debug)]
pub struct PositionPage {
    bytes: Bytes,
    shapes: Range<usize>,
    end: usize,
    /// The number of the first position.
    pub first: u32,
    last_count: usize,
}

impl PositionPage {
    /// Reads the header of the page that lies at `range` of `bytes`.
    pub fn parse(bytes: Bytes, range: Range<usize>) -> Result<PositionPage> {
        let page = bytes
            .get(range.clone())
            .ok_or_else(|| Error::damaged(WHAT, "expected a longer chunk"))?;
        let mut reader = ByteReader::new(page, WHAT);
        let first = reader.varint_u32()?;
        let blocks = reader.length(page.len())?;
        let last_count = reader.length(BLOCK)?;
        let numbers = blocks.saturating_sub(1) * BLOCK + last_count;
        if blocks == 0 || last_count == 0 || first.checked_add(numbers as u32).is_none() {
            return Err(reader.damaged("positions", "none or too many"));
        }
        let start = range.start + reader.position();
        reader.take(blocks)?;
        Ok(PositionPage {
            shapes: start..start + blocks,
            end: range.end,
            first,
            last_count,
            bytes,
        })
    }

    /// The number after the last position's.
    pub fn end(&self) -> u32 {
        self.first + ((self.shapes.len() - 1) * BLOCK + self.last_count) as u32
    }

    /// Decodes the block that holds the position with this number, which must be in the page; gives
    /// the number of the block's first position and how many it has.
    pub fn block(&self, number: u32, out: &mut Numbers) -> Result<(u32, usize)> {
        let block = (number - self.first) as usize / BLOCK;
        let shapes = &self.bytes[self.shapes.clone()];
        let mut skip = 0;
        for code in &shapes[..block] {
            skip += Shape::decode(*code)?.length();
        }
        let data = self
            .bytes
            .get(self.shapes.end + skip..self.end)
            .ok_or_else(|| Error::damaged(WHAT, "expected all blocks in the page"))?;
        let last = block + 1 == shapes.len();
        let count = if last { self.last_count } else { BLOCK };
        if count == BLOCK {
            block::unpack_values(data, Shape::decode(shapes[block])?, out)?;
        } else {
            let mut reader = ByteReader::new(data, WHAT);
            for value in &mut out[..count] {
                *value = reader.varint_u32()?;
            }
        }
        Ok((self.first + (block * BLOCK) as u32, count))
    }
}

/// The position pages of a chunk in the making.
#[derive(Debug, Default)]
pub struct PositionsDraft {
    pages: Vec<Vec<u8>>,
    starts: Vec<u32>,
    shapes: Vec<u8>,
    data: Vec<u8>,
    waiting: Vec<u32>,
    /// Positions in blocks, those that wait apart.
    placed: u32,
    total: u32,
}

impl PositionsDraft {
    /// Adds the positions of one posting. The chunk's total must stay a 32-bit number.
    pub fn push(&mut self, positions: &[u32]) {
        let mut previous = 0;
        for position in positions {
            self.push_distance(position.wrapping_sub(previous));
            previous = *position;
        }
    }

    /// Adds the position of a token by its distance from the one before in the same posting.
    #[inline]
    pub(crate) fn push_distance(&mut self, distance: u32) {
        self.waiting.push(distance);
        self.total += 1;
        if self.waiting.len() == BLOCK {
            self.place_block();
        }
    }

    /// Positions so far.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Pages so far, the one being filled and one that may be begun by what waits included.
    pub fn page_count_max(&self) -> usize {
        self.starts.len() + 1
    }

    /// The number of each page's first position.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Bytes so far, about.
    pub fn bytes(&self) -> usize {
        self.pages.len() * PAGE_PAYLOAD + self.data.len() + self.waiting.len()
    }

    /// Ends the stream; gives the pages, all but the last of which are full, and where they start.
    pub fn finish(mut self) -> (Vec<Vec<u8>>, Vec<u32>) {
        let rest = std::mem::take(&mut self.waiting);
        let mut coded = Vec::with_capacity(2 * rest.len());
        rest.iter()
            .for_each(|value| put_varint(&mut coded, *value as u64));
        let mut last_count = BLOCK;
        if !rest.is_empty() {
            last_count = rest.len();
            self.make_room(coded.len(), rest.len());
            self.shapes.push(0);
            self.data.extend_from_slice(&coded);
        }
        self.end_page(last_count);
        (self.pages, self.starts)
    }

    fn place_block(&mut self) {
        let mut values = [0; BLOCK];
        values.copy_from_slice(&self.waiting);
        self.waiting.clear();
        let shape = Shape::of(&values);
        self.make_room(shape.length(), BLOCK);
        self.shapes.push(shape.code());
        block::pack(&values, shape, &mut self.data);
    }

    /// Begins a page if this block does not fit the present one.
    fn make_room(&mut self, length: usize, count: usize) {
        if HEADER_LIMIT + self.shapes.len() + 1 + self.data.len() + length > PAGE_PAYLOAD {
            self.end_page(BLOCK);
        }
        if self.shapes.is_empty() {
            self.starts.push(self.placed);
        }
        self.placed += count as u32;
    }

    fn end_page(&mut self, last_count: usize) {
        let first = self.starts.last().copied().unwrap_or(0);
        let mut page = Vec::with_capacity(PAGE_PAYLOAD);
        put_varint(&mut page, first as u64);
        put_varint(&mut page, self.shapes.len() as u64);
        put_varint(&mut page, last_count as u64);
        page.append(&mut self.shapes);
        page.append(&mut self.data);
        self.pages.push(page);
    }
}
