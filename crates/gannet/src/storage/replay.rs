//! Replay: reading the log from where the last checkpoint left it to its end.
//!
//! The end is the first page that is missing or does not prove itself. Records are handed on a batch at a
//! time; an unfinished batch is not handed on.

use std::collections::HashMap;

use super::log::{Link, LogStart, RecordKind, first_page, parse_record};
use super::{PageKind, Store, seal};
use crate::base::{PAGE_PAYLOAD, PageAddress, Result, Span, ZoneNumber};
use crate::device::{FileId, PagePool, Transfer};

/// Pages read at once: 1 MiB.
const READ_PAGES: u32 = 256;

/// One record of a batch.
#[derive(Debug)]
pub struct ReplayedRecord {
    /// What it says.
    pub kind: RecordKind,
    /// Where the whole record stands.
    pub span: Span,
    /// Its content.
    pub body: Vec<u8>,
}

/// What a replay found.
#[derive(Debug)]
pub struct ReplayEnd {
    /// Where the log ends; writing goes on from here.
    pub end: LogStart,
    /// The zones that were read, with the number of their pages that count.
    pub zones: Vec<(ZoneNumber, u32)>,
}

/// Reads the log from `start` and hands each whole batch to `apply`.
pub fn replay(
    store: &Store,
    start: LogStart,
    mut apply: impl FnMut(Vec<ReplayedRecord>) -> Result<()>,
) -> Result<ReplayEnd> {
    let files = zone_lengths(store)?;
    let links = find_links(store, &files)?;
    let mut reader = LogReader::new(store);
    let mut zones = Vec::new();
    let mut at = start;
    loop {
        let next = links.get(&at.zone).copied();
        if let Some(zone) = at.zone {
            let length = files.get(&zone).copied().unwrap_or(0);
            // The link counts the pages that were whole when it was made; a write that was under way at a
            // crash may have completed since.
            let limit = next.map_or(length, |(_, link)| length.min(link.from.page));
            let end = reader.read_zone(zone, at.page, limit, &mut apply)?;
            zones.push((zone, end));
            at.page = end;
        }
        match next {
            Some((zone, link)) => {
                if link.recovered {
                    reader.drop_unfinished();
                }
                at = LogStart {
                    zone: Some(zone),
                    page: 0,
                };
            }
            None => return Ok(ReplayEnd { end: at, zones }),
        }
    }
}

fn zone_lengths(store: &Store) -> Result<HashMap<ZoneNumber, u32>> {
    let files = store.device().list()?;
    let zones = files.into_iter().filter_map(|(file, pages)| match file {
        FileId::Zone(number) => Some((number, pages)),
        FileId::Superblock => None,
    });
    Ok(zones.collect())
}

/// The log zones that the root does not know of, by the zone they go on from. If several go on from one
/// zone, the newest counts: the others were left by a recovery that was cut short.
fn find_links(
    store: &Store,
    files: &HashMap<ZoneNumber, u32>,
) -> Result<HashMap<Option<ZoneNumber>, (ZoneNumber, Link)>> {
    let mut links: HashMap<Option<ZoneNumber>, (ZoneNumber, Link)> = HashMap::new();
    for (&zone, &pages) in files {
        if pages == 0 || store.zones().get(zone).is_some() {
            continue;
        }
        if let Some(link) = read_link(store, zone)? {
            let newest = links
                .get(&link.from.zone)
                .is_none_or(|(other, _)| *other < zone);
            if newest {
                links.insert(link.from.zone, (zone, link));
            }
        }
    }
    Ok(links)
}

fn read_link(store: &Store, zone: ZoneNumber) -> Result<Option<Link>> {
    let pages = read_whole_pages(store, first_page(zone), 1)?;
    let Some(payload) = pages.first() else {
        return Ok(None);
    };
    match parse_record(payload) {
        Ok(Some(record)) if record.kind == RecordKind::Link => Link::decode(record.body).map(Some),
        _ => Ok(None),
    }
}

/// The payloads of the pages from `first` on, up to the first that is no whole log page.
fn read_whole_pages(store: &Store, first: PageAddress, count: u32) -> Result<Vec<Vec<u8>>> {
    let pool = PagePool::new(count as usize);
    let buffers = (0..count).map_while(|_| pool.take()).collect();
    let file = FileId::Zone(first.zone);
    let mut batch = [Transfer {
        file,
        page: first.page,
        buffers,
    }];
    store.device().read(&mut batch)?;
    let [transfer] = batch;
    let mut whole = Vec::new();
    for (page, buffer) in (first.page..).zip(&transfer.buffers) {
        match seal::verify(buffer, store.identity(), seal::Place { file, page }) {
            Ok(PageKind::Log) => whole.push(buffer[..PAGE_PAYLOAD].to_vec()),
            _ => break,
        }
    }
    Ok(whole)
}

/// Gathers records into batches over page and zone borders.
struct LogReader<'a> {
    store: &'a Store,
    batch: Vec<ReplayedRecord>,
    partial: Vec<u8>,
    partial_at: Option<PageAddress>,
    partial_offset: u16,
}

impl<'a> LogReader<'a> {
    fn new(store: &'a Store) -> LogReader<'a> {
        LogReader {
            store,
            batch: Vec::new(),
            partial: Vec::new(),
            partial_at: None,
            partial_offset: 0,
        }
    }

    /// Forgets what did not end: the batch and the record being read.
    fn drop_unfinished(&mut self) {
        self.batch.clear();
        self.partial.clear();
        self.partial_at = None;
    }

    /// Reads a zone from `page` to its end or `limit`; gives the number of pages that are whole.
    fn read_zone(
        &mut self,
        zone: ZoneNumber,
        mut page: u32,
        limit: u32,
        apply: &mut impl FnMut(Vec<ReplayedRecord>) -> Result<()>,
    ) -> Result<u32> {
        while page < limit {
            let asked = READ_PAGES.min(limit - page);
            let pages = read_whole_pages(self.store, PageAddress { zone, page }, asked)?;
            for payload in &pages {
                self.read_page(PageAddress { zone, page }, payload, apply)?;
                page += 1;
            }
            if pages.len() < asked as usize {
                break;
            }
        }
        Ok(page)
    }

    fn read_page(
        &mut self,
        at: PageAddress,
        payload: &[u8],
        apply: &mut impl FnMut(Vec<ReplayedRecord>) -> Result<()>,
    ) -> Result<()> {
        let mut offset = 0;
        while offset < payload.len() {
            if self.partial_at.is_none() {
                if payload[offset] == 0 {
                    return Ok(());
                }
                self.partial_at = Some(at);
                self.partial_offset = offset as u16;
            }
            let taken = self.take_record_bytes(&payload[offset..])?;
            offset += taken;
            self.finish_record(apply)?;
        }
        Ok(())
    }

    /// Adds to the record being read what belongs to it; gives how many bytes that were.
    fn take_record_bytes(&mut self, bytes: &[u8]) -> Result<usize> {
        let before = self.partial.len();
        // Six bytes hold any record's length; they may stand on two pages.
        let head_missing = 6usize.saturating_sub(before);
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(head_missing)]);
        let Some(length) = self.partial_length() else {
            return Ok(self.partial.len() - before);
        };
        self.partial.truncate(length.max(before));
        let have = self.partial.len() - before;
        let rest = length
            .saturating_sub(self.partial.len())
            .min(bytes.len() - have);
        self.partial.extend_from_slice(&bytes[have..have + rest]);
        Ok(have + rest)
    }

    fn partial_length(&self) -> Option<usize> {
        super::log::record_length(&self.partial).ok().flatten()
    }

    fn finish_record(
        &mut self,
        apply: &mut impl FnMut(Vec<ReplayedRecord>) -> Result<()>,
    ) -> Result<()> {
        if self
            .partial_length()
            .is_none_or(|length| length > self.partial.len())
        {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.partial);
        let Some(at) = self.partial_at.take() else {
            return Ok(());
        };
        let Some(record) = parse_record(&bytes)? else {
            return Ok(());
        };
        if record.kind == RecordKind::Link {
            return Ok(());
        }
        let ends_batch = record.ends_batch;
        self.batch.push(ReplayedRecord {
            kind: record.kind,
            span: Span {
                zone: at.zone,
                page: at.page,
                offset: self.partial_offset,
                length: bytes.len() as u32,
            },
            body: record.body.to_vec(),
        });
        if ends_batch {
            apply(std::mem::take(&mut self.batch))?;
        }
        Ok(())
    }
}
