//! The device over real files: everything but the way in which a batch of transfers is carried out.

use super::counters::Counters;
use super::directory::Directory;
use super::request::{Direction, Request};
use super::{Backend, Device, FileId, Readers, Transfer};
use crate::base::{PAGE_SIZE, Result};

/// Carries out batches of requests.
pub trait Engine: Send + Sync {
    /// Returns the backend.
    fn backend(&self) -> Backend;

    /// Carries out all requests and returns when none is under way any more, also after a failure.
    ///
    /// Returns the first failure. A request that the operating system still holds when even waiting
    /// has failed is taken out of `requests` and its memory never freed.
    fn run(&self, requests: &mut Vec<Request>, direction: Direction) -> Result<()>;
}

/// An index folder whose transfers are carried out by `E`.
#[derive(Debug)]
pub struct FileDevice<E> {
    directory: Directory,
    engine: E,
    counters: Counters,
}

impl<E: Engine> FileDevice<E> {
    /// The device over `directory`.
    pub fn new(directory: Directory, engine: E) -> Self {
        FileDevice {
            directory,
            engine,
            counters: Counters::default(),
        }
    }

    fn run(&self, batch: &mut [Transfer], direction: Direction) -> Result<()> {
        let mut requests = Request::take_all(batch, &self.directory, direction)?;
        if direction == Direction::Write {
            requests
                .iter()
                .for_each(|request| request.file.mark_written());
        }
        let outcome = match requests.as_mut_slice() {
            [] => Ok(()),
            // A system call of its own costs less than a ring or a thread: see the figures in
            // `uring`.
            [request] => request.run(direction),
            _ => self.engine.run(&mut requests, direction),
        };
        Request::give_back(requests, batch);
        outcome
    }
}

impl<E: Engine> Device for FileDevice<E> {
    fn backend(&self) -> Backend {
        self.engine.backend()
    }

    fn is_direct(&self) -> bool {
        self.directory.is_direct()
    }

    fn free_bytes(&self) -> Result<u64> {
        self.directory.free_bytes()
    }

    fn disk(&self) -> Option<u64> {
        self.directory.disk()
    }

    fn create(&self, file: FileId) -> Result<()> {
        self.directory.create(file)
    }

    fn remove(&self, file: FileId) -> Result<()> {
        self.directory.remove(file)
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.directory.list()
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        let (transfers, bytes) = size_of_batch(batch);
        if transfers > 0 {
            self.counters.count_reads(transfers, bytes);
        }
        self.run(batch, Direction::Read)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        self.directory.check_writable()?;
        if batch
            .iter()
            .any(|transfer| transfer.file == FileId::Superblock)
        {
            let root = FileId::Superblock;
            self.directory.check_in_place("write", root)?;
        }
        let (transfers, bytes) = size_of_batch(batch);
        self.counters.count_writes(transfers, bytes);
        self.run(batch, Direction::Write)
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        if let Some(first) = files.first() {
            self.directory.check_in_place("sync", *first)?;
        }
        for file in files {
            self.counters.count_syncs(1);
            let synced = self.directory.file(*file, "sync")?.sync();
            synced.map_err(|error| super::failure::failure("sync", file, error))?;
        }
        Ok(())
    }

    fn sync_directory(&self) -> Result<()> {
        self.counters.count_syncs(1);
        self.directory.sync()
    }

    fn readers(&self) -> Option<&Readers> {
        Some(self.directory.readers())
    }

    fn close_files(&self) {
        self.directory.close_files();
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}

/// The transfers of a batch that carry anything, and their bytes: what counters count.
pub fn size_of_batch(batch: &[Transfer]) -> (usize, usize) {
    let lengths = batch.iter().map(|transfer| transfer.buffers.len());
    let transfers = lengths.clone().filter(|pages| *pages > 0).count();
    (transfers, lengths.sum::<usize>() * PAGE_SIZE)
}
