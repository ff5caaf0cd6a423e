//! Files in memory with so much space and no more, for tests: what does not fit is rejected as by a
//! full disk.
//!
//! A write of several pages stores those that fit and then fails, as a file system does. What is
//! removed gives its space back at once.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::io::Errno;

use super::counters::Counters;
use super::failure::failure;
use super::memory::{MemoryDevice, Page};
use super::{Backend, Device, FileId, Transfer};
use crate::base::{PAGE_SIZE, Result};

/// The device.
#[derive(Debug)]
pub struct BoundedDevice {
    files: MemoryDevice,
    pages: AtomicU64,
    /// Set if it reports its free space: a quota does not.
    tells: AtomicBool,
}

impl BoundedDevice {
    /// A device without files, with space for `pages` pages.
    pub fn new(pages: u64, tells: bool) -> BoundedDevice {
        BoundedDevice {
            files: MemoryDevice::new(),
            pages: AtomicU64::new(pages),
            tells: AtomicBool::new(tells),
        }
    }

    /// Makes it smaller or larger.
    pub fn set_pages(&self, pages: u64) {
        self.pages.store(pages, Ordering::Relaxed);
    }

    /// Pages that are taken.
    pub fn used_pages(&self) -> u64 {
        let files = self.files.files();
        files.iter().map(|(_, pages)| pages.len() as u64).sum()
    }

    fn free_pages(&self) -> u64 {
        let pages = self.pages.load(Ordering::Relaxed);
        pages.saturating_sub(self.used_pages())
    }

    fn length(&self, file: FileId) -> u64 {
        let files = self.files.files();
        files.get(file).map_or(0, |pages| pages.len() as u64)
    }

    fn write_one(&self, transfer: &Transfer) -> Result<()> {
        let length = self.length(transfer.file);
        let end = length.max(transfer.page as u64) + self.free_pages();
        for (page, buffer) in (transfer.page..).zip(&transfer.buffers) {
            if page as u64 >= end {
                let place = format!("{} page {page}", transfer.file);
                return Err(failure("write", place, io::Error::from(Errno::NOSPC)));
            }
            self.files.store(transfer.file, page, Page::new(buffer))?;
        }
        Ok(())
    }
}

impl Device for BoundedDevice {
    fn backend(&self) -> Backend {
        Backend::Memory
    }

    fn free_bytes(&self) -> Result<u64> {
        Ok(if self.tells.load(Ordering::Relaxed) {
            self.free_pages() * PAGE_SIZE as u64
        } else {
            u64::MAX
        })
    }

    fn create(&self, file: FileId) -> Result<()> {
        self.files.create(file)
    }

    fn remove(&self, file: FileId) -> Result<()> {
        self.files.remove(file)
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.files.list()
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        self.files.read(batch)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        let (transfers, bytes) = super::file_device::size_of_batch(batch);
        self.counters().count_writes(transfers, bytes);
        batch.iter().try_for_each(|one| self.write_one(one))
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        self.files.sync(files)
    }

    fn sync_directory(&self) -> Result<()> {
        self.files.sync_directory()
    }

    fn counters(&self) -> &Counters {
        self.files.counters()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::Error;
    use crate::device::PagePool;
    use crate::device::conformance::conformance;

    #[test]
    fn bounded_memory_conforms() {
        conformance(|| Arc::new(BoundedDevice::new(1 << 20, true)));
    }

    #[test]
    fn what_does_not_fit_is_rejected_until_there_is_space() {
        let device = BoundedDevice::new(3, true);
        let pool = PagePool::new(4);
        device.create(FileId::Zone(0)).unwrap();
        device.create(FileId::Zone(1)).unwrap();
        let write = |zone, page, pages| {
            let buffers = (0..pages).map(|_| pool.take().unwrap()).collect();
            let file = FileId::Zone(zone);
            device.write(&mut [Transfer {
                file,
                page,
                buffers,
            }])
        };
        write(0, 0, 2).unwrap();
        let full = write(1, 0, 2);
        assert!(
            matches!(full, Err(Error::Device { full: true, .. })),
            "{full:?}"
        );
        assert_eq!((device.used_pages(), device.free_bytes().unwrap()), (3, 0));
        write(0, 1, 1).unwrap();
        device.remove(FileId::Zone(0)).unwrap();
        write(1, 1, 2).unwrap();
    }
}
