//! Files of pages that strategies read and write by bytes: batches of transfers of up to 1 MiB.
//!
//! A read of bytes takes the pages that they lie in; a write begins at a page and fills its last
//! one with zeros. Any number of threads may read at a time.

use std::path::Path;
use std::sync::Arc;

use gannet::device::{Device, FileId, PAGE_SIZE, PageBuffer, PagePool, Transfer};
use gannet::{Error, Result};
use gannet_ssd::hdd::DESKSTAR;
use gannet_ssd::{Disk, Modelled, Work};

/// Pages of a transfer at most.
const TRANSFER_PAGES: usize = 256;

/// Pages of a batch at most: 8 MiB, the input buffer of 1,024 blocks.
const BATCH_PAGES: usize = 2048;

/// Pages in flight at most: for a batch of each of as many threads as ever read at once.
const POOL_PAGES: usize = 16 * BATCH_PAGES;

/// The number of a file.
pub type FileNumber = u32;

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileNumber,
    /// Its first byte.
    pub start: u64,
    /// How many.
    pub length: usize,
}

/// Whole pages to be written.
pub struct Pages<'a> {
    /// The file.
    pub file: FileNumber,
    /// The first page.
    pub page: u32,
    /// Their bytes; the last page may be shorter.
    pub bytes: &'a [u8],
}

/// The files of a folder.
pub struct Files {
    device: Arc<Modelled>,
    pool: PagePool,
}

impl Place {
    fn first_page(&self) -> u32 {
        (self.start / PAGE_SIZE as u64) as u32
    }

    fn pages(&self) -> usize {
        let end = self.start + self.length as u64;
        end.div_ceil(PAGE_SIZE as u64) as usize - self.first_page() as usize
    }
}

impl Files {
    /// Those of a folder, which is made if it is not there. With `trace` all that is done with them
    /// is written down there.
    pub fn open(folder: &Path, trace: bool) -> Result<Files> {
        Ok(Files {
            device: Arc::new(Modelled::open(folder, Disk::new(DESKSTAR), trace)?),
            pool: PagePool::new(POOL_PAGES),
        })
    }

    /// What was done with them.
    pub fn work(&self) -> Work {
        self.device.work()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> Result<u64> {
        let files = self.device.list()?;
        Ok(files.iter().map(|file| bytes_of(file.1)).sum())
    }

    /// Makes an empty file.
    pub fn create(&self, file: FileNumber) -> Result<()> {
        self.device.create(FileId::Zone(file))
    }

    /// Removes a file.
    pub fn remove(&self, file: FileNumber) -> Result<()> {
        self.device.remove(FileId::Zone(file))
    }

    /// Makes durable what was written to these files, and their names.
    pub fn sync(&self, files: &[FileNumber]) -> Result<()> {
        let files: Vec<FileId> = files.iter().map(|file| FileId::Zone(*file)).collect();
        self.device.sync(&files)?;
        self.device.sync_directory()
    }

    /// Reads one place.
    pub fn read_one(&self, place: Place) -> Result<Vec<u8>> {
        let mut found = self.read(&[place])?;
        Ok(found.pop().unwrap_or_default())
    }

    /// Reads all places in one batch, or in some if they are long.
    pub fn read(&self, places: &[Place]) -> Result<Vec<Vec<u8>>> {
        let mut found: Vec<Vec<u8>> = Vec::with_capacity(places.len());
        let (mut batch, mut pages) = (Vec::new(), 0);
        for (at, place) in places.iter().enumerate() {
            found.push(Vec::with_capacity(place.length));
            for (page, count) in transfers(place.first_page(), place.pages()) {
                if pages + count > BATCH_PAGES {
                    self.receive(std::mem::take(&mut batch), places, &mut found)?;
                    pages = 0;
                }
                pages += count;
                batch.push((at, self.transfer(place.file, page, count)?));
            }
        }
        self.receive(batch, places, &mut found)?;
        Ok(found)
    }

    /// Reads a batch of transfers, each of a place, and appends what belongs to the places.
    fn receive(
        &self,
        batch: Vec<(usize, Transfer)>,
        places: &[Place],
        found: &mut [Vec<u8>],
    ) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let (of, mut transfers): (Vec<usize>, Vec<Transfer>) = batch.into_iter().unzip();
        self.device.read(&mut transfers)?;
        for (at, transfer) in of.into_iter().zip(transfers) {
            let place = &places[at];
            let end = place.start + place.length as u64;
            for (page, buffer) in (transfer.page..).zip(&transfer.buffers) {
                let start = bytes_of(page);
                let from = place.start.saturating_sub(start).min(PAGE_SIZE as u64);
                let to = end.saturating_sub(start).min(PAGE_SIZE as u64);
                found[at].extend_from_slice(&buffer[from as usize..to as usize]);
            }
        }
        Ok(())
    }

    /// Writes all in one batch, or in some if they are long. What is one behind the other goes in
    /// one transfer.
    pub fn write(&self, all: &[Pages<'_>]) -> Result<()> {
        let mut batch: Vec<Transfer> = Vec::new();
        let mut pages = 0;
        for Pages { file, page, bytes } in all {
            for (number, bytes) in (*page..).zip(bytes.chunks(PAGE_SIZE)) {
                if pages == BATCH_PAGES {
                    self.device.write(&mut std::mem::take(&mut batch))?;
                    pages = 0;
                }
                pages += 1;
                let mut buffer = self.buffer()?;
                buffer[..bytes.len()].copy_from_slice(bytes);
                buffer[bytes.len()..].fill(0);
                match batch.last_mut() {
                    Some(last) if follows(last, *file, number) => last.buffers.push(buffer),
                    _ => batch.push(Transfer {
                        file: FileId::Zone(*file),
                        page: number,
                        buffers: vec![buffer],
                    }),
                }
            }
        }
        if batch.is_empty() {
            Ok(())
        } else {
            self.device.write(&mut batch)
        }
    }

    fn transfer(&self, file: FileNumber, page: u32, pages: usize) -> Result<Transfer> {
        let buffers = (0..pages).map(|_| self.buffer()).collect::<Result<_>>()?;
        Ok(Transfer {
            file: FileId::Zone(file),
            page,
            buffers,
        })
    }

    fn buffer(&self) -> Result<PageBuffer> {
        let page = self.pool.take();
        page.ok_or_else(|| Error::invalid("the lab's pages are all taken: ask with fewer threads"))
    }
}

/// Bytes of so many pages.
pub fn bytes_of(pages: u32) -> u64 {
    u64::from(pages) * PAGE_SIZE as u64
}

fn follows(transfer: &Transfer, file: FileNumber, page: u32) -> bool {
    let count = transfer.buffers.len();
    transfer.file == FileId::Zone(file)
        && count < TRANSFER_PAGES
        && transfer.page as usize + count == page as usize
}

/// The first pages and lengths of transfers for so many pages.
fn transfers(first: u32, pages: usize) -> impl Iterator<Item = (u32, usize)> {
    let starts = (0..pages).step_by(TRANSFER_PAGES);
    starts.map(move |at| (first + at as u32, (pages - at).min(TRANSFER_PAGES)))
}
