//! Lists in one piece, with room to grow: In-place contiguous with proportional over-allocation.
//!
//! A list has a *region*: documents and frequencies, then positions, each with a quarter more room
//! than was needed. What comes is put into the room, for which the pages where it ends are read and
//! written back. Where it does not fit, the whole list is read and moved to the end of the file,
//! with new room. Lists are taken one by one, and so are their transfers; small new regions are
//! gathered and written together, large ones begin at a page and their room is not written. A large
//! region that was left is free: the next large one goes to the first free place that has room, as
//! in the paper. Small ones share pages, and are not used again.
//!
//! Source: Lester, Zobel, Williams, "Efficient Online Index Maintenance for Contiguous Inverted
//! Lists", 2006; k = 1.25: Tomasic et al., 1994, as in the paper of MFIS. A list of c postings of
//! which the room is r moves when c > r, then r = 1.25 c: so each posting is read and written 1 /
//! (k - 1) = 4 times more as the list grows without end. 100 flushes of equal size move a list 17
//! times.

use std::collections::BTreeMap;
use std::sync::Arc;

use gannet::Result;
use gannet::device::PAGE_SIZE;
use gannet_ssd::Work;

use super::coding::{Coded, Coding, Postings, Summary};
use super::files::{FileNumber, Files, Pages, Place};
use super::flush::{Flush, TermNumber};
use super::run_file::part;
use super::strategy::{Kept, Lists, Part};

/// Bytes of room for so many that are needed, as a fraction: the paper's k of 1.25.
const ROOM: (u32, u32) = (5, 4);

/// Bytes of regions that are gathered before they are written.
const GATHERED_BYTES: usize = 1 << 20;

/// Regions of more bytes than these begin at a page.
const LARGE_BYTES: usize = 16 * PAGE_SIZE;

/// Where documents and positions end no farther apart than this, their pages are one transfer.
const NEAR_BYTES: u64 = 4 * PAGE_SIZE as u64;

const FILE: FileNumber = 0;

/// The lists.
pub struct Contiguous {
    files: Arc<Files>,
    coding: Coding,
    regions: Vec<Region>,
    /// Whole pages that large regions have left, by where they start.
    free: BTreeMap<u64, u64>,
    /// New regions that are not written yet, behind `written` bytes of the file.
    gathered: Vec<u8>,
    written: u64,
}

/// Where a list is.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    start: u64,
    docs_room: u32,
    positions_room: u32,
    summary: Summary,
}

impl Region {
    fn positions_start(&self) -> u64 {
        self.start + u64::from(self.docs_room)
    }

    fn room(&self) -> u64 {
        u64::from(self.docs_room) + u64::from(self.positions_room)
    }

    /// Whether its pages have nothing of other lists.
    fn is_apart(&self) -> bool {
        let begins = |at: u64| at.is_multiple_of(PAGE_SIZE as u64);
        let room = self.docs_room as usize + self.positions_room as usize;
        room > LARGE_BYTES && begins(self.start) && begins(u64::from(self.docs_room))
    }

    /// What is read of it: documents, and positions if they are asked for.
    fn places(&self, with_positions: bool) -> impl Iterator<Item = Place> + use<> {
        let place = |start, length: u32| Place {
            file: FILE,
            start,
            length: length as usize,
        };
        let docs = place(self.start, self.summary.docs);
        let positions = place(self.positions_start(), self.summary.positions);
        [Some(docs), with_positions.then_some(positions)]
            .into_iter()
            .flatten()
    }
}

impl Contiguous {
    /// None so far, in a file that is made.
    pub fn new(files: Arc<Files>, terms: usize, coding: Coding) -> Result<Contiguous> {
        files.create(FILE)?;
        Ok(Contiguous {
            files,
            coding,
            regions: vec![Region::default(); terms],
            free: BTreeMap::new(),
            gathered: Vec::new(),
            written: 0,
        })
    }

    fn append(&mut self, term: TermNumber, postings: &Postings) -> Result<()> {
        let region = self.regions[term as usize];
        if region.summary.count == 0 {
            let list = self.coding.code(postings)?;
            return self.place(term, &list);
        }
        // Documents from the tail on, which is coded anew.
        let end = region.start + u64::from(region.summary.docs);
        let tail = u64::from(region.summary.tail);
        let mut pages = Patch::read(&self.files, end - tail, end)?;
        let mut list = Coded {
            summary: region.summary,
            docs: pages.bytes(end - tail, tail as usize).to_vec(),
            positions: Vec::new(),
        };
        self.coding.append(&mut list, postings)?;
        let summary = list.summary;
        if summary.docs > region.docs_room || summary.positions > region.positions_room {
            return self.relocate(term, postings);
        }
        self.regions[term as usize].summary = summary;
        let positions = region.positions_start() + u64::from(region.summary.positions);
        let positions_end = positions + list.positions.len() as u64;
        let docs_end = end - tail + list.docs.len() as u64;
        let is_apart = region.is_apart();
        let is_near = positions_end <= end - tail + NEAR_BYTES && !list.positions.is_empty();
        if is_near {
            pages.reach(&self.files, docs_end.max(positions_end), is_apart)?;
            pages.put(end - tail, &list.docs);
            pages.put(positions, &list.positions);
            return pages.write(&self.files);
        }
        pages.reach(&self.files, docs_end, is_apart)?;
        pages.put(end - tail, &list.docs);
        pages.write(&self.files)?;
        if list.positions.is_empty() {
            return Ok(());
        }
        let mut pages = Patch::read(&self.files, positions, positions)?;
        pages.reach(&self.files, positions_end, is_apart)?;
        pages.put(positions, &list.positions);
        pages.write(&self.files)
    }

    /// Moves a list, with more postings, to the end of the file.
    fn relocate(&mut self, term: TermNumber, postings: &Postings) -> Result<()> {
        let region = &self.regions[term as usize];
        let mut list = Coded {
            summary: region.summary,
            ..Coded::default()
        };
        let mut read = Vec::with_capacity(2);
        for place in region.places(true) {
            read.push(self.files.read_one(place)?);
        }
        list.positions = read.pop().unwrap_or_default();
        list.docs = read.pop().unwrap_or_default();
        self.coding.append(&mut list, postings)?;
        let left = *region;
        self.place(term, &list)?;
        if left.is_apart() {
            self.release(left.start, left.room());
        }
        Ok(())
    }

    /// Says that whole pages are free.
    fn release(&mut self, mut start: u64, mut bytes: u64) {
        if let Some(behind) = self.free.remove(&(start + bytes)) {
            bytes += behind;
        }
        let before = self.free.range(..start).next_back();
        let before = before.map(|(before, length)| (*before, *length));
        if let Some((before, length)) = before.filter(|(before, length)| before + length == start) {
            self.free.remove(&before);
            (start, bytes) = (before, bytes + length);
        }
        self.free.insert(start, bytes);
    }

    /// The first free place of so many bytes, or the end of the file.
    fn claim(&mut self, bytes: u64) -> Result<u64> {
        let found = self.free.iter().find(|(_, free)| **free >= bytes);
        let Some((start, free)) = found.map(|(start, free)| (*start, *free)) else {
            self.write_gathered()?;
            let start = self.written;
            self.written += bytes;
            return Ok(start);
        };
        self.free.remove(&start);
        if free > bytes {
            self.free.insert(start + bytes, free - bytes);
        }
        Ok(start)
    }

    /// Gives a list a new region.
    fn place(&mut self, term: TermNumber, list: &Coded) -> Result<()> {
        let Summary {
            docs, positions, ..
        } = list.summary;
        let mut region = Region {
            docs_room: room(docs),
            positions_room: room(positions),
            summary: list.summary,
            ..Region::default()
        };
        if list.summary.bytes() > LARGE_BYTES {
            let whole = |bytes: u32| bytes.next_multiple_of(PAGE_SIZE as u32);
            region.docs_room = whole(region.docs_room);
            region.positions_room = whole(region.positions_room);
            region.start = self.claim(region.room())?;
            for (start, bytes) in [
                (region.start, &list.docs),
                (region.positions_start(), &list.positions),
            ] {
                self.files.write(&[pages(start, bytes)])?;
            }
        } else {
            region.start = self.written + self.gathered.len() as u64;
            for (bytes, room) in [
                (&list.docs, region.docs_room),
                (&list.positions, region.positions_room),
            ] {
                let end = self.gathered.len() + room as usize;
                self.gathered.extend_from_slice(bytes);
                self.gathered.resize(end, 0);
            }
            if self.gathered.len() >= GATHERED_BYTES {
                self.write_gathered()?;
            }
        }
        self.regions[term as usize] = region;
        Ok(())
    }

    fn write_gathered(&mut self) -> Result<()> {
        let end = self.gathered.len().next_multiple_of(PAGE_SIZE);
        self.gathered.resize(end, 0);
        self.files.write(&[pages(self.written, &self.gathered)])?;
        self.written += end as u64;
        self.gathered.clear();
        Ok(())
    }
}

fn room(bytes: u32) -> u32 {
    (bytes * ROOM.0).div_ceil(ROOM.1)
}

fn pages(start: u64, bytes: &[u8]) -> Pages<'_> {
    Pages {
        file: FILE,
        page: (start / PAGE_SIZE as u64) as u32,
        bytes,
    }
}

/// Pages that are changed and written back.
struct Patch {
    start: u64,
    bytes: Vec<u8>,
}

impl Patch {
    /// Reads the pages of bytes, and the one that they end in.
    fn read(files: &Files, from: u64, to: u64) -> Result<Patch> {
        let start = from - from % PAGE_SIZE as u64;
        let mut patch = Patch {
            start,
            bytes: Vec::new(),
        };
        patch.reach(files, to, false)?;
        Ok(patch)
    }

    /// Goes on until a byte; pages behind are not read where there is nothing in them.
    fn reach(&mut self, files: &Files, to: u64, is_empty: bool) -> Result<()> {
        let have = self.start + self.bytes.len() as u64;
        let more = to.next_multiple_of(PAGE_SIZE as u64).saturating_sub(have) as usize;
        if is_empty {
            self.bytes.resize(self.bytes.len() + more, 0);
        } else if more > 0 {
            self.bytes.extend(files.read_one(Place {
                file: FILE,
                start: have,
                length: more,
            })?);
        }
        Ok(())
    }

    fn bytes(&self, from: u64, length: usize) -> &[u8] {
        let at = (from - self.start) as usize;
        &self.bytes[at..at + length]
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = (at - self.start) as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn write(&self, files: &Files) -> Result<()> {
        files.write(&[pages(self.start, &self.bytes)])
    }
}

impl Lists for Contiguous {
    fn coding(&self) -> Coding {
        self.coding
    }

    fn add(&mut self, flush: &Flush) -> Result<()> {
        for (term, fragment) in &flush.terms {
            self.append(*term, &Postings::of(fragment)?)?;
        }
        self.write_gathered()?;
        self.files.sync(&[FILE])
    }

    fn read(&self, terms: &[TermNumber], with_positions: bool) -> Result<Vec<Vec<Part>>> {
        let regions = terms.iter().map(|term| self.regions[*term as usize]);
        let regions: Vec<Region> = regions.collect();
        let places = regions
            .iter()
            .flat_map(|region| region.places(with_positions));
        let mut read = self.files.read(&places.collect::<Vec<_>>())?.into_iter();
        let mut lists = Vec::with_capacity(terms.len());
        for region in regions {
            let mut bytes = read.next().unwrap_or_default();
            if with_positions {
                bytes.extend(read.next().unwrap_or_default());
            }
            let is_there = region.summary.count > 0;
            lists.push(
                is_there
                    .then(|| part(region.summary, bytes))
                    .into_iter()
                    .collect(),
            );
        }
        Ok(lists)
    }

    fn work(&self) -> Work {
        self.files.work()
    }

    fn kept(&self) -> Result<Kept> {
        Ok(Kept {
            file_bytes: self.files.bytes()?,
            vocabulary_bytes: size_of_val(self.regions.as_slice()) as u64,
            ..Kept::default()
        })
    }
}
