//! Heads: what lies at a chunk's front and tells where everything else is and which pages can
//! matter.
//!
//! ```text
//! grouped  docs pages | position pages | bytes of each of them but the last
//!          | impacts of the whole chunk | index, if there are several docs pages
//! split    docs pages | position pages
//!          | bytes of the last docs page if it lies right behind the head, else 0
//!          | bytes of the last position page if it lies behind that, else 0
//!          | index pages | impacts of the whole chunk | index
//! index    per docs page: distance to its last doc | impacts; or, if that is more than a page:
//!          per index page: distance to its last doc | docs pages in it | impacts
//! ```
//! A *grouped* chunk is one read in any case. Opening a *split* one reads a page, and a second per
//! 100,000 postings or so that are looked into. Where the parts lie is `postings::codec::places`.
//!
//! Memory: a decoded index holds the coded entries of at most one page and twelve bytes for each.

use super::entry::{ChunkPlace, ChunkRef, GROUPED_LIMIT, Layout};
use super::impacts::{Impacts, read_pairs};
use super::places::{GroupedPlaces, Places, SplitPlaces};
use crate::base::{ByteReader, DocId, Error, PAGE_PAYLOAD, Result, Span};

const WHAT: &str = "the head of a postings chunk";

/// A decoded head.
#[derive(Clone, Debug)]
pub struct Head {
    /// The bound on the chunk's scores.
    pub impacts: Impacts,
    index: HeadIndex,
    places: Places,
    place: ChunkPlace,
}

/// Last docs and pairs of consecutive docs pages, or of consecutive index pages.
#[derive(Clone, Debug)]
pub struct PageIndex {
    entries: Vec<IndexEntry>,
    /// One past the last docs page.
    end: u32,
    /// The bytes of the index, for the pairs in it.
    coded: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    last: DocId,
    /// Its first docs page.
    first: u32,
    /// The position of its coded pairs.
    pairs: u32,
}

#[derive(Clone, Debug)]
enum HeadIndex {
    /// Of a chunk with one docs page, which ends with this doc.
    One(DocId),
    Whole(PageIndex),
    Pages(PageIndex),
}

/// The answer of the index about the place of a doc.
#[derive(Clone, Copy, Debug)]
pub enum HeadFound {
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
        if reader.is_empty() && head.places.add_up(chunk.length()) {
            Ok(head)
        } else {
            Err(reader.damaged("a head that agrees with its chunk", "another"))
        }
    }

    /// The index entry for `target`, which is at most the chunk's last doc.
    pub fn find(&self, target: DocId) -> HeadFound {
        match &self.index {
            HeadIndex::One(last) => HeadFound::Docs(PageFound {
                page: 0,
                last: *last,
                entry: 0,
            }),
            HeadIndex::Whole(index) => HeadFound::Docs(index.find(target)),
            HeadIndex::Pages(index) => HeadFound::IndexPage(index.place(target) as u32),
        }
    }

    /// The bound on the scores of a docs page that [`Head::find`] found.
    pub fn page_impacts(&self, found: &PageFound) -> Result<Impacts> {
        match &self.index {
            HeadIndex::One(_) => Ok(self.impacts),
            HeadIndex::Whole(index) | HeadIndex::Pages(index) => index.impacts(found),
        }
    }

    /// Reads an index page.
    pub fn parse_index(&self, ordinal: u32, bytes: &[u8]) -> Result<PageIndex> {
        let HeadIndex::Pages(top) = &self.index else {
            return Err(Error::damaged(WHAT, "expected index pages"));
        };
        let at = (ordinal as usize).min(top.entries.len() - 1);
        let before = if at == 0 { 0 } else { top.entries[at - 1].last };
        let IndexEntry { last, first, .. } = top.entries[at];
        let end = top.entries.get(at + 1).map_or(top.end, |next| next.first);
        let mut reader = ByteReader::new(bytes, WHAT);
        let index = PageIndex::parse(&mut reader, (end - first) as usize, before, first, false)?;
        if index.last() == last {
            Ok(index)
        } else {
            Err(reader.damaged("the last doc that the head names", "another"))
        }
    }

    /// Returns the place of an index page.
    pub fn index_page(&self, ordinal: u32) -> Result<Span> {
        let span = self.places.index_page(ordinal, &self.place);
        span.ok_or_else(|| Error::damaged(WHAT, "expected more index pages"))
    }

    /// Returns the number of position pages.
    pub fn position_pages(&self) -> u32 {
        self.places.position_pages()
    }

    /// Returns the place of a docs page.
    pub fn docs_page(&self, page: u32) -> Result<Span> {
        let span = self.places.docs_page(page, &self.place);
        span.ok_or_else(|| Error::damaged(WHAT, "expected more pages of postings"))
    }

    /// Returns the place of a position page; nothing if there are not so many.
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
        let impacts = Impacts::decode(reader)?;
        let index = match docs_pages {
            1 => HeadIndex::One(chunk.last),
            _ => HeadIndex::Whole(PageIndex::parse(reader, docs_pages, 0, 0, false)?),
        };
        if index.last() != chunk.last {
            return Err(reader.damaged("an index of the whole chunk", "another"));
        }
        let docs_pages = docs_pages as u32;
        Ok(Head {
            impacts,
            index,
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
        let impacts = Impacts::decode(reader)?;
        let index = if places.index_pages == 0 {
            let pages = (places.docs_pages as usize).min(reader.rest().len() + 1);
            HeadIndex::Whole(PageIndex::parse(reader, pages, 0, 0, false)?)
        } else {
            let pages = places.index_pages as usize;
            HeadIndex::Pages(PageIndex::parse(reader, pages, 0, 0, true)?)
        };
        if index.end() != places.docs_pages || index.last() != chunk.last {
            return Err(reader.damaged("an index of the whole chunk", "another"));
        }
        Ok(Head {
            impacts,
            index,
            places: Places::Split(places),
            place: chunk.place,
        })
    }
}

/// Parses the starts of the parts of a grouped chunk, and the end of the last.
fn parse_starts(
    chunk: &ChunkRef,
    docs_pages: usize,
    position_pages: usize,
    reader: &mut ByteReader<'_>,
) -> Result<Vec<u32>> {
    let parts = docs_pages + position_pages;
    let mut starts = Vec::with_capacity(parts + 1);
    starts.push(chunk.head_length);
    let mut at = chunk.head_length;
    for _ in 1..parts {
        at += reader.length(GROUPED_LIMIT)? as u32;
        if at + filter_length(chunk) >= chunk.length() {
            return Err(reader.damaged("parts inside the chunk", at));
        }
        starts.push(at);
    }
    starts.push(chunk.length() - filter_length(chunk));
    if starts[docs_pages] == chunk.docs_length {
        Ok(starts)
    } else {
        Err(reader.damaged("docs pages where the entry has them", starts[docs_pages]))
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

impl HeadIndex {
    /// The last doc of the last docs page.
    fn last(&self) -> DocId {
        match self {
            HeadIndex::One(last) => *last,
            HeadIndex::Whole(index) | HeadIndex::Pages(index) => index.last(),
        }
    }

    /// One past the last docs page.
    fn end(&self) -> u32 {
        match self {
            HeadIndex::One(_) => 1,
            HeadIndex::Whole(index) | HeadIndex::Pages(index) => index.end,
        }
    }
}

impl PageIndex {
    /// The docs page for `target`; the last page if there is none.
    pub fn find(&self, target: DocId) -> PageFound {
        let at = self.place(target);
        PageFound {
            page: self.entries[at].first,
            last: self.entries[at].last,
            entry: at,
        }
    }

    /// The bound on the scores of a docs page that [`PageIndex::find`] found.
    pub fn impacts(&self, found: &PageFound) -> Result<Impacts> {
        let coded = &self.coded[self.entries[found.entry].pairs as usize..];
        Impacts::decode(&mut ByteReader::new(coded, WHAT))
    }

    fn last(&self) -> DocId {
        self.entries.last().map_or(0, |entry| entry.last)
    }

    fn place(&self, target: DocId) -> usize {
        let at = self.entries.partition_point(|entry| entry.last < target);
        at.min(self.entries.len() - 1)
    }

    /// Reads `count` entries; those of an index of index pages say how many docs pages they stand
    /// for.
    fn parse(
        reader: &mut ByteReader<'_>,
        count: usize,
        mut last: DocId,
        mut page: u32,
        counted: bool,
    ) -> Result<PageIndex> {
        let coded = reader.rest();
        let start = reader.position();
        let mut entries = Vec::with_capacity(count.min(coded.len()));
        for at in 0..count {
            let distance = reader.varint_u32()?;
            let next = last
                .checked_add(distance)
                .filter(|_| distance > 0 || at == 0);
            last = next.ok_or_else(|| reader.damaged("ascending docs", distance))?;
            let pages = if counted { reader.varint_u32()? } else { 1 };
            entries.push(IndexEntry {
                last,
                first: page,
                pairs: (reader.position() - start) as u32,
            });
            read_pairs(reader, |_| {})?;
            page = page
                .checked_add(pages)
                .filter(|_| pages > 0)
                .ok_or_else(|| reader.damaged("docs pages", pages))?;
        }
        if entries.is_empty() {
            return Err(reader.damaged("an index with entries", 0));
        }
        Ok(PageIndex {
            entries,
            end: page,
            coded: coded[..reader.position() - start].to_vec(),
        })
    }
}
