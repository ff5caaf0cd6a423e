//! A policy for the engine, tried here first: pages are worth the rounds that they saved.
//!
//! Each request for a page, there or not, is worth its share of the round: one that is missed
//! alone saves a whole round, one of many saves little. The shares of all pages are added up in a
//! sketch with conservative update (Estan and Varghese, SIGCOMM 2002) that fades slowly. A page
//! enters if it is worth a bound. Regions are overwritten in turn. Of their pages those are
//! written again that are worth more than the bound, which follows what the best three quarters of
//! a region are worth.

use gannet::lab::{PageAddress, TierPolicy};

use super::moment::Moment;
use super::tier::ReplayPolicy;

/// The share of the pages of a region that is to be written again, and the most of it.
const KEPT: f32 = 0.75;
const KEPT_MAX: f32 = 0.9;

/// The share of the way that the bound goes with each region.
const STEP: f32 = 0.1;

/// Requests for each page of the tier after which a sum has faded to a half.
const HALF_LIFE: f64 = 1_000.0;

/// Worth of a page beside its share of a round.
const PAGE_SHARE: f32 = 0.05;

/// Counters of a page.
const DEPTH: usize = 2;

/// The policy.
#[derive(Debug)]
pub struct RoundShares {
    sums: Vec<f32>,
    /// Grows in place of fading of all sums: they are in units of it.
    unit: f32,
    growth: f32,
    regions: usize,
    hand: usize,
    bound: f32,
    moment: Moment,
}

impl RoundShares {
    /// For a tier of so many regions of so many pages, with so many counters for each page.
    pub fn new(regions: usize, region_pages: usize, counters: usize, moment: Moment) -> Self {
        let pages = regions * region_pages;
        RoundShares {
            sums: vec![0.0; pages * counters],
            unit: 1.0,
            growth: (1.0 / (HALF_LIFE * pages as f64)).exp2() as f32,
            regions,
            hand: 0,
            bound: 0.0,
            moment,
        }
    }

    fn counters(&self, page: PageAddress) -> [usize; DEPTH] {
        let mut hash = u64::from(page.page);
        [(); DEPTH].map(|()| {
            hash = gannet_ssd::random::nth(hash, 1);
            ((hash >> 32) as usize * self.sums.len()) >> 32
        })
    }

    fn worth(&self, page: PageAddress) -> f32 {
        let sums = self.counters(page).map(|counter| self.sums[counter]);
        sums.into_iter().fold(f32::MAX, f32::min) / self.unit
    }

    /// Adds a request, and gives the worth of the page.
    fn add(&mut self, page: PageAddress) -> f32 {
        self.unit *= self.growth;
        if self.unit > 1e6 {
            let unit = std::mem::replace(&mut self.unit, 1.0);
            self.sums.iter_mut().for_each(|sum| *sum /= unit);
        }
        let worth = self.worth(page) + PAGE_SHARE + 1.0 / self.moment.together() as f32;
        for counter in self.counters(page) {
            let sum = &mut self.sums[counter];
            *sum = sum.max(worth * self.unit);
        }
        worth
    }
}

impl TierPolicy for RoundShares {
    fn admits(&mut self, page: PageAddress, is_full: bool) -> bool {
        let worth = self.add(page);
        !is_full || worth > self.bound
    }

    fn fill(&mut self, region: u32, _pages: &[PageAddress]) {
        self.hand = (region as usize + 1) % self.regions;
    }

    fn count_read(&mut self, _region: u32, page: PageAddress) {
        self.add(page);
    }

    fn choose(&mut self) -> u32 {
        self.hand as u32
    }
}

impl ReplayPolicy for RoundShares {
    fn keeps(&mut self, pages: &[PageAddress]) -> Vec<PageAddress> {
        let with_worth = pages.iter().map(|page| (self.worth(*page), *page));
        let mut kept: Vec<(f32, PageAddress)> = with_worth.collect();
        kept.sort_by(|left, right| right.0.total_cmp(&left.0));
        let share = |of: f32| (pages.len() as f32 * of) as usize;
        if let Some((least, _)) = kept.get(share(KEPT)) {
            self.bound += (least - self.bound) * STEP;
        }
        kept.retain(|(worth, _)| *worth > self.bound);
        kept.truncate(share(KEPT_MAX));
        kept.into_iter().map(|(_, page)| page).collect()
    }
}
