//! Heads: what lies at a chunk's front and tells where everything else is and which pages can matter.
//!
//! A *grouped* chunk is one read in any case; its head is the length of its docs part and the chunk's
//! competitive pairs. A *split* chunk starts on a fresh page:
//!
//! ```text
//! head        docs pages | position pages | bytes of the last docs page if it lies right behind the head,
//!             else 0 | index pages | pairs of the whole chunk | index
//! index       per docs page: distance to its last doc | pairs; or, if that is more than a page: per index
//!             page: distance to its last doc | docs pages in it | pairs
//! then, each from a page's start: index pages, docs pages, position pages
//! ```
//! So opening a list reads one page a chunk, and a second per 100,000 postings or so that are looked into.
//! All places are relative to the chunk's start: a chunk moves by copying its bytes.
//!
//! Memory: a decoded index holds the coded pairs of at most one page and six bytes an entry.

use super::entry::{ChunkRef, Layout};
use super::frontier::Frontier;
use crate::base::{ByteReader, DocId, Error, PAGE_PAYLOAD, Result, Span};

const WHAT: &str = "the head of a postings chunk";
const PAGE: u64 = PAGE_PAYLOAD as u64;

/// A decoded head.
#[derive(Clone, Debug)]
pub struct Head {
    /// The bound on the chunk's scores.
    pub frontier: Frontier,
    /// Docs pages.
    pub docs_pages: u32,
    /// Position pages.
    pub position_pages: u32,
    /// Bytes of the last docs page if it lies right behind the head, else 0.
    short: u32,
    index: Index,
    span: Span,
    head_length: u32,
    layout: Layout,
}

/// Last docs and pairs of consecutive docs pages, or of consecutive index pages.
#[derive(Clone, Debug, Default)]
pub struct PageIndex {
    lasts: Vec<DocId>,
    /// The first docs page of each entry; one more for the end.
    firsts: Vec<u32>,
    frontiers: Vec<u8>,
    at: Vec<u32>,
}

#[derive(Clone, Debug)]
enum Index {
    Whole(PageIndex),
    Pages(PageIndex),
}

/// What the index says about where a doc would be.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    /// In this docs page.
    Docs(PageFound),
    /// In a docs page that this index page knows.
    IndexPage(u32),
}

/// A docs page that the index found.
#[derive(Clone, Copy, Debug)]
pub struct PageFound {
    /// The page's ordinal.
    pub page: u32,
    /// Its last doc.
    pub last: DocId,
    /// The bound on its scores.
    pub frontier: Frontier,
}

impl Head {
    /// Reads a chunk's head: the first `head_length` bytes of the chunk.
    pub fn parse(chunk: &ChunkRef, bytes: &[u8]) -> Result<Head> {
        let bytes = bytes
            .get(..chunk.head_length as usize)
            .ok_or_else(|| Error::damaged(WHAT, "expected more bytes"))?;
        let mut reader = ByteReader::new(bytes, WHAT);
        let head = match chunk.layout {
            Layout::Grouped => Head::parse_grouped(chunk, &mut reader),
            Layout::Split => Head::parse_split(chunk, &mut reader),
        }?;
        match reader.is_empty() && head.places_add_up() {
            true => Ok(head),
            false => Err(reader.damaged("a head that agrees with its chunk", "another")),
        }
    }

    /// The index entry for `target`, which is at most the chunk's last doc.
    pub fn find(&self, target: DocId) -> Result<Found> {
        match &self.index {
            Index::Whole(index) => index.find(target).map(Found::Docs),
            Index::Pages(index) => Ok(Found::IndexPage(index.place(target) as u32)),
        }
    }

    /// Reads an index page.
    pub fn parse_index(&self, ordinal: u32, bytes: &[u8]) -> Result<PageIndex> {
        let Index::Pages(top) = &self.index else {
            return Err(Error::damaged(WHAT, "expected index pages"));
        };
        let at = (ordinal as usize).min(top.lasts.len() - 1);
        let before = if at == 0 { 0 } else { top.lasts[at - 1] };
        let mut reader = ByteReader::new(bytes, WHAT);
        let pages = (top.firsts[at + 1] - top.firsts[at]) as usize;
        let index = PageIndex::parse(&mut reader, pages, before, top.firsts[at], false)?;
        match index.lasts.last() == top.lasts.get(at) {
            true => Ok(index),
            false => Err(reader.damaged("the last doc that the head names", "another")),
        }
    }

    /// Where an index page lies.
    pub fn index_page(&self, ordinal: u32) -> Span {
        let skip = self.index_start() + ordinal as u64 * PAGE;
        self.span.part(skip as u32, PAGE as u32)
    }

    /// Where a docs page lies, as skip and length within the chunk.
    pub fn docs_page(&self, page: u32) -> Span {
        if self.short > 0 && page + 1 == self.docs_pages {
            return self.span.part(self.head_length, self.short);
        }
        let skip = self.docs_start() + page as u64 * PAGE;
        self.span.part(skip as u32, PAGE as u32)
    }

    /// Where a position page lies; nothing if there are not so many.
    pub fn position_page(&self, page: u32) -> Option<Span> {
        if page >= self.position_pages {
            return None;
        }
        let skip = self.positions_start() + page as u64 * PAGE;
        let length = (self.span.length as u64 - skip).min(PAGE);
        Some(self.span.part(skip as u32, length as u32))
    }

    /// Where the chunk starts in its first page.
    pub fn offset(&self) -> usize {
        self.span.offset as usize
    }

    fn parse_grouped(chunk: &ChunkRef, reader: &mut ByteReader<'_>) -> Result<Head> {
        let short = reader.varint_u32()?;
        let frontier = Frontier::decode(reader)?;
        let mut index = PageIndex::default();
        index.push(chunk.last, 0, &frontier);
        index.firsts.push(1);
        Ok(Head {
            frontier,
            docs_pages: 1,
            position_pages: 1,
            short,
            index: Index::Whole(index),
            span: chunk.span,
            head_length: chunk.head_length,
            layout: Layout::Grouped,
        })
    }

    fn parse_split(chunk: &ChunkRef, reader: &mut ByteReader<'_>) -> Result<Head> {
        let (docs_pages, position_pages) = (reader.varint_u32()?, reader.varint_u32()?);
        let short = reader.length(PAGE_PAYLOAD)? as u32;
        let index_pages = reader.length(reader.rest().len())?;
        let frontier = Frontier::decode(reader)?;
        let index = if index_pages == 0 {
            let pages = (docs_pages as usize).min(reader.rest().len() + 1);
            Index::Whole(PageIndex::parse(reader, pages, 0, 0, false)?)
        } else {
            Index::Pages(PageIndex::parse(reader, index_pages, 0, 0, true)?)
        };
        let (Index::Whole(known) | Index::Pages(known)) = &index;
        let complete = known.firsts.last() == Some(&docs_pages);
        if !complete || known.lasts.last() != Some(&chunk.last) || position_pages == 0 {
            return Err(reader.damaged("an index of the whole chunk", "another"));
        }
        Ok(Head {
            frontier,
            docs_pages,
            position_pages,
            short,
            index,
            span: chunk.span,
            head_length: chunk.head_length,
            layout: Layout::Split,
        })
    }

    /// Whether every part lies inside the chunk, so that places are computed without overflow.
    fn places_add_up(&self) -> bool {
        let length = self.span.length as u64;
        let positions = self.positions_start();
        match self.layout {
            Layout::Grouped => self.short > 0 && positions < length,
            Layout::Split => {
                let before_last = positions + (self.position_pages as u64 - 1) * PAGE;
                before_last < length && length <= before_last + PAGE
            }
        }
    }

    fn index_start(&self) -> u64 {
        (self.head_length as u64 + self.short as u64).next_multiple_of(PAGE)
    }

    fn docs_start(&self) -> u64 {
        let pages = match &self.index {
            Index::Whole(_) => 0,
            Index::Pages(index) => index.lasts.len() as u64,
        };
        self.index_start() + pages * PAGE
    }

    fn positions_start(&self) -> u64 {
        if self.layout == Layout::Grouped {
            return self.head_length as u64 + self.short as u64;
        }
        let full = self.docs_pages as u64 - (self.short > 0) as u64;
        self.docs_start() + full * PAGE
    }
}

impl PageIndex {
    /// The docs page for `target`; the last page if there is none.
    pub fn find(&self, target: DocId) -> Result<PageFound> {
        let at = self.place(target);
        let coded = &self.frontiers[self.at[at] as usize..];
        Ok(PageFound {
            page: self.firsts[at],
            last: self.lasts[at],
            frontier: Frontier::decode(&mut ByteReader::new(coded, WHAT))?,
        })
    }

    fn place(&self, target: DocId) -> usize {
        let at = self.lasts.partition_point(|last| *last < target);
        at.min(self.lasts.len() - 1)
    }

    /// Reads `count` entries; those of an index of index pages say how many docs pages they stand for.
    fn parse(
        reader: &mut ByteReader<'_>,
        count: usize,
        mut last: DocId,
        mut page: u32,
        counted: bool,
    ) -> Result<PageIndex> {
        let mut index = PageIndex::default();
        for _ in 0..count {
            let distance = reader.varint_u32()?;
            let next = last
                .checked_add(distance)
                .filter(|_| distance > 0 || index.lasts.is_empty());
            last = next.ok_or_else(|| reader.damaged("ascending docs", distance))?;
            let pages = if counted { reader.varint_u32()? } else { 1 };
            let frontier = Frontier::decode(reader)?;
            index.push(last, page, &frontier);
            page = page
                .checked_add(pages)
                .filter(|_| pages > 0)
                .ok_or_else(|| reader.damaged("docs pages", pages))?;
        }
        index.firsts.push(page);
        match index.lasts.is_empty() {
            true => Err(reader.damaged("an index with entries", 0)),
            false => Ok(index),
        }
    }

    fn push(&mut self, last: DocId, first: u32, frontier: &Frontier) {
        self.lasts.push(last);
        self.firsts.push(first);
        self.at.push(self.frontiers.len() as u32);
        frontier.encode(&mut self.frontiers);
    }
}
