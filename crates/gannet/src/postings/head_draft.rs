//! Chunks put together: the head written and the parts laid out (see `postings::head` for both layouts).

use super::frontier::{Frontier, PAIRS_MAX};
use crate::base::{DocId, PAGE_PAYLOAD, put_varint};

/// The head at its longest, the index apart.
const FIXED_LIMIT: usize = 4 * 5 + 1 + 6 * PAIRS_MAX;

/// Puts the parts of a split chunk together; gives the bytes and the head's length.
pub fn assemble_split(
    docs: Vec<(Vec<u8>, DocId, Frontier)>,
    positions: Vec<Vec<u8>>,
) -> (Vec<u8>, u32) {
    let (index, index_pages) = code_index(&docs);
    let short = docs.last().map_or(0, |(page, ..)| page.len());
    let mut out = Vec::with_capacity((docs.len() + positions.len() + 2) * PAGE_PAYLOAD);
    put_varint(&mut out, docs.len() as u64);
    put_varint(&mut out, positions.len() as u64);
    let mut rest = Vec::new();
    put_varint(&mut rest, index_pages.len() as u64);
    let mut all = Frontier::default();
    docs.iter().for_each(|(.., frontier)| all.merge(frontier));
    all.encode(&mut rest);
    rest.extend_from_slice(&index);
    // The last docs page is seldom full: it goes where the head leaves room.
    let room = PAGE_PAYLOAD - (out.len() + 2 + rest.len()) % PAGE_PAYLOAD;
    let fits = short <= room;
    put_varint(&mut out, if fits { short as u64 } else { 0 });
    out.extend_from_slice(&rest);
    let head_length = out.len() as u32;
    let full = docs.len() - fits as usize;
    if fits {
        out.extend_from_slice(&docs[full].0);
    }
    let pages = index_pages
        .iter()
        .chain(docs[..full].iter().map(|(page, ..)| page));
    for page in pages.chain(&positions) {
        out.resize(out.len().next_multiple_of(PAGE_PAYLOAD), 0);
        out.extend_from_slice(page);
    }
    (out, head_length)
}

/// Puts the parts of a grouped chunk together, if they fit one page.
pub fn assemble_grouped(
    docs: &[u8],
    frontier: &Frontier,
    positions: &[u8],
) -> Option<(Vec<u8>, u32)> {
    let mut out = Vec::with_capacity(PAGE_PAYLOAD);
    put_varint(&mut out, docs.len() as u64);
    frontier.encode(&mut out);
    let head_length = out.len() as u32;
    out.extend_from_slice(docs);
    out.extend_from_slice(positions);
    (out.len() <= PAGE_PAYLOAD).then_some((out, head_length))
}

/// The index in the head and, if that would be longer than a page, index pages.
fn code_index(docs: &[(Vec<u8>, DocId, Frontier)]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut draft = IndexDraft::default();
    for (_, last, frontier) in docs {
        draft.push(*last, frontier);
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
    frontier: Frontier,
    last: DocId,
}

impl IndexDraft {
    fn push(&mut self, last: DocId, frontier: &Frontier) {
        let mut entry = Vec::with_capacity(64);
        put_varint(&mut entry, (last - self.last) as u64);
        frontier.encode(&mut entry);
        if self.page.len() + entry.len() > PAGE_PAYLOAD - FIXED_LIMIT {
            self.end_page();
        }
        self.page.extend_from_slice(&entry);
        self.count += 1;
        self.last = last;
        self.frontier.merge(frontier);
    }

    fn end_page(&mut self) {
        put_varint(&mut self.top, (self.last - self.top_last) as u64);
        put_varint(&mut self.top, self.count);
        self.frontier.encode(&mut self.top);
        self.pages.push(std::mem::take(&mut self.page));
        (self.top_last, self.count) = (self.last, 0);
        self.frontier = Frontier::default();
    }
}
