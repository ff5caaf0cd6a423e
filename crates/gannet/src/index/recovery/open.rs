//! Opening: the newest root, then the log behind it.
//!
//! A replay puts the logged batches back into the posting buffer and the tables, just as they were
//! written, with their doc IDs, versions and sequence numbers. What it accepted is synced before
//! anything is built on it: after a kill the pages may be in the file but not yet durable. So is
//! the root, since a replay may write another.

use std::path::Path;
use std::sync::Arc;

use super::reading;
use super::recover::recover;
use super::roots::{Opened, draw_number, no_index, open_root, unfinished};
use crate::base::{Error, PAGE_SIZE, Result, ZoneNumber};
use crate::device::{Access, OpenOptions, open_directory};
use crate::device::{Device, FileId};
use crate::documents::{Dictionaries, DocumentTables};
use crate::index::handle::Index;
use crate::index::owners::{Covered, RootParts, RootRecord};
use crate::index::state::{HeldRoot, Lifetime, Options, RetiredZones, Shared, Vacuumed};
use crate::index::write::Writer;
use crate::storage::{
    Found, IndexIdentity, Log, LogReach, LogStart, ReplayEnd, RootSlot, SlotKind, Store, ZoneTable,
    create_superblock, find_root, settle_slot,
};

impl Options {
    /// Opens the index in the folder `path`.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Index> {
        Index::open_with(path.as_ref(), self)
    }

    /// Opens the index on a device; `name` stands for it in messages. The memory that the device
    /// takes ([`Device::memory`]) is a part of the memory budget.
    pub fn open_on(self, device: Arc<dyn Device>, name: impl AsRef<Path>) -> Result<Index> {
        self.check()?;
        Index::open_on(device, name.as_ref(), self)
    }
}

impl Index {
    pub(crate) fn open_with(path: &Path, options: Options) -> Result<Index> {
        options.check()?;
        let access = if options.read_only {
            Access::Read
        } else {
            Access::Write
        };
        let open = OpenOptions {
            backend: options.backend,
            access,
            create: options.create,
        };
        let device = open_directory(path, &open)?;
        Index::open_on(device, path, options)
    }

    /// Opens an index on any device; `path` is for messages.
    pub(crate) fn open_on(device: Arc<dyn Device>, path: &Path, options: Options) -> Result<Index> {
        let (shared, writer) = open(device, path, options)?;
        Ok(Index::new(shared, writer))
    }
}

/// Opens what is on the device, or makes an index. There is no writer where only reading is asked
/// for.
pub(crate) fn open(
    device: Arc<dyn Device>,
    path: &Path,
    options: Options,
) -> Result<(Arc<Shared>, Option<Writer>)> {
    if options.read_only {
        return reading::open(&device, path, &options).map(|shared| (shared, None));
    }
    let opened = match find_root(&device, path)? {
        Found::Root(slot) if slot.kind == SlotKind::Backup => {
            return Err(backup_is_read_only(path));
        }
        Found::Root(slot) => open_root(device, path, HeldRoot::of_writer(slot))?,
        Found::Nothing if options.create => make(device)?,
        Found::Nothing => return Err(no_index(path)),
        Found::Unfinished(_) => return Err(unfinished(path)),
    };
    let (slot, reach) = match &opened.root {
        Some(root) => (Some(root.slot.clone()), root.reach),
        None => (None, LogReach::Written),
    };
    let covered = opened.record.covered;
    let (shared, mut writer) = recover(opened, options)?;
    let unnamed = writer.settle_root(slot.as_ref())?;
    let replayed = writer.replay(covered, reach, &())?;
    writer.settle_log(covered.log_start, replayed, unnamed)?;
    match slot {
        None => writer.checkpoint()?,
        Some(_) if writer.state.sequence == writer.rooted.0 => writer.note_root(),
        Some(_) => {}
    }
    Ok((shared, Some(writer)))
}

/// The error for a backup that is opened for writing: the next backup would take the changes away,
/// and a backup that was changed restores another state than the one that it was made of.
fn backup_is_read_only(path: &Path) -> Error {
    Error::Format {
        path: path.into(),
        reason: "expected an index, found a backup, which can only be read: make an index of it with `gannet restore` and \
                 write to that, or delete the folder"
            .to_owned(),
    }
}

/// An index with nothing in it; its first checkpoint is still to come.
fn make(device: Arc<dyn Device>) -> Result<Opened> {
    create_superblock(&device)?;
    let identity: IndexIdentity = draw_number()?;
    let store = Store::new(device, identity, ZoneTable::default());
    let record = RootRecord {
        zones: ZoneTable::default(),
        covered: Covered {
            log_start: LogStart::BEGINNING,
            below: 0,
        },
        next_doc: 0,
        sequence: 0,
        documents: 0,
        schema: Arc::default(),
        statistics: Vec::new(),
        dictionaries: Dictionaries::default(),
        tables: DocumentTables::new(),
        vacuumed: Vacuumed::default(),
        lifetime: Lifetime::default(),
        parts: RootParts::default(),
    };
    Ok(Opened {
        store,
        record,
        root: None,
    })
}

impl Writer {
    /// Makes the root durable and has others follow it. Gives the zones that it does not name, with
    /// their pages; their numbers are not given again.
    fn settle_root(&mut self, slot: Option<&RootSlot>) -> Result<Vec<(ZoneNumber, u32)>> {
        let store = &self.shared.store;
        if let Some(slot) = slot {
            // Only a durable root may cost the zones of the one before it.
            settle_slot(store.device(), slot)?;
        }
        self.history.open(draw_number()?, self.generation + 1);
        let mut unnamed = Vec::new();
        for (file, pages) in store.device().list()? {
            let FileId::Zone(zone) = file else { continue };
            let mut zones = store.zones();
            if zones.get(zone).is_none() {
                unnamed.push((zone, pages));
            }
            zones.reserve_numbers(zone.saturating_add(1));
        }
        Ok(unnamed)
    }

    /// Makes what a replay from `start` accepted durable, removes what it did not, and goes on
    /// behind it.
    fn settle_log(
        &mut self,
        start: LogStart,
        replayed: ReplayEnd,
        mut unnamed: Vec<(ZoneNumber, u32)>,
    ) -> Result<()> {
        let store = Arc::clone(&self.shared.store);
        unnamed.retain(|(zone, _)| !replayed.zones.contains(zone));
        self.drop_unknown(&unnamed)?;
        store.sync(&store.unsynced_log(start))?;
        self.log = Log::resume(store, replayed.end);
        Ok(())
    }

    /// Removes zones that neither the root nor the log behind it names. Some of them may be named
    /// by an older root that another process still reads: then all of them wait for its leases.
    fn drop_unknown(&mut self, unknown: &[(ZoneNumber, u32)]) -> Result<()> {
        let store = &self.shared.store;
        self.leases.look(&**store.device())?;
        let zones: Vec<ZoneNumber> = unknown.iter().map(|(zone, _)| *zone).collect();
        let generation = self.generation;
        if self
            .leases
            .oldest()
            .is_none_or(|oldest| oldest >= generation)
        {
            return store.remove_zones(&zones);
        }
        let pages: u64 = unknown.iter().map(|(_, pages)| *pages as u64).sum();
        self.shared.published.retire(RetiredZones {
            generation,
            zones,
            bytes: pages * PAGE_SIZE as u64,
        });
        self.give_up_zones()
    }
}
