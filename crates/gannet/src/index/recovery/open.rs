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
use super::replay::Replay;
use super::roots::{Opened, draw_number, no_index, open_root, unfinished};
use crate::base::{Error, Result, ZoneNumber};
use crate::device::{Access, OpenOptions, open_directory};
use crate::device::{Device, FileId};
use crate::documents::{Dictionaries, DocumentTables};
use crate::index::handle::Index;
use crate::index::owners::{Covered, RootParts, RootRecord};
use crate::index::state::{HeldRoot, Lifetime, Options, Shared, Vacuumed};
use crate::index::write::Writer;
use crate::storage::{
    Found, IndexIdentity, LogReach, LogStart, ReplayEnd, RootSlot, SlotKind, Store, ZoneTable,
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
    let unnamed = settle_root(&mut writer, slot.as_ref())?;
    let replayed = Replay::run(&mut writer, covered, reach, &())?;
    settle_log(&mut writer, covered.log_start, replayed, unnamed)?;
    writer.take_mapping()?;
    writer.show_opened(slot.is_some())?;
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

/// Makes the root durable and has others follow it. Gives the zones that it does not name, with
/// their pages; their numbers are not given again.
fn settle_root(writer: &mut Writer, slot: Option<&RootSlot>) -> Result<Vec<(ZoneNumber, u32)>> {
    let store = Arc::clone(&writer.shared().store);
    if let Some(slot) = slot {
        // Only a durable root may cost the zones of the one before it.
        settle_slot(store.device(), slot)?;
    }
    writer.note_opening(draw_number()?);
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

/// Makes what a replay from `start` accepted durable, removes what it did not, and has the writer
/// go on behind it.
fn settle_log(
    writer: &mut Writer,
    start: LogStart,
    replayed: ReplayEnd,
    mut unnamed: Vec<(ZoneNumber, u32)>,
) -> Result<()> {
    unnamed.retain(|(zone, _)| !replayed.zones.contains(zone));
    writer.drop_unknown(&unnamed)?;
    let store = &writer.shared().store;
    store.sync(&store.unsynced_log(start))?;
    writer.go_on_at(replayed.end);
    Ok(())
}
