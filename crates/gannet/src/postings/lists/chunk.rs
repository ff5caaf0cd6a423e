//! Chunks in the making, and their placing.
//!
//! A builder takes postings one by one and holds coded pages only, so that its memory is about the
//! chunk's size. Up to a few pages the chunk is *grouped*, so that one read gives all; else it is
//! *split*, so that a query that needs no positions reads none (see `postings::codec::head` for
//! both layouts).

use super::docs_draft::{DocsDraft, Gathered};
use super::filter_draft::FilterDraft;
use super::head_draft::{self, Assembled, CodedDocs};
use super::streams::ChunkStreams;
use crate::base::{DocId, PAGE_PAYLOAD, PhraseFilters, Result};
use crate::postings::codec::block::{BLOCK, NO_DOC};
use crate::postings::codec::entry::{ChunkPlace, ChunkRef, Layout};
use crate::postings::codec::position_page::PositionsDraft;
use crate::postings::codec::tokens::Tokens;

/// A chunk keeps no common neighbours once it has more postings than this in less than
/// [`DENSE_SHARE`] times as many documents: beside such a word every other but a few is the rarer
/// one, whose filter is asked.
const DENSE_COUNT: u32 = 1024;

/// See [`DENSE_COUNT`].
const DENSE_SHARE: u64 = 2;

/// Makes a chunk out of postings in doc order.
#[derive(Debug)]
pub struct ChunkBuilder {
    first: Option<DocId>,
    count: u32,
    gathered: Gathered,
    page: DocsDraft,
    pages: Vec<DocsDraft>,
    positions: PositionsDraft,
    filter: FilterDraft,
    /// The number of the first position of the gathered block.
    block_start: u32,
}

/// A chunk that is not placed yet.
#[derive(Debug)]
pub struct BuiltChunk {
    bytes: Vec<u8>,
    reference: ChunkRef,
}

impl ChunkBuilder {
    /// A chunk of no postings so far, with phrase filters of this kind.
    pub fn new(filters: PhraseFilters) -> ChunkBuilder {
        let filter = FilterDraft::new(filters);
        ChunkBuilder {
            first: None,
            count: 0,
            gathered: Gathered::default(),
            page: DocsDraft::new(NO_DOC, 0, groups_of(&filter)),
            pages: Vec::new(),
            positions: PositionsDraft::default(),
            filter,
            block_start: 0,
        }
    }

    /// Coded bytes so far, about.
    pub fn bytes(&self) -> usize {
        let filter = self.filter.bytes();
        self.pages.len() * PAGE_PAYLOAD + self.page.bytes() + self.positions.bytes() + filter
    }

    /// Returns true if the next posting is the first of a block.
    pub(crate) fn begins_block(&self) -> bool {
        self.gathered.count == 0
    }

    /// Returns true if a posting with this many positions still fits: positions are numbered in 32
    /// bits.
    pub fn has_room(&self, positions: usize) -> bool {
        self.positions.total() as u64 + positions as u64 <= u32::MAX as u64
    }

    /// Adds a posting behind the last.
    pub fn push(&mut self, doc: DocId, norm: u8, tokens: &Tokens) {
        let positions = &tokens.positions;
        debug_assert!(!positions.is_empty() && self.has_room(positions.len()));
        self.positions.push(positions);
        self.filter.push(tokens);
        self.end_posting(doc, positions.len() as u32, norm);
    }

    /// Adds a token of the posting that [`ChunkBuilder::end_posting`] ends: its distance from the
    /// one before, and its common neighbours.
    #[inline]
    pub(crate) fn push_token(&mut self, distance: u32, neighbours: [u8; 2]) {
        self.positions.push_distance(distance);
        self.filter.push_token(neighbours);
    }

    /// Adds the posting whose tokens were pushed.
    #[inline]
    pub(crate) fn end_posting(&mut self, doc: DocId, frequency: u32, norm: u8) {
        self.first.get_or_insert(doc);
        self.gathered.push(doc, frequency, norm);
        self.count += 1;
        if self.gathered.count == BLOCK {
            self.place_block();
        }
    }

    /// Keeps no phrase filter: of some tokens no neighbours are known.
    pub(crate) fn give_up_filter(&mut self) {
        if self.filter.filters() != PhraseFilters::None {
            self.filter.give_up();
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
        let filter = self.filter.finish();
        let filtered = filter.filters != PhraseFilters::None;
        let docs = finish_pages(&self.pages, &starts, total, filtered);
        let (layout, assembled) =
            match head_draft::assemble_grouped(&docs, &filter.bytes, &positions) {
                Some(grouped) => (Layout::Grouped, grouped),
                None => (
                    Layout::Split,
                    head_draft::assemble_split(&docs, &filter.bytes, &positions),
                ),
            };
        let Assembled {
            bytes,
            head_length,
            docs_length,
        } = assembled;
        Some(BuiltChunk {
            reference: ChunkRef {
                place: ChunkPlace::nowhere(bytes.len() as u32),
                layout,
                first,
                last,
                count: self.count,
                total_frequency: total,
                head_length,
                docs_length,
                filters: filter.filters,
                filter_lengths: filter.lengths,
            },
            bytes,
        })
    }

    fn place_block(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        let starts = groups_of(&self.filter);
        let groups = self.filter.end_block();
        let pages = self.position_pages_max();
        if !self.page.push(&gathered, groups, pages) {
            let fresh = DocsDraft::new(self.page.last(), self.block_start, starts);
            self.pages.push(std::mem::replace(&mut self.page, fresh));
            let pages = self.position_pages_max();
            let placed = self.page.push(&gathered, groups, pages);
            debug_assert!(placed, "the first block of a page always fits");
        }
        self.block_start = self.positions.total();
        if self.filter.filters() == PhraseFilters::Common && self.is_dense() {
            self.filter.give_up();
        }
    }

    /// Returns true if the chunk so far has most of the documents from its first to its last.
    fn is_dense(&self) -> bool {
        let range = self
            .first
            .map_or(0, |first| self.page.last() as u64 - first as u64 + 1);
        self.count > DENSE_COUNT && self.count as u64 * DENSE_SHARE > range
    }

    /// Returns the greatest number of position pages that the page being filled touches.
    fn position_pages_max(&self) -> usize {
        let first = self.page.first_position();
        let starts = self.positions.starts();
        let before = starts.partition_point(|start| *start <= first);
        self.positions.page_count_max() - before.saturating_sub(1)
    }
}

/// Returns the starts of the groups of the next block, if the chunk has a phrase filter so far.
fn groups_of(filter: &FilterDraft) -> Option<[u32; 2]> {
    (filter.filters() != PhraseFilters::None).then(|| filter.starts())
}

fn finish_pages(pages: &[DocsDraft], starts: &[u32], total: u32, filtered: bool) -> Vec<CodedDocs> {
    let ends = pages[1..].iter().map(DocsDraft::first_position);
    let finished = pages.iter().zip(ends.chain([total]));
    finished
        .map(|(page, end)| {
            (
                page.finish(starts, end, filtered),
                page.last(),
                page.impacts,
            )
        })
        .collect()
}

impl BuiltChunk {
    /// Appends the chunk to its stream.
    pub fn place(&self, streams: &ChunkStreams) -> Result<ChunkRef> {
        streams.place(&self.bytes, self.reference)
    }
}
