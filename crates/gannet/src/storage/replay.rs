//! Replay: reading the log from where the last checkpoint left it to its end.
//!
//! The end is the first page that is missing or does not prove itself. Records are handed on a
//! batch at a time; an unfinished batch is not handed on.

use std::collections::HashMap;

use super::log::{Link, RecordKind};
use super::log_start::LogStart;
use super::records::{RecordVisitor, ZoneRecord, first_record, read_records};
use super::{PageKind, Store};
use crate::base::{Error, PageAddress, Result, ZoneNumber};
use crate::device::FileId;

/// The result of a replay.
#[derive(Debug)]
pub struct ReplayEnd {
    /// The end of the log; writing goes on from here.
    pub end: LogStart,
    /// The zones that were read.
    pub zones: Vec<ZoneNumber>,
}

/// The reach of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogReach {
    /// As far as there are pages that prove themselves.
    Written,
    /// Only over the pages that the zone table has.
    Known,
}

/// Takes what is replayed.
pub trait Recovery {
    /// Tells that a batch under way takes so many bytes, before its next record is read.
    fn reserve(&mut self, bytes: usize) -> Result<()>;

    /// Takes a whole batch. A replay from `behind` reads what comes behind it, and may read the
    /// last records of it and of batches before it.
    fn apply(&mut self, batch: Vec<ZoneRecord>, behind: LogStart) -> Result<()>;
}

/// A recovery for which nothing is reserved.
impl<F: FnMut(Vec<ZoneRecord>) -> Result<()>> Recovery for F {
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn apply(&mut self, batch: Vec<ZoneRecord>, _: LogStart) -> Result<()> {
        self(batch)
    }
}

/// The records of a batch that is not whole yet.
struct Gathering<'r, R> {
    store: &'r Store,
    recovery: &'r mut R,
    batch: Vec<ZoneRecord>,
    bytes: usize,
}

impl<R: Recovery> RecordVisitor for Gathering<'_, R> {
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        self.recovery.reserve(self.bytes + bytes)
    }

    fn visit(&mut self, record: ZoneRecord) -> Result<()> {
        let (span, ends_batch) = (record.span, record.ends_batch);
        match record.kind {
            RecordKind::Link if Link::decode(&record.body)?.recovered => self.clear(),
            RecordKind::Link => {}
            _ => {
                self.bytes += size_of::<ZoneRecord>() + record.body.capacity();
                self.batch.push(record);
            }
        }
        if !ends_batch {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.clear();
        let pages = span.page + span.page_count();
        self.store.zones().adopt_log(span.zone, pages);
        self.recovery.apply(batch, LogStart::behind(span))
    }
}

impl<R> Gathering<'_, R> {
    fn clear(&mut self) {
        self.batch.clear();
        self.bytes = 0;
    }
}

/// Reads the log from `start` and hands each whole batch to `recovery`. Before that, the zones that
/// have it are entered in the zone table.
pub fn replay(
    store: &Store,
    start: LogStart,
    reach: LogReach,
    recovery: &mut impl Recovery,
) -> Result<ReplayEnd> {
    let files = zone_lengths(store, reach)?;
    let links = find_links(store, start, &files)?;
    let mut gathering = Gathering {
        store,
        recovery,
        batch: Vec::new(),
        bytes: 0,
    };
    let mut zones = Vec::new();
    let mut at = start;
    loop {
        let next = links.get(&at.zone).copied();
        if let Some(zone) = at.zone {
            let length = files.get(&zone).copied();
            // The link counts the pages that were whole when it was made; a write that was under
            // way at a crash may have completed since.
            let counted = next.map(|(_, link)| link.from.page);
            let limit = length.unwrap_or(0).min(counted.unwrap_or(u32::MAX));
            let first = PageAddress {
                zone,
                page: at.page,
            };
            at.page = read_records(store, PageKind::Log, first, limit, &mut gathering)?;
            // A zone with nothing alive may be gone; then the start stands at its end.
            if length.is_some() {
                store.zones().adopt_log(zone, at.page);
                zones.push(zone);
            }
            if let Some((_, link)) = next.filter(|(_, link)| at.page < link.from.page) {
                check_gap(at, &link)?;
                return Ok(ReplayEnd { end: at, zones });
            }
        }
        match next {
            Some((zone, _)) => {
                at = LogStart {
                    zone: Some(zone),
                    page: 0,
                };
            }
            None => return Ok(ReplayEnd { end: at, zones }),
        }
    }
}

/// Returns true if there may be something to replay: pages behind `start`, or log zones behind it.
pub fn has_log_behind(store: &Store, start: LogStart, reach: LogReach) -> Result<bool> {
    let files = zone_lengths(store, reach)?;
    let behind = start
        .zone
        .is_some_and(|zone| files.get(&zone).is_some_and(|p| *p > start.page));
    Ok(behind || !find_links(store, start, &files)?.is_empty())
}

/// Pages are missing between a zone and the one that goes on from it. A power loss does that, since
/// neither was synced: the log ends here. But a recovery had made its zone durable before it went
/// on.
fn check_gap(end: LogStart, link: &Link) -> Result<()> {
    if !link.recovered {
        return Ok(());
    }
    Err(Error::damaged(
        format!("page {} of zone {}", end.page, end.zone.unwrap_or(0)),
        format!("expected {} whole pages of log", link.from.page),
    ))
}

/// Returns true if the root knows a zone as one that is not of the log.
fn is_other(store: &Store, zone: ZoneNumber) -> bool {
    let zones = store.zones();
    zones
        .get(zone)
        .is_some_and(|zone| zone.kind != PageKind::Log)
}

/// The pages of each zone that count.
fn zone_lengths(store: &Store, reach: LogReach) -> Result<HashMap<ZoneNumber, u32>> {
    if reach == LogReach::Known {
        let zones = store.zones();
        return Ok(zones.iter().map(|(number, z)| (number, z.pages)).collect());
    }
    let files = store.device().list()?;
    let zones = files.into_iter().filter_map(|(file, pages)| match file {
        FileId::Zone(number) => Some((number, pages)),
        FileId::Superblock | FileId::Tier | FileId::Answers => None,
    });
    Ok(zones.collect())
}

/// The log zones behind `start`, by the zone they go on from. If several go on from one zone, the
/// newest counts: the others were left by a recovery that was cut short.
fn find_links(
    store: &Store,
    start: LogStart,
    files: &HashMap<ZoneNumber, u32>,
) -> Result<HashMap<Option<ZoneNumber>, (ZoneNumber, Link)>> {
    let mut links: HashMap<Option<ZoneNumber>, (ZoneNumber, Link)> = HashMap::new();
    for (&zone, &pages) in files {
        if pages == 0 || start.zone.is_some_and(|start| zone <= start) || is_other(store, zone) {
            continue;
        }
        let Some((RecordKind::Link, body)) = first_record(store, PageKind::Log, zone)? else {
            continue;
        };
        let link = Link::decode(&body)?;
        // Zones are numbered in the order of the log, so following links comes to an end.
        if link.from.zone.is_some_and(|from| from >= zone) {
            continue;
        }
        if links
            .get(&link.from.zone)
            .is_none_or(|(other, _)| *other < zone)
        {
            links.insert(link.from.zone, (zone, link));
        }
    }
    Ok(links)
}
