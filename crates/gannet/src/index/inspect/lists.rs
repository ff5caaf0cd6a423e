//! Looking inside, read-only: zones, pages and lists, for people who want to see what is on flash.

use crate::base::{Error, PageAddress, Result, ZoneNumber};
use crate::cache::{Pages, finish};
use crate::index::handle::Index;
use crate::postings::Layout;
use crate::storage::PageKind;

/// One zone, for display.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneReport {
    /// Its number.
    pub number: ZoneNumber,
    /// The kind of its pages.
    pub kind: PageKind,
    /// Pages written.
    pub pages: u32,
    /// Payload bytes that are needed.
    pub live_bytes: u64,
    /// The share of the payload that is needed.
    pub live_share: f64,
    /// Set if the writer still appends to it.
    pub open: bool,
}

/// One postings list, for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListReport {
    /// Documents in the part on flash.
    pub document_frequency: u64,
    /// Occurrences in the part on flash.
    pub total_frequency: u64,
    /// Its chunks.
    pub chunks: Vec<ChunkReport>,
    /// Postings that stand in the dictionary's leaves.
    pub inline_postings: u32,
    /// Bytes that their positions take there.
    pub inline_position_bytes: usize,
    /// Bytes of the whole term entry, and of the delta postings.
    pub entry_bytes: usize,
}

/// A part of a list that one flush wrote, for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkReport {
    /// The zone in which it begins.
    pub zone: ZoneNumber,
    /// The page there.
    pub page: u32,
    /// Its length.
    pub bytes: u32,
    /// The number of its documents.
    pub postings: u32,
    /// The number of bytes of head, documents and frequencies: they come first.
    pub docs_bytes: u32,
    /// The number of bytes of the phrase filter. The rest is positions.
    pub filter_bytes: u32,
    /// Set if all of it is read at once.
    pub grouped: bool,
    /// Set if filter and positions lie apart from the rest.
    pub apart: bool,
}

impl Index {
    /// All zones.
    pub fn zones(&self) -> Vec<ZoneReport> {
        let zones = self.shared().store.zones();
        zones
            .iter()
            .map(|(number, zone)| ZoneReport {
                number,
                kind: zone.kind,
                pages: zone.pages,
                live_bytes: zone.live,
                live_share: zone.live_share(),
                open: zone.open,
            })
            .collect()
    }

    /// The payload of a page and what it holds, after its proof was checked.
    pub fn page(&self, zone: ZoneNumber, page: u32) -> Result<(PageKind, Vec<u8>)> {
        let address = PageAddress { zone, page };
        let pages = self.shared().store.zones().get(zone).map(|zone| zone.pages);
        match pages {
            None => return Err(Error::invalid(format!("there is no zone {zone}"))),
            Some(pages) if page >= pages => {
                return Err(Error::invalid(format!(
                    "zone {zone} has {pages} pages, 0 to {}",
                    pages - 1
                )));
            }
            Some(_) => {}
        }
        let mut pages = Pages::new(&self.shared().pool);
        let frame = finish(&mut pages, |pages| pages.page(address))?;
        Ok((frame.kind(), frame.to_vec()))
    }

    /// The part of a term's postings list that is on flash; nothing if it has none there.
    pub fn list(&self, field: &str, term: &str) -> Result<Option<ListReport>> {
        let state = self.shared().published.get();
        let Some(field) = state.schema.named(field) else {
            return Err(Error::invalid(format!("there is no field {field}")));
        };
        let mut key = Vec::new();
        crate::analysis::term_key(field.id, term.as_bytes(), &mut key);
        let mut pages = Pages::new(&self.shared().pool);
        let found = finish(&mut pages, |pages| state.terms.get(&key, pages))?;
        let Some(postings) = found.decode()? else {
            return Ok(None);
        };
        let (entry, recent) = (&postings.entry, &postings.recent);
        let coded = found.recent.iter().map(|(_, recent)| recent);
        let coded = coded.chain(&found.entry);
        let fragments = || recent.iter().chain([&entry.tail]);
        Ok(Some(ListReport {
            document_frequency: postings.document_frequency(),
            total_frequency: postings.total_frequency(),
            chunks: entry
                .chunks
                .iter()
                .map(|chunk| ChunkReport {
                    zone: chunk.place.front.zone,
                    page: chunk.place.front.page,
                    bytes: chunk.length(),
                    postings: chunk.count,
                    docs_bytes: chunk.docs_length,
                    filter_bytes: (chunk.filter().end - chunk.filter().start) as u32,
                    grouped: chunk.layout == Layout::Grouped,
                    apart: chunk.place.back.is_some(),
                })
                .collect(),
            inline_postings: fragments().map(|fragment| fragment.count).sum(),
            inline_position_bytes: fragments().map(|fragment| fragment.positions.len()).sum(),
            entry_bytes: coded.map(|bytes| bytes.len()).sum(),
        }))
    }
}
