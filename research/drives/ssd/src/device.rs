//! A device of the engine with a model beside it: what is done with it is counted, priced on the
//! medium, and kept as a trace if that is asked for.
//!
//! Batches of several threads are priced one after the other, as if they had come so. The counts of
//! operations and bytes are exact in any case.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use gannet::device::{
    Access, Backend, BackendChoice, Counters, Device, FileId, OpenOptions, Readers, Transfer,
    open_directory,
};
use gannet::{Error, Result};

use crate::counts::Counts;
use crate::medium::Medium;
use crate::replay::{Player, Work};
use crate::trace::{Action, Entry, TRACE_FILE};

/// A device, and what it would take on another one.
pub struct Modelled {
    device: Arc<dyn Device>,
    beside: Mutex<Beside>,
}

/// What goes on beside the device.
struct Beside {
    player: Player,
    trace: Option<BufWriter<File>>,
    batches: u64,
    /// The batch that is being played, kept for its memory.
    entries: Vec<Entry>,
}

impl Modelled {
    /// Wraps a device. Its files are on the medium from the beginning, without any time. With a
    /// path, a trace is written there.
    pub fn new(
        device: Arc<dyn Device>,
        medium: impl Into<Medium>,
        trace: Option<&Path>,
    ) -> Result<Modelled> {
        let trace = trace.map(File::create).transpose().map_err(unwritten)?;
        let mut beside = Beside {
            player: Player::new(medium),
            trace: trace.map(BufWriter::new),
            batches: 0,
            entries: Vec::new(),
        };
        let mut files = device.list()?;
        files.sort_unstable();
        let present = files
            .into_iter()
            .map(|(file, pages)| (Action::Present, file, 0, pages));
        beside.batch(present)?;
        Ok(Modelled {
            device,
            beside: Mutex::new(beside),
        })
    }

    /// The device of a folder, which is made if it is not there. With `trace`, what is done is
    /// written to a file there.
    pub fn open(folder: &Path, medium: impl Into<Medium>, trace: bool) -> Result<Modelled> {
        let options = OpenOptions {
            backend: BackendChoice::Auto,
            access: Access::Write,
            create: true,
        };
        let device = open_directory(folder, &options)?;
        let path = folder.join(TRACE_FILE);
        Modelled::new(device, medium, trace.then_some(path.as_path()))
    }

    /// What was done with it.
    pub fn work(&self) -> Work {
        self.beside().player.work()
    }

    /// What the drive did, if it is one.
    pub fn counts(&self) -> Option<Counts> {
        self.beside().player.medium().counts().cloned()
    }

    fn beside(&self) -> MutexGuard<'_, Beside> {
        self.beside
            .lock()
            .unwrap_or_else(|error| error.into_inner())
    }

    fn transfers(&self, action: Action, batch: &[Transfer]) -> Result<()> {
        let operations = batch.iter().map(|transfer| {
            let pages = transfer.buffers.len() as u32;
            (action, transfer.file, transfer.page, pages)
        });
        self.beside().batch(operations)
    }
}

impl Beside {
    fn batch(
        &mut self,
        operations: impl Iterator<Item = (Action, FileId, u32, u32)>,
    ) -> Result<()> {
        let batch = self.batches;
        self.batches += 1;
        self.entries.clear();
        self.entries
            .extend(operations.map(|(action, file, page, pages)| Entry {
                batch,
                action,
                file,
                page,
                pages,
            }));
        if let Some(trace) = &mut self.trace {
            for entry in &self.entries {
                writeln!(trace, "{entry}").map_err(unwritten)?;
            }
        }
        self.player.batch(&self.entries)
    }
}

fn unwritten(error: std::io::Error) -> Error {
    Error::invalid(format!("the trace cannot be written: {error}"))
}

impl Device for Modelled {
    fn backend(&self) -> Backend {
        self.device.backend()
    }

    fn is_direct(&self) -> bool {
        self.device.is_direct()
    }

    fn free_bytes(&self) -> Result<u64> {
        self.device.free_bytes()
    }

    fn create(&self, file: FileId) -> Result<()> {
        self.device.create(file)
    }

    fn remove(&self, file: FileId) -> Result<()> {
        self.device.remove(file)?;
        self.beside()
            .batch(std::iter::once((Action::Remove, file, 0, 0)))
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.device.list()
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        self.device.read(batch)?;
        self.transfers(Action::Read, batch)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        self.device.write(batch)?;
        self.transfers(Action::Write, batch)
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        self.device.sync(files)?;
        let syncs = files.iter().map(|file| (Action::Sync, *file, 0, 0));
        self.beside().batch(syncs)
    }

    fn sync_directory(&self) -> Result<()> {
        self.device.sync_directory()
    }

    fn readers(&self) -> Option<&Readers> {
        self.device.readers()
    }

    fn close_files(&self) {
        self.device.close_files();
    }

    fn counters(&self) -> &Counters {
        self.device.counters()
    }
}
