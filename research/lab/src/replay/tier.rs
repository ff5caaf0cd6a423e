//! A flash tier without content: which pages are in it, and how many were written to it.
//!
//! As in the engine, pages that are admitted are gathered, where they can be read, until they fill
//! a region. They are written to a region that is free, or over the pages that regions give up. A
//! region of one page is a cache that writes each page by itself.
//!
//! A policy begins anew with each process, but for what the notes in the regions tell it.

use gannet::lab::{PageAddress, RoundShares, TierPolicy};

use super::misses::Misses;
use super::moment::Moment;
use super::trace::{Page, Trace};

/// Pages that the store is asked for together where no more than so many lie between them.
const GAP_PAGES: u32 = 16;

const NOWHERE: u32 = u32::MAX;
const GATHERED: u32 = u32::MAX - 1;

/// A policy of the engine, or one that is also told which region has a page.
pub trait ReplayPolicy: TierPolicy {
    /// Notes that a page of a region was read.
    fn count_read(&mut self, region: u32, page: PageAddress) {
        let _ = (region, page);
    }
}

impl ReplayPolicy for RoundShares {}

/// Makes the policy of a process.
pub type MakePolicy<'t> = Box<dyn Fn() -> Box<dyn ReplayPolicy> + 't>;

/// The tier.
pub struct ModelTier<'t> {
    trace: &'t Trace,
    make: MakePolicy<'t>,
    policy: Box<dyn ReplayPolicy>,
    region_pages: usize,
    regions: Vec<Vec<Page>>,
    /// The notes of the policy about the pages of each region.
    notes: Vec<Vec<u8>>,
    free: usize,
    /// The region that was written to last.
    newest: usize,
    gathered: Vec<Page>,
    /// The region of each page.
    places: Vec<u32>,
    /// The number of pages that memory missed together with each page.
    together: Vec<u32>,
    moment: Moment,
}

/// The counts of a part of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierCounts {
    pub queries: u64,
    /// Pages that memory did not have.
    pub requests: u64,
    /// The pages of these that the tier had.
    pub hits: u64,
    /// Requests to the store, each for pages that lie close together.
    pub store_requests: u64,
    /// Rounds that had to ask the store.
    pub store_rounds: u64,
    /// Pages written to the tier.
    pub written: u64,
    /// Writes to regions.
    pub writes: u64,
}

impl<'t> ModelTier<'t> {
    /// A tier of so many regions of so many pages.
    pub fn new(
        trace: &'t Trace,
        make: MakePolicy<'t>,
        regions: usize,
        region_pages: usize,
        moment: Moment,
    ) -> ModelTier<'t> {
        ModelTier {
            trace,
            policy: make(),
            make,
            region_pages,
            regions: vec![Vec::new(); regions],
            notes: vec![Vec::new(); regions],
            free: regions,
            newest: 0,
            gathered: Vec::new(),
            places: vec![NOWHERE; trace.addresses.len()],
            together: vec![0; trace.addresses.len()],
            moment,
        }
    }

    /// Serves all misses, and counts those of queries from number `from` on.
    pub fn run(&mut self, misses: &Misses, from: usize) -> TierCounts {
        let mut counts = TierCounts::default();
        let (mut page, mut evicted) = (0, 0);
        for round in &misses.rounds {
            let mut of_round = TierCounts::default();
            self.serve(&misses.pages[page..round.pages_end], &mut of_round);
            self.moment.pass(round.pages_end);
            for page in &misses.evicted[evicted..round.evicted_end] {
                self.offer(*page, &mut of_round);
            }
            if round.ends_process {
                self.end_process(&mut of_round);
            }
            (page, evicted) = (round.pages_end, round.evicted_end);
            if round.query >= from {
                counts.add(&of_round);
            }
        }
        counts.queries = (self.trace.queries - from) as u64;
        counts
    }

    /// Reads the pages that a round misses.
    fn serve(&mut self, pages: &[Page], counts: &mut TierCounts) {
        let from_store = |page: &&Page| self.places[**page as usize] == NOWHERE;
        let asked: Vec<Page> = pages.iter().filter(from_store).copied().collect();
        for page in pages {
            let place = self.places[*page as usize];
            let is_hit = place != NOWHERE;
            self.together[*page as usize] = pages.len() as u32;
            self.moment.tell(pages.len() as u32);
            self.policy.count_request(address(*page), pages.len());
            if is_hit && place != GATHERED {
                self.policy.count_read(place, address(*page));
            }
            counts.hits += u64::from(is_hit);
        }
        counts.requests += pages.len() as u64;
        counts.store_rounds += u64::from(!asked.is_empty());
        counts.store_requests += self.store_requests(&asked);
    }

    /// Requests for pages in the order of their addresses.
    fn store_requests(&self, pages: &[Page]) -> u64 {
        let places = pages
            .iter()
            .map(|page| self.trace.addresses[*page as usize]);
        let places: Vec<(u32, u32)> = places.collect();
        let gaps = places
            .windows(2)
            .filter(|pair| pair[0].0 != pair[1].0 || pair[1].1 - pair[0].1 > GAP_PAGES + 1);
        u64::from(!places.is_empty()) + gaps.count() as u64
    }

    /// Offers a page that left memory.
    fn offer(&mut self, page: Page, counts: &mut TierCounts) {
        if self.places[page as usize] != NOWHERE {
            return;
        }
        self.moment.tell(self.together[page as usize]);
        if self.policy.admits(address(page), self.free == 0) {
            self.places[page as usize] = GATHERED;
            self.gathered.push(page);
        }
        if self.gathered.len() == self.region_pages {
            self.write(counts);
        }
    }

    /// Writes what was gathered.
    fn write(&mut self, counts: &mut TierCounts) {
        while !self.gathered.is_empty() {
            let region = self.next_region();
            counts.written += self.write_to(region) as u64;
            counts.writes += 1;
        }
    }

    fn next_region(&mut self) -> usize {
        let has_room = self.regions[self.newest].len() < self.region_pages;
        if has_room && !self.regions[self.newest].is_empty() {
            self.newest
        } else if self.free > 0 {
            self.free -= 1;
            self.regions.len() - 1 - self.free
        } else {
            self.policy.choose() as usize
        }
    }

    /// Writes as much of it to a region as this has room for, or gives up.
    fn write_to(&mut self, region: usize) -> usize {
        let left = self.gathered.len();
        let room = self.region_pages - self.regions[region].len();
        if room > 0 {
            let new = self.gathered.drain(..room.min(left));
            self.regions[region].extend(new);
        } else {
            let old: Vec<PageAddress> = self.addresses(region);
            let given_up = self.policy.give_up(&old, left);
            let new = self.gathered.drain(..given_up.len());
            for (number, page) in given_up.into_iter().zip(new) {
                let old = std::mem::replace(&mut self.regions[region][number], page);
                self.places[old as usize] = NOWHERE;
            }
        }
        for page in &self.regions[region] {
            self.places[*page as usize] = region as u32;
        }
        let pages = self.addresses(region);
        self.policy.fill(region as u32, &pages);
        let notes = pages.iter().map(|page| self.policy.note(*page));
        self.notes[region] = notes.collect();
        self.newest = region;
        left - self.gathered.len()
    }

    fn addresses(&self, region: usize) -> Vec<PageAddress> {
        let pages = self.regions[region].iter();
        pages.map(|page| address(*page)).collect()
    }

    /// Writes what is left over, and opens the tier as another process.
    fn end_process(&mut self, counts: &mut TierCounts) {
        self.write(counts);
        self.policy = (self.make)();
        // The newest one last: the next in turn is behind it.
        let others = self.newest + 1..self.newest + self.regions.len();
        for region in others.chain([self.newest]) {
            let region = region % self.regions.len();
            let pages = self.addresses(region);
            for (page, note) in pages.iter().zip(&self.notes[region]) {
                self.policy.learn(*page, *note);
            }
            self.policy.fill(region as u32, &pages);
        }
    }
}

impl TierCounts {
    fn add(&mut self, other: &TierCounts) {
        self.requests += other.requests;
        self.hits += other.hits;
        self.store_requests += other.store_requests;
        self.store_rounds += other.store_rounds;
        self.written += other.written;
        self.writes += other.writes;
    }
}

/// The address by which policies know a page.
fn address(page: Page) -> PageAddress {
    PageAddress { zone: 0, page }
}
