//! Keeps the pages that spare the most rounds.
//!
//! Each request for a page is worth its share of the round: one that is missed alone costs a whole
//! round, one of many costs little. The shares of a page are added up, whether the tier has it or
//! not (`worth`). Regions are written to in turn, and each gives up the least worthy quarter of its
//! pages at most. What the best page of these quarters is worth, on a moving mean, is the bound: a
//! page enters if it is worth more.
//!
//! A process leaves what it has learned to the next one in the notes of regions, but for pages that
//! are not there. So one that knows little takes some pages below the bound, or commands that ask
//! one query each would never fill the tier with what they read often.

use super::TierPolicy;
use super::worth::WorthTable;
use crate::base::PageAddress;

/// Of the pages of a region, one part of so many is given up at most.
const GIVEN_UP_ONE_OF: usize = 4;

/// The share of the way that the bound goes with each region.
const STEP: f32 = 0.1;

/// Worth of a request beside its share of the round: the bytes of the page.
const PAGE_WORTH: f32 = 0.05;

/// A process knows little until so many requests came for every hundred pages of the tier. Until
/// then one of so many pages is taken though it is worth less than the bound.
const YOUNG_PERCENT: u64 = 25;
const TAKEN_ANYWAY: u32 = 16;

/// The policy.
#[derive(Debug)]
pub struct RoundShares {
    worth: WorthTable,
    regions: usize,
    hand: usize,
    /// Nothing before any region has pages.
    bound: Option<f32>,
    /// Requests until which it knows little.
    young: u64,
    passed_over: u32,
}

impl RoundShares {
    /// For a tier of so many regions of so many pages.
    pub fn new(regions: usize, region_pages: usize) -> RoundShares {
        let pages = regions * region_pages;
        RoundShares {
            worth: WorthTable::new(pages),
            regions,
            hand: 0,
            bound: None,
            young: pages as u64 * YOUNG_PERCENT / 100,
            passed_over: 0,
        }
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(regions: usize, region_pages: usize) -> usize {
        WorthTable::memory_bytes(regions * region_pages)
    }

    /// The pages of a region from the least worthy on, with their numbers.
    fn ordered(&self, pages: &[PageAddress]) -> Vec<(f32, usize)> {
        let with_worth = pages.iter().map(|page| self.worth.of(*page));
        let mut order: Vec<(f32, usize)> = with_worth.zip(0..).collect();
        order.sort_by(|left, right| left.0.total_cmp(&right.0));
        order
    }

    /// Returns true for some pages as long as it knows little.
    fn takes_anyway(&mut self) -> bool {
        if self.worth.additions() > self.young {
            return false;
        }
        self.passed_over = (self.passed_over + 1) % TAKEN_ANYWAY;
        self.passed_over == 0
    }
}

/// Returns the number of pages that a region of so many gives up at most.
fn given_up(pages: usize) -> usize {
    (pages / GIVEN_UP_ONE_OF).max(1)
}

impl TierPolicy for RoundShares {
    fn count_request(&mut self, page: PageAddress, round: usize) {
        let share = 1.0 / round.max(1) as f32;
        self.worth.add(page, PAGE_WORTH + share);
    }

    fn admits(&mut self, page: PageAddress, is_full: bool) -> bool {
        let bound = self.bound.unwrap_or_default();
        !is_full || self.worth.of(page) > bound || self.takes_anyway()
    }

    fn fill(&mut self, region: u32, pages: &[PageAddress]) {
        self.hand = (region as usize + 1) % self.regions;
        if let Some((worth, _)) = self.ordered(pages).get(given_up(pages.len()) - 1) {
            let bound = self.bound.get_or_insert(*worth);
            *bound += (worth - *bound) * STEP;
        }
    }

    fn choose(&mut self) -> u32 {
        self.hand as u32
    }

    fn give_up(&mut self, pages: &[PageAddress], most: usize) -> Vec<usize> {
        let order = self.ordered(pages).into_iter();
        let least = order.take(given_up(pages.len()).min(most));
        let mut numbers: Vec<usize> = least.map(|(_, number)| number).collect();
        numbers.sort_unstable();
        numbers
    }

    fn note(&self, page: PageAddress) -> u8 {
        self.worth.level(page)
    }

    fn learn(&mut self, page: PageAddress, note: u8) {
        self.worth.raise(page, note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGIONS: usize = 16;
    const REGION_PAGES: usize = 64;

    /// Regions under the policy, each page of which is written by itself.
    struct Tier {
        policy: RoundShares,
        regions: Vec<Vec<PageAddress>>,
    }

    impl Tier {
        fn new() -> Tier {
            Tier {
                policy: RoundShares::new(REGIONS, REGION_PAGES),
                regions: vec![Vec::new(); REGIONS],
            }
        }

        fn has(&self, page: PageAddress) -> bool {
            self.regions.iter().any(|region| region.contains(&page))
        }

        fn held(&self, pages: std::ops::Range<u32>) -> usize {
            pages.filter(|page| self.has(at(*page))).count()
        }

        /// Asks for each page in a round of its own.
        fn ask_alone(&mut self, pages: std::ops::Range<u32>) {
            for page in pages {
                self.ask([page].into_iter());
            }
        }

        /// Asks for pages together, none of which memory has. Tells how many were written.
        fn ask(&mut self, pages: impl ExactSizeIterator<Item = u32>) -> usize {
            let round = pages.len();
            pages.filter(|page| self.ask_one(at(*page), round)).count()
        }

        fn ask_one(&mut self, page: PageAddress, round: usize) -> bool {
            self.policy.count_request(page, round);
            let free = self.regions.iter().position(|one| one.len() < REGION_PAGES);
            let enters = !self.has(page) && self.policy.admits(page, free.is_none());
            if enters {
                match free {
                    Some(region) => self.regions[region].push(page),
                    None => self.overwrite(page),
                }
            }
            enters
        }

        fn overwrite(&mut self, page: PageAddress) {
            let number = self.policy.choose();
            let region = &mut self.regions[number as usize];
            let given_up = self.policy.give_up(region, 1);
            assert_eq!(given_up.len(), 1);
            region[given_up[0]] = page;
            self.policy.fill(number, region);
        }

        /// The tier as another process opens it, which knows the notes alone.
        fn reopen(&mut self) {
            let mut policy = RoundShares::new(REGIONS, REGION_PAGES);
            for (number, region) in (0..).zip(&self.regions) {
                for page in region {
                    policy.learn(*page, self.policy.note(*page));
                }
                policy.fill(number, region);
            }
            self.policy = policy;
        }
    }

    fn at(page: u32) -> PageAddress {
        PageAddress { zone: 7, page }
    }

    #[test]
    fn pages_of_small_rounds_stay_and_those_of_large_ones_leave() {
        let mut tier = Tier::new();
        // The large rounds alone would fill the tier four times.
        let (lonely, many) = (0..600, 10_000..14_096);
        for _ in 0..20 {
            tier.ask_alone(lonely.clone());
            for first in many.clone().step_by(64) {
                tier.ask(first..first + 64);
            }
        }
        let held = tier.held(lonely);
        assert!(held >= 570, "{held} of 600");
    }

    #[test]
    fn a_scan_neither_flushes_worthy_pages_nor_writes_much() {
        let mut tier = Tier::new();
        for _ in 0..3 {
            tier.ask_alone(0..800);
        }
        tier.ask(1_000..1_000 + 224);
        let scan = (0..200).map(|round| tier.ask(10_000 + round * 64..10_000 + (round + 1) * 64));
        let written: usize = scan.sum();
        assert!(written <= 12_800 / 8, "{written} of 12,800");
        let held = tier.held(0..800);
        assert!(held >= 680, "{held} of 800");
    }

    #[test]
    fn another_process_knows_what_pages_are_worth() {
        let mut tier = Tier::new();
        for _ in 0..3 {
            tier.ask_alone(0..800);
        }
        tier.ask(1_000..1_000 + 224);
        for process in 0..100 {
            tier.reopen();
            let first = 10_000 + process * 64;
            tier.ask(first..first + 64);
        }
        let held = tier.held(0..800);
        assert!(held >= 680, "{held} of 800");
    }

    #[test]
    fn what_is_asked_for_now_takes_the_place_of_what_was_asked_for_once() {
        let mut tier = Tier::new();
        for _ in 0..3 {
            tier.ask_alone(0..1_024);
        }
        for _ in 0..60 {
            tier.ask_alone(5_000..5_800);
        }
        let held = tier.held(5_000..5_800);
        assert!(held >= 700, "{held} of 800");
    }

    #[test]
    fn memory_is_three_bytes_for_each_page() {
        for (regions, pages) in [(16, 128), (2_048, 128), (65_536, 128)] {
            let bytes = RoundShares::memory_bytes(regions, pages);
            assert!(bytes <= regions * pages * 301 / 100, "{bytes}");
            assert!(bytes >= regions * pages * 29 / 10, "{bytes}");
        }
        let worth = RoundShares::new(16, 128).worth;
        assert_eq!(worth.table_bytes(), RoundShares::memory_bytes(16, 128));
    }
}
