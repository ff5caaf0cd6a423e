//! A published index as a device to which the next state is copied.
//!
//! Order matters: (1) zones become objects, each written once under a name that nobody else draws,
//! or are set aside for the pack (`aside.rs`); (2) the pack lists them; (3) the superblock object
//! is replaced, but only if it is still the one that was read; (4) objects that have not been named
//! for long are removed. What always holds: until (3) the publication before is whole and is what
//! readers find; of two publishers one does (3) and the other is told.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use gannet::device::{Backend, Counters, Device, FileId, PAGE_SIZE, Transfer, ZoneNumber};
use gannet::{Error, Result};

use crate::aside::Aside;
use crate::coding::Origin;
use crate::device::RemoteDevice;
use crate::publication::{SLOTS, Slot, is_of_index};
use crate::upload::Upload;

/// A publication that is being made.
pub(crate) struct Publisher {
    pub(crate) device: RemoteDevice,
    pub(crate) origin: Origin,
    staged: Mutex<Staged>,
    aside: Mutex<Aside>,
    counters: Counters,
}

/// The files that are not published yet.
#[derive(Default)]
pub(crate) struct Staged {
    /// The superblock, once it is there.
    pub(crate) slots: Option<Vec<Slot>>,
    pub(crate) zones: BTreeMap<ZoneNumber, StagedZone>,
    /// Set once the superblock is written.
    pub(crate) is_written: bool,
}

/// A zone with what is on its way to it.
#[derive(Default)]
pub(crate) struct StagedZone {
    pages: u32,
    upload: Option<Upload>,
}

impl Publisher {
    /// The publication behind the one that `device` has found.
    pub(crate) fn new(device: RemoteDevice) -> Result<Publisher> {
        let catalog = device.catalog();
        let newest = catalog.publication.as_ref();
        if newest.is_none() {
            reject_foreign(&device)?;
        }
        let number = newest.map_or(0, |newest| newest.origin.number) + 1;
        let token = getrandom::u64().map_err(|error| Error::Device {
            operation: "read",
            file: "the random numbers of the system".to_owned(),
            reason: error.to_string(),
            full: false,
        })?;
        let mut staged = Staged {
            slots: newest.map(|newest| newest.slots.clone()),
            ..Staged::default()
        };
        for extent in catalog.extents(|_| true) {
            let zone = staged.zones.entry(extent.zone).or_default();
            zone.pages = zone.pages.max(extent.end());
        }
        Ok(Publisher {
            device,
            origin: Origin { number, token },
            staged: Mutex::new(staged),
            aside: Mutex::default(),
            counters: Counters::default(),
        })
    }

    pub(crate) fn staged(&self) -> MutexGuard<'_, Staged> {
        self.staged.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Sets parts of zones aside for the pack from now on. They can be read once it is published.
    pub(crate) fn set_aside(&self, aside: Aside) {
        *self.aside() = aside;
    }

    pub(crate) fn aside(&self) -> MutexGuard<'_, Aside> {
        self.aside.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn failed(&self, operation: &'static str, file: FileId, reason: &str) -> Error {
        Error::Device {
            operation,
            file: self.device.objects.url_of(&file.name()),
            reason: reason.to_owned(),
            full: false,
        }
    }

    fn absent(&self, operation: &'static str, file: FileId) -> Error {
        self.failed(operation, file, "there is no such file")
    }

    fn write_slots(&self, staged: &mut Staged, transfer: &Transfer) -> Result<()> {
        let file = transfer.file;
        let slots = staged.slots.as_mut();
        let slots = slots.ok_or_else(|| self.absent("write", file))?;
        for (page, buffer) in (transfer.page as usize..).zip(&transfer.buffers) {
            let pages = slots.len().max(page + 1);
            slots.resize(pages, [0; PAGE_SIZE]);
            slots[page].copy_from_slice(&buffer[..]);
        }
        staged.is_written = true;
        Ok(())
    }

    fn write_zone(&self, staged: &mut Staged, transfer: &Transfer) -> Result<()> {
        let FileId::Zone(zone) = transfer.file else {
            return self.write_slots(staged, transfer);
        };
        let found = staged.zones.get_mut(&zone);
        let found = found.ok_or_else(|| self.absent("write", transfer.file))?;
        if transfer.page < found.pages {
            let expected = format!(
                "expected page {} or a later one, found {}: what is published is written once, in order",
                found.pages, transfer.page
            );
            return Err(self.failed("write", transfer.file, &expected));
        }
        // Pages before a root record may be missing; an object has no gaps.
        if transfer.page > found.pages
            && let Some(upload) = found.upload.take()
        {
            self.finish(upload)?;
        }
        let begin = || Upload::new(zone, transfer.page, self.origin);
        let upload = found.upload.get_or_insert_with(begin);
        upload.add(&self.device.objects, &transfer.buffers)?;
        found.pages = transfer.page + transfer.buffers.len() as u32;
        Ok(())
    }

    /// Ends an object, which can be read from then on, or sets its pages aside.
    fn finish(&self, mut upload: Upload) -> Result<()> {
        let (zone, first) = (upload.zone, upload.first);
        if let Some(pages) = upload.unsent() {
            match self.aside().take(zone, first, std::mem::take(pages)) {
                Some(given_back) => *pages = given_back,
                None => return Ok(()),
            }
        }
        if let Some(extent) = upload.finish(&self.device.objects)? {
            let mut catalog = (*self.device.catalog()).clone();
            catalog.add(extent);
            self.device.set_catalog(catalog);
        }
        Ok(())
    }
}

/// Fails if the place has objects of anything else.
fn reject_foreign(device: &RemoteDevice) -> Result<()> {
    let objects = &device.objects;
    let names = objects.list()?.into_iter().map(|object| object.name);
    let foreign = names
        .filter(|name| !is_of_index(name) && name != crate::folder::LOCK)
        .min();
    match foreign {
        None => Ok(()),
        Some(name) => Err(Error::invalid(format!(
            "{} holds {name:?}, which is no part of an index: give an empty place, or one where an earlier state of this \
             index is published",
            objects.url()
        ))),
    }
}

impl Device for Publisher {
    fn backend(&self) -> Backend {
        self.device.backend()
    }

    fn create(&self, file: FileId) -> Result<()> {
        let mut staged = self.staged();
        let is_there = match file {
            FileId::Zone(zone) => staged.zones.contains_key(&zone),
            _ => staged.slots.is_some(),
        };
        if is_there {
            return Err(self.failed("create", file, "it is there already"));
        }
        match file {
            FileId::Zone(zone) => drop(staged.zones.insert(zone, StagedZone::default())),
            _ => staged.slots = Some(Vec::new()),
        }
        Ok(())
    }

    fn remove(&self, file: FileId) -> Result<()> {
        let mut staged = self.staged();
        let was_there = match file {
            FileId::Zone(zone) => {
                let mut catalog = (*self.device.catalog()).clone();
                catalog.forget(zone);
                self.aside().forget(zone);
                self.device.set_catalog(catalog);
                staged.zones.remove(&zone).is_some()
            }
            _ => staged.slots.take().is_some(),
        };
        if was_there {
            Ok(())
        } else {
            Err(self.absent("remove", file))
        }
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        let staged = self.staged();
        let slots = staged.slots.as_ref();
        let slots = slots.map(|slots| (FileId::Superblock, slots.len() as u32));
        let zones = staged.zones.iter();
        let zones = zones.map(|(zone, found)| (FileId::Zone(*zone), found.pages));
        Ok(slots.into_iter().chain(zones).collect())
    }

    /// Reads what is published, and what was synced and not set aside.
    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        let (mut transfers, mut pages) = (0, 0);
        let staged = self.staged();
        for transfer in batch.iter_mut().filter(|of| !of.buffers.is_empty()) {
            (transfers, pages) = (transfers + 1, pages + transfer.buffers.len());
            match transfer.file {
                FileId::Zone(zone) if staged.zones.contains_key(&zone) => {}
                FileId::Zone(_) => return Err(self.absent("read", transfer.file)),
                file => {
                    let slots = staged.slots.as_ref();
                    let slots = slots.ok_or_else(|| self.absent("read", file))?;
                    for (page, buffer) in (transfer.page as usize..).zip(&mut transfer.buffers) {
                        let slot = slots.get(page);
                        let slot = slot.ok_or_else(|| self.device.missing(file, page as u32))?;
                        buffer.copy_from_slice(slot);
                    }
                }
            }
        }
        drop(staged);
        if transfers > 0 {
            self.counters.count_reads(transfers, pages * PAGE_SIZE);
        }
        let mut zones = Vec::with_capacity(batch.len());
        for transfer in batch.iter_mut().filter(|of| of.file != FileId::Superblock) {
            zones.push(Transfer {
                buffers: std::mem::take(&mut transfer.buffers),
                ..*transfer
            });
        }
        let done = self.device.read(&mut zones);
        let transfers = batch.iter_mut().filter(|of| of.file != FileId::Superblock);
        transfers
            .zip(zones)
            .for_each(|(to, from)| to.buffers = from.buffers);
        done
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        let (transfers, pages) = batch.iter().fold((0, 0), |sum, transfer| {
            (sum.0 + 1, sum.1 + transfer.buffers.len())
        });
        self.counters.count_writes(transfers, pages * PAGE_SIZE);
        let mut staged = self.staged();
        batch
            .iter()
            .try_for_each(|transfer| self.write_zone(&mut staged, transfer))
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        self.counters.count_syncs(files.len());
        let mut staged = self.staged();
        for file in files {
            let FileId::Zone(zone) = file else {
                continue;
            };
            let found = staged.zones.get_mut(zone);
            let found = found.ok_or_else(|| self.absent("sync", *file))?;
            if let Some(upload) = found.upload.take() {
                self.finish(upload)?;
            }
        }
        Ok(())
    }

    fn sync_directory(&self) -> Result<()> {
        self.counters.count_syncs(1);
        Ok(())
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl Staged {
    /// The root slots, which are both there once a copy is whole.
    pub(crate) fn whole_slots(&self) -> Option<Vec<Slot>> {
        let slots = self.slots.as_ref().filter(|slots| slots.len() == SLOTS);
        slots.filter(|_| self.is_written).cloned()
    }
}
