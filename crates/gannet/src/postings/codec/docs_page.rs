//! Docs pages: blocks of docs and frequencies behind a directory, decodable without any other page.
//!
//! ```text
//! header     doc before the page + 1 | number of its first position | blocks
//!            | postings in the last block | first position page | stride | entries
//!            | distances between the position pages' first numbers
//!            | with a phrase filter: bytes of what follows; where its groups start, then the
//!            bytes of those of each block
//! directory  per block: distance to the last doc | shape of the docs | shape of the frequencies
//!            | impacts | frequencies beyond one each
//! data       per block: packed docs, packed frequencies - 1; varints in a last block of fewer
//!            than 128
//! ```
//! The directory lets a query skip blocks unread; the position table leads from a posting to the
//! one position page that holds its positions. Where a page's postings have very many positions the
//! table has an entry for every 2^stride pages only.

use std::ops::Range;
use std::sync::OnceLock;

use super::block::{self, BLOCK, NO_DOC, Numbers, Shape};
use super::fragment::read_posting;
use super::impacts::{Pair, read_pairs, skip_pairs};
use crate::base::{ByteReader, DocId, END, Error, PhraseFilters, Result};
use crate::cache::Bytes;

const WHAT: &str = "a page of postings";

/// The most entries of the position table; more position pages make its stride longer.
pub(crate) const TABLE_LIMIT: usize = 96;

/// The header at its longest, the table apart.
pub(crate) const HEADER_LIMIT: usize = 5 + 5 + 2 + 2 + 5 + 1 + 1;

/// The greatest number of further bytes in a chunk with a phrase filter, the bytes of each group
/// apart.
pub(crate) const GROUPS_LIMIT: usize = 2 + 5 + 5;

/// The directory's word on one block, and what follows from the blocks before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockEntry {
    /// The doc before the block's first.
    pub before: DocId,
    /// The last doc.
    pub last: DocId,
    /// Postings: 128 but for the last block.
    pub count: u8,
    /// The shape of the packed docs.
    doc_shape: Shape,
    /// The shape of the packed frequencies.
    frequency_shape: Shape,
    /// The position of its impacts in the page's bytes.
    pairs: u32,
    /// The number, within the chunk, of the first position of the block's first posting.
    pub first_position: u32,
    /// The position of the block's data from the start of the page's data.
    at: u32,
}

/// The place of a block's group among those of its side of the phrase filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupRef {
    /// The first byte.
    pub start: u32,
    /// The number of bytes.
    pub length: u32,
}

/// A docs page as it was read.
#[derive(Clone, Debug)]
pub struct DocsPage {
    bytes: Bytes,
    /// The start of the page in `bytes`.
    start: usize,
    /// The blocks' data within `bytes`.
    data: Range<usize>,
    blocks: Vec<BlockEntry>,
    /// The range of the lengths of the phrase filter's groups, if there are any.
    group_bytes: Range<usize>,
    /// The groups' places, once they were asked for: only phrases ask.
    groups: OnceLock<Vec<[GroupRef; 2]>>,
    first_position_page: u32,
    stride: u8,
    /// The first position's number of every 2^stride-th position page after the first.
    table: Vec<u32>,
}

impl BlockEntry {
    fn is_packed(&self) -> bool {
        self.count as usize == BLOCK
    }
}

impl DocsPage {
    /// Reads the header and directory of the page that lies at `range` of `bytes`, of a chunk with
    /// these phrase filters.
    pub fn parse(bytes: Bytes, range: Range<usize>, filters: PhraseFilters) -> Result<DocsPage> {
        let page = bytes
            .get(range.clone())
            .ok_or_else(|| Error::damaged(WHAT, "expected a longer chunk"))?;
        let mut reader = ByteReader::new(page, WHAT);
        let before = reader.varint_u32()?.wrapping_sub(1);
        let first_position = reader.varint_u32()?;
        let count = reader.length(page.len())?;
        let last_count = reader.length(BLOCK)?;
        let first_position_page = reader.varint_u32()?;
        let stride = reader.length(31)? as u8;
        let table = parse_table(first_position, &mut reader)?;
        if count == 0 || last_count == 0 {
            return Err(reader.damaged("a page with postings", "none"));
        }
        let mut group_bytes = 0..0;
        if filters != PhraseFilters::None {
            let length = reader.length(reader.rest().len())?;
            group_bytes = reader.position()..reader.position() + length;
            reader.take(length)?;
        }
        let mut blocks = Vec::with_capacity(count);
        let mut behind = Behind {
            last: before,
            first_position,
            at: 0,
        };
        for i in 0..count {
            let postings = if i + 1 == count { last_count } else { BLOCK };
            behind.parse_next(postings, &mut blocks, &mut reader)?;
        }
        let data = range.start + reader.position()..range.end;
        if behind.at as usize > data.len() {
            return Err(reader.damaged("all blocks in the page", data.len()));
        }
        Ok(DocsPage {
            bytes,
            start: range.start,
            data,
            blocks,
            group_bytes,
            groups: OnceLock::new(),
            first_position_page,
            stride,
            table,
        })
    }

    /// The directory, never empty.
    pub fn blocks(&self) -> &[BlockEntry] {
        &self.blocks
    }

    /// Gives the impacts of a block to `take`.
    #[inline]
    pub fn each_pair(&self, block: usize, take: impl FnMut(Pair)) -> Result<()> {
        let at = self.start + self.blocks[block].pairs as usize;
        let mut reader = ByteReader::new(&self.bytes[at..self.data.end], WHAT);
        read_pairs(&mut reader, take)
    }

    /// The last doc of the page.
    pub fn last(&self) -> DocId {
        self.blocks.last().map_or(NO_DOC, |entry| entry.last)
    }

    /// Returns true if no page before it can have `target`.
    #[inline]
    pub fn starts_by(&self, target: DocId) -> bool {
        let before = self.blocks.first().map_or(NO_DOC, |first| first.before);
        before == NO_DOC || target > before
    }

    /// Returns true if the first doc of the list from `target` on is in the page.
    #[inline]
    pub fn spans(&self, target: DocId) -> bool {
        self.starts_by(target) && self.last() >= target
    }

    /// The first block that may hold `target` or a later doc; past the end if none does. It is
    /// looked for at `near` and the block behind first.
    #[inline]
    pub fn find(&self, target: DocId, near: usize) -> usize {
        let is_behind = |block: usize| self.blocks.get(block).is_some_and(|b| b.last < target);
        if near == 0 || is_behind(near - 1) {
            for block in near..near + 2 {
                if self.blocks.get(block).is_some_and(|b| b.last >= target) {
                    return block;
                }
            }
        }
        self.blocks.partition_point(|entry| entry.last < target)
    }

    /// Decodes the docs of a block. A short block's frequencies come with them; tells whether they
    /// did.
    #[inline]
    pub fn docs(
        &self,
        block: usize,
        docs: &mut Numbers,
        frequencies: &mut Numbers,
    ) -> Result<bool> {
        let entry = &self.blocks[block];
        let data = self.data_from(entry.at);
        let packed = entry.is_packed();
        if packed {
            block::unpack_docs(entry.before, data, entry.doc_shape, docs)?;
        } else {
            read_short(entry, data, docs, frequencies)?;
        }
        let disordered = packed && entry.doc_shape.may_wrap() && !docs.is_sorted();
        if docs[entry.count as usize - 1] != entry.last || docs[0] > entry.last || disordered {
            let got = docs[entry.count as usize - 1];
            let expected = format!("expected a block up to doc {}, got {got}", entry.last);
            return Err(Error::damaged(WHAT, expected));
        }
        Ok(!packed)
    }

    /// Decodes the frequencies of a block.
    #[inline]
    pub fn frequencies(&self, block: usize, out: &mut Numbers) -> Result<()> {
        let entry = &self.blocks[block];
        if !entry.is_packed() {
            return read_short(entry, self.data_from(entry.at), &mut [0; BLOCK], out);
        }
        let at = entry.at + entry.doc_shape.length() as u32;
        block::unpack_values(self.data_from(at), entry.frequency_shape, out)?;
        out.iter_mut().for_each(|f| *f = f.wrapping_add(1));
        Ok(())
    }

    /// The position page that holds the position with this number, or the first of `1 << stride`
    /// that may.
    pub fn position_page(&self, number: u32) -> u32 {
        let strides = self.table.partition_point(|first| *first <= number) as u32;
        self.first_position_page
            .saturating_add(strides.saturating_mul(self.stride()))
    }

    /// Returns the places of the groups of a block, of the words before and of those after.
    pub fn groups(&self, block: usize) -> Result<[GroupRef; 2]> {
        if self.groups.get().is_none() {
            let told = self.start + self.group_bytes.start..self.start + self.group_bytes.end;
            let mut reader = ByteReader::new(&self.bytes[told], WHAT);
            let groups = parse_groups(self.blocks.len(), &mut reader)?;
            // Another thread may have been here meanwhile, and found the same.
            let _ = self.groups.set(groups);
        }
        let groups = self.groups.get().and_then(|groups| groups.get(block));
        Ok(groups.copied().unwrap_or_default())
    }

    /// Returns true if [`DocsPage::position_page`] is exact.
    pub fn knows_position_pages(&self) -> bool {
        self.stride() == 1
    }

    /// Returns the number of position pages that one entry of the table stands for.
    pub fn stride(&self) -> u32 {
        1 << self.stride
    }

    fn data_from(&self, at: u32) -> &[u8] {
        let data = &self.bytes[self.data.clone()];
        &data[(at as usize).min(data.len())..]
    }
}

/// Parses the places of the blocks' groups: those of the first on each side, then the bytes of
/// each.
fn parse_groups(count: usize, reader: &mut ByteReader<'_>) -> Result<Vec<[GroupRef; 2]>> {
    let mut starts = [reader.varint_u32()?, reader.varint_u32()?];
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let mut groups = [GroupRef::default(); 2];
        for (group, start) in groups.iter_mut().zip(&mut starts) {
            let length = reader.varint_u32()?;
            *group = GroupRef {
                start: *start,
                length,
            };
            let next = start.checked_add(length);
            *start = next.ok_or_else(|| reader.damaged("groups of 32 bits", length))?;
        }
        all.push(groups);
    }
    if reader.is_empty() {
        Ok(all)
    } else {
        Err(reader.damaged("as many groups as blocks", "more bytes"))
    }
}

fn parse_table(first: u32, reader: &mut ByteReader<'_>) -> Result<Vec<u32>> {
    let count = reader.length(TABLE_LIMIT)?;
    let mut table = Vec::with_capacity(count);
    let mut number = first;
    for _ in 0..count {
        let distance = reader.varint_u32()?;
        number = number
            .checked_add(distance)
            .ok_or_else(|| reader.damaged("a position's number", distance))?;
        table.push(number);
    }
    Ok(table)
}

/// The parts of the page behind the blocks whose directory entries were read.
struct Behind {
    last: DocId,
    first_position: u32,
    at: u32,
}

impl Behind {
    /// Reads the directory entry of the next block, of `count` postings. It is made where it stays:
    /// to copy what was just written field by field stalls the processor.
    fn parse_next(
        &mut self,
        count: usize,
        blocks: &mut Vec<BlockEntry>,
        reader: &mut ByteReader<'_>,
    ) -> Result<()> {
        let distance = reader.varint()?;
        let last = self.last.wrapping_add(1) as u64 + distance.min(END as u64);
        let doc_shape = Shape::decode(reader.u8()?)?;
        let frequency_shape = Shape::decode(reader.u8()?)?;
        let pairs = reader.position() as u32;
        skip_pairs(reader)?;
        let positions = reader.varint()?.saturating_add(count as u64);
        let next = (self.first_position as u64).saturating_add(positions);
        let sound = last < END as u64 && distance + 1 >= count as u64 && next <= u32::MAX as u64;
        if !sound {
            let what = format!("block up to doc {last}, positions up to {next}");
            return Err(reader.damaged("a sound directory entry", what));
        }
        blocks.push(BlockEntry {
            before: self.last,
            last: last as DocId,
            count: count as u8,
            doc_shape,
            frequency_shape,
            pairs,
            first_position: self.first_position,
            at: self.at,
        });
        (self.last, self.first_position) = (last as DocId, next as u32);
        if count == BLOCK {
            self.at += (doc_shape.length() + frequency_shape.length()) as u32;
        }
        Ok(())
    }
}

fn read_short(
    entry: &BlockEntry,
    data: &[u8],
    docs: &mut Numbers,
    frequencies: &mut Numbers,
) -> Result<()> {
    let mut reader = ByteReader::new(data, WHAT);
    let mut next = entry.before.wrapping_add(1);
    for i in 0..entry.count as usize {
        // Distances count from the doc after the last, so that the packed and the short form agree
        // on 0.
        let (doc, frequency) = read_posting(&mut reader, next, true)?;
        (docs[i], frequencies[i]) = (doc, frequency);
        next = doc + 1;
    }
    Ok(())
}
