//! Pages read as they are needed, as from a mapped file: a page that is not in memory is a read
//! that the query waits for. What is read with it is what prefetching is about.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gannet::device::{Device, FileId, PAGE_SIZE, PageBuffer, PagePool, Transfer};
use gannet::{Error, Result};
use gannet_ssd::{Drive, Modelled, Work, profile};
use lru::LruCache;

use super::code::Part;

/// Pages of a read at most: 128 KiB, as Linux reads ahead.
const WINDOW: u32 = 32;

/// The number of a file.
pub type FileNumber = u32;

/// A file that is written from its start to its end.
pub struct Writer {
    file: BufWriter<File>,
    /// Bytes so far.
    pub bytes: u64,
}

/// What is read beside a page that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing.
    Off,
    /// The paper's: if the zones of all lists of a query have at least `threshold` bytes, the rest
    /// of the segment of the zone.
    Adaptive {
        /// Bytes of the smallest zone.
        threshold: u64,
        /// Pages of a segment.
        segment: u32,
    },
    /// The 128 KiB around the page, whatever they hold.
    Fixed,
}

/// Pages of a prefetch zone.
#[derive(Clone, Copy, Debug)]
pub struct Zone {
    /// The file.
    pub file: FileNumber,
    /// The first page.
    pub first: u32,
    /// The page behind the last.
    pub end: u32,
}

/// What was read of one part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Pages read because of it.
    pub pages: u64,
    /// Bytes of it that were needed.
    pub needed: u64,
}

/// The files, and the pages that are in memory.
pub struct Pages {
    device: Modelled,
    pool: PagePool,
    kept: LruCache<(FileNumber, u32), Rc<[u8]>>,
    ends: Vec<(FileNumber, u32)>,
    prefetch: Prefetch,
    zones: Vec<Zone>,
    /// By part.
    pub counts: [Counts; Part::ALL.len()],
}

impl Writer {
    /// A new file of a folder.
    pub fn create(folder: &Path, number: FileNumber) -> std::io::Result<Writer> {
        let path: PathBuf = folder.join(FileId::Zone(number).name());
        Ok(Writer {
            file: BufWriter::with_capacity(1 << 20, File::create(path)?),
            bytes: 0,
        })
    }

    /// Appends bytes and tells where they start.
    pub fn put(&mut self, bytes: &[u8]) -> std::io::Result<u64> {
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(self.bytes - bytes.len() as u64)
    }

    /// Fills the last page.
    pub fn end(mut self) -> std::io::Result<u64> {
        let rest = (self.bytes as usize).next_multiple_of(PAGE_SIZE) - self.bytes as usize;
        self.file.write_all(&vec![0; rest])?;
        self.file.flush()?;
        Ok(self.bytes)
    }
}

impl Pages {
    /// The files of a folder, with nothing in memory, beside a model of a PM9A3.
    pub fn open(folder: &Path) -> Result<Pages> {
        let bytes: u64 = std::fs::read_dir(folder)
            .and_then(|files| files.map(|file| Ok(file?.metadata()?.len())).sum())
            .map_err(|error| Error::invalid(format!("{}: {error}", folder.display())))?;
        let profile = profile::PM9A3.with_capacity(2 * bytes.max(1 << 30))?;
        let device = Modelled::open(folder, Drive::new(&profile)?, false)?;
        let files = device.list()?.into_iter();
        let ends = files.filter_map(|(file, pages)| match file {
            FileId::Zone(number) => Some((number, pages)),
            _ => None,
        });
        Ok(Pages {
            ends: ends.collect(),
            device,
            pool: PagePool::new(WINDOW as usize),
            kept: LruCache::unbounded(),
            prefetch: Prefetch::Off,
            zones: Vec::new(),
            counts: Default::default(),
        })
    }

    /// Forgets all pages and counts; from now on at most so many bytes of pages are kept.
    pub fn start(&mut self, bytes: u64, prefetch: Prefetch) {
        let pages = NonZeroUsize::new((bytes / PAGE_SIZE as u64) as usize);
        self.kept = LruCache::new(pages.unwrap_or(NonZeroUsize::MIN));
        self.counts = Default::default();
        self.prefetch = prefetch;
    }

    /// Forgets all pages.
    pub fn forget(&mut self) {
        self.kept.clear();
    }

    /// A query begins whose lists have these zones, of so many bytes each. Tells whether it
    /// prefetches.
    pub fn set_zones(&mut self, zones: &[(Zone, u64)]) -> bool {
        self.zones.clear();
        if let Prefetch::Adaptive { threshold, .. } = self.prefetch
            && zones.iter().all(|(_, bytes)| *bytes >= threshold)
        {
            self.zones.extend(zones.iter().map(|(zone, _)| zone));
        }
        !self.zones.is_empty()
    }

    /// What was done with the device.
    pub fn work(&self) -> Work {
        self.device.work()
    }

    /// A page of a file.
    pub fn page(&mut self, file: FileNumber, page: u32, part: Part) -> Result<Rc<[u8]>> {
        if let Some(kept) = self.kept.get(&(file, page)) {
            return Ok(Rc::clone(kept));
        }
        let (first, end) = self.window(file, page);
        let buffers = (first..end).map(|_| self.buffer()).collect::<Result<_>>()?;
        let mut batch = [Transfer {
            file: FileId::Zone(file),
            page: first,
            buffers,
        }];
        self.device.read(&mut batch)?;
        self.counts[part as usize].pages += u64::from(end - first);
        let [Transfer { buffers, .. }] = batch;
        let mut wanted = Rc::from([]);
        for (number, buffer) in (first..).zip(buffers) {
            let bytes: Rc<[u8]> = Rc::from(&buffer[..]);
            if number == page {
                wanted = Rc::clone(&bytes);
            }
            self.kept.put((file, number), bytes);
        }
        // The newest use, whatever was read behind it.
        self.kept.promote(&(file, page));
        Ok(wanted)
    }

    /// The pages that are read for a missing one: no further on either side than to one in memory.
    fn window(&self, file: FileNumber, page: u32) -> (u32, u32) {
        let (first, limit) = match self.prefetch {
            Prefetch::Off => (page, page + 1),
            Prefetch::Fixed => (page.saturating_sub(WINDOW / 2), page + WINDOW / 2),
            Prefetch::Adaptive { segment, .. } => (page, self.segment_end(file, page, segment)),
        };
        let end = self.ends.iter().find(|(number, _)| *number == file);
        let limit = end.map_or(page + 1, |(_, end)| limit.min(*end));
        let is_kept = |number: &u32| self.kept.contains(&(file, *number));
        let first = (first..page)
            .rev()
            .find(is_kept)
            .map_or(first, |kept| kept + 1);
        (first, (page + 1..limit).find(is_kept).unwrap_or(limit))
    }

    /// Where the segment of a prefetch zone ends in which a page is, or the page itself.
    fn segment_end(&self, file: FileNumber, page: u32, segment: u32) -> u32 {
        let is_inside = |zone: &&Zone| zone.file == file && (zone.first..zone.end).contains(&page);
        self.zones.iter().find(is_inside).map_or(page + 1, |zone| {
            let segments = (page - zone.first) / segment + 1;
            (zone.first + segments * segment).min(zone.end)
        })
    }

    fn buffer(&self) -> Result<PageBuffer> {
        let page = self.pool.take();
        page.ok_or_else(|| Error::invalid("the pages of a read are all taken; this is a defect"))
    }
}

/// Bytes of a file that are read from a place on.
pub struct Stream {
    file: FileNumber,
    part: Part,
    /// The next byte.
    pub at: u64,
    page: Option<(u32, Rc<[u8]>)>,
}

impl Stream {
    /// From a byte of a file on.
    pub fn new(file: FileNumber, at: u64, part: Part) -> Stream {
        Stream {
            file,
            part,
            at,
            page: None,
        }
    }

    /// The next byte.
    pub fn byte(&mut self, pages: &mut Pages) -> Result<u8> {
        let number = (self.at / PAGE_SIZE as u64) as u32;
        let page = match &self.page {
            Some((held, page)) if *held == number => page,
            _ => {
                let page = pages.page(self.file, number, self.part)?;
                &self.page.insert((number, page)).1
            }
        };
        let byte = page[(self.at % PAGE_SIZE as u64) as usize];
        self.at += 1;
        Ok(byte)
    }

    /// The next number.
    pub fn varint(&mut self, pages: &mut Pages) -> Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte(pages)?;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 63 {
                return Ok(number);
            }
        }
    }

    /// The next bytes.
    pub fn take(&mut self, count: u64, pages: &mut Pages) -> Result<Vec<u8>> {
        (0..count).map(|_| self.byte(pages)).collect()
    }
}
