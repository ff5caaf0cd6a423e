//! The store: a device, the identity of the index on it, its zones, and the pages not yet written.
//!
//! Shared by the writer, who appends through [`super::StreamWriter`]s, and by readers, who read
//! pages.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use super::log_start::LogStart;
use super::pending::PendingPages;
use super::seal::{self, IndexIdentity, PageKind};
use super::zones::ZoneTable;
use crate::base::{Error, PAGE_PAYLOAD, PAGE_SIZE, PageAddress, Result, Span, ZoneNumber};
use crate::device::{Device, FileId, PageBuffer, PagePool, Readers, Transfer};

/// The most full pages that are gathered before they are written: 1 MiB.
pub(super) const WRITE_PAGES_MAX: usize = 256;

/// The most pages that one read operation takes: 256 KiB.
const READ_PAGES_MAX: usize = 64;

/// The most pages of a span that are read before they have proved themselves: 1 MiB.
const SPAN_PAGES: usize = 4 * READ_PAGES_MAX;

/// A device with the zones of one index on it.
pub struct Store {
    device: Arc<dyn Device>,
    identity: IndexIdentity,
    zones: Mutex<ZoneTable>,
    pending: RwLock<PendingPages>,
    syncing: Mutex<Syncing>,
    written: WrittenPages,
    write_pages: usize,
}

/// Pages written since the store was made, by the number of their kind.
#[derive(Default)]
struct WrittenPages([AtomicU64; PageKind::COUNT]);

/// The syncs, as each must know of the others. Held while a sync runs: the system reports a lost
/// write to one caller only, so no other may be told meanwhile that all is well.
#[derive(Debug, Default)]
struct Syncing {
    /// Why nothing can be made durable any more.
    failed: Option<String>,
    /// Zones whose files are gone, given up by a root that is durable.
    removed: BTreeSet<ZoneNumber>,
}

impl Store {
    /// A store on `device` with the zones that its root names.
    pub fn new(device: Arc<dyn Device>, identity: IndexIdentity, zones: ZoneTable) -> Store {
        Store {
            device,
            identity,
            zones: Mutex::new(zones),
            pending: RwLock::default(),
            syncing: Mutex::default(),
            written: WrittenPages::default(),
            write_pages: WRITE_PAGES_MAX,
        }
    }

    /// The same store, whose streams gather `pages` pages before they write, instead of
    /// [`WRITE_PAGES_MAX`].
    #[must_use]
    pub fn with_write_pages(mut self, pages: usize) -> Store {
        self.write_pages = pages.clamp(1, WRITE_PAGES_MAX);
        self
    }

    /// Full pages that a stream gathers before it writes them.
    pub fn write_pages(&self) -> usize {
        self.write_pages
    }

    /// The device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The identity of the index.
    pub fn identity(&self) -> IndexIdentity {
        self.identity
    }

    /// The zone table, locked.
    pub fn zones(&self) -> MutexGuard<'_, ZoneTable> {
        self.zones.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Counts a page as no longer needed by the newest state.
    pub fn release_page(&self, address: PageAddress) {
        self.zones().release(address.zone, PAGE_PAYLOAD as u64);
    }

    /// Counts a span as no longer needed by the newest state.
    pub fn release_span(&self, span: Span) {
        self.zones().release(span.zone, span.length as u64);
    }

    /// A page that a writer has taken but not yet written, copied into `buffer`.
    pub fn copy_pending(&self, address: PageAddress, buffer: &mut PageBuffer) -> bool {
        let pending = self.pending.read().unwrap_or_else(|e| e.into_inner());
        pending.copy(address, buffer)
    }

    /// Returns true if a page is taken but not yet written.
    pub fn is_pending(&self, address: PageAddress) -> bool {
        let pending = self.pending.read().unwrap_or_else(|e| e.into_inner());
        pending.contains(address)
    }

    /// Bytes written in pages of `kind` since the store was made.
    pub fn written_bytes(&self, kind: PageKind) -> u64 {
        let pages = self.written.0[kind as usize].load(Ordering::Relaxed);
        pages * PAGE_SIZE as u64
    }

    pub(super) fn note_written(&self, kind: PageKind, pages: u32) {
        self.written.0[kind as usize].fetch_add(pages as u64, Ordering::Relaxed);
    }

    pub(super) fn with_pending<T>(&self, act: impl FnOnce(&mut PendingPages) -> T) -> T {
        act(&mut self.pending.write().unwrap_or_else(|e| e.into_inner()))
    }

    /// Reads and checks pages in one batch. `wanted` pairs addresses with buffers, in any order;
    /// they come back sorted by address, with the kind of each page. Also tells how many operations
    /// it took.
    pub fn read(&self, wanted: Vec<(PageAddress, PageBuffer)>) -> Result<(Vec<ReadPage>, usize)> {
        let mut transfers = coalesce(wanted);
        self.unless_expired(self.device.read(&mut transfers))?;
        let operations = transfers.len();
        let mut pages = Vec::new();
        for transfer in transfers {
            let FileId::Zone(zone) = transfer.file else {
                continue;
            };
            for (page, buffer) in (transfer.page..).zip(transfer.buffers) {
                let address = PageAddress { zone, page };
                let kind = seal::verify(&buffer, self.identity, address.into());
                let kind = self.unless_expired(kind)?;
                pages.push(ReadPage {
                    address,
                    kind,
                    buffer,
                });
            }
        }
        Ok((pages, operations))
    }

    /// Turns a failed read into [`Error::Expired`] if a writer of another process was free to
    /// remove the page.
    pub fn unless_expired<T>(&self, read: Result<T>) -> Result<T> {
        read.map_err(|error| match error {
            Error::Device { .. } | Error::Damaged { .. } => {
                let readers = self.device.readers();
                readers.and_then(Readers::expired).unwrap_or(error)
            }
            error => error,
        })
    }

    /// Reads a span outside the frame pool, for what is read once: root records. Memory is taken
    /// for what has proved itself, and not for what the length says.
    pub fn read_span(&self, span: Span, kind: PageKind) -> Result<Vec<u8>> {
        self.check_span(span)?;
        let mut bytes = Vec::new();
        let (mut addresses, pool) = (span.pages().peekable(), PagePool::new(SPAN_PAGES));
        while addresses.peek().is_some() {
            let wanted = addresses.by_ref().take(SPAN_PAGES);
            let wanted = wanted.map_while(|address| Some((address, pool.take()?)));
            let (pages, _) = self.read(wanted.collect())?;
            for page in &pages {
                if page.kind != kind {
                    return Err(wrong_kind(page.address, kind, page.kind));
                }
                bytes.extend_from_slice(&page.buffer[..PAGE_PAYLOAD]);
            }
        }
        let start = span.offset as usize;
        bytes.truncate(start + span.length as usize);
        bytes.drain(..start);
        Ok(bytes)
    }

    /// Fails unless the span lies in its file, so that no memory is taken for what cannot be there.
    fn check_span(&self, span: Span) -> Result<()> {
        let file = FileId::Zone(span.zone);
        let files = self.device.list()?;
        let pages = files
            .into_iter()
            .find_map(|(name, pages)| (name == file).then_some(pages));
        let end = span.page as u64 + span.page_count() as u64;
        match pages {
            Some(pages) if end <= pages as u64 => Ok(()),
            pages => self.unless_expired(Err(Error::damaged(
                file.name(),
                format!("expected {end} pages, got {}", pages.unwrap_or(0)),
            ))),
        }
    }

    /// The log that a replay from `start` has read: whoever wrote it may not have made it durable.
    pub fn unsynced_log(&self, start: LogStart) -> Unsynced {
        let zones = self.zones();
        let read = zones
            .iter()
            .filter(|(number, zone)| zone.replays(*number, start));
        Unsynced {
            zones: read.map(|(number, _)| number).collect(),
            created: true,
        }
    }

    /// Makes what streams have written durable: their files, and the names of new ones. After a
    /// failure every later call fails too.
    pub fn sync(&self, unsynced: &Unsynced) -> Result<()> {
        let mut syncing = self.syncing();
        if let Some(reason) = &syncing.failed {
            return Err(Error::Stopped(reason.clone()));
        }
        let zones = unsynced.zones.difference(&syncing.removed);
        let done = self.sync_zones(zones.copied(), unsynced.created);
        syncing.failed = done.as_ref().err().map(ToString::to_string);
        done
    }

    fn sync_zones(&self, zones: impl Iterator<Item = ZoneNumber>, created: bool) -> Result<()> {
        let files: Vec<FileId> = zones.map(FileId::Zone).collect();
        if !files.is_empty() {
            self.device.sync(&files)?;
        }
        if created {
            self.device.sync_directory()?;
        }
        Ok(())
    }

    fn syncing(&self) -> MutexGuard<'_, Syncing> {
        self.syncing.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Removes the files of zones that no root and no snapshot needs.
    pub fn remove_zones(&self, zones: &[ZoneNumber]) -> Result<()> {
        let mut syncing = self.syncing();
        for zone in zones {
            self.device.remove(FileId::Zone(*zone))?;
            syncing.removed.insert(*zone);
        }
        Ok(())
    }
}

/// Writes that are not durable yet.
#[derive(Clone, Debug, Default)]
pub struct Unsynced {
    pub(super) zones: BTreeSet<ZoneNumber>,
    /// Set if zones were made whose names are not durable yet.
    pub(super) created: bool,
}

impl Unsynced {
    /// Adds what another stream has written.
    pub fn join(&mut self, other: Unsynced) {
        self.zones.extend(other.zones);
        self.created |= other.created;
    }
}

/// A page that was read and checked.
#[derive(Debug)]
pub struct ReadPage {
    /// Its address.
    pub address: PageAddress,
    /// Its kind.
    pub kind: PageKind,
    /// Its bytes.
    pub buffer: PageBuffer,
}

/// Joins neighbouring pages into one transfer each.
fn coalesce(mut wanted: Vec<(PageAddress, PageBuffer)>) -> Vec<Transfer> {
    wanted.sort_unstable_by_key(|(address, _)| *address);
    let mut transfers: Vec<Transfer> = Vec::with_capacity(wanted.len());
    for (address, buffer) in wanted {
        let file = FileId::Zone(address.zone);
        match transfers.last_mut() {
            Some(last) if last.file == file && follows(last, address.page) => {
                last.buffers.push(buffer);
            }
            _ => transfers.push(Transfer {
                file,
                page: address.page,
                buffers: vec![buffer],
            }),
        }
    }
    transfers
}

fn follows(transfer: &Transfer, page: u32) -> bool {
    let count = transfer.buffers.len();
    count < READ_PAGES_MAX && transfer.page as u64 + count as u64 == page as u64
}

/// The error for a page of the wrong kind.
pub fn wrong_kind(address: PageAddress, expected: PageKind, got: PageKind) -> Error {
    Error::damaged(
        format!("page {} of {}", address.page, FileId::Zone(address.zone)),
        format!("expected a page of kind {expected:?}, got {got:?}"),
    )
}
