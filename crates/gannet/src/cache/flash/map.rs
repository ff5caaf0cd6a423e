//! Which pages the tier holds and where, in less than 8 bytes for each page that it has room for.
//!
//! A page's address picks a bucket, and 16 more bits of the same hash, its *print*, stand for it
//! there: addresses themselves are on flash only. So a look-up may name the place of another page.
//! Whoever reads it finds out, for a page proves its address by its seal; some 0.1 % of the
//! look-ups of absent pages cost a read in vain. Buckets do not overflow into each other: a page
//! that comes into a full bucket displaces another, which is then read from the device. That is 1 %
//! of the pages of a full tier.
//!
//! A map of windows of pages, each with a place and a bitmap, would take a place for each window.
//! But pages are evicted one by one, and those of a window are written at different times to
//! different places.
//!
//! The map also remembers one byte of each of some pages that were evicted and not taken, so that
//! one that is evicted again is known.

use crate::base::PageAddress;

/// Entries of a bucket.
const WAYS: usize = 64;

/// Entries for each hundred pages of the tier. Buckets fill unevenly.
const ENTRIES_PERCENT: usize = 115;

/// Pages of the tier for each page that is remembered without being there.
const PAGES_PER_SIGHTING: usize = 2;

/// The print of no page.
const VACANT: u16 = 0;

/// Prints that are compared at once: what the compiler makes vector instructions of.
const AT_ONCE: usize = 16;

/// From addresses of pages to places in the tier's file.
#[derive(Debug)]
pub(super) struct TierMap {
    prints: Vec<u16>,
    places: Vec<u32>,
    /// A byte of the page that was seen last, 0 for none.
    sightings: Vec<u8>,
    pages: usize,
}

impl TierMap {
    /// An empty map for a tier of so many pages.
    pub(super) fn new(tier_pages: usize) -> TierMap {
        let entries = buckets(tier_pages) * WAYS;
        TierMap {
            prints: vec![VACANT; entries],
            places: vec![0; entries],
            sightings: vec![0; sightings(tier_pages)],
            pages: 0,
        }
    }

    /// Bytes that a map for so many pages takes.
    pub(super) fn memory_bytes(tier_pages: usize) -> usize {
        let entry = size_of::<u16>() + size_of::<u32>();
        buckets(tier_pages) * WAYS * entry + sightings(tier_pages)
    }

    /// Pages in the map.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    /// Where a page is, if it is there at all.
    pub(super) fn get(&self, address: PageAddress) -> Option<u32> {
        let (bucket, print) = self.home(address);
        let at = self.find(bucket, print)?;
        Some(self.places[at])
    }

    /// Notes where a page is.
    pub(super) fn insert(&mut self, address: PageAddress, place: u32) {
        let (bucket, print) = self.home(address);
        let known = self.find(bucket, print);
        let at = known.or_else(|| self.find(bucket, VACANT));
        // Places are given one after another, so their low bits pick any of them.
        let at = at.unwrap_or(bucket + place as usize % WAYS);
        self.pages += usize::from(self.prints[at] == VACANT);
        (self.prints[at], self.places[at]) = (print, place);
    }

    /// Forgets a page, if it is at this place.
    pub(super) fn remove(&mut self, address: PageAddress, place: u32) {
        let (bucket, print) = self.home(address);
        if let Some(at) = self.find(bucket, print)
            && self.places[at] == place
        {
            self.prints[at] = VACANT;
            self.pages -= 1;
        }
    }

    /// Notes that a page was seen. Tells whether it was seen before, not too many others ago.
    pub(super) fn is_seen_again(&mut self, address: PageAddress) -> bool {
        let hash = mix(mix(number(address)));
        let seen = (hash as u8).max(1);
        let at = scale(hash, self.sightings.len());
        std::mem::replace(&mut self.sightings[at], seen) == seen
    }

    /// The first entry of a bucket that has a print.
    fn find(&self, bucket: usize, print: u16) -> Option<usize> {
        let prints = &self.prints[bucket..bucket + WAYS];
        let has = |some: &[u16]| some.iter().fold(false, |has, one| has | (*one == print));
        let some = prints.chunks_exact(AT_ONCE).position(has)? * AT_ONCE;
        let at = prints[some..].iter().position(|one| *one == print)?;
        Some(bucket + some + at)
    }

    /// The first entry of a page's bucket, and its print.
    fn home(&self, address: PageAddress) -> (usize, u16) {
        let hash = mix(number(address));
        let bucket = scale(hash, self.prints.len() / WAYS);
        (bucket * WAYS, (hash as u16).max(VACANT + 1))
    }
}

fn buckets(tier_pages: usize) -> usize {
    (tier_pages * ENTRIES_PERCENT / 100 / WAYS).max(1)
}

fn sightings(tier_pages: usize) -> usize {
    (tier_pages / PAGES_PER_SIGHTING).max(1)
}

fn number(address: PageAddress) -> u64 {
    (address.zone as u64) << 32 | address.page as u64
}

/// The high half of a hash as a number below `below`.
fn scale(hash: u64, below: usize) -> usize {
    ((hash >> 32) as usize * below) >> 32
}

/// The finalizer of SplitMix64 (Steele et al., OOPSLA 2014): each bit of the result depends on all
/// bits.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::PAGE_SIZE;

    fn at(number: u32) -> PageAddress {
        PageAddress {
            zone: number / 1000,
            page: number % 1000,
        }
    }

    #[test]
    fn a_full_map_keeps_nearly_all_pages_in_less_than_a_512th_of_their_bytes() {
        for pages in [2_048, 65_536, 1 << 20] {
            assert!(TierMap::memory_bytes(pages) <= pages * PAGE_SIZE / 512);
        }
        let pages = 65_536;
        let mut map = TierMap::new(pages);
        (0..pages as u32).for_each(|number| map.insert(at(number), number));
        let found = (0..pages as u32).filter(|number| map.get(at(*number)) == Some(*number));
        assert!(found.count() >= pages * 98 / 100);
        let absent = pages as u32..2 * pages as u32;
        let wrong = absent.filter(|number| map.get(at(*number)).is_some());
        assert!(wrong.count() <= pages / 500);
    }

    #[test]
    fn a_page_is_removed_only_from_its_own_place() {
        let mut map = TierMap::new(2_048);
        map.insert(at(7), 3);
        map.insert(at(7), 4);
        map.remove(at(7), 3);
        assert_eq!((map.get(at(7)), map.pages()), (Some(4), 1));
        map.remove(at(7), 4);
        assert_eq!((map.get(at(7)), map.pages()), (None, 0));
    }

    #[test]
    fn what_is_seen_again_is_known() {
        let mut map = TierMap::new(65_536);
        let first = (0..1_000).filter(|number| map.is_seen_again(at(*number)));
        assert!(first.count() < 20);
        let again = (0..1_000).filter(|number| map.is_seen_again(at(*number)));
        assert!(again.count() > 900);
    }
}
