//! The state that the reading threads and the writing one share: the map, the regions, and pages on
//! their way.
//!
//! Nothing waits for the device while it holds the lock. Invariants:
//!
//! 1. The map names only places that were written: a page enters it when its write has ended, and
//!    leaves it before its place is overwritten.
//! 2. A page is in a draft, where it can be read, until the map names its place.
//! 3. A page enters a draft only if its zone is below the next one of the root. Each
//!    region is written under that root or one that goes on from it.

use std::sync::Arc;
use std::time::Instant;

use super::header::{ENTRIES, Header, REGION_PAGES, place};
use super::limit::WriteLimit;
use super::map::TierMap;
use super::regions::Regions;
use super::root::TierRoot;
use crate::base::{PAGE_SIZE, PageAddress};
use crate::cache::policy::TierPolicy;
use crate::device::{PageBuffer, PagePool};
use crate::storage::Lineage;

/// Pages that are to be written, each with its buffer.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) pages: Vec<PageAddress>,
    pub(super) buffers: Vec<PageBuffer>,
}

/// The counts since the tier was opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TierCounts {
    pub(super) read: u64,
    pub(super) written: u64,
    /// Pages that were damaged.
    pub(super) unproven: u64,
    /// Pages that found both drafts full, or the limit of writes used up.
    pub(super) passed_over: u64,
}

pub(super) struct TierContents {
    pub(super) map: TierMap,
    pub(super) regions: Regions,
    pub(super) policy: Box<dyn TierPolicy>,
    /// The region that was written to last, and its sequence.
    pub(super) newest_region: u32,
    pub(super) sequence: u64,
    /// The mark that tells its pages from those that its file had before the tier was emptied.
    pub(super) mark: u32,
    /// The root under which pages are taken.
    pub(super) root: TierRoot,
    draft: Draft,
    /// The draft that the writing thread writes, or takes next.
    pub(super) ready: Option<Arc<Draft>>,
    pub(super) is_closing: bool,
    /// Set once the writing thread has ended.
    pub(super) is_over: bool,
    /// Why nothing is written any more.
    pub(super) stopped: Option<String>,
    /// Set if nothing is read either.
    pub(super) is_off: bool,
    /// The limit of bytes that are written.
    pub(super) limit: Option<WriteLimit>,
    pub(super) counts: TierCounts,
    buffers: PagePool,
}

/// A page that leaves memory.
#[derive(Clone, Copy)]
pub struct EvictedPage<'a> {
    pub address: PageAddress,
    /// With its seal.
    pub bytes: &'a [u8; PAGE_SIZE],
    /// Set if it was read from the tier.
    pub is_from_tier: bool,
}

/// The outcome of offering a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// It was taken, or is not wanted.
    Done,
    /// A draft was completed, for which there is work now.
    Ready,
    /// There is no room before a draft is written.
    Full,
}

impl Draft {
    /// The page with this address.
    fn find(&self, address: PageAddress) -> Option<&PageBuffer> {
        let at = self.pages.iter().position(|page| *page == address)?;
        self.buffers.get(at)
    }
}

impl TierContents {
    pub(super) fn new(
        map: TierMap,
        regions: Regions,
        policy: Box<dyn TierPolicy>,
        (mark, newest): (u32, Option<Header>),
        root: TierRoot,
        buffers: PagePool,
    ) -> TierContents {
        let newest_region = newest.as_ref().map_or(0, |header| header.region);
        let sequence = newest.as_ref().map_or(0, |header| header.sequence);
        TierContents {
            map,
            regions,
            policy,
            newest_region,
            sequence,
            mark,
            root,
            draft: Draft::default(),
            ready: None,
            is_closing: false,
            is_over: false,
            stopped: None,
            is_off: false,
            limit: None,
            counts: TierCounts::default(),
            buffers,
        }
    }

    /// The history that a region belongs to which is written now.
    pub(super) fn lineage(&self) -> Lineage {
        Lineage::of(&self.root.slot)
    }

    /// Takes in what the header of a region says that another process has written.
    pub(super) fn take_in(&mut self, header: &Header) {
        let region = header.region;
        self.map
            .remove_places(place(region, 0)..place(region, REGION_PAGES));
        let is_ours = header.lineage.leads_to(&self.root.slot);
        let pages: &[PageAddress] = if is_ours { &header.pages } else { &[] };
        for (number, address) in pages.iter().enumerate() {
            self.map.insert(*address, place(region, number + 1));
        }
        self.regions.fill(region, pages.len());
        (self.newest_region, self.sequence) = (region, header.sequence);
    }

    /// Neither writes nor reads any more.
    pub(super) fn turn_off(&mut self, reason: String) {
        self.stopped.get_or_insert(reason);
        self.is_off = true;
    }

    /// Copies a page that is on its way to the tier.
    pub(super) fn copy_draft(&self, address: PageAddress, into: &mut PageBuffer) -> bool {
        match self.find_draft(address) {
            Some(page) => {
                into.copy_from_slice(&page[..]);
                true
            }
            None => false,
        }
    }

    /// Returns true if a page is on its way.
    pub(super) fn has_draft(&self, address: PageAddress) -> bool {
        self.find_draft(address).is_some()
    }

    fn find_draft(&self, address: PageAddress) -> Option<&PageBuffer> {
        let ready = || self.ready.as_ref().and_then(|draft| draft.find(address));
        self.draft.find(address).or_else(ready)
    }

    /// Offers a page that leaves memory. One that was read from the tier may still be there; of
    /// another one the map has at most places that are not its own.
    pub(super) fn offer(&mut self, page: EvictedPage<'_>) -> Offered {
        let EvictedPage {
            address,
            bytes,
            is_from_tier,
        } = page;
        let is_there = is_from_tier && self.map.candidates(address).next().is_some();
        let is_wanted = self.stopped.is_none()
            && address.zone < self.root.next_zone
            && !is_there
            && !self.has_draft(address);
        if !is_wanted {
            return Offered::Done;
        }
        let mut is_ready = self.is_complete() && self.hand_over();
        if self.is_complete() {
            self.counts.passed_over += 1;
            return Offered::Full;
        }
        if self.policy.admits(address, self.regions.are_full()) {
            self.take(address, bytes);
        }
        is_ready |= self.is_complete() && self.hand_over();
        if is_ready {
            Offered::Ready
        } else {
            Offered::Done
        }
    }

    /// Returns true if the writing thread has a draft.
    pub(super) fn is_busy(&self) -> bool {
        self.ready.is_some() && self.stopped.is_none()
    }

    /// Returns true if the draft has no room.
    fn is_complete(&self) -> bool {
        self.draft.pages.len() == ENTRIES
    }

    fn take(&mut self, address: PageAddress, page: &[u8; PAGE_SIZE]) {
        if let Some(limit) = &mut self.limit
            && !limit.take(PAGE_SIZE, Instant::now())
        {
            self.counts.passed_over += 1;
            return;
        }
        match self.buffers.take() {
            Some(mut buffer) => {
                buffer.copy_from_slice(page);
                self.draft.pages.push(address);
                self.draft.buffers.push(buffer);
            }
            None => self.counts.passed_over += 1,
        }
    }

    /// Gives the draft to the writing thread, if that has no other and there is anything to write.
    /// There are buffers for two drafts: one that is written, or is to be, and one that fills.
    pub(super) fn hand_over(&mut self) -> bool {
        let can = !self.is_busy() && self.stopped.is_none() && !self.draft.buffers.is_empty();
        if can {
            self.ready = Some(Arc::new(std::mem::take(&mut self.draft)));
        }
        can
    }
}
