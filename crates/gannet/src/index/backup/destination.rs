//! Opens the destination of a backup: an empty folder, or one that holds an earlier backup of the
//! same index.
//!
//! See `backup` for the order in which a destination is written, and for what always holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::{Error, Result, ZoneNumber};
use crate::device::{Device, FileId, Transfer, foreign_entry};
use crate::index::recovery::{read_root, unfinished};
use crate::index::write::expire_before;
use crate::storage::{
    Found, RootSlot, SlotKind, Store, ZoneTable, begin_copy, find_root, write_slot,
};

/// A folder, or any device, that a copy is made in.
pub(crate) struct Destination {
    device: Arc<dyn Device>,
    path: PathBuf,
    /// The root of the earlier backup.
    root: Option<RootSlot>,
    /// Pages of each zone that this root names and that are there; the zone of the root itself is
    /// left out.
    known: BTreeMap<ZoneNumber, u32>,
    /// All zones that are there, with their pages.
    files: BTreeMap<ZoneNumber, u32>,
}

impl Destination {
    /// Rejects a folder in which there is anything that does not belong to an index, before a lock
    /// is made there.
    pub(crate) fn check_folder(path: &Path, kind: SlotKind) -> Result<()> {
        match foreign_entry(path) {
            None => Ok(()),
            Some(name) => {
                let found = format!("holds {name:?}, which is no part of an index");
                Err(rejected(path, &found, wanted(kind)))
            }
        }
    }

    /// Looks at what is there; fails unless it may become what `slot` says.
    pub(crate) fn open(
        device: Arc<dyn Device>,
        path: &Path,
        slot: &RootSlot,
    ) -> Result<Destination> {
        let files = device
            .list()?
            .into_iter()
            .filter_map(|(file, pages)| match file {
                FileId::Zone(zone) => Some((zone, pages)),
                FileId::Superblock | FileId::Tier | FileId::Answers => None,
            });
        let mut destination = Destination {
            files: files.collect(),
            device,
            path: path.to_owned(),
            root: None,
            known: BTreeMap::new(),
        };
        match find_root(&destination.device, path)? {
            Found::Nothing if destination.files.is_empty() => {}
            Found::Nothing => {
                let found = "holds zones of an index without its root";
                return Err(rejected(path, found, wanted(slot.kind)));
            }
            Found::Unfinished(identity) if identity == slot.identity => {}
            Found::Unfinished(_) => return Err(unfinished(path)),
            Found::Root(root) => {
                check_ancestor(path, &root, slot)?;
                destination.learn(root)?;
            }
        }
        Ok(destination)
    }

    /// Takes in what the earlier backup consists of.
    fn learn(&mut self, root: RootSlot) -> Result<()> {
        let device = Arc::clone(&self.device);
        let store = Store::new(device, root.identity, ZoneTable::default());
        let record = at(&self.path, read_root(&store, &root))?;
        // Pages that are missing although the root names them are copied again.
        let there = |zone| self.files.get(&zone).copied().unwrap_or(0);
        let zones = record.zones.iter();
        let known = zones.map(|(zone, known)| (zone, known.pages.min(there(zone))));
        self.known = known.collect();
        self.root = Some(root);
        Ok(())
    }

    /// Returns true if there is an earlier backup.
    pub(crate) fn is_backup(&self) -> bool {
        self.root.is_some()
    }

    /// Returns true if the earlier backup is of this very root.
    pub(crate) fn has(&self, slot: &RootSlot) -> bool {
        let root = self.root.as_ref();
        root.is_some_and(|root| root.generation == slot.generation)
    }

    /// Pages of a zone that need not be copied.
    pub(crate) fn known_pages(&self, zone: ZoneNumber) -> u32 {
        self.known.get(&zone).copied().unwrap_or(0)
    }

    /// Makes ready for copying: what a copy that was cut short has left is removed, and a folder
    /// without a backup says that it is not whole.
    pub(crate) fn begin(&mut self, slot: &RootSlot) -> Result<()> {
        let own = self.root.as_ref().map(|root| root.root.zone);
        let kept = |zone: &ZoneNumber| self.known.contains_key(zone) || own == Some(*zone);
        let files = self.files.keys().copied();
        let left: Vec<ZoneNumber> = files.filter(|zone| !kept(zone)).collect();
        self.remove(&left)?;
        match self.root {
            Some(_) => Ok(()),
            None => at(&self.path, begin_copy(&self.device, slot.identity)),
        }
    }

    /// Makes the file of a zone unless it is there.
    pub(crate) fn make_zone(&mut self, zone: ZoneNumber) -> Result<()> {
        match self.files.insert(zone, 0) {
            None => at(&self.path, self.device.create(FileId::Zone(zone))),
            Some(_) => Ok(()),
        }
    }

    /// Writes pages of a zone.
    pub(crate) fn write(&self, pages: Transfer) -> Result<()> {
        at(&self.path, self.device.write(&mut [pages]))
    }

    /// Makes what was written to a zone durable.
    pub(crate) fn sync_zone(&self, zone: ZoneNumber) -> Result<()> {
        at(&self.path, self.device.sync(&[FileId::Zone(zone)]))
    }

    /// Makes the root count, now that all it names is there, and removes the zones that it does not
    /// name.
    pub(crate) fn finish(&mut self, slot: &RootSlot, zones: &ZoneTable) -> Result<()> {
        at(&self.path, self.device.sync_directory())?;
        at(&self.path, write_slot(&self.device, slot))?;
        let named = |zone: ZoneNumber| zones.get(zone).is_some() || zone == slot.root.zone;
        let files = self.files.keys().copied();
        let left: Vec<ZoneNumber> = files.filter(|zone| !named(*zone)).collect();
        // Who reads the earlier backup reads this one from now on.
        at(&self.path, expire_before(&*self.device, slot.generation))?;
        self.remove(&left)
    }

    fn remove(&mut self, zones: &[ZoneNumber]) -> Result<()> {
        for zone in zones {
            at(&self.path, self.device.remove(FileId::Zone(*zone)))?;
            self.files.remove(zone);
        }
        if zones.is_empty() {
            Ok(())
        } else {
            // The same names may be made again for other pages.
            at(&self.path, self.device.sync_directory())
        }
    }
}

/// Fails unless `root`, which stands in the destination, is that of a backup from which `slot` goes
/// on.
fn check_ancestor(path: &Path, root: &RootSlot, slot: &RootSlot) -> Result<()> {
    if root.identity != slot.identity {
        return Err(rejected(path, "holds another index", wanted(slot.kind)));
    }
    if root.kind != SlotKind::Backup {
        return Err(rejected(
            path,
            "holds this index or a copy of it that was opened for writing, not a backup",
            wanted(slot.kind),
        ));
    }
    let goes_on =
        root.generation <= slot.generation && slot.history.includes(&root.history, root.generation);
    if goes_on || root == slot {
        Ok(())
    } else {
        Err(rejected(
            path,
            "holds a backup that this index does not go on from: it, or a copy of it, was set back and then written",
            wanted(slot.kind),
        ))
    }
}

/// Names the folders that a copy of this kind may go to.
fn wanted(kind: SlotKind) -> &'static str {
    match kind {
        SlotKind::Backup => "give an empty folder, or one with an earlier backup of this index",
        _ => "a backup is restored into a folder that is missing or empty: give another one",
    }
}

fn rejected(path: &Path, found: &str, wanted: &str) -> Error {
    Error::invalid(format!("{} {found}: {wanted}", path.display()))
}

/// The file with its destination; some devices name both themselves.
fn named(path: &Path, file: String) -> String {
    if file.starts_with(&*path.to_string_lossy()) {
        file
    } else {
        path.join(file).display().to_string()
    }
}

/// Names the destination in the errors of its device.
fn at<T>(path: &Path, done: Result<T>) -> Result<T> {
    done.map_err(|error| match error {
        Error::Device {
            operation,
            file,
            reason,
            full,
        } => Error::Device {
            operation,
            file: named(path, file),
            reason,
            full,
        },
        Error::Damaged { what, reason } => Error::Damaged {
            what: format!("{what} in {}", path.display()),
            reason,
        },
        other => other,
    })
}
