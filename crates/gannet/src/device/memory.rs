//! Files in memory, for tests.
//!
//! Pages are shared by reference counts, so that copying all files, as crash tests do thousands of
//! times, copies no bytes. What is written is durable at once; sync does nothing but count.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::{Arc, LazyLock, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::counters::Counters;
use super::failure::failure;
use super::file_device::size_of_batch;
use super::{Backend, Device, FileId, Transfer};
use crate::base::{PAGE_SIZE, Result};

/// A page's bytes with their hash, shared by whoever holds it.
#[derive(Clone, Debug)]
pub struct Page(Arc<(u64, [u8; PAGE_SIZE])>);

/// The files of a device and their pages.
#[derive(Clone, Debug, Default)]
pub struct Files(BTreeMap<FileId, Vec<Page>>);

/// A device in memory.
#[derive(Debug, Default)]
pub struct MemoryDevice {
    files: RwLock<Files>,
    counters: Counters,
}

impl Page {
    /// A page of these bytes.
    pub fn new(bytes: &[u8; PAGE_SIZE]) -> Page {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Page(Arc::new((hasher.finish(), *bytes)))
    }

    /// The page of zeros.
    pub fn zero() -> Page {
        static ZERO: LazyLock<Page> = LazyLock::new(|| Page::new(&[0; PAGE_SIZE]));
        ZERO.clone()
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; PAGE_SIZE] {
        &self.0.1
    }
}

impl Files {
    /// Adds a file with these pages, or replaces it.
    pub fn insert(&mut self, file: FileId, pages: Vec<Page>) {
        self.0.insert(file, pages);
    }

    /// The pages of a file.
    pub fn get(&self, file: FileId) -> Option<&[Page]> {
        self.0.get(&file).map(Vec::as_slice)
    }

    /// All files with their pages.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &[Page])> {
        self.0.iter().map(|(file, pages)| (*file, pages.as_slice()))
    }

    /// Adds an empty file, which must not exist.
    pub fn create(&mut self, file: FileId) -> Result<()> {
        if self.0.contains_key(&file) {
            return Err(failure("create", file, io::ErrorKind::AlreadyExists.into()));
        }
        self.insert(file, Vec::new());
        Ok(())
    }

    /// Takes a file out, which must exist.
    pub fn remove(&mut self, file: FileId) -> Result<()> {
        let removed = self.0.remove(&file).map(|_| ());
        removed.ok_or_else(|| missing("remove", file))
    }

    /// Stores one page; the file, which must exist, grows as needed.
    pub fn store(&mut self, file: FileId, page: u32, content: Page) -> Result<()> {
        let pages = self.0.get_mut(&file);
        store_page(pages.ok_or_else(|| missing("write", file))?, page, content);
        Ok(())
    }

    /// Fails unless the file exists.
    pub fn check_exists(&self, file: FileId, operation: &'static str) -> Result<()> {
        self.get(file)
            .map_or_else(|| Err(missing(operation, file)), |_| Ok(()))
    }

    fn fill(&self, transfer: &mut Transfer) -> Result<()> {
        self.check_exists(transfer.file, "read")?;
        let pages = self.get(transfer.file).unwrap_or_default();
        for (page, buffer) in (transfer.page as usize..).zip(&mut transfer.buffers) {
            let stored = pages.get(page).ok_or_else(|| {
                let place = format!("{} page {page}", transfer.file);
                failure("read", place, io::ErrorKind::UnexpectedEof.into())
            })?;
            buffer.copy_from_slice(stored.bytes());
        }
        Ok(())
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (file, pages) in self.iter() {
            (file, pages.len()).hash(&mut hasher);
            pages.iter().for_each(|page| page.0.0.hash(&mut hasher));
        }
        hasher.finish()
    }
}

impl MemoryDevice {
    /// A device without files.
    pub fn new() -> MemoryDevice {
        MemoryDevice::default()
    }

    /// A device with these files.
    pub fn from_files(files: Files) -> MemoryDevice {
        MemoryDevice {
            files: RwLock::new(files),
            counters: Counters::default(),
        }
    }

    /// The files as they are now.
    pub fn files(&self) -> Files {
        self.read_files().clone()
    }

    /// One page, or nothing past the end of its file.
    pub fn page(&self, file: FileId, page: u32) -> Option<Page> {
        self.read_files().get(file)?.get(page as usize).cloned()
    }

    /// Fails unless the file exists.
    pub fn check_exists(&self, file: FileId, operation: &'static str) -> Result<()> {
        self.read_files().check_exists(file, operation)
    }

    /// Stores one page without counting it; the file, which must exist, grows as needed.
    pub fn store(&self, file: FileId, page: u32, content: Page) -> Result<()> {
        self.write_files().store(file, page, content)
    }

    /// A hash of all names, lengths and bytes.
    pub fn hash(&self) -> u64 {
        self.read_files().hash()
    }

    fn read_files(&self) -> RwLockReadGuard<'_, Files> {
        self.files.read().unwrap_or_else(|e| e.into_inner())
    }

    fn write_files(&self) -> RwLockWriteGuard<'_, Files> {
        self.files.write().unwrap_or_else(|e| e.into_inner())
    }
}

impl Device for MemoryDevice {
    fn backend(&self) -> Backend {
        Backend::Memory
    }

    fn create(&self, file: FileId) -> Result<()> {
        self.write_files().create(file)
    }

    fn remove(&self, file: FileId) -> Result<()> {
        self.write_files().remove(file)
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        let files = self.read_files();
        let lengths = files.iter().map(|(file, pages)| (file, pages.len() as u32));
        Ok(lengths.collect())
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        let (transfers, bytes) = size_of_batch(batch);
        if transfers > 0 {
            self.counters.count_reads(transfers, bytes);
        }
        let files = self.read_files();
        batch
            .iter_mut()
            .try_for_each(|transfer| files.fill(transfer))
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        let (transfers, bytes) = size_of_batch(batch);
        self.counters.count_writes(transfers, bytes);
        for transfer in batch {
            for (page, buffer) in (transfer.page..).zip(&transfer.buffers) {
                self.store(transfer.file, page, Page::new(buffer))?;
            }
        }
        Ok(())
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        let stored = self.read_files();
        for file in files {
            stored.check_exists(*file, "sync")?;
            self.counters.count_syncs(1);
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

/// Stores a page at its place, with zeros in a gap before it.
pub fn store_page(pages: &mut Vec<Page>, page: u32, content: Page) {
    let page = page as usize;
    if pages.len() <= page {
        pages.resize_with(page + 1, Page::zero);
    }
    pages[page] = content;
}

fn missing(operation: &'static str, file: FileId) -> crate::base::Error {
    failure(operation, file, io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::conformance::conformance;

    #[test]
    fn memory_conforms() {
        conformance(|| Arc::new(MemoryDevice::new()));
    }
}
