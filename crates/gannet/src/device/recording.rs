//! A memory device for crash tests: it records all that is done, fails on demand, and forgets
//! syncs.
//!
//! Two numberings, both from zero. *Changes* are what can fail: a write transfer, a creation, a
//! removal, the sync of one file, the sync of the directory; read transfers are numbered apart.
//! *Events* are the entries of the log, one for each page written: a crash can be asked for before
//! any of them.

use std::io;
use std::sync::{Mutex, MutexGuard};

use rustix::io::Errno;

use super::counters::Counters;
use super::crash::CrashImages;
use super::crash_state::{Event, SECTORS, tear};
use super::failure::failure;
use super::memory::{Files, MemoryDevice, Page};
use super::{Backend, Device, FileId, Transfer};
use crate::base::{Error, Result};

/// The failures of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Any change fails with EIO and does nothing.
    Io,
    /// A write or a creation fails with ENOSPC and does nothing.
    Full,
    /// A write stores its first sectors of 512 bytes, then fails with EIO.
    ShortWrite {
        /// The number of sectors that arrive.
        sectors: usize,
    },
    /// The sync of a file or of the directory fails with EIO; a file's writes so far are never
    /// durable.
    Sync,
    /// A read fails with EIO.
    Read,
}

/// An order to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The first change (or read transfer, for [`FaultKind::Read`]) that may fail; of those from
    /// here on, the first to which the kind applies does.
    pub at: u64,
    /// The kind of failure.
    pub kind: FaultKind,
    /// Set if all later operations to which the kind applies fail too.
    pub sticky: bool,
}

/// The recording device.
#[derive(Debug, Default)]
pub struct RecordingDevice {
    start: Files,
    live: MemoryDevice,
    state: Mutex<RecordedEvents>,
}

#[derive(Debug, Default)]
struct RecordedEvents {
    events: Vec<Event>,
    changes: u64,
    reads: u64,
    syncs: u64,
    fault: Option<Fault>,
    faults_met: u64,
    dropped_sync: Option<u64>,
}

/// The next operation, as far as faults care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeviceOperation {
    Read,
    Write,
    Create,
    Remove,
    Sync,
}

impl RecordingDevice {
    /// A device without files.
    pub fn new() -> RecordingDevice {
        RecordingDevice::default()
    }

    /// A device that begins with the files of `image`, all durable: for a second crash, in
    /// recovery.
    pub fn from_image(image: &MemoryDevice) -> RecordingDevice {
        RecordingDevice {
            start: image.files(),
            live: MemoryDevice::from_files(image.files()),
            state: Mutex::default(),
        }
    }

    /// Orders a failure, in place of one ordered before.
    pub fn fail(&self, fault: Fault) {
        self.state().fault = Some(fault);
    }

    /// Takes the order to fail back.
    pub fn heal(&self) {
        self.state().fault = None;
    }

    /// Returns the number of operations that were made to fail.
    pub fn faults_met(&self) -> u64 {
        self.state().faults_met
    }

    /// The sync number `n`, of a file or of the directory, will claim success and do nothing: a
    /// canary, for a crash test that does not notice is no test.
    pub fn drop_sync(&self, n: u64) {
        self.state().dropped_sync = Some(n);
    }

    /// Returns the number of changes that were asked for, failed ones included.
    pub fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Returns the number of read transfers that were asked for, failed ones included.
    pub fn reads(&self) -> u64 {
        self.state().reads
    }

    /// Returns the number of syncs of files and of the directory that did not fail.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Returns the number of events in the log: a crash can be asked for at the points 0 to this
    /// number.
    pub fn events(&self) -> usize {
        self.state().events.len()
    }

    /// Returns the images that a crash after the first `point` events can leave behind, `random`
    /// random states included.
    ///
    /// The same arguments give the same images.
    pub fn crash_images(&self, point: usize, random: usize, seed: u64) -> CrashImages {
        let state = self.state();
        let point = point.min(state.events.len());
        CrashImages::new(&self.start, &state.events[..point], random, seed)
    }

    fn state(&self) -> MutexGuard<'_, RecordedEvents> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn write_one(&self, transfer: &Transfer) -> Result<()> {
        self.live.check_exists(transfer.file, "write")?;
        let mut state = self.state();
        let fault = state.meet(DeviceOperation::Write);
        let place = format!("{} page {}", transfer.file, transfer.page);
        let whole = transfer.buffers.len() * SECTORS;
        let sectors = match fault {
            None => whole,
            Some(FaultKind::ShortWrite { sectors }) => sectors.min(whole),
            Some(_) => 0,
        };
        self.store(transfer, sectors, &mut state)?;
        fault.map_or(Ok(()), |fault| Err(fault.error("write", place)))
    }

    /// Stores and logs the first `sectors` sectors of a transfer.
    fn store(&self, transfer: &Transfer, sectors: usize, state: &mut RecordedEvents) -> Result<()> {
        let file = transfer.file;
        let pages = (transfer.page..).zip(&transfer.buffers);
        for (page, buffer) in pages.take(sectors.div_ceil(SECTORS)) {
            let before = (page - transfer.page) as usize * SECTORS;
            let arrived = (sectors - before).min(SECTORS);
            let old = self.live.page(file, page).unwrap_or_else(Page::zero);
            let content = tear(&old, &Page::new(buffer), ((1u16 << arrived) - 1) as u8);
            self.live.store(file, page, content.clone())?;
            state.events.push(Event::Write(file, page, content));
        }
        Ok(())
    }

    /// Notes the sync of one file or, without one, of the directory.
    fn sync_one(&self, file: Option<FileId>) -> Result<()> {
        let mut state = self.state();
        if let Some(fault) = state.meet(DeviceOperation::Sync) {
            state.events.extend(file.map(Event::FailedSync));
            let place = file.map_or("the directory".to_owned(), |file| file.name());
            return Err(fault.error("sync", place));
        }
        let dropped = state.dropped_sync == Some(state.syncs);
        state.syncs += 1;
        if !dropped {
            let event = file.map_or(Event::SyncDirectory, Event::Sync);
            state.events.push(event);
        }
        Ok(())
    }
}

impl Device for RecordingDevice {
    fn backend(&self) -> Backend {
        Backend::Recording
    }

    fn create(&self, file: FileId) -> Result<()> {
        let mut state = self.state();
        state.check(DeviceOperation::Create, "create", file)?;
        self.live.create(file)?;
        state.events.push(Event::Create(file));
        Ok(())
    }

    fn remove(&self, file: FileId) -> Result<()> {
        let mut state = self.state();
        state.check(DeviceOperation::Remove, "remove", file)?;
        self.live.remove(file)?;
        state.events.push(Event::Remove(file));
        Ok(())
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.live.list()
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        for transfer in &*batch {
            let place = format!("{} page {}", transfer.file, transfer.page);
            self.state().check(DeviceOperation::Read, "read", place)?;
        }
        self.live.read(batch)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        let (transfers, bytes) = super::file_device::size_of_batch(batch);
        self.counters().count_writes(transfers, bytes);
        batch
            .iter()
            .try_for_each(|transfer| self.write_one(transfer))
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        for file in files {
            self.live.sync(&[*file])?;
            self.sync_one(Some(*file))?;
        }
        Ok(())
    }

    fn sync_directory(&self) -> Result<()> {
        self.live.sync_directory()?;
        self.sync_one(None)
    }

    fn counters(&self) -> &Counters {
        self.live.counters()
    }
}

impl RecordedEvents {
    /// Counts an operation and tells how it must fail, if it must.
    fn meet(&mut self, operation: DeviceOperation) -> Option<FaultKind> {
        let counter = match operation {
            DeviceOperation::Read => &mut self.reads,
            _ => &mut self.changes,
        };
        let number = *counter;
        *counter += 1;
        let fault = self.fault?;
        if number < fault.at || !fault.kind.applies(operation) {
            return None;
        }
        if !fault.sticky {
            self.fault = None;
        }
        self.faults_met += 1;
        Some(fault.kind)
    }

    fn check(
        &mut self,
        operation: DeviceOperation,
        name: &'static str,
        place: impl std::fmt::Display,
    ) -> Result<()> {
        let fault = self.meet(operation);
        fault.map_or(Ok(()), |fault| Err(fault.error(name, place)))
    }
}

impl FaultKind {
    fn applies(self, operation: DeviceOperation) -> bool {
        match self {
            FaultKind::Io => operation != DeviceOperation::Read,
            FaultKind::Full => {
                matches!(operation, DeviceOperation::Write | DeviceOperation::Create)
            }
            FaultKind::ShortWrite { .. } => operation == DeviceOperation::Write,
            FaultKind::Sync => operation == DeviceOperation::Sync,
            FaultKind::Read => operation == DeviceOperation::Read,
        }
    }

    fn error(self, operation: &'static str, place: impl std::fmt::Display) -> Error {
        let errno = match self {
            FaultKind::Full => Errno::NOSPC,
            _ => Errno::IO,
        };
        failure(operation, place, io::Error::from(errno))
    }
}
