//! Chunks put together: the head written and the parts laid out (see `postings::codec::head` for
//! both layouts).

use crate::base::{DocId, PAGE_PAYLOAD, put_varint};
use crate::postings::codec::entry::GROUPED_LIMIT;
use crate::postings::codec::impacts::{Impacts, PAIRS_MAX};

/// The head at its longest, the index apart.
const FIXED_LIMIT: usize = 5 * 5 + 1 + 6 * PAIRS_MAX;

/// A docs page, its last doc and the bound on its scores.
pub type CodedDocs = (Vec<u8>, DocId, Impacts);

/// A chunk put together.
pub struct Assembled {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// Bytes of the head.
    pub head_length: u32,
    /// Bytes up to the end of the docs pages.
    pub docs_length: u32,
}

/// Puts the parts of a split chunk together.
pub fn assemble_split(docs: &[CodedDocs], filter: &[u8], positions: &[Vec<u8>]) -> Assembled {
    let (index, index_pages) = code_index(docs);
    let mut rest = Vec::new();
    put_varint(&mut rest, index_pages.len() as u64);
    impacts_of_all(docs).encode(&mut rest);
    rest.extend_from_slice(&index);
    let pages = docs.len() + positions.len() + 2;
    let mut out = Vec::with_capacity(pages * PAGE_PAYLOAD + filter.len());
    put_varint(&mut out, docs.len() as u64);
    put_varint(&mut out, positions.len() as u64);
    // The last pages are seldom full: they go where the head, with two bytes for each length,
    // leaves room.
    let room = PAGE_PAYLOAD - (out.len() + 4 + rest.len()) % PAGE_PAYLOAD;
    let last = |page: Option<&Vec<u8>>| page.map_or(0, Vec::len);
    let short_docs = fitting(last(docs.last().map(|(page, ..)| page)), room);
    let short_positions = fitting(last(positions.last()), room - short_docs);
    put_varint(&mut out, short_docs as u64);
    put_varint(&mut out, short_positions as u64);
    out.extend_from_slice(&rest);
    let head_length = out.len() as u32;
    let (docs, docs_behind) = docs.split_at(docs.len() - (short_docs > 0) as usize);
    let (positions, positions_behind) =
        positions.split_at(positions.len() - (short_positions > 0) as usize);
    let behind = docs_behind.iter().map(|(page, ..)| page);
    behind
        .chain(positions_behind)
        .for_each(|page| out.extend_from_slice(page));
    let docs = docs.iter().map(|(page, ..)| page.as_slice());
    let index_pages = index_pages.iter().map(Vec::as_slice);
    index_pages
        .chain(docs)
        .for_each(|page| put_aligned(page, &mut out));
    let docs_length = out.len() as u32;
    if !filter.is_empty() {
        put_aligned(filter, &mut out);
    }
    positions
        .iter()
        .for_each(|page| put_aligned(page, &mut out));
    Assembled {
        bytes: out,
        head_length,
        docs_length,
    }
}

fn put_aligned(part: &[u8], out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(PAGE_PAYLOAD), 0);
    out.extend_from_slice(part);
}

/// Puts the parts of a grouped chunk together, if they are no longer than such a chunk may be.
pub fn assemble_grouped(
    docs: &[CodedDocs],
    filter: &[u8],
    positions: &[Vec<u8>],
) -> Option<Assembled> {
    let parts = || docs.iter().map(|(page, ..)| page).chain(positions);
    let length: usize = parts().map(Vec::len).sum::<usize>() + filter.len();
    if length > GROUPED_LIMIT {
        return None;
    }
    let mut out = Vec::with_capacity(length + 2 * FIXED_LIMIT);
    put_varint(&mut out, docs.len() as u64);
    put_varint(&mut out, positions.len() as u64);
    for part in parts().take(docs.len() + positions.len() - 1) {
        put_varint(&mut out, part.len() as u64);
    }
    impacts_of_all(docs).encode(&mut out);
    if docs.len() > 1 {
        put_index(docs, &mut out);
    }
    let head_length = out.len() as u32;
    docs.iter()
        .for_each(|(page, ..)| out.extend_from_slice(page));
    let docs_length = out.len() as u32;
    out.extend_from_slice(filter);
    positions
        .iter()
        .for_each(|page| out.extend_from_slice(page));
    (out.len() <= GROUPED_LIMIT).then_some(Assembled {
        bytes: out,
        head_length,
        docs_length,
    })
}

fn impacts_of_all(docs: &[CodedDocs]) -> Impacts {
    let mut all = Impacts::default();
    docs.iter().for_each(|(.., impacts)| all.merge(impacts));
    all
}

/// The length if there is so much room, else 0.
fn fitting(length: usize, room: usize) -> usize {
    if length <= room { length } else { 0 }
}

/// An index entry for each docs page.
fn put_index(docs: &[CodedDocs], out: &mut Vec<u8>) {
    let mut before = 0;
    for (_, last, impacts) in docs {
        put_varint(out, (last - before) as u64);
        impacts.encode(out);
        before = *last;
    }
}

/// The index in the head and, if that would be longer than a page, index pages.
fn code_index(docs: &[CodedDocs]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut draft = IndexDraft::default();
    for (_, last, impacts) in docs {
        draft.push(*last, impacts);
    }
    if draft.pages.is_empty() {
        return (draft.page, draft.pages);
    }
    draft.end_page();
    (draft.top, draft.pages)
}

/// An index in the making.
#[derive(Default)]
struct IndexDraft {
    top: Vec<u8>,
    top_last: DocId,
    pages: Vec<Vec<u8>>,
    page: Vec<u8>,
    count: u64,
    impacts: Impacts,
    last: DocId,
}

impl IndexDraft {
    fn push(&mut self, last: DocId, impacts: &Impacts) {
        let mut entry = Vec::with_capacity(64);
        put_varint(&mut entry, (last - self.last) as u64);
        impacts.encode(&mut entry);
        if self.page.len() + entry.len() > PAGE_PAYLOAD - FIXED_LIMIT {
            self.end_page();
        }
        self.page.extend_from_slice(&entry);
        self.count += 1;
        self.last = last;
        self.impacts.merge(impacts);
    }

    fn end_page(&mut self) {
        put_varint(&mut self.top, (self.last - self.top_last) as u64);
        put_varint(&mut self.top, self.count);
        self.impacts.encode(&mut self.top);
        self.pages.push(std::mem::take(&mut self.page));
        (self.top_last, self.count) = (self.last, 0);
        self.impacts = Impacts::default();
    }
}
