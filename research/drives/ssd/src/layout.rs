//! Where files stand on a medium: in extents, the lowest free one first.
//!
//! A file that grows alone stands in one run. Files that grow at the same time take turns by
//! extents, as they do on a file system that allocates ahead. On a disk every file has an extent
//! that is as long as a file can be, so that none is ever apart.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use gannet::device::FileId;
use gannet::{Error, Result};

use crate::medium::Medium;

/// Pages of an extent on a drive: 1 MiB.
const DRIVE_EXTENT: u64 = 256;

/// Pages of an extent on a disk: all that a file can have.
const DISK_EXTENT: u64 = 1 << 32;

/// A run of pages of the medium.
pub type Run = Range<u64>;

/// The extents of each file.
#[derive(Debug)]
pub struct Layout {
    /// Pages of an extent.
    extent: u64,
    /// Extents that the medium has.
    extents: u64,
    /// Extents from here on were never used.
    fresh: u64,
    free: BTreeSet<u64>,
    /// The extent of each part of each file, where it has content.
    files: BTreeMap<FileId, BTreeMap<u64, u64>>,
}

impl Layout {
    /// An empty medium.
    pub fn new(medium: &Medium) -> Layout {
        let extent = match medium {
            Medium::Drive(_) => DRIVE_EXTENT,
            Medium::Disk(_) => DISK_EXTENT,
        };
        Layout {
            extent,
            extents: medium.pages() / extent,
            fresh: 0,
            free: BTreeSet::new(),
            files: BTreeMap::new(),
        }
    }

    /// Where pages of a file stand, in runs; parts that were never written stand nowhere.
    pub fn find(&self, file: FileId, page: u32, pages: u32) -> Vec<Run> {
        let parts = self.files.get(&file);
        let extent_of = |part| parts.and_then(|parts| parts.get(&part)).copied();
        let mut runs = Vec::new();
        for (part, inside) in self.parts(page, pages) {
            if let Some(extent) = extent_of(part) {
                add(&mut runs, self.place(extent, inside));
            }
        }
        runs
    }

    /// The same for pages that are to be written: parts that stand nowhere get a place.
    pub fn allocate(&mut self, file: FileId, page: u32, pages: u32) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        for (part, inside) in self.parts(page, pages) {
            let known = self.files.get(&file).and_then(|parts| parts.get(&part));
            let extent = match known {
                Some(extent) => *extent,
                None => {
                    let extent = self.take_free()?;
                    self.files.entry(file).or_default().insert(part, extent);
                    extent
                }
            };
            add(&mut runs, self.place(extent, inside));
        }
        Ok(runs)
    }

    /// Takes a file away; gives where it stood.
    pub fn remove(&mut self, file: FileId) -> Vec<Run> {
        let mut runs = Vec::new();
        for extent in self.files.remove(&file).unwrap_or_default().into_values() {
            self.free.insert(extent);
            add(&mut runs, self.place(extent, 0..self.extent));
        }
        runs
    }

    /// The parts that pages are in, and which pages of each.
    fn parts(&self, page: u32, pages: u32) -> impl Iterator<Item = (u64, Range<u64>)> + use<> {
        let (extent, first) = (self.extent, u64::from(page));
        let end = first + u64::from(pages);
        let parts = first / extent..end.div_ceil(extent);
        parts.map(move |part| {
            let start = part * extent;
            let inside = first.max(start) - start..end.min(start + extent) - start;
            (part, inside)
        })
    }

    fn place(&self, extent: u64, inside: Range<u64>) -> Run {
        let start = extent * self.extent;
        start + inside.start..start + inside.end
    }

    fn take_free(&mut self) -> Result<u64> {
        if let Some(extent) = self.free.pop_first() {
            return Ok(extent);
        }
        if self.fresh == self.extents {
            let pages = self.extents * self.extent;
            return Err(Error::invalid(format!(
                "the modelled drive of {pages} pages is full: give it a larger capacity"
            )));
        }
        self.fresh += 1;
        Ok(self.fresh - 1)
    }
}

/// Adds a run, to the last one if it goes on from there.
fn add(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.end == run.start => last.end = run.end,
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Drive;
    use crate::hdd::{DESKSTAR, Disk};
    use crate::profile::X25_E;

    const A: FileId = FileId::Zone(1);
    const B: FileId = FileId::Zone(2);

    fn one(run: Run) -> Vec<Run> {
        vec![run]
    }

    fn drive() -> Layout {
        let profile = X25_E.with_capacity(32 << 20).unwrap();
        Layout::new(&Drive::new(&profile).unwrap().into())
    }

    #[test]
    fn a_file_that_grows_alone_is_one_run() {
        let mut layout = drive();
        assert_eq!(layout.allocate(A, 0, 200).unwrap(), one(0..200));
        assert_eq!(layout.allocate(A, 200, 400).unwrap(), one(200..600));
        assert_eq!(layout.find(A, 0, 600), one(0..600));
    }

    #[test]
    fn files_that_grow_together_take_turns() {
        let mut layout = drive();
        layout.allocate(A, 0, 256).unwrap();
        layout.allocate(B, 0, 256).unwrap();
        assert_eq!(layout.allocate(A, 250, 10).unwrap(), [250..256, 512..516]);
    }

    #[test]
    fn what_was_never_written_stands_nowhere() {
        let mut layout = drive();
        layout.allocate(A, 600, 1).unwrap();
        assert_eq!(layout.find(A, 0, 601), one(0..89));
        assert_eq!(layout.find(B, 0, 10), []);
    }

    #[test]
    fn a_removed_file_leaves_its_place_to_others() {
        let mut layout = drive();
        layout.allocate(A, 0, 300).unwrap();
        assert_eq!(layout.remove(A), one(0..512));
        assert_eq!(layout.allocate(B, 0, 1).unwrap(), one(0..1));
        assert_eq!(layout.find(A, 0, 300), []);
    }

    #[test]
    fn a_full_drive_says_so() {
        let mut layout = drive();
        let pages = (layout.extents * layout.extent) as u32;
        layout.allocate(A, 0, pages).unwrap();
        let error = layout.allocate(A, pages, 1).unwrap_err().to_string();
        assert!(error.contains("larger capacity"), "{error}");
    }

    #[test]
    fn on_a_disk_no_file_is_in_parts() {
        let mut layout = Layout::new(&Disk::new(DESKSTAR).into());
        for page in 0..4 {
            layout.allocate(A, 1_000 * page, 1_000).unwrap();
            layout.allocate(B, 1_000 * page, 1_000).unwrap();
        }
        assert_eq!(layout.find(A, 0, 4_000).len(), 1);
    }
}
