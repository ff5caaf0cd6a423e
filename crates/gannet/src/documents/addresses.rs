//! The addresses of all documents: groups of 128 in pages, as many as fit, and the documents behind
//! the last whole group in memory.
//!
//! In memory are also, for each page, the number of its groups. So any document's page is known,
//! and one page tells its address.
//!
//! Invariants:
//! 1. Page *p* holds the groups from `ends[p - 1]` to `ends[p]`, one behind another, then zeros. It
//!    is absent once a vacuum has forgotten all its documents; the last never is.
//! 2. `tail` has fewer documents than a group; its first is the first behind all groups.
//! 3. A page that a changed group no longer fits into is split in two, each with at least one
//!    group.

use std::sync::Arc;

use super::address::{
    Address, GROUP_BYTES_MAX, GROUP_DOCS, Group, decode_group, put_group, split_group,
};
use crate::base::{ByteReader, DocId, Error, PAGE_PAYLOAD, Result, put_varint};
use crate::cache::{Pages, Step};
use crate::storage::{Table, TableContent};

const _: () = assert!(
    PAGE_PAYLOAD / 2 + GROUP_BYTES_MAX * 3 / 2 <= PAGE_PAYLOAD,
    "both parts of a page that is split fit a page"
);

/// The addresses of the records of all documents; a clone is a snapshot.
#[derive(Clone, Debug)]
pub(super) struct AddressTable {
    /// Its entries are whole pages.
    pages: Table,
    /// One past the last group of each page.
    ends: Arc<Vec<u32>>,
    tail: Arc<Vec<Address>>,
}

impl AddressTable {
    pub(super) fn new() -> AddressTable {
        AddressTable {
            pages: empty_pages(),
            ends: Arc::default(),
            tail: Arc::default(),
        }
    }

    /// The pages, for what does not depend on their content.
    pub(super) fn pages(&self) -> &Table {
        &self.pages
    }

    /// The pages, for what does not depend on their content.
    pub(super) fn pages_mut(&mut self) -> &mut Table {
        &mut self.pages
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let ends = self.ends.len() * size_of::<u32>();
        self.pages.memory_bytes() + ends + self.tail.len() * size_of::<Address>()
    }

    /// The page that a document's address stands in; nothing if it is in memory.
    pub(super) fn page_of(&self, doc: DocId) -> Option<usize> {
        let group = group_of(doc);
        let page = self.ends.partition_point(|end| *end <= group);
        (page < self.ends.len()).then_some(page)
    }

    /// The page that the next group goes to, if it has room.
    pub(super) fn last_page(&self) -> Option<usize> {
        self.ends.len().checked_sub(1)
    }

    /// Adds the address of the next document. The last page must be loaded.
    pub(super) fn push(&mut self, address: Address) -> Result<()> {
        let tail = Arc::make_mut(&mut self.tail);
        tail.push(address);
        if tail.len() < GROUP_DOCS {
            return Ok(());
        }
        let mut group = Vec::with_capacity(GROUP_DOCS * 3);
        put_group(tail, &mut group);
        tail.clear();
        self.push_group(&group)
    }

    fn push_group(&mut self, group: &[u8]) -> Result<()> {
        let groups = self.groups();
        if let Some(page) = self.last_page() {
            let first = self.first_group(page);
            let payload = self.pages.page_mut(page);
            let used = bytes_of(payload, groups - first)?;
            if let Some(room) = payload.get_mut(used..used + group.len()) {
                room.copy_from_slice(group);
                Arc::make_mut(&mut self.ends)[page] = groups + 1;
                return Ok(());
            }
        }
        self.pages.page_mut(self.ends.len())[..group.len()].copy_from_slice(group);
        Arc::make_mut(&mut self.ends).push(groups + 1);
        Ok(())
    }

    /// Changes the address of a document. Its page must be loaded.
    pub(super) fn set(&mut self, doc: DocId, address: Address) -> Result<()> {
        let (group, place) = (group_of(doc), doc as usize % GROUP_DOCS);
        let Some(page) = self.page_of(doc) else {
            if let Some(known) = Arc::make_mut(&mut self.tail).get_mut(place) {
                *known = address;
            }
            return Ok(());
        };
        let (first, end) = (self.first_group(page), self.ends[page]);
        let payload = self.pages.page_mut(page);
        let start = bytes_of(payload, group - first)?;
        let (old, _) = split_group(&payload[start..])?;
        let behind = start + old.len();
        let used = bytes_of(payload, end - first)?;
        let mut addresses = decode_group(old, doc - place as DocId, GROUP_DOCS)?;
        addresses[place] = address;
        let mut content = payload[..start].to_vec();
        put_group(&addresses, &mut content);
        content.extend_from_slice(&payload[behind..used]);
        if content.len() <= PAGE_PAYLOAD {
            fill(payload, &content)
        } else {
            self.split(page, &content)?
        }
        Ok(())
    }

    /// Forgets the pages from that of document `first` to that of `last` of which `are_dead` says
    /// that all documents, from one to another, are dead: they become absent. The last page, which
    /// takes the next group, stays.
    pub(super) fn forget(
        &mut self,
        first: DocId,
        last: DocId,
        are_dead: &dyn Fn(DocId, DocId) -> bool,
    ) {
        let Some(first) = self.page_of(first) else {
            return;
        };
        let next = self.page_of(last).map(|page| page + 1);
        let end = next.unwrap_or(usize::MAX).min(self.ends.len() - 1);
        for page in first..end {
            let docs = |group: u32| group * GROUP_DOCS as DocId;
            if are_dead(docs(self.first_group(page)), docs(self.ends[page]) - 1) {
                self.pages.clear_page(page);
            }
        }
    }

    /// Distributes what no longer fits a page over it and a new page behind it.
    fn split(&mut self, page: usize, content: &[u8]) -> Result<()> {
        let (mut at, mut groups) = (0, 0);
        while at < content.len() / 2 {
            at += split_group(&content[at..])?.0.len();
            groups += 1;
        }
        if at > PAGE_PAYLOAD || content.len() - at > PAGE_PAYLOAD {
            let got = format!("expected groups that fit two pages, got {}", content.len());
            return Err(Error::damaged("a page of addresses", got));
        }
        let end = self.first_group(page) + groups;
        self.pages.insert_page(page + 1);
        Arc::make_mut(&mut self.ends).insert(page, end);
        fill(self.pages.page_mut(page), &content[..at]);
        fill(self.pages.page_mut(page + 1), &content[at..]);
        Ok(())
    }

    /// The address of a document that exists.
    pub(super) fn get(&self, doc: DocId, pages: &mut Pages<'_>) -> Step<Address> {
        let place = doc as usize % GROUP_DOCS;
        let Some(page) = self.page_of(doc) else {
            let known = self.tail.get(place).copied();
            return Ok(known.ok_or_else(|| absent(doc))?);
        };
        let group = group_of(doc) - self.first_group(page);
        match self.pages.place(page) {
            TableContent::Memory(payload) => Ok(address_in(&payload[..], group, doc)?),
            TableContent::Device(at) => Ok(address_in(&pages.page(at)?, group, doc)?),
            TableContent::Absent => Err(absent(doc).into()),
        }
    }

    /// Fails if a page is not as the invariants say.
    pub(super) fn check(&self, page: usize, pages: &mut Pages<'_>) -> Step<()> {
        let groups = self.first_group(page)..self.ends[page];
        match self.pages.place(page) {
            TableContent::Memory(payload) => Ok(check_page(&payload[..], groups)?),
            TableContent::Device(at) => Ok(check_page(&pages.page(at)?, groups)?),
            TableContent::Absent => Ok(()),
        }
    }

    /// Appends what the root record keeps. There must be no unwritten change.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        self.pages.encode(out);
        for page in 0..self.ends.len() {
            put_varint(out, (self.ends[page] - self.first_group(page)) as u64);
        }
        if !self.tail.is_empty() {
            put_group(&self.tail, out);
        }
    }

    /// Reads what [`AddressTable::encode`] wrote of documents below `end`.
    pub(super) fn decode(end: DocId, reader: &mut ByteReader<'_>) -> Result<AddressTable> {
        let groups = group_of(end);
        let pages = empty_pages().decode(reader)?;
        let mut ends = Vec::with_capacity(pages.page_count());
        let mut so_far: u32 = 0;
        for _ in 0..pages.page_count() {
            let more = reader.varint_u32()?;
            so_far = so_far.saturating_add(more);
            if more == 0 || so_far > groups {
                let expected = format!("pages with {groups} groups of addresses");
                return Err(reader.damaged(&expected, so_far));
            }
            ends.push(so_far);
        }
        if so_far != groups {
            return Err(reader.damaged(&format!("{groups} groups of addresses"), so_far));
        }
        let tail = match end as usize % GROUP_DOCS {
            0 => Vec::new(),
            docs => {
                let (group, _) = split_group(reader.rest())?;
                let group = reader.take(group.len())?;
                decode_group(group, end - docs as DocId, docs)?
            }
        };
        Ok(AddressTable {
            pages,
            ends: Arc::new(ends),
            tail: Arc::new(tail),
        })
    }

    /// Returns the number of groups that the pages hold.
    fn groups(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn first_group(&self, page: usize) -> u32 {
        page.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

fn empty_pages() -> Table {
    Table::new(PAGE_PAYLOAD, false)
}

fn group_of(doc: DocId) -> u32 {
    doc / GROUP_DOCS as u32
}

/// Bytes of the first so many groups of a page.
fn bytes_of(payload: &[u8], groups: u32) -> Result<usize> {
    let mut rest = payload;
    for _ in 0..groups {
        rest = split_group(rest)?.1;
    }
    Ok(payload.len() - rest.len())
}

fn fill(payload: &mut [u8], content: &[u8]) {
    payload[..content.len()].copy_from_slice(content);
    payload[content.len()..].fill(0);
}

fn address_in(payload: &[u8], group: u32, doc: DocId) -> Result<Address> {
    let start = bytes_of(payload, group)?;
    let (bytes, _) = split_group(&payload[start..])?;
    Group::decode(bytes, GROUP_DOCS)?.address(doc as usize % GROUP_DOCS, doc)
}

fn check_page(payload: &[u8], groups: std::ops::Range<u32>) -> Result<()> {
    let mut rest = payload;
    for group in groups {
        let (bytes, behind) = split_group(rest)?;
        decode_group(bytes, group * GROUP_DOCS as DocId, GROUP_DOCS)?;
        rest = behind;
    }
    if rest.iter().all(|byte| *byte == 0) {
        Ok(())
    } else {
        Err(Error::damaged(
            "a page of addresses",
            "expected zeros behind the last group, got other bytes",
        ))
    }
}

fn absent(doc: DocId) -> Error {
    Error::damaged(
        format!("address of document {doc}"),
        "expected a page of addresses, got none",
    )
}
