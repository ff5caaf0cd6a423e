//! Backups: one state of an index in a folder of its own, copied while writing goes on.
//!
//! A checkpoint makes a root of all that was acknowledged before. While its epoch is held, the
//! zones that it names stay, and their pages never change, so copying them in any order gives that
//! very state. What comes of it can be read like any index and has the same identity. It is never
//! written but by the next backup: what is restored from it is an index with an identity of its own
//! (see `restore`).
//!
//! Order matters: (1) a first copy says in its superblock that it is not whole; (2) pages are
//! copied, each proved before it is written, and synced; (3) the root slots are written and synced;
//! (4) zones that only an older root names are removed. What always holds:
//!
//! 1. Nothing that the destination's root names is touched before a newer root is durable there. A
//!    copy that is cut short leaves the earlier backup as it was, or a folder that says that it is
//!    no index.
//! 2. What stands behind the pages that a backup's root names belongs to a copy that was cut short;
//!    no replay reads it, and the next copy writes it anew.
//! 3. Into a folder that holds a backup goes only what goes on from that backup: its zones are then
//!    the source's, and only what they lack is copied.

use std::path::Path;
use std::sync::Arc;

use super::destination::Destination;
use crate::base::{Error, PAGE_SIZE, PageAddress, Result, ZoneNumber};
use crate::device::{Access, Device, OpenOptions, PagePool, open_directory};
use crate::index::handle::Index;
use crate::index::owners::RootRecord;
use crate::index::read::Snapshot;
use crate::index::recovery::read_root;
use crate::index::state::State;
use crate::index::state::{Epoch, Shared};
use crate::index::write::Writer;
use crate::storage::{PageKind, RootSlot, SlotKind};

/// Pages read and written at once: 1 MiB.
const COPY_PAGES: usize = 256;

/// A state of an index that is held to be copied; made by [`Index::begin_backup`].
///
/// While it lives, the space on flash that the state refers to is not reused.
pub struct Backup {
    pub(crate) shared: Arc<Shared>,
    _epoch: Arc<Epoch>,
    pub(crate) slot: RootSlot,
    record: RootRecord,
}

/// The results of a backup or of restoring one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Documents in the copy.
    pub documents: u64,
    /// The last operation that the copy includes.
    pub sequence: u64,
    /// Bytes of all pages that the copy consists of.
    pub bytes: u64,
    /// Bytes that were copied this time; the others were there from an earlier backup.
    pub bytes_copied: u64,
    /// Set if the folder held an earlier backup of the index.
    pub incremental: bool,
}

/// Pages of one zone that the copy consists of.
#[derive(Clone, Copy, Debug)]
struct ZoneRange {
    /// The first page to be copied.
    first: PageAddress,
    /// The page behind the last.
    end: u32,
    kind: PageKind,
}

impl Index {
    /// Backs the index up into the folder `to` while searching and writing go on: all that was
    /// acknowledged before the call. The folder is made if it is missing; if it holds an earlier
    /// backup of this index, only what is new is copied. `progress` is told how many bytes are
    /// copied, and of how many.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] names the page of the index that is not what was written.
    /// [`Error::Invalid`] if the folder holds anything else. After any error the folder holds the
    /// earlier backup, or says that it is none.
    pub fn backup(
        &self,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackupReport> {
        let backup = self.begin_backup()?.0;
        backup.copy_to(to, progress)
    }

    /// Holds the state that a backup is to have, and gives a view of that state. The view holds
    /// memory that writing needs: let it go soon.
    pub fn begin_backup(&self) -> Result<(Backup, Snapshot)> {
        let (slot, state) = if self.is_writable() {
            self.newest_root()?
        } else {
            self.settled_root()?
        };
        let record = read_root(&self.shared().store, &slot)?;
        if record.sequence < state.sequence {
            return Err(Error::invalid(
                "the index was not closed, and its log holds more than its last checkpoint: open it for writing, \
                 which recovers it, and back it up then",
            ));
        }
        let backup = Backup {
            shared: Arc::clone(self.shared()),
            _epoch: Arc::clone(&state.epoch),
            slot,
            record,
        };
        Ok((backup, Snapshot::new(Arc::clone(self.shared()), &state)))
    }

    /// Returns true if a backup can be made of the index as it was opened: for writing, or for
    /// reading after it was closed.
    pub fn is_settled(&self) -> Result<bool> {
        if self.is_writable() {
            return Ok(true);
        }
        let (slot, state) = self.settled_root()?;
        let record = read_root(&self.shared().store, &slot)?;
        Ok(record.sequence >= state.sequence)
    }

    /// Makes a root of all that was written before.
    fn newest_root(&self) -> Result<(RootSlot, Arc<State>)> {
        self.flush_beside()?;
        self.after_flush(|writer| {
            let slot = writer.newest_root()?;
            Ok((slot, self.shared().published.get()))
        })
    }

    /// Has what was written flushed while writing goes on, so that the checkpoint, for which writes
    /// wait, has little left to do.
    fn flush_beside(&self) -> Result<()> {
        let before = self.patiently(Writer::flush_postings)?;
        let under_way = |writer: &mut Writer| writer.progress_since(before);
        while let Some(flush) = self.with_writer(under_way)? {
            flush.wait_for_end(None);
        }
        Ok(())
    }

    /// The root that is read, and its state.
    fn settled_root(&self) -> Result<(RootSlot, Arc<State>)> {
        let reading = self.shared().reading();
        let root = reading.as_ref().map(|root| root.slot.clone());
        let slot = root.ok_or_else(|| Error::internal("a reader has no root"))?;
        Ok((slot, self.shared().published.get()))
    }
}

impl Backup {
    /// Copies the state into the folder `to`, as [`Index::backup`] does.
    pub fn copy_to(
        &self,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackupReport> {
        self.copy_as(&self.backup_slot(), to.as_ref(), progress)
    }

    /// Copies the state to a device, as [`Index::backup`] does to a folder; `name` stands for the
    /// device in messages. What the device cannot write in place is the superblock alone: it is
    /// written twice, each time followed by a sync, after all zones were synced.
    pub fn copy_to_device(
        &self,
        device: Arc<dyn Device>,
        name: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackupReport> {
        self.copy_on(device, name, &self.backup_slot(), progress)
    }

    /// Returns the root slot for the superblock of a backup.
    pub(crate) fn backup_slot(&self) -> RootSlot {
        RootSlot {
            kind: SlotKind::Backup,
            ..self.slot.clone()
        }
    }

    /// Copies the state into a folder, to become what `slot` says.
    pub(crate) fn copy_as(
        &self,
        slot: &RootSlot,
        path: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackupReport> {
        Destination::check_folder(path, slot.kind)?;
        let open = OpenOptions {
            backend: self.shared.options.backend,
            access: Access::Write,
            create: true,
        };
        self.copy_on(open_directory(path, &open)?, path, slot, progress)
    }

    /// Copies the state to any device; `path` is for messages.
    pub(crate) fn copy_on(
        &self,
        device: Arc<dyn Device>,
        path: &Path,
        slot: &RootSlot,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackupReport> {
        let mut destination = Destination::open(device, path, slot)?;
        let mut parts = self.parts(|zone| destination.known_pages(zone));
        if destination.has(slot) {
            // Of the same root only what was lost since.
            parts.retain(|part| part.kind != PageKind::Root && part.first.page < part.end);
        }
        let report = BackupReport {
            documents: self.record.documents,
            sequence: self.record.sequence,
            bytes: bytes_of(&self.parts(|_| 0)),
            bytes_copied: bytes_of(&parts),
            incremental: destination.is_backup(),
        };
        if !parts.is_empty() {
            destination.begin(slot)?;
            self.copy_parts(&parts, slot, &mut destination, progress)?;
            destination.finish(slot, &self.record.zones)?;
        }
        Ok(report)
    }

    /// Returns the ranges of zones to copy, without the first pages of zones that are there.
    fn parts(&self, there: impl Fn(ZoneNumber) -> u32) -> Vec<ZoneRange> {
        let zones = self.record.zones.iter().map(|(zone, known)| ZoneRange {
            first: PageAddress {
                zone,
                page: there(zone).min(known.pages),
            },
            end: known.pages,
            kind: known.kind,
        });
        let root = self.slot.root;
        // Of the zone of root records one root is needed, and no root shares a page with another.
        let root = ZoneRange {
            first: PageAddress {
                zone: root.zone,
                page: root.page,
            },
            end: root.page + root.page_count(),
            kind: PageKind::Root,
        };
        zones.chain([root]).collect()
    }

    fn copy_parts(
        &self,
        parts: &[ZoneRange],
        slot: &RootSlot,
        destination: &mut Destination,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let budget = &self.shared.budget;
        let _memory = budget.reserve("the buffer of a backup", COPY_PAGES * PAGE_SIZE)?;
        let pool = PagePool::new(COPY_PAGES);
        let (mut done, total) = (0, bytes_of(parts));
        for part in parts {
            destination.make_zone(part.first.zone)?;
            let mut at = part.first;
            while at.page < part.end {
                let count = (part.end - at.page).min(COPY_PAGES as u32);
                let store = &self.shared.store;
                let pages = store.copy_out(at, count, part.kind, slot.identity, &pool)?;
                destination.write(pages)?;
                at.page += count;
                done += count as u64 * PAGE_SIZE as u64;
                progress(done, total);
            }
            destination.sync_zone(part.first.zone)?;
        }
        Ok(())
    }
}

fn bytes_of(parts: &[ZoneRange]) -> u64 {
    let pages = parts.iter().map(|part| (part.end - part.first.page) as u64);
    pages.sum::<u64>() * PAGE_SIZE as u64
}
