//! Opening the tier: which regions still hold pages of this index.
//!
//! Only the headers of the regions are read, many at once. They count if the root that is read goes
//! on from all the roots under which the regions were written. Else the tier is emptied: its file
//! is made anew, and gets another mark. So it does if a header is damaged, for that may have been
//! one of another history.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use super::header::{Header, REGION_PAGES, place};
use super::map::TierMap;
use super::regions::Regions;
use super::root::TierRoot;
use super::size::{TIER, region_count};
use super::state::TierContents;
use crate::base::{Error, Result};
use crate::cache::policy::{RoundShares, TierPolicy};
use crate::device::{Device, PageBuffer, PagePool, Transfer};

/// Headers that are read at once. There are buffers for four batches, and at most three on their
/// way.
pub(super) const AT_ONCE: usize = 64;

/// The contents of a tier that was found.
pub(super) struct TierFound {
    pub(super) state: TierContents,
    /// Regions that were dropped.
    pub(super) foreign_regions: usize,
}

/// The contents of the headers that were read so far.
struct HeaderContents {
    file_pages: usize,
    map: TierMap,
    regions: Regions,
    policy: RoundShares,
    newest: Option<Header>,
    /// Set if the tier is another process's: regions that do not count are passed over.
    is_guest: bool,
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
    contents.take_all(device, root, &buffers)?;
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

/// Takes in what a tier holds that another process writes. Nothing of it is changed.
pub(super) fn find_as_guest(
    device: &Arc<dyn Device>,
    bytes: u64,
    root: &TierRoot,
    buffers: PagePool,
) -> Result<TierFound> {
    let count = region_count(bytes);
    let files = device.list()?;
    let pages = files.iter().find(|(file, _)| *file == TIER);
    let pages = pages.map_or(0, |(_, pages)| *pages as usize);
    let mut contents = HeaderContents::new(count, pages.min(count * REGION_PAGES));
    contents.is_guest = true;
    contents.take_all(device, root, &buffers)?;
    contents.found(root, buffers, 0)
}

/// The headers of regions that were begun or filled up since `newest`, as far as one follows the
/// other behind it, of a tier of so many regions. Nothing if the newest one is gone: then the file
/// was made anew.
pub(super) fn newer(
    device: &Arc<dyn Device>,
    count: usize,
    newest: (u32, u64, u32),
    buffers: &PagePool,
) -> Option<Vec<Header>> {
    let (region, mut sequence, mark) = newest;
    let mut found = Vec::new();
    let (mut first, mut is_wrapped) = (region as usize, false);
    for _ in 0..=count.div_ceil(AT_ONCE) {
        let some = first..count.min(first + AT_ONCE);
        let pages = some.clone().zip(headers(device, some, buffers));
        let decode = |region: usize, page: &PageBuffer| Header::decode(page, region as u32);
        let decoded = pages.filter_map(|(region, page)| decode(region, &page?));
        let decoded = decoded.filter(|header| header.mark == mark);
        let mut new: Vec<Header> = decoded
            .filter(|header| header.sequence >= sequence)
            .collect();
        new.sort_by_key(|header| header.sequence);
        let last = new.last().filter(|last| last.sequence > sequence);
        let next = last.map(|last| ((last.region as usize + 1) % count, last.sequence));
        found.append(&mut new);
        match next {
            Some(next) => (first, sequence) = next,
            // The next one may be the first of all.
            None if first + AT_ONCE >= count && !is_wrapped => (first, is_wrapped) = (0, true),
            None => break,
        }
    }
    found
        .iter()
        .any(|header| header.region == region)
        .then_some(found)
}

impl HeaderContents {
    fn take_all(
        &mut self,
        device: &Arc<dyn Device>,
        root: &TierRoot,
        buffers: &PagePool,
    ) -> Result<()> {
        let regions = self.file_pages.div_ceil(REGION_PAGES);
        thread::scope(|scope| {
            let (give, come) = mpsc::sync_channel(1);
            let read = move || read_headers(device, regions, buffers, &give);
            let reader = thread::Builder::new().spawn_scoped(scope, read);
            reader.map_err(|error| no_thread(&error))?;
            // One batch is read meanwhile, and one waits.
            for (first, pages) in come {
                for (region, page) in (first..).zip(pages) {
                    self.take(region, page, root);
                }
            }
            Ok(())
        })
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
            policy: RoundShares::new(regions, REGION_PAGES),
            newest: None,
            is_guest: false,
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
        let counts = is_marked && header.lineage.leads_to(&root.slot);
        self.is_foreign |= !counts;
        if counts || !self.is_guest {
            self.take_in(header);
        }
    }

    fn take_in(&mut self, header: Header) {
        self.regions.fill(header.region, header.pages.len());
        header.teach(&mut self.policy);
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
        let mark = match &self.newest {
            Some(header) => header.mark,
            None => draw_mark()?,
        };
        if let Some(header) = &self.newest {
            // The next region in turn is the one behind it.
            self.policy.fill(header.region, &header.pages);
        }
        let newest = (mark, self.newest);
        let policy = Box::new(self.policy);
        let root = root.clone();
        Ok(TierFound {
            state: TierContents::new(self.map, self.regions, policy, newest, root, buffers),
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
