//! The zone table: which zones exist, what they hold and how much of it is still needed.
//!
//! Invariants:
//! 1. A zone's pages are written once, in order. A zone number is given once.
//! 2. `live` counts the payload bytes that the newest state refers to; it never exceeds what was
//!    written.
//! 3. A zone leaves the table only at a checkpoint, with nothing live, and its file is removed only
//!    when that checkpoint is durable and no snapshot can still reach it.

use std::collections::BTreeMap;

use super::log_start::LogStart;
use super::seal::PageKind;
use crate::base::{ByteReader, Error, PAGE_PAYLOAD, Result, Span, ZoneNumber, put_varint};

/// Pages of the smallest zone: 1 MiB.
pub const ZONE_PAGES_MIN: u32 = 256;

/// Pages of the largest ordinary zone: 64 MiB. Only a single larger record makes a larger zone.
pub const ZONE_PAGES_MAX: u32 = 16_384;

/// The number of zones into which an index is cut, about, before its zones grow.
const ZONES_AIMED_AT: u64 = 128;

/// One zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// The kind of its pages.
    pub kind: PageKind,
    /// Pages written so far.
    pub pages: u32,
    /// Payload bytes that are still needed.
    pub live: u64,
    /// Set if a writer still appends to it.
    pub open: bool,
}

impl Zone {
    /// The share of the written payload that is still needed, `0.0..=1.0`.
    pub fn live_share(&self) -> f64 {
        let written = self.pages as u64 * PAGE_PAYLOAD as u64;
        if written == 0 {
            return 0.0;
        }
        (self.live as f64 / written as f64).min(1.0)
    }

    /// Payload bytes that were written and are no longer needed.
    pub fn dead_bytes(&self) -> u64 {
        (self.pages as u64 * PAGE_PAYLOAD as u64).saturating_sub(self.live)
    }

    /// Returns true if a replay from `start` reads this zone, whose number is `number`.
    pub fn replays(&self, number: ZoneNumber, start: LogStart) -> bool {
        self.kind == PageKind::Log && start.zone.is_none_or(|zone| number >= zone)
    }
}

/// All zones of an index.
#[derive(Clone, Debug, Default)]
pub struct ZoneTable {
    zones: BTreeMap<ZoneNumber, Zone>,
    next: ZoneNumber,
    /// Pages of new zones, if the size of the index does not decide.
    zone_pages: Option<u32>,
}

impl ZoneTable {
    /// Every zone by number.
    pub fn iter(&self) -> impl Iterator<Item = (ZoneNumber, &Zone)> {
        self.zones.iter().map(|(number, zone)| (*number, zone))
    }

    /// The zone with this number.
    pub fn get(&self, number: ZoneNumber) -> Option<&Zone> {
        self.zones.get(&number)
    }

    /// The number that the next zone will get.
    pub fn next_number(&self) -> ZoneNumber {
        self.next
    }

    /// Makes sure that no number below `number` is given again.
    pub fn reserve_numbers(&mut self, number: ZoneNumber) {
        self.next = self.next.max(number);
    }

    /// All pages written, in bytes on the device.
    pub fn allocated_bytes(&self) -> u64 {
        let pages: u64 = self.zones.values().map(|zone| zone.pages as u64).sum();
        pages * crate::base::PAGE_SIZE as u64
    }

    /// Gives new zones this many pages, at least one, whatever the size of the index.
    pub fn set_zone_pages(&mut self, pages: Option<u32>) {
        self.zone_pages = pages.map(|pages| pages.max(1));
    }

    /// Returns the number of pages that a new zone should have, by the size of the index.
    pub fn zone_pages(&self) -> u32 {
        if let Some(pages) = self.zone_pages {
            return pages;
        }
        let pages: u64 = self.zones.values().map(|zone| zone.pages as u64).sum();
        let aimed = (pages / ZONES_AIMED_AT).next_power_of_two();
        aimed.clamp(ZONE_PAGES_MIN as u64, ZONE_PAGES_MAX as u64) as u32
    }

    /// Adds an empty, open zone and gives its number.
    pub(super) fn open(&mut self, kind: PageKind) -> Result<ZoneNumber> {
        let number = self.next;
        self.next = number.checked_add(1).ok_or_else(|| {
            Error::invalid(
                "all zone numbers are used up: index the documents again into a new folder",
            )
        })?;
        self.adopt(number, kind, 0, true);
        Ok(number)
    }

    /// Enters a zone that was found on the device.
    pub(super) fn adopt(&mut self, number: ZoneNumber, kind: PageKind, pages: u32, open: bool) {
        debug_assert!(kind == PageKind::Root || !self.zones.contains_key(&number));
        self.reserve_numbers(number.saturating_add(1));
        let zone = Zone {
            kind,
            pages,
            live: 0,
            open,
        };
        self.zones.insert(number, zone);
    }

    /// Notes that a zone has `pages` pages now.
    pub(super) fn grow(&mut self, number: ZoneNumber, pages: u32) {
        if let Some(zone) = self.zones.get_mut(&number) {
            debug_assert!(zone.pages <= pages || zone.kind == PageKind::Log);
            zone.pages = zone.pages.max(pages);
        }
    }

    /// Notes that nothing more will be appended to a zone.
    pub(super) fn close(&mut self, number: ZoneNumber) {
        if let Some(zone) = self.zones.get_mut(&number) {
            zone.open = false;
        }
    }

    /// Counts `bytes` more of the zone as needed.
    pub fn retain(&mut self, number: ZoneNumber, bytes: u64) {
        if let Some(zone) = self.zones.get_mut(&number) {
            zone.live += bytes;
        }
    }

    /// Counts `bytes` of the zone as no longer needed. The counts come from a root record, which
    /// may be forged; a check compares them with what is there.
    pub fn release(&mut self, number: ZoneNumber, bytes: u64) {
        if let Some(zone) = self.zones.get_mut(&number) {
            zone.live = zone.live.saturating_sub(bytes);
        }
    }

    /// Enters a log zone that a replay has read, or notes how far it was read.
    pub fn adopt_log(&mut self, number: ZoneNumber, pages: u32) {
        if !self.zones.contains_key(&number) {
            self.adopt(number, PageKind::Log, 0, false);
        }
        // A forged root may say that it is of another kind.
        let zone = self.zones.get(&number);
        if zone.is_some_and(|zone| zone.kind == PageKind::Log) {
            self.grow(number, pages);
        }
    }

    /// Enters the zone of the newest root record.
    pub fn adopt_root(&mut self, root: Span) {
        let pages = root.page + root.page_count();
        self.adopt(root.zone, PageKind::Root, pages, false);
        self.retain(root.zone, root.length as u64);
    }

    /// Takes the closed zones from `first` on with nothing live out of the table, but for those
    /// that a replay from `start` would read.
    pub fn take_empty(&mut self, first: ZoneNumber, start: LogStart) -> Vec<ZoneNumber> {
        let is_empty = |(number, zone): &(&ZoneNumber, &Zone)| {
            !zone.open && zone.live == 0 && !zone.replays(**number, start)
        };
        let zones = self.zones.range(first..).filter(is_empty);
        let empty: Vec<ZoneNumber> = zones.map(|(number, _)| *number).collect();
        for number in &empty {
            self.zones.remove(number);
        }
        empty
    }

    /// Takes all zones from `first` on out of the table.
    pub fn take_from(&mut self, first: ZoneNumber) -> Vec<ZoneNumber> {
        self.zones.split_off(&first).into_keys().collect()
    }

    /// Counts nothing as needed of the zones below `first`, but for those of root records; only to
    /// the log more is appended.
    pub fn give_up_before(&mut self, first: ZoneNumber) {
        let zones = self.zones.range_mut(..first).map(|(_, zone)| zone);
        for zone in zones.filter(|zone| zone.kind != PageKind::Root) {
            zone.live = 0;
            zone.open &= zone.kind == PageKind::Log;
        }
    }

    /// Appends the table: the next number, then each zone but those of root records, which are
    /// found by the root slots.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let stored = || self.iter().filter(|(_, zone)| zone.kind != PageKind::Root);
        put_varint(out, self.next as u64);
        put_varint(out, stored().count() as u64);
        for (number, zone) in stored() {
            put_varint(out, number as u64);
            out.push(zone.kind as u8);
            put_varint(out, zone.pages as u64);
            put_varint(out, zone.live);
        }
    }

    /// Reads a table; every zone in it is closed, for zones are never appended to after a
    /// reopening.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<ZoneTable> {
        let mut table = ZoneTable {
            zones: BTreeMap::new(),
            next: reader.varint_u32()?,
            zone_pages: None,
        };
        for _ in 0..reader.varint_u32()? {
            let number = reader.varint_u32()?;
            let kind = reader.u8()?;
            let kind = PageKind::from_number(kind)
                .ok_or_else(|| reader.damaged("a kind of page", kind))?;
            let (pages, live) = (reader.varint_u32()?, reader.varint()?);
            if number >= table.next {
                return Err(reader.damaged("a zone number below the next", number));
            }
            let zone = Zone {
                kind,
                pages,
                live,
                open: false,
            };
            table.zones.insert(number, zone);
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_leaves_only_closed_and_empty() {
        let mut zones = ZoneTable::default();
        let (first, second) = (
            zones.open(PageKind::Node).unwrap(),
            zones.open(PageKind::Node).unwrap(),
        );
        zones.retain(first, 10);
        zones.close(first);
        assert!(zones.take_empty(0, LogStart::BEGINNING).is_empty());
        zones.release(first, 10);
        assert_eq!(zones.take_empty(0, LogStart::BEGINNING), vec![first]);
        zones.close(second);
        assert_eq!(zones.take_empty(0, LogStart::BEGINNING), vec![second]);
        assert_eq!(zones.open(PageKind::Node).unwrap(), second + 1);
    }

    #[test]
    fn a_table_round_trips() {
        let mut zones = ZoneTable::default();
        let number = zones.open(PageKind::Postings).unwrap();
        zones.grow(number, 7);
        zones.retain(number, 100);
        let mut bytes = Vec::new();
        zones.encode(&mut bytes);
        let read = ZoneTable::decode(&mut ByteReader::new(&bytes, "zones")).unwrap();
        assert_eq!(read.next_number(), zones.next_number());
        assert_eq!(read.get(number).unwrap().live, 100);
        assert!(!read.get(number).unwrap().open);
    }

    #[test]
    fn an_empty_zone_of_the_log_stays_while_a_replay_would_read_it() {
        let mut zones = ZoneTable::default();
        let numbers = [PageKind::Log, PageKind::Log, PageKind::Node].map(|kind| {
            let number = zones.open(kind).unwrap();
            zones.close(number);
            number
        });
        let start = LogStart {
            zone: Some(numbers[1]),
            page: 3,
        };
        assert_eq!(zones.take_empty(0, start), [numbers[0], numbers[2]]);
        assert!(zones.get(numbers[1]).is_some());
    }
}
