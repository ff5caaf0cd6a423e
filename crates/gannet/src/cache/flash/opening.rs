//! Opening the tier: which regions still hold pages of this index.
//!
//! Only the headers of the regions are read, many at once. They count if the root that is read goes
//! on from all the roots under which the regions were written. Else the tier is emptied: its file
//! is made anew, and gets another mark. So it does if a header is damaged, for that may have been
//! one of another history.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use super::header::{ENTRIES, Header, REGION_PAGES, place};
use super::map::TierMap;
use super::regions::Regions;
use super::state::TierContents;
use super::{TIER, TierRoot, region_count};
use crate::base::{Error, Result};
use crate::device::{Device, PageBuffer, PagePool, Transfer};
use crate::storage::Lineage;

/// Headers that are read at once. There are buffers for four batches, and at most three on their
/// way.
const AT_ONCE: usize = 64;

/// The contents of a tier that was found.
pub(super) struct TierFound {
    pub(super) state: TierContents,
    pub(super) mark: u32,
    /// Regions that were dropped.
    pub(super) foreign_regions: usize,
}

/// The contents of the headers that were read so far.
struct HeaderContents {
    file_pages: usize,
    map: TierMap,
    regions: Regions,
    newest: Option<Header>,
    /// Set if a region is damaged, or does not belong to the history of the root.
    is_foreign: bool,
}

/// Takes in what the tier on `device` holds for `root`, in a tier of so many bytes, with `buffers`
/// for as many pages as two regions have.
pub(super) fn find(
    device: &Arc<dyn Device>,
    bytes: u64,
    root: &TierRoot,
    buffers: PagePool,
) -> Result<TierFound> {
    let count = region_count(bytes);
    let mut contents = HeaderContents::new(count, file_pages(device, count)?);
    let regions = contents.file_pages.div_ceil(REGION_PAGES);
    thread::scope(|scope| {
        let (give, come) = mpsc::sync_channel(1);
        let buffers = &buffers;
        let read = move || read_headers(device, regions, buffers, &give);
        let reader = thread::Builder::new().spawn_scoped(scope, read);
        reader.map_err(|error| no_thread(&error))?;
        // One batch is read meanwhile, and one waits.
        for (first, pages) in come {
            for (region, page) in (first..).zip(pages) {
                contents.take(region, page, root);
            }
        }
        Ok(())
    })?;
    if contents.is_foreign {
        // Only one map is reserved.
        drop(contents);
        make_anew(device)?;
        let empty = HeaderContents::new(count, 0);
        empty.found(root, buffers, regions)
    } else {
        contents.found(root, buffers, 0)
    }
}

/// The first pages of some regions from one on.
type Headers = (u32, Vec<Option<PageBuffer>>);

fn read_headers(
    device: &Arc<dyn Device>,
    regions: usize,
    buffers: &PagePool,
    give: &SyncSender<Headers>,
) {
    for first in (0..regions).step_by(AT_ONCE) {
        let some = first..regions.min(first + AT_ONCE);
        let pages = headers(device, some, buffers);
        if give.send((first as u32, pages)).is_err() {
            return;
        }
    }
}

fn no_thread(error: &std::io::Error) -> Error {
    failed(format!("a thread could not be started: {error}"))
}

fn draw_mark() -> Result<u32> {
    let no_mark = |error| failed(format!("the system gives no random number: {error}"));
    getrandom::u32().map_err(no_mark)
}

fn failed(reason: String) -> Error {
    Error::Device {
        operation: "read",
        file: TIER.name(),
        reason,
        full: false,
    }
}

impl HeaderContents {
    fn new(regions: usize, file_pages: usize) -> HeaderContents {
        HeaderContents {
            file_pages,
            map: TierMap::new(regions * REGION_PAGES),
            regions: Regions::new(regions),
            newest: None,
            is_foreign: false,
        }
    }

    fn take(&mut self, region: u32, page: Option<PageBuffer>, root: &TierRoot) {
        let header = page.as_ref().and_then(|page| Header::decode(page, region));
        let Some(header) = header else {
            let is_unwritten = page.is_some_and(|page| page.iter().all(|byte| *byte == 0));
            self.is_foreign |= !is_unwritten;
            return;
        };
        let newest = self.newest.as_ref();
        let is_marked = newest.is_none_or(|newest| newest.mark == header.mark);
        self.is_foreign |= !is_marked || !header.lineage.leads_to(&root.slot);
        self.take_in(header);
    }

    fn take_in(&mut self, header: Header) {
        self.regions.fill(header.region, header.pages.len());
        for (number, address) in header.pages.iter().enumerate() {
            let place = place(header.region, number + 1);
            if (place as usize) < self.file_pages {
                self.map.insert(*address, place);
            }
        }
        let newest = self.newest.as_ref();
        if newest.is_none_or(|newest| newest.sequence < header.sequence) {
            self.newest = Some(header);
        }
    }

    fn found(mut self, root: &TierRoot, buffers: PagePool, dropped: usize) -> Result<TierFound> {
        let sequence = self.newest.as_ref().map_or(0, |header| header.sequence);
        let mark = match &self.newest {
            Some(header) => header.mark,
            None => draw_mark()?,
        };
        if let Some(header) = &self.newest {
            self.regions.go_on_behind(header.region);
        }
        let unfinished = self.newest.filter(|header| header.pages.len() < ENTRIES);
        let newest = (sequence, unfinished);
        let root = (Lineage::of(&root.slot), root.next_zone);
        Ok(TierFound {
            state: TierContents::new(self.map, self.regions, newest, root, buffers),
            mark,
            foreign_regions: dropped,
        })
    }
}

/// Pages of the tier's file, which is made if it is missing. One that is longer than the tier may
/// be is made anew.
fn file_pages(device: &Arc<dyn Device>, regions: usize) -> Result<usize> {
    let files = device.list()?;
    let pages = files.iter().find(|(file, _)| *file == TIER);
    match pages {
        Some((_, pages)) if *pages as usize <= regions * REGION_PAGES => Ok(*pages as usize),
        Some(_) => make_anew(device).map(|()| 0),
        None => device.create(TIER).map(|()| 0),
    }
}

fn make_anew(device: &Arc<dyn Device>) -> Result<()> {
    device.remove(TIER)?;
    device.create(TIER)
}

/// The first pages of regions, as far as they can be read.
fn headers(
    device: &Arc<dyn Device>,
    regions: std::ops::Range<usize>,
    buffers: &PagePool,
) -> Vec<Option<PageBuffer>> {
    let transfer = |region: usize| Transfer {
        file: TIER,
        page: place(region as u32, 0),
        buffers: buffers.take().into_iter().collect(),
    };
    let mut batch: Vec<Transfer> = regions.clone().map(transfer).collect();
    if device.read(&mut batch).is_ok() {
        let pages = batch.into_iter();
        return pages.map(|mut transfer| transfer.buffers.pop()).collect();
    }
    drop(batch);
    let alone = |region| {
        let mut one = [transfer(region)];
        let read = device.read(&mut one);
        let [mut one] = one;
        read.ok().and_then(|()| one.buffers.pop())
    };
    regions.map(alone).collect()
}
