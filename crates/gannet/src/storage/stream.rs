//! A stream: appends to the open zone of one kind of page, always at its end, and writes in large
//! batches.
//!
//! Invariants:
//! 1. Pages leave in order; a page that was written is never touched again. Flushing pads a page
//!    begun and goes on with the next.
//! 2. No record crosses a page boundary needlessly: one that does not fit the rest of a page starts
//!    the next page, unless it would touch no fewer pages there.
//! 3. Where a record had to start a new page, the rest of the page before is a hole. The next small
//!    record that fits goes there, as long as the page is not written. The log has no holes: its
//!    order matters.
//! 4. A record lies in one zone. A record larger than an ordinary zone gets a larger zone of its
//!    own.

use std::sync::Arc;

use super::seal::{self, FIRST_RECORD_AT, PageKind};
use super::{Store, Unsynced};
use crate::base::{Error, PAGE_PAYLOAD, PageAddress, Result, Span, ZoneNumber, back_off};
use crate::device::{FileId, PageBuffer, PagePool, Transfer};

/// A smaller rest of a page is not worth remembering.
const HOLE_BYTES: usize = 64;

/// Appends records and pages of one kind.
pub struct StreamWriter {
    store: Arc<Store>,
    kind: PageKind,
    pool: PagePool,
    zone: Option<OpenZone>,
    unsynced: Unsynced,
}

struct OpenZone {
    number: ZoneNumber,
    capacity: u32,
    /// The first page that is not written yet.
    written: u32,
    /// The full pages since, then the page being filled.
    buffers: Vec<PageBuffer>,
    /// Bytes used in the page being filled; `PAGE_PAYLOAD` when there is none.
    fill: usize,
    /// Pages among the buffers that were left with room: the buffer's place and the bytes used in
    /// it.
    holes: Vec<(usize, usize)>,
}

impl StreamWriter {
    /// A stream of pages of `kind`. It holds one page more than [`Store::write_pages`] in memory.
    pub fn new(store: Arc<Store>, kind: PageKind) -> StreamWriter {
        StreamWriter {
            pool: PagePool::new(store.write_pages() + 1),
            store,
            kind,
            zone: None,
            unsynced: Unsynced::default(),
        }
    }

    /// Appends a record and counts it as live.
    pub fn append(&mut self, bytes: &[u8]) -> Result<Span> {
        back_off();
        let length = u32::try_from(bytes.len()).map_err(|_| {
            Error::internal(format!("a record of {} bytes is too long", bytes.len()))
        })?;
        if let Some(span) = self.fill_hole(bytes) {
            self.store.zones().retain(span.zone, length as u64);
            return Ok(span);
        }
        self.place(bytes.len())?;
        let zone = self.zone.as_ref().ok_or_else(no_zone)?;
        let span = Span {
            zone: zone.number,
            page: zone.page(),
            offset: zone.fill as u16,
            length,
        };
        self.fill(bytes)?;
        self.store.zones().retain(span.zone, span.length as u64);
        Ok(span)
    }

    /// Appends a record that starts a page, and counts it as live. What follows may share its last
    /// page.
    pub fn append_aligned(&mut self, bytes: &[u8]) -> Result<Span> {
        self.finish_page();
        self.append(bytes)
    }

    /// Appends a whole page, padded with zeros, and counts it as live.
    pub fn append_page(&mut self, payload: &[u8]) -> Result<PageAddress> {
        back_off();
        debug_assert!(payload.len() <= PAGE_PAYLOAD);
        self.finish_page();
        self.place(PAGE_PAYLOAD)?;
        let zone = self.zone.as_ref().ok_or_else(no_zone)?;
        let address = PageAddress {
            zone: zone.number,
            page: zone.page(),
        };
        self.fill(payload)?;
        self.finish_page();
        let live = PAGE_PAYLOAD as u64;
        self.store.zones().retain(address.zone, live);
        Ok(address)
    }

    /// Ends the page being filled, so that the next record starts a page.
    pub fn finish_page(&mut self) {
        if let Some(zone) = &mut self.zone {
            zone.leave_page();
        }
    }

    /// Bytes left in the page being filled.
    pub fn room(&self) -> usize {
        self.zone
            .as_ref()
            .map_or(0, |zone| PAGE_PAYLOAD - zone.fill)
    }

    /// Returns the address of the next record if it starts a page of the open zone.
    pub fn next_page(&self) -> Option<PageAddress> {
        self.zone.as_ref().map(|zone| PageAddress {
            zone: zone.number,
            page: zone.written + zone.buffers.len() as u32,
        })
    }

    /// Writes every page there is, the one being filled too. Not yet durable.
    pub fn flush(&mut self) -> Result<()> {
        self.finish_page();
        self.write_out()
    }

    /// Hands over what was written since the last time; it is durable once [`Store::sync`] has
    /// taken it.
    pub fn take_unsynced(&mut self) -> Unsynced {
        std::mem::take(&mut self.unsynced)
    }

    /// Flushes, and goes on in a new zone.
    pub fn close_zone(&mut self) -> Result<()> {
        self.flush()?;
        if let Some(zone) = self.zone.take() {
            self.store.zones().close(zone.number);
        }
        Ok(())
    }

    /// Flushes, and goes on in a new zone if less than this share of the open one lives.
    pub fn leave_sparse_zone(&mut self, live_share: f64) -> Result<()> {
        self.flush()?;
        let zone = self.zone.as_ref().map(|zone| zone.number);
        let is_sparse = |zone| {
            let zones = self.store.zones();
            zones
                .get(zone)
                .is_some_and(|zone| zone.live_share() < live_share)
        };
        if zone.is_some_and(is_sparse) {
            self.close_zone()
        } else {
            Ok(())
        }
    }

    /// Returns true if the next record will open a zone, given its length.
    pub fn needs_zone(&self, length: usize) -> bool {
        let Some(zone) = &self.zone else {
            return true;
        };
        let used = zone.written + zone.buffers.len() as u32;
        let rest = PAGE_PAYLOAD - zone.fill;
        // A record that starts the next page takes no more pages than one that begins in this one.
        let more = match rest {
            0 => length.div_ceil(PAGE_PAYLOAD).max(1),
            rest => length.saturating_sub(rest).div_ceil(PAGE_PAYLOAD),
        };
        used as usize + more > zone.capacity as usize
    }

    /// Finds room for a record: in the page being filled, in the next page, or in a new zone.
    fn place(&mut self, length: usize) -> Result<()> {
        if self.needs_zone(length) {
            self.close_zone()?;
            return self.open_zone(length);
        }
        let Some(zone) = &mut self.zone else {
            return Err(no_zone());
        };
        let rest = PAGE_PAYLOAD - zone.fill;
        let fresh = length.div_ceil(PAGE_PAYLOAD);
        let here = if length <= rest {
            1
        } else {
            1 + (length - rest).div_ceil(PAGE_PAYLOAD)
        };
        let room = zone.capacity - zone.written - zone.buffers.len() as u32;
        if rest == 0 || here > fresh.max(1) || (here - 1) as u32 > room {
            zone.leave_page();
            self.begin_page()?;
        }
        Ok(())
    }

    /// Opens a zone with room for a record of `length` bytes.
    pub(super) fn open_zone(&mut self, length: usize) -> Result<()> {
        let needed = length.div_ceil(PAGE_PAYLOAD).max(1) as u32;
        let (number, capacity) = {
            let mut zones = self.store.zones();
            let capacity = zones.zone_pages().max(needed);
            (zones.open(self.kind)?, capacity)
        };
        self.store.device().create(FileId::Zone(number))?;
        self.unsynced.created = true;
        self.zone = Some(OpenZone {
            number,
            capacity,
            written: 0,
            buffers: Vec::with_capacity(self.store.write_pages() + 1),
            fill: PAGE_PAYLOAD,
            holes: Vec::new(),
        });
        self.begin_page()
    }

    /// Starts a page, writing the full ones first when enough have gathered.
    fn begin_page(&mut self) -> Result<()> {
        let gathered = self.zone.as_ref().map_or(0, |zone| zone.buffers.len());
        debug_assert!(
            gathered <= self.store.write_pages(),
            "full pages are written"
        );
        if gathered >= self.store.write_pages() {
            self.write_out()?;
        }
        let mut buffer = self
            .pool
            .take()
            .ok_or_else(|| Error::internal("a stream ran out of its own write buffers"))?;
        buffer.fill(0);
        let zone = self.zone.as_mut().ok_or_else(no_zone)?;
        zone.buffers.push(buffer);
        zone.fill = 0;
        Ok(())
    }

    /// Puts a record into the hole that it fills best.
    fn fill_hole(&mut self, bytes: &[u8]) -> Option<Span> {
        let zone = self.zone.as_mut()?;
        if self.kind == PageKind::Log || bytes.is_empty() {
            return None;
        }
        let fits = zone.holes.iter().enumerate();
        let fits = fits.filter(|(_, (_, used))| used + bytes.len() <= PAGE_PAYLOAD);
        let (hole, &(place, used)) = fits.max_by_key(|(_, (_, used))| *used)?;
        zone.buffers.get_mut(place)?[used..used + bytes.len()].copy_from_slice(bytes);
        if PAGE_PAYLOAD - used - bytes.len() < HOLE_BYTES {
            _ = zone.holes.swap_remove(hole);
        } else {
            zone.holes[hole].1 += bytes.len()
        }
        Some(Span {
            zone: zone.number,
            page: zone.written + place as u32,
            offset: used as u16,
            length: bytes.len() as u32,
        })
    }

    /// Copies a record to where `place` found room.
    fn fill(&mut self, mut bytes: &[u8]) -> Result<()> {
        loop {
            let zone = self.zone.as_mut().ok_or_else(no_zone)?;
            let part = bytes.len().min(PAGE_PAYLOAD - zone.fill);
            let (now, later) = bytes.split_at(part);
            let fill = zone.fill;
            zone.fill += part;
            self.put(fill, now);
            bytes = later;
            if bytes.is_empty() {
                return Ok(());
            }
            self.begin_page()?;
            let first = bytes.len().min(PAGE_PAYLOAD) as u16;
            self.put(FIRST_RECORD_AT, &first.to_le_bytes());
        }
    }

    /// Copies bytes into the page being filled, and into its copy for readers if it is one of the
    /// log.
    fn put(&mut self, at: usize, bytes: &[u8]) {
        let Some(zone) = &mut self.zone else {
            return;
        };
        if self.kind == PageKind::Log {
            let address = PageAddress {
                zone: zone.number,
                page: zone.page(),
            };
            self.store
                .with_pending(|pending| pending.put(address, at, bytes));
        }
        if let Some(page) = zone.buffers.last_mut() {
            page[at..at + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Seals and writes all gathered pages as one sequential write.
    fn write_out(&mut self) -> Result<()> {
        let Some(zone) = &mut self.zone else {
            return Ok(());
        };
        if zone.buffers.is_empty() {
            return Ok(());
        }
        let file = FileId::Zone(zone.number);
        let first = zone.written;
        let mut buffers = std::mem::take(&mut zone.buffers);
        debug_assert!(first as usize + buffers.len() <= zone.capacity as usize);
        for (page, buffer) in (first..).zip(&mut buffers) {
            let address = seal::SealAddress { file, page };
            seal::seal(buffer, self.store.identity(), address, self.kind);
        }
        let count = buffers.len() as u32;
        let transfer = Transfer {
            file,
            page: first,
            buffers,
        };
        self.store.device().write(&mut [transfer])?;
        self.store.note_written(self.kind, count);
        zone.written += count;
        zone.fill = PAGE_PAYLOAD;
        zone.holes.clear();
        let (number, written) = (zone.number, zone.written);
        self.store.zones().grow(number, written);
        self.unsynced.zones.insert(number);
        if self.kind == PageKind::Log {
            self.store.with_pending(|pending| {
                for page in first..written {
                    pending.remove(PageAddress { zone: number, page });
                }
            });
        }
        Ok(())
    }
}

impl OpenZone {
    /// Leaves the page being filled, remembering its rest as a hole.
    fn leave_page(&mut self) {
        let begun = self.fill < PAGE_PAYLOAD && !self.buffers.is_empty();
        if begun && PAGE_PAYLOAD - self.fill >= HOLE_BYTES {
            self.holes.push((self.buffers.len() - 1, self.fill));
        }
        self.fill = PAGE_PAYLOAD;
    }

    /// The page being filled.
    fn page(&self) -> u32 {
        self.written + self.buffers.len().saturating_sub(1) as u32
    }
}

fn no_zone() -> Error {
    Error::internal("a stream has no open zone")
}
