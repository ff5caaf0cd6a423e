//! Paged tables: arrays of fixed-size entries whose changed pages are written anew at a checkpoint.
//!
//! A clone is a snapshot: it shares all pages and sees no later change. A page is in memory
//! (changed, or the table is resident), on the device, or absent (all zeros).

use std::sync::Arc;

use super::seal::PageKind;
use super::slots::{TablePage, TableSlot, TableSlots};
use super::store::wrong_kind;
use super::{Store, StreamWriter};
use crate::base::{ByteReader, Error, PAGE_PAYLOAD, PageAddress, Result, put_varint};
use crate::device::PagePool;

/// The number of pages of a resident table that are read at once when it is opened: 4 MiB.
const LOAD_PAGES: usize = 1024;

/// An array of entries of the same size, in pages.
#[derive(Clone, Debug)]
pub struct Table {
    entry_bytes: usize,
    resident: bool,
    slots: TableSlots,
}

/// The content of a page of a table.
#[derive(Debug)]
pub enum TableContent<'a> {
    /// In memory: here it is.
    Memory(&'a Arc<TablePage>),
    /// On the device.
    Device(PageAddress),
    /// All zeros.
    Absent,
}

impl Table {
    /// An empty table of entries of `entry_bytes` bytes. A resident table keeps all its pages in
    /// memory.
    pub fn new(entry_bytes: usize, resident: bool) -> Table {
        debug_assert!(entry_bytes > 0 && entry_bytes <= PAGE_PAYLOAD);
        Table {
            entry_bytes,
            resident,
            slots: TableSlots::default(),
        }
    }

    /// Entries in one page.
    pub fn entries_per_page(&self) -> usize {
        PAGE_PAYLOAD / self.entry_bytes
    }

    /// Number of page slots, absent pages included.
    pub fn page_count(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of memory that the table holds.
    pub fn memory_bytes(&self) -> usize {
        let pages = self.slots.iter().filter(|slot| slot.page.is_some()).count();
        pages * PAGE_PAYLOAD + self.slots.len() * size_of::<TableSlot>()
    }

    /// The ordinal of the page that holds an entry, and the entry's first byte in it.
    pub fn position(&self, index: u64) -> (usize, usize) {
        let per_page = self.entries_per_page() as u64;
        let within = (index % per_page) as usize * self.entry_bytes;
        ((index / per_page) as usize, within)
    }

    /// An entry, if its page is in memory.
    pub fn entry(&self, index: u64) -> Option<&[u8]> {
        let (page, at) = self.position(index);
        let page = self.slots.get(page)?.page.as_ref()?;
        Some(&page[at..at + self.entry_bytes])
    }

    /// Finds a page.
    pub fn place(&self, page: usize) -> TableContent<'_> {
        match self.slots.get(page) {
            Some(TableSlot {
                page: Some(page), ..
            }) => TableContent::Memory(page),
            Some(TableSlot {
                address: Some(address),
                ..
            }) => TableContent::Device(*address),
            _ => TableContent::Absent,
        }
    }

    /// The page's address if it must be read before it can be changed.
    pub fn missing(&self, page: usize) -> Option<PageAddress> {
        let slot = self.slots.get(page)?;
        match slot.page {
            None => slot.address,
            Some(_) => None,
        }
    }

    /// Gives the table a page that was read from the device.
    pub fn load(&mut self, page: usize, payload: &[u8]) {
        if page < self.slots.len() {
            let mut copy = [0; PAGE_PAYLOAD];
            copy.copy_from_slice(&payload[..PAGE_PAYLOAD]);
            self.slots.get_mut(page).page = Some(Arc::new(copy));
        }
    }

    /// Reads all pages that are on the device and not in memory. `what` names the table in errors.
    pub fn load_all(&mut self, store: &Store, what: &'static str) -> Result<()> {
        let addresses: Vec<(usize, PageAddress)> = self.addresses().collect();
        let buffers = PagePool::new(addresses.len().clamp(1, LOAD_PAGES));
        for batch in addresses.chunks(LOAD_PAGES) {
            let taken = batch
                .iter()
                .filter_map(|(_, at)| Some((*at, buffers.take()?)));
            let (pages, _) = store.read(taken.collect())?;
            for (ordinal, address) in batch {
                let found = pages.binary_search_by_key(address, |page| page.address);
                let page = found
                    .map(|at| &pages[at])
                    .map_err(|_| Error::damaged(what, "a page stands in it twice"))?;
                if page.kind != PageKind::Table {
                    return Err(wrong_kind(*address, PageKind::Table, page.kind));
                }
                self.load(*ordinal, &page.buffer[..]);
            }
        }
        Ok(())
    }

    /// Gives up all pages, those on the device too.
    pub fn release(&mut self, store: &Store) {
        for (_, address) in self.addresses() {
            store.release_page(address);
        }
        self.slots = TableSlots::default();
    }

    /// Changes an entry. Its page must not be [`Table::missing`].
    pub fn set(&mut self, index: u64, entry: &[u8]) {
        let (page, at) = self.position(index);
        let bytes = self.page_mut(page);
        bytes[at..at + entry.len()].copy_from_slice(entry);
    }

    /// A page to be changed, absent pages made on the way. It must not be [`Table::missing`].
    pub fn page_mut(&mut self, page: usize) -> &mut TablePage {
        debug_assert!(
            self.missing(page).is_none(),
            "page {page} must be loaded first"
        );
        let slot = self.slots.get_mut(page);
        slot.dirty = true;
        Arc::make_mut(slot.page.get_or_insert_with(|| Arc::new([0; PAGE_PAYLOAD])))
    }

    /// Makes a page absent, whatever it has.
    pub fn clear_page(&mut self, page: usize) {
        let slot = self.slots.get_mut(page);
        (slot.page, slot.dirty) = (None, false);
        slot.given_up = slot.given_up.or(slot.address.take());
    }

    /// Puts an absent page at this ordinal; those from there on move up by one.
    pub fn insert_page(&mut self, page: usize) {
        self.slots.insert(page);
    }

    /// The addresses of the pages on the device.
    pub fn addresses(&self) -> impl Iterator<Item = (usize, PageAddress)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(page, slot)| Some((page, slot.address?)))
    }

    /// Writes the changed pages, releasing those they replace.
    pub fn write_changes(&mut self, store: &Store, stream: &mut StreamWriter) -> Result<()> {
        let resident = self.resident;
        let last = self.slots.len().saturating_sub(1);
        let has_work = |slot: &TableSlot| {
            slot.dirty || slot.given_up.is_some() || (!resident && slot.page.is_some())
        };
        for (ordinal, slot) in self.slots.iter_mut_where(has_work) {
            if let (true, Some(page)) = (slot.dirty, &slot.page) {
                let replaced = slot.address.replace(stream.append_page(&page[..])?);
                if let Some(old) = replaced {
                    store.release_page(old);
                }
                slot.dirty = false;
            }
            if let Some(old) = slot.given_up.take() {
                store.release_page(old);
            }
            // The last page is about to be appended to.
            if !resident && ordinal != last && !slot.dirty {
                slot.page = None;
            }
        }
        Ok(())
    }

    /// Marks the pages in victim zones as changed, so that the next checkpoint moves them. Gives
    /// the ordinals of those that are [`Table::missing`], for [`Table::relocate`].
    pub fn move_out_of(&mut self, is_victim: impl Fn(u32) -> bool) -> Vec<usize> {
        let mut missing = Vec::new();
        let in_victim = |slot: &TableSlot| slot.address.is_some_and(|at| is_victim(at.zone));
        for (ordinal, slot) in self.slots.iter_mut_where(in_victim) {
            match slot.page {
                Some(_) => slot.dirty = true,
                None => missing.push(ordinal),
            }
        }
        missing
    }

    /// Appends a page that is not in memory as it is, and releases the old one.
    pub fn relocate(
        &mut self,
        page: usize,
        payload: &[u8],
        store: &Store,
        stream: &mut StreamWriter,
    ) -> Result<()> {
        let moved = stream.append_page(payload)?;
        if let Some(old) = self.slots.get_mut(page).address.replace(moved) {
            store.release_page(old);
        }
        Ok(())
    }

    /// Appends the addresses of all pages. There must be no unwritten change.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.slots.len() as u64);
        for slot in self.slots.iter() {
            debug_assert!(
                !slot.dirty,
                "a table is encoded after its changes were written"
            );
            match slot.address {
                // Zone numbers are below u32::MAX, so that one more still fits.
                Some(address) => {
                    put_varint(out, address.zone as u64 + 1);
                    put_varint(out, address.page as u64);
                }
                None => out.push(0),
            }
        }
    }

    /// Reads what [`Table::encode`] wrote. The pages of a resident table are loaded by the caller.
    pub fn decode(&self, reader: &mut ByteReader<'_>) -> Result<Table> {
        let count = reader.length(reader.rest().len())?;
        let mut slots = TableSlots::default();
        for ordinal in 0..count {
            let zone = reader.varint()?;
            let address = match zone.checked_sub(1) {
                None => None,
                Some(zone) => Some(PageAddress {
                    zone: u32::try_from(zone).map_err(|_| reader.damaged("a zone number", zone))?,
                    page: reader.varint_u32()?,
                }),
            };
            slots.get_mut(ordinal).address = address;
        }
        Ok(Table {
            entry_bytes: self.entry_bytes,
            resident: self.resident,
            slots,
        })
    }
}
