//! Maps the pages of the tier to their places, in less than 8 bytes for each page that it has room
//! for.
//!
//! A page's address picks two buckets, and 16 more bits of its hash, its *print*, stand for it
//! there: addresses themselves are on flash only. A page enters the emptier bucket, so that both
//! are full only if nearly all are, and no page displaces another. Pages with the same print may
//! stand side by side. So a look-up gives candidates: for a page that is in the map its place,
//! seldom another page's beside it. For 0.1 % of those that are not, it gives another page's place.
//! Whoever reads a candidate finds out, for a page proves its address by its seal.
//!
//! A map of windows of pages, each with a place and a bitmap, would take a place for each window.
//! But pages are evicted one by one, and those of a window are written at different times to
//! different places.

use std::ops::Range;

use crate::base::PageAddress;
use crate::cache::page_hash::{hash, mix, scale};

/// Entries of a bucket.
const WAYS: usize = 32;

/// Entries for each hundred pages of the tier. A map that is nearly full has full buckets.
const ENTRIES_PERCENT: usize = 115;

/// The print of no page.
const VACANT: u16 = 0;

/// From addresses of pages to places in the tier's file. Each place is given to one page.
#[derive(Debug)]
pub(super) struct TierMap {
    prints: Vec<u16>,
    places: Vec<u32>,
    pages: usize,
}

impl TierMap {
    /// An empty map for a tier of so many pages.
    pub(super) fn new(tier_pages: usize) -> TierMap {
        let entries = buckets(tier_pages) * WAYS;
        TierMap {
            prints: vec![VACANT; entries],
            places: vec![0; entries],
            pages: 0,
        }
    }

    /// Bytes that a map for so many pages takes.
    pub(super) fn memory_bytes(tier_pages: usize) -> usize {
        let entry = size_of::<u16>() + size_of::<u32>();
        buckets(tier_pages) * WAYS * entry
    }

    /// Pages in the map.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    /// The places where a page is, if it is there at all.
    pub(super) fn candidates(&self, address: PageAddress) -> impl Iterator<Item = u32> {
        self.entries(address).map(|at| self.places[at])
    }

    /// Notes where a page is. It is not noted if both buckets are full.
    pub(super) fn insert(&mut self, address: PageAddress, place: u32) {
        let (homes, print) = self.homes(address);
        let [first, second] = homes.map(|bucket| self.vacancies(bucket));
        let bucket = homes[usize::from(first < second)];
        let free = self.find(bucket, VACANT).next();
        if let Some(at) = free {
            (self.prints[at], self.places[at]) = (print, place);
            self.pages += 1;
        }
    }

    /// Forgets a page, if it is at this place.
    pub(super) fn remove(&mut self, address: PageAddress, place: u32) {
        let found = self.entries(address).find(|at| self.places[*at] == place);
        if let Some(at) = found {
            self.prints[at] = VACANT;
            self.pages -= 1;
        }
    }

    /// Forgets all pages at places of a range.
    pub(super) fn remove_places(&mut self, places: Range<u32>) {
        for (print, place) in self.prints.iter_mut().zip(&self.places) {
            if *print != VACANT && places.contains(place) {
                *print = VACANT;
                self.pages -= 1;
            }
        }
    }

    /// The entries that have a page's print.
    fn entries(&self, address: PageAddress) -> impl Iterator<Item = usize> {
        let (homes, print) = self.homes(address);
        homes
            .into_iter()
            .flat_map(move |bucket| self.find(bucket, print))
    }

    /// The entries of a bucket that have a print.
    fn find(&self, bucket: usize, print: u16) -> impl Iterator<Item = usize> {
        let entries = (bucket..).zip(&self.prints[bucket..bucket + WAYS]);
        let with_print = entries.filter(move |(_, found)| **found == print);
        with_print.map(|(at, _)| at)
    }

    fn vacancies(&self, bucket: usize) -> u16 {
        let prints = self.prints[bucket..bucket + WAYS].iter();
        prints.map(|print| u16::from(*print == VACANT)).sum()
    }

    /// The first entries of a page's two buckets, and its print.
    pub(super) fn homes(&self, address: PageAddress) -> ([usize; 2], u16) {
        let hash = hash(address);
        let buckets = self.prints.len() / WAYS;
        let first = scale(hash, buckets);
        let second = (first + 1 + scale(mix(hash), buckets - 1)) % buckets;
        let print = (hash as u16).max(VACANT + 1);
        ([first * WAYS, second * WAYS], print)
    }
}

fn buckets(tier_pages: usize) -> usize {
    (tier_pages * ENTRIES_PERCENT / 100 / WAYS).max(2)
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

    fn has(map: &TierMap, number: u32, place: u32) -> bool {
        map.candidates(at(number)).any(|found| found == place)
    }

    #[test]
    fn a_full_map_has_all_pages_in_less_than_a_512th_of_their_bytes() {
        for pages in [2_048, 65_536, 1 << 20] {
            assert!(TierMap::memory_bytes(pages) <= pages * PAGE_SIZE / 512);
            let mut map = TierMap::new(pages);
            let pages = pages as u32;
            (0..pages).for_each(|number| map.insert(at(number), number));
            assert!((0..pages).all(|number| has(&map, number, number)));
            // Each page has a place that was another one's before.
            for number in 0..3 * pages {
                map.remove(at(number), number % pages);
                map.insert(at(number + pages), number % pages);
            }
            assert_eq!(map.pages(), pages as usize);
            assert!((3 * pages..4 * pages).all(|number| has(&map, number, number % pages)));
        }
    }

    #[test]
    fn few_look_ups_of_absent_pages_find_places() {
        let pages = 65_536;
        let mut map = TierMap::new(pages as usize);
        (0..pages).for_each(|number| map.insert(at(number), number));
        let absent = pages..2 * pages;
        let wrong = absent.filter(|number| map.candidates(at(*number)).next().is_some());
        assert!(wrong.count() <= pages as usize / 500);
    }

    #[test]
    fn a_map_without_room_keeps_what_it_has() {
        let mut map = TierMap::new(64);
        let entries = map.prints.len() as u32;
        (0..3 * entries).for_each(|number| map.insert(at(number), number));
        let found = (0..3 * entries).filter(|number| has(&map, *number, *number));
        assert_eq!((found.count(), map.pages()), (64, 64));
        assert!((0..entries / 2).all(|number| has(&map, number, number)));
    }

    #[test]
    fn pages_of_a_range_of_places_are_forgotten_together() {
        let mut map = TierMap::new(2_048);
        (0..1_000).for_each(|number| map.insert(at(number), number));
        map.remove_places(128..256);
        assert_eq!(map.pages(), 1_000 - 128);
        let left = (0..1_000).filter(|number| has(&map, *number, *number));
        assert!(left.eq((0..128).chain(256..1_000)));
    }

    #[test]
    fn pages_with_one_print_are_told_apart_by_their_places() {
        let mut map = TierMap::new(2_048);
        let home = map.homes(at(0));
        let same = (1..).find(|number| map.homes(at(*number)) == home);
        let other = same.unwrap();
        map.insert(at(0), 3);
        map.insert(at(other), 4);
        map.insert(at(0), 5);
        let mut places: Vec<u32> = map.candidates(at(other)).collect();
        places.sort_unstable();
        assert_eq!((places, map.pages()), (vec![3, 4, 5], 3));
        map.remove(at(other), 4);
        map.remove(at(other), 6);
        assert_eq!(map.candidates(at(0)).collect::<Vec<u32>>(), [3, 5]);
    }
}
