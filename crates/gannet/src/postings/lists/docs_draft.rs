//! Docs pages in the making (see `postings::codec::docs_page` for their bytes).
//!
//! Blocks are coded as they come. The header waits until the chunk's positions are placed, since
//! its position table tells where position pages start; the page keeps room for the table.

use crate::base::{DocId, PAGE_PAYLOAD, put_varint};
use crate::postings::codec::block::{self, BLOCK, Numbers, Shape};
use crate::postings::codec::docs_page::{GROUPS_LIMIT, HEADER_LIMIT, TABLE_LIMIT};
use crate::postings::codec::fragment::put_posting;
use crate::postings::codec::impacts::{BLOCK_PAIRS_MAX, Impacts, Pair};

/// A docs page in the making.
#[derive(Debug)]
pub struct DocsDraft {
    before: DocId,
    last: DocId,
    first_position: u32,
    /// The starts of the groups of its first block, if the chunk has a phrase filter so far.
    groups: Option<[u32; 2]>,
    /// The bytes of the groups of each block.
    group_lengths: Vec<u8>,
    blocks: u32,
    last_count: u8,
    directory: Vec<u8>,
    data: Vec<u8>,
    /// The bound on the page's scores.
    pub impacts: Impacts,
}

/// A block of postings that waits to be placed.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The docs.
    pub docs: Numbers,
    /// The frequencies, each less one.
    pub extra: Numbers,
    /// The number of postings.
    pub count: usize,
    /// Their impacts.
    pub impacts: Impacts,
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered {
            docs: [0; BLOCK],
            extra: [0; BLOCK],
            count: 0,
            impacts: Impacts::default(),
        }
    }
}

impl Gathered {
    /// Takes in a posting; there must be room.
    pub fn push(&mut self, doc: DocId, frequency: u32, norm: u8) {
        (self.docs[self.count], self.extra[self.count]) = (doc, frequency - 1);
        self.count += 1;
        self.impacts.add(Pair { frequency, norm });
    }

    fn extra_total(&self) -> u64 {
        self.extra[..self.count].iter().map(|e| *e as u64).sum()
    }
}

impl DocsDraft {
    /// An empty page after the doc `before`, whose first position has the number `first_position`
    /// and whose groups start at `groups`, if there are any.
    pub fn new(before: DocId, first_position: u32, groups: Option<[u32; 2]>) -> DocsDraft {
        DocsDraft {
            before,
            last: before,
            first_position,
            groups,
            group_lengths: Vec::new(),
            blocks: 0,
            last_count: 0,
            directory: Vec::new(),
            data: Vec::new(),
            impacts: Impacts::default(),
        }
    }

    /// The last doc.
    pub fn last(&self) -> DocId {
        self.last
    }

    /// The number of the first position.
    pub fn first_position(&self) -> u32 {
        self.first_position
    }

    /// Bytes so far, the position table apart.
    pub fn bytes(&self) -> usize {
        let groups = self
            .groups
            .map_or(0, |_| GROUPS_LIMIT + self.group_lengths.len());
        HEADER_LIMIT + groups + self.directory.len() + self.data.len()
    }

    /// Adds a block unless the page has no room for it; its groups have `groups` bytes, and the
    /// page's postings touch `position_pages` position pages at most.
    pub fn push(&mut self, block: &Gathered, groups: [u32; 2], position_pages: usize) -> bool {
        let (directory, data) = (self.directory.len(), self.data.len());
        let lengths = self.group_lengths.len();
        let last = block.docs[block.count - 1];
        let shapes = if block.count == BLOCK {
            self.put_full(block)
        } else {
            self.put_short(block)
        };
        let distance = last.wrapping_sub(self.last).wrapping_sub(1);
        put_varint(&mut self.directory, distance as u64);
        self.directory.extend(shapes.map(Shape::code));
        let impacts = block.impacts.loosened(BLOCK_PAIRS_MAX);
        impacts.encode(&mut self.directory);
        put_varint(&mut self.directory, block.extra_total());
        if self.groups.is_some() {
            for length in groups {
                put_varint(&mut self.group_lengths, length as u64);
            }
        }
        // Five bytes are the most that an entry of the table can take.
        if self.bytes() + 5 * position_pages.min(TABLE_LIMIT) > PAGE_PAYLOAD && self.blocks > 0 {
            self.directory.truncate(directory);
            self.data.truncate(data);
            self.group_lengths.truncate(lengths);
            return false;
        }
        self.last = last;
        self.blocks += 1;
        self.last_count = block.count as u8;
        self.impacts.merge(&block.impacts);
        true
    }

    /// Packs docs and frequencies; gives the shapes of both.
    fn put_full(&mut self, block: &Gathered) -> [Shape; 2] {
        let distances = block::distances(self.last, &block.docs);
        [&distances, &block.extra].map(|values| {
            let shape = Shape::of(values);
            block::pack(values, shape, &mut self.data);
            shape
        })
    }

    fn put_short(&mut self, block: &Gathered) -> [Shape; 2] {
        let mut next = self.last.wrapping_add(1);
        for i in 0..block.count {
            put_posting(&mut self.data, block.docs[i] - next, block.extra[i] + 1);
            next = block.docs[i] + 1;
        }
        [Shape::default(); 2]
    }

    /// The page's bytes. `starts` holds the number of each position page's first position; the
    /// page's own positions end before `end`. Where groups stand is left out if the chunk has no
    /// phrase filter in the end.
    pub fn finish(&self, starts: &[u32], end: u32, filtered: bool) -> Vec<u8> {
        let first = starts
            .partition_point(|start| *start <= self.first_position)
            .max(1)
            - 1;
        let after = starts.partition_point(|start| *start < end).max(first + 1);
        let touched = &starts[(first + 1).min(starts.len())..after.min(starts.len())];
        let mut stride = 0u8;
        while touched.len() >> stride > TABLE_LIMIT {
            stride += 1;
        }
        let mut out = Vec::with_capacity(PAGE_PAYLOAD);
        put_varint(&mut out, self.before.wrapping_add(1) as u64);
        put_varint(&mut out, self.first_position as u64);
        put_varint(&mut out, self.blocks as u64);
        put_varint(&mut out, self.last_count as u64);
        put_varint(&mut out, first as u64);
        out.push(stride);
        put_varint(&mut out, (touched.len() >> stride) as u64);
        let step = 1usize << stride;
        let mut before = self.first_position;
        for start in touched.iter().skip(step - 1).step_by(step) {
            put_varint(&mut out, (start - before) as u64);
            before = *start;
        }
        if let Some(starts) = self.groups.filter(|_| filtered) {
            let mut groups = Vec::with_capacity(GROUPS_LIMIT + self.group_lengths.len());
            for start in starts {
                put_varint(&mut groups, start as u64);
            }
            groups.extend_from_slice(&self.group_lengths);
            put_varint(&mut out, groups.len() as u64);
            out.extend_from_slice(&groups);
        }
        out.extend_from_slice(&self.directory);
        out.extend_from_slice(&self.data);
        debug_assert!(out.len() <= PAGE_PAYLOAD);
        out
    }
}
