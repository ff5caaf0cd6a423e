//! Takes pages that leave memory a second time, and gives up the region that is read least.
//!
//! A byte of each of some pages that left memory and were not taken is remembered, so that one that
//! leaves it again is known. Regions are written in turn. Of the next few, the one that was read
//! least since its turn is overwritten, and the reads of those that were passed over count half
//! from then on: so a region stays as long as it is read more than its neighbours.
//!
//! This was the engine's rule. `RoundShares` has replaced it.

use gannet::lab::{PageAddress, TierPolicy};
use gannet_ssd::random::nth;

use super::tier::ReplayPolicy;

/// Of pages that are seen for the first time, one of so many is taken though room is scarce: so
/// commands that ask one query each fill the tier with what they read often.
const TAKEN_ANYWAY: u32 = 16;

/// Pages of the tier for each page that is remembered without being there.
const PAGES_PER_SIGHTING: usize = 2;

/// The number of regions that are looked at.
const CANDIDATES: usize = 8;

/// The policy.
#[derive(Debug)]
pub struct SecondSighting {
    /// A byte of the page that was seen last, 0 for none.
    sightings: Vec<u8>,
    first_sightings: u32,
    /// The number of reads of pages of each region, at most 255.
    reads: Vec<u8>,
    hand: usize,
}

impl SecondSighting {
    /// For a tier of so many regions of so many pages.
    pub fn new(regions: usize, region_pages: usize) -> SecondSighting {
        SecondSighting {
            sightings: vec![0; sightings(regions, region_pages)],
            first_sightings: 0,
            reads: vec![0; regions],
            hand: 0,
        }
    }

    /// Notes that a page was seen. Tells whether it was seen before, not too many others ago.
    fn is_seen_again(&mut self, address: PageAddress) -> bool {
        let hash = nth(u64::from(address.page), 1);
        let seen = (hash as u8).max(1);
        let at = ((hash >> 32) as usize * self.sightings.len()) >> 32;
        std::mem::replace(&mut self.sightings[at], seen) == seen
    }
}

fn sightings(regions: usize, region_pages: usize) -> usize {
    (regions * region_pages / PAGES_PER_SIGHTING).max(1)
}

impl ReplayPolicy for SecondSighting {
    fn count_read(&mut self, region: u32, _page: PageAddress) {
        let reads = &mut self.reads[region as usize];
        *reads = reads.saturating_add(1);
    }
}

impl TierPolicy for SecondSighting {
    fn admits(&mut self, page: PageAddress, is_full: bool) -> bool {
        if !is_full || self.is_seen_again(page) {
            return true;
        }
        self.first_sightings = (self.first_sightings + 1) % TAKEN_ANYWAY;
        self.first_sightings == 0
    }

    fn fill(&mut self, region: u32, _pages: &[PageAddress]) {
        self.reads[region as usize] = 0;
        self.hand = (region as usize + 1) % self.reads.len();
    }

    fn choose(&mut self) -> u32 {
        let count = self.reads.len();
        let candidates =
            (self.hand..self.hand + CANDIDATES.min(count)).map(|region| region % count);
        let least = candidates
            .clone()
            .min_by_key(|region| self.reads[*region])
            .unwrap_or(self.hand);
        for region in candidates.take_while(|region| *region != least) {
            self.reads[region] /= 2;
        }
        least as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_that_are_read_stay() {
        let mut policy = SecondSighting::new(16, 128);
        let mut chosen = Vec::new();
        for _ in 0..64 {
            let page = PageAddress { zone: 1, page: 1 };
            (0..20).for_each(|_| policy.count_read(5, page));
            let region = policy.choose();
            policy.fill(region, &[]);
            chosen.push(region);
        }
        assert!(!chosen.contains(&5));
        let mut others = chosen.clone();
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), 15, "{chosen:?}");
    }

    #[test]
    fn what_is_seen_again_is_known() {
        let at = |page| PageAddress { zone: 7, page };
        let mut policy = SecondSighting::new(512, 128);
        let first = (0..1_000).filter(|number| policy.is_seen_again(at(*number)));
        assert!(first.count() < 20);
        let again = (0..1_000).filter(|number| policy.is_seen_again(at(*number)));
        assert!(again.count() > 900);
    }
}
