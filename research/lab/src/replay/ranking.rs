//! Policies that write each page by itself and give up the one with the least worth.

use std::collections::BTreeSet;

use gannet::lab::{PageAddress, TierPolicy};

use super::tier::ReplayPolicy;
use super::trace::Page;

/// The order of the pages of a tier.
pub trait Ranking: std::fmt::Debug + Send {
    /// The worth of a page that leaves memory and is not there; none if it does not enter. `least`
    /// is the worth of the page that would be given up for it, if one would.
    fn offer(&mut self, page: Page, least: Option<u64>) -> Option<u64>;

    /// The worth of a page that is there and is read.
    fn read(&mut self, page: Page) -> u64;

    /// Notes that a page of this worth is given up.
    fn give_up(&mut self, page: Page, worth: u64) {
        let _ = (page, worth);
    }
}

/// A tier of pages in the order of a [`Ranking`].
#[derive(Debug)]
pub struct Ranked<R> {
    ranking: R,
    /// The page and the worth in each region.
    regions: Vec<Option<(u64, Page)>>,
    order: BTreeSet<(u64, u32)>,
    /// The worth of the page that enters.
    entering: u64,
}

impl<R: Ranking> Ranked<R> {
    /// A tier of so many pages.
    pub fn new(ranking: R, pages: usize) -> Ranked<R> {
        Ranked {
            ranking,
            regions: vec![None; pages],
            order: BTreeSet::new(),
            entering: 0,
        }
    }

    fn put(&mut self, region: u32, page: Page, worth: u64) {
        if let Some((worth, _)) = self.regions[region as usize].replace((worth, page)) {
            self.order.remove(&(worth, region));
        }
        self.order.insert((worth, region));
    }
}

impl<R: Ranking> ReplayPolicy for Ranked<R> {
    fn count_read(&mut self, region: u32, page: PageAddress) {
        let worth = self.ranking.read(page.page);
        self.put(region, page.page, worth);
    }
}

impl<R: Ranking> TierPolicy for Ranked<R> {
    fn admits(&mut self, page: PageAddress, is_full: bool) -> bool {
        let least = self.order.first().map(|(worth, _)| *worth);
        let worth = self.ranking.offer(page.page, least.filter(|_| is_full));
        self.entering = worth.unwrap_or_default();
        worth.is_some()
    }

    fn fill(&mut self, region: u32, pages: &[PageAddress]) {
        if let Some(page) = pages.first() {
            self.put(region, page.page, self.entering);
        }
    }

    fn choose(&mut self) -> u32 {
        let (worth, region) = *self.order.first().unwrap_or(&(0, 0));
        if let Some((_, page)) = self.regions[region as usize] {
            self.ranking.give_up(page, worth);
        }
        region
    }
}
