//! Finds the pages of a backup that an opening reads, for devices that can have these at hand
//! early.
//!
//! The backup is opened as it will be found, without being copied first: its superblock is in
//! memory, its zones are those of the index, and each page that is read is noted. What the first
//! queries read on top follows from the state: nodes above leaves, and the tables of documents.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use super::copying::Backup;
use crate::base::{Error, PAGE_SIZE, PageAddress, Result, ZoneNumber};
use crate::btree::inner_pages;
use crate::device::{Backend, Counters, Device, FileId, PagePool, Transfer};
use crate::index::handle::Index;
use crate::index::state::Options;
use crate::postings::{DELTA_LEVELS, TermTree};
use crate::storage::write_slot;

/// Pages that are read at once.
const READ_PAGES: usize = 64;

/// The zones of a device under a superblock in memory.
struct ProbedDevice {
    zones: Arc<dyn Device>,
    slots: Mutex<Vec<[u8; PAGE_SIZE]>>,
    read: Mutex<BTreeSet<PageAddress>>,
    counters: Counters,
}

impl Backup {
    /// The pages that an opening of the copy reads, and then those that nearly every query reads,
    /// the most wanted first. `memory` bytes are taken for a while, beside the budget of the index.
    pub fn opening_pages(&self, memory: usize) -> Result<Vec<(ZoneNumber, u32)>> {
        let opening = Arc::new(ProbedDevice {
            zones: Arc::clone(self.shared.store.device()),
            slots: Mutex::default(),
            read: Mutex::default(),
            counters: Counters::default(),
        });
        let device: Arc<dyn Device> = Arc::clone(&opening) as _;
        write_slot(&device, &self.backup_slot())?;
        let options = Options::default().memory(memory).read_only();
        let index = Index::open_on(device, Path::new("the copy"), options)?;
        let mut all: Vec<PageAddress> = lock(&opening.read).iter().copied().collect();
        let mut known: BTreeSet<PageAddress> = all.iter().copied().collect();
        all.extend(
            queried_pages(&index)?
                .into_iter()
                .filter(|page| known.insert(*page)),
        );
        Ok(all.into_iter().map(|page| (page.zone, page.page)).collect())
    }

    /// Adds the bytes of these pages, sorted by their addresses, each proved.
    pub fn read_pages(&self, pages: &[(ZoneNumber, u32)], out: &mut Vec<u8>) -> Result<()> {
        let pool = PagePool::new(READ_PAGES);
        for pages in pages.chunks(READ_PAGES) {
            let wanted = pages.iter().filter_map(|(zone, page)| {
                let address = PageAddress {
                    zone: *zone,
                    page: *page,
                };
                Some((address, pool.take()?))
            });
            let (read, _) = self.shared.store.read(wanted.collect())?;
            read.iter()
                .for_each(|page| out.extend_from_slice(&page.buffer[..]));
        }
        Ok(())
    }
}

/// The pages that nearly every query reads of what is not in memory: nodes above leaves, the live
/// set, norms, and where documents are.
fn queried_pages(index: &Index) -> Result<Vec<PageAddress>> {
    let shared = index.shared();
    let state = shared.published.get();
    let recent = (0..DELTA_LEVELS).map(TermTree::Delta);
    let trees = TermTree::LISTS.into_iter().chain(recent);
    let mut pages = Vec::new();
    for tree in trees {
        pages.append(&mut inner_pages(state.terms.tree(tree), &shared.pool)?);
    }
    for tree in state.ids.trees() {
        pages.append(&mut inner_pages(tree, &shared.pool)?);
    }
    let columns = state.column_tree.tree();
    pages.append(&mut inner_pages(columns, &shared.pool)?);
    pages.extend(state.tables.table_pages());
    Ok(pages)
}

impl Device for ProbedDevice {
    fn backend(&self) -> Backend {
        self.zones.backend()
    }

    fn create(&self, file: FileId) -> Result<()> {
        Err(only_read("create", file))
    }

    fn remove(&self, file: FileId) -> Result<()> {
        Err(only_read("remove", file))
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        let mut files = self.zones.list()?;
        files.retain(|(file, _)| *file != FileId::Superblock);
        files.push((FileId::Superblock, lock(&self.slots).len() as u32));
        Ok(files)
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        for transfer in &mut *batch {
            let FileId::Zone(zone) = transfer.file else {
                return self.read_slots(transfer);
            };
            let pages = (transfer.page..).take(transfer.buffers.len());
            lock(&self.read).extend(pages.map(|page| PageAddress { zone, page }));
        }
        self.zones.read(batch)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        let mut slots = lock(&self.slots);
        for transfer in batch {
            for (page, buffer) in (transfer.page as usize..).zip(&transfer.buffers) {
                let pages = slots.len().max(page + 1);
                slots.resize(pages, [0; PAGE_SIZE]);
                slots[page].copy_from_slice(&buffer[..]);
            }
        }
        Ok(())
    }

    fn sync(&self, _: &[FileId]) -> Result<()> {
        Ok(())
    }

    fn sync_directory(&self) -> Result<()> {
        Ok(())
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    /// An opening reads what one of the copy will read.
    fn is_remote(&self) -> bool {
        true
    }
}

impl ProbedDevice {
    /// The superblock is read in a batch of its own.
    fn read_slots(&self, transfer: &mut Transfer) -> Result<()> {
        let slots = lock(&self.slots);
        for (page, buffer) in (transfer.page as usize..).zip(&mut transfer.buffers) {
            let slot = slots.get(page);
            let slot = slot.ok_or_else(|| Error::internal("a root slot that was not written"))?;
            buffer.copy_from_slice(slot);
        }
        Ok(())
    }
}

fn only_read(operation: &'static str, file: FileId) -> Error {
    Error::internal(format!("{operation} of {file} while a copy is only read"))
}

fn lock<T>(locked: &Mutex<T>) -> MutexGuard<'_, T> {
    locked.lock().unwrap_or_else(|e| e.into_inner())
}
