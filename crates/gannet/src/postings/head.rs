//! Heads: what lies at a chunk's front and tells where everything else is and which pages can matter.
//!
//! ```text
//! grouped  docs pages | position pages | bytes of each of them but the last | pairs of the whole chunk
//!          | index, if there are several docs pages
//! split    docs pages | position pages | bytes of the last docs page if it lies right behind the head,
//!          else 0 | bytes of the last position page if it lies behind that, else 0 | index pages
//!          | pairs of the whole chunk | index
//! index    per docs page: distance to its last doc | pairs; or, if that is more than a page: per index
//!          page: distance to its last doc | docs pages in it | pairs
//! ```
//! A *grouped* chunk is one read in any case. Opening a *split* one reads a page, and a second per 100,000
//! postings or so that are looked into. Where the parts lie is `postings::places`.
//!
//! Memory: a decoded index holds the coded pairs of at most one page and six bytes an entry.

use super::entry::{ChunkPlace, ChunkRef, GROUPED_LIMIT, Layout};
use super::frontier::Frontier;
use super::places::{GroupedPlaces, Places, SplitPlaces};
use crate::base::{ByteReader, DocId, Error, PAGE_PAYLOAD, Result, Span};

const WHAT: &str = "the head of a postings chunk";

/// A decoded head.
#[derive(Clone, Debug)]
pub struct Head {
    /// The bound on the chunk's scores.
    pub frontier: Frontier,
    index: Index,
    places: Places,
    place: ChunkPlace,
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
    /// Its place in the index that found it.
    entry: usize,
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
        match reader.is_empty() && head.places.add_up(chunk.length()) {
            true => Ok(head),
            false => Err(reader.damaged("a head that agrees with its chunk", "another")),
        }
    }

    /// The index entry for `target`, which is at most the chunk's last doc.
    pub fn find(&self, target: DocId) -> Found {
        match &self.index {
            Index::Whole(index) => Found::Docs(index.find(target)),
            Index::Pages(index) => Found::IndexPage(index.place(target) as u32),
        }
    }

    /// The bound on the scores of a docs page that [`Head::find`] found.
    pub fn page_frontier(&self, found: &PageFound) -> Result<Frontier> {
        match &self.index {
            Index::Whole(index) | Index::Pages(index) => index.frontier(found),
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
    pub fn index_page(&self, ordinal: u32) -> Result<Span> {
        let span = self.places.index_page(ordinal, &self.place);
        span.ok_or_else(|| Error::damaged(WHAT, "expected more index pages"))
    }

    /// How many position pages there are.
    pub fn position_pages(&self) -> u32 {
        self.places.position_pages()
    }

    /// Where a docs page lies.
    pub fn docs_page(&self, page: u32) -> Result<Span> {
        let span = self.places.docs_page(page, &self.place);
        span.ok_or_else(|| Error::damaged(WHAT, "expected more pages of postings"))
    }

    /// Where a position page lies; nothing if there are not so many.
    pub fn position_page(&self, page: u32) -> Option<Span> {
        self.places.position_page(page, &self.place)
    }

    fn parse_grouped(chunk: &ChunkRef, reader: &mut ByteReader<'_>) -> Result<Head> {
        let docs_pages = reader.length(reader.rest().len())?;
        let position_pages = reader.length(reader.rest().len())?;
        if docs_pages == 0 || position_pages == 0 {
            return Err(reader.damaged("pages of docs and positions", "none"));
        }
        let starts = parse_starts(chunk, docs_pages, position_pages, reader)?;
        let frontier = Frontier::decode(reader)?;
        let index = match docs_pages {
            1 => PageIndex::of_one(chunk.last, &frontier),
            _ => PageIndex::parse(reader, docs_pages, 0, 0, false)?,
        };
        if index.lasts.last() != Some(&chunk.last) {
            return Err(reader.damaged("an index of the whole chunk", "another"));
        }
        let docs_pages = docs_pages as u32;
        Ok(Head {
            frontier,
            index: Index::Whole(index),
            places: Places::Grouped(GroupedPlaces {
                docs_pages,
                filter_length: filter_length(chunk),
                starts,
            }),
            place: chunk.place,
        })
    }

    fn parse_split(chunk: &ChunkRef, reader: &mut ByteReader<'_>) -> Result<Head> {
        let mut places = SplitPlaces {
            docs_pages: reader.varint_u32()?,
            position_pages: reader.varint_u32()?,
            filter_pages: filter_pages(chunk),
            short_docs: reader.length(PAGE_PAYLOAD)? as u32,
            short_positions: reader.length(PAGE_PAYLOAD)? as u32,
            index_pages: 0,
            head_length: chunk.head_length,
            length: chunk.length(),
        };
        places.index_pages = reader.length(reader.rest().len())? as u32;
        let frontier = Frontier::decode(reader)?;
        let index = if places.index_pages == 0 {
            let pages = (places.docs_pages as usize).min(reader.rest().len() + 1);
            Index::Whole(PageIndex::parse(reader, pages, 0, 0, false)?)
        } else {
            let pages = places.index_pages as usize;
            Index::Pages(PageIndex::parse(reader, pages, 0, 0, true)?)
        };
        let (Index::Whole(known) | Index::Pages(known)) = &index;
        let complete = known.firsts.last() == Some(&places.docs_pages);
        if !complete || known.lasts.last() != Some(&chunk.last) {
            return Err(reader.damaged("an index of the whole chunk", "another"));
        }
        Ok(Head {
            frontier,
            index,
            places: Places::Split(places),
            place: chunk.place,
        })
    }
}

/// Where the parts of a grouped chunk start, and where the last ends.
fn parse_starts(
    chunk: &ChunkRef,
    docs_pages: usize,
    position_pages: usize,
    reader: &mut ByteReader<'_>,
) -> Result<Vec<u32>> {
    let parts = docs_pages + position_pages;
    let mut starts = vec![chunk.head_length];
    let mut at = chunk.head_length;
    for _ in 1..parts {
        at += reader.length(GROUPED_LIMIT)? as u32;
        if at + filter_length(chunk) >= chunk.length() {
            return Err(reader.damaged("parts inside the chunk", at));
        }
        starts.push(at);
    }
    starts.push(chunk.length() - filter_length(chunk));
    match starts[docs_pages] == chunk.docs_length {
        true => Ok(starts),
        false => Err(reader.damaged("docs pages where the entry has them", starts[docs_pages])),
    }
}

/// Bytes of the phrase filter, which lies inside the chunk.
fn filter_length(chunk: &ChunkRef) -> u32 {
    let filter = chunk.filter();
    (filter.end - filter.start) as u32
}

fn filter_pages(chunk: &ChunkRef) -> u32 {
    filter_length(chunk).div_ceil(PAGE_PAYLOAD as u32)
}

impl PageIndex {
    /// The docs page for `target`; the last page if there is none.
    pub fn find(&self, target: DocId) -> PageFound {
        let at = self.place(target);
        PageFound {
            page: self.firsts[at],
            last: self.lasts[at],
            entry: at,
        }
    }

    /// The bound on the scores of a docs page that [`PageIndex::find`] found.
    pub fn frontier(&self, found: &PageFound) -> Result<Frontier> {
        let coded = &self.frontiers[self.at[found.entry] as usize..];
        Frontier::decode(&mut ByteReader::new(coded, WHAT))
    }

    fn of_one(last: DocId, frontier: &Frontier) -> PageIndex {
        let mut index = PageIndex::default();
        index.push(last, 0, frontier);
        index.firsts.push(1);
        index
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
