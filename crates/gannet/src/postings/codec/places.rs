//! Computes the places of the parts of a chunk: docs pages, position pages, index pages. (That of
//! the phrase filter, between docs and positions, is in the entry: `ChunkRef::filter`.)
//!
//! All places count from the chunk's start, so that a chunk moves by copying its bytes. In a
//! *grouped* chunk the parts follow each other without padding: one read brings all of them. In a
//! *split* chunk they start pages, so that each is one page to read; only the last docs page and
//! the last position page, which are seldom full, lie behind the head where it leaves room.

use super::entry::ChunkPlace;
use crate::base::{PAGE_PAYLOAD, Span};

const PAGE: u64 = PAGE_PAYLOAD as u64;

/// The places of the parts of one chunk.
#[derive(Clone, Debug)]
pub enum Places {
    /// One behind another.
    Grouped(GroupedPlaces),
    /// From page starts on.
    Split(SplitPlaces),
}

/// The parts of a grouped chunk.
#[derive(Clone, Debug)]
pub struct GroupedPlaces {
    /// Docs pages.
    pub docs_pages: u32,
    /// Bytes of the phrase filter.
    pub filter_length: u32,
    /// The start of each docs page, then of each position page, then the end of the last, as if
    /// there were no phrase filter between them.
    pub starts: Vec<u32>,
}

/// The parts of a split chunk.
#[derive(Clone, Copy, Debug)]
pub struct SplitPlaces {
    /// Index pages.
    pub index_pages: u32,
    /// Docs pages.
    pub docs_pages: u32,
    /// Position pages.
    pub position_pages: u32,
    /// Pages of the phrase filter.
    pub filter_pages: u32,
    /// Bytes of the head.
    pub head_length: u32,
    /// Bytes of the last docs page if it lies right behind the head, else 0.
    pub short_docs: u32,
    /// Bytes of the last position page if it lies behind these, else 0.
    pub short_positions: u32,
    /// Bytes of the chunk.
    pub length: u32,
}

impl Places {
    /// Returns the number of docs pages.
    pub fn docs_pages(&self) -> u32 {
        match self {
            Places::Grouped(places) => places.docs_pages,
            Places::Split(places) => places.docs_pages,
        }
    }

    /// Returns the number of position pages.
    pub fn position_pages(&self) -> u32 {
        match self {
            Places::Grouped(places) => places.parts() - places.docs_pages,
            Places::Split(places) => places.position_pages,
        }
    }

    /// Returns true if every part lies inside the chunk, so that places are computed without
    /// overflow.
    pub fn add_up(&self, length: u32) -> bool {
        match self {
            Places::Grouped(places) => {
                let end = places.starts.last().map(|end| end + places.filter_length);
                end == Some(length)
            }
            Places::Split(places) => places.add_up(),
        }
    }

    /// Returns the place of an index page of the chunk at `chunk`.
    pub fn index_page(&self, page: u32, chunk: &ChunkPlace) -> Option<Span> {
        match self {
            Places::Split(places) if page < places.index_pages => places.aligned(page, chunk),
            _ => None,
        }
    }

    /// Returns the place of a docs page.
    pub fn docs_page(&self, page: u32, chunk: &ChunkPlace) -> Option<Span> {
        match self {
            _ if page >= self.docs_pages() => None,
            Places::Grouped(places) => places.part(page, chunk),
            Places::Split(places) => places.docs_page(page, chunk),
        }
    }

    /// Returns the place of a position page.
    pub fn position_page(&self, page: u32, chunk: &ChunkPlace) -> Option<Span> {
        match self {
            _ if page >= self.position_pages() => None,
            Places::Grouped(places) => places.part(places.docs_pages + page, chunk),
            Places::Split(places) => places.position_page(page, chunk),
        }
    }
}

impl GroupedPlaces {
    fn parts(&self) -> u32 {
        (self.starts.len() as u32).saturating_sub(1)
    }

    fn part(&self, part: u32, chunk: &ChunkPlace) -> Option<Span> {
        let start = self.starts.get(part as usize)?;
        let end = self.starts.get(part as usize + 1)?;
        let skip = if part < self.docs_pages {
            0
        } else {
            self.filter_length
        };
        Some(chunk.part(start + skip, end - start))
    }
}

impl SplitPlaces {
    fn docs_page(&self, page: u32, chunk: &ChunkPlace) -> Option<Span> {
        if self.short_docs > 0 && page + 1 == self.docs_pages {
            return Some(chunk.part(self.head_length, self.short_docs));
        }
        self.aligned(self.index_pages + page, chunk)
    }

    fn position_page(&self, page: u32, chunk: &ChunkPlace) -> Option<Span> {
        if self.short_positions > 0 && page + 1 == self.position_pages {
            let skip = self.head_length + self.short_docs;
            return Some(chunk.part(skip, self.short_positions));
        }
        let docs = self.index_pages + self.docs_pages - (self.short_docs > 0) as u32;
        self.aligned(docs + self.filter_pages + page, chunk)
    }

    /// A part that starts a page; the last ends with the chunk.
    fn aligned(&self, part: u32, chunk: &ChunkPlace) -> Option<Span> {
        let skip = self.aligned_start() + part as u64 * PAGE;
        let length = (self.length as u64).checked_sub(skip)?.min(PAGE);
        Some(chunk.part(skip as u32, length as u32))
    }

    fn add_up(&self) -> bool {
        if self.docs_pages == 0 || self.position_pages == 0 {
            return false;
        }
        let behind_head = (self.short_docs > 0) as u64 + (self.short_positions > 0) as u64;
        let pages = [
            self.index_pages,
            self.docs_pages,
            self.filter_pages,
            self.position_pages,
        ];
        let aligned = pages.iter().map(|count| *count as u64).sum::<u64>() - behind_head;
        let length = self.length as u64;
        if aligned == 0 {
            return length == self.front();
        }
        let last = self.aligned_start() + (aligned - 1) * PAGE;
        last < length && length <= last + PAGE
    }

    /// Bytes of the head and what lies right behind it.
    fn front(&self) -> u64 {
        self.head_length as u64 + self.short_docs as u64 + self.short_positions as u64
    }

    fn aligned_start(&self) -> u64 {
        self.front().next_multiple_of(PAGE)
    }
}
