//! Sums of the worth of pages, whether a tier has them or not, in three bytes for each page of it.
//!
//! A page's hash picks a bucket of cells, and eight more bits of it, its *print*, stand for it
//! there. A cell has a print and a level on a logarithmic scale. A page that has no cell takes the
//! one of the lowest level. So pages that are asked for again keep theirs, and those that are asked
//! for once push out each other. One of thirty pages without a cell finds another one's.
//!
//! A sum that lies between two levels is rounded at random, so that small shares add up on the
//! mean. All sums fade to a half after some additions, or old uses would count for ever.

use crate::base::PageAddress;
use crate::cache::page_hash::{hash, mix, scale};

/// Cells of a bucket.
const WAYS: usize = 8;

/// Pages of the tier for each bucket: a page has three bytes.
const PAGES_PER_BUCKET: f32 = 5.33;

/// Additions for each page of the tier after which all sums are halved.
const HALF_LIFE: u64 = 16;

/// The sum of level 1, and the factor by which the steps between levels grow.
const FIRST: f32 = 0.02;
const GROWTH: f32 = 1.06;

/// The sum of each level.
const SUMS: [f32; 256] = sums();

/// The print of no page.
const VACANT: u8 = 0;

/// Sums of pages.
#[derive(Debug)]
pub(super) struct WorthTable {
    prints: Vec<u8>,
    levels: Vec<u8>,
    additions: u64,
    /// Additions between two halvings.
    half_life: u64,
}

impl WorthTable {
    /// For a tier of so many pages.
    pub(super) fn new(pages: usize) -> WorthTable {
        WorthTable {
            prints: vec![VACANT; cells(pages)],
            levels: vec![0; cells(pages)],
            additions: 0,
            half_life: (pages as u64 * HALF_LIFE).max(1),
        }
    }

    /// Bytes that it takes.
    pub(super) fn memory_bytes(pages: usize) -> usize {
        2 * cells(pages)
    }

    /// Bytes that it has.
    #[cfg(test)]
    pub(super) fn table_bytes(&self) -> usize {
        self.prints.len() + self.levels.len()
    }

    /// Returns the number of additions so far.
    pub(super) fn additions(&self) -> u64 {
        self.additions
    }

    /// The sum of a page.
    pub(super) fn of(&self, page: PageAddress) -> f32 {
        SUMS[usize::from(self.level(page))]
    }

    /// The level of its sum.
    pub(super) fn level(&self, page: PageAddress) -> u8 {
        self.find(page).map_or(0, |cell| self.levels[cell])
    }

    /// Adds to the sum of a page.
    pub(super) fn add(&mut self, page: PageAddress, worth: f32) {
        self.additions += 1;
        // What was asked for once alike is worth the same.
        let level = match self.find(page) {
            None => level_of(worth),
            Some(cell) => self.drawn(SUMS[usize::from(self.levels[cell])] + worth),
        };
        self.raise(page, level);
        if self.additions.is_multiple_of(self.half_life) {
            self.halve();
        }
    }

    /// Raises the sum of a page to that of a level, if it is less.
    pub(super) fn raise(&mut self, page: PageAddress, level: u8) {
        match self.find(page) {
            Some(cell) => self.levels[cell] = level.max(self.levels[cell]),
            None => {
                let cell = self.lowest(page);
                (self.prints[cell], self.levels[cell]) = (self.home(page).1, level);
            }
        }
    }

    /// One of the two levels around a sum, the nearer one more often.
    fn drawn(&self, sum: f32) -> u8 {
        let below = level_of(sum);
        let at = usize::from(below);
        let draw = (mix(self.additions) >> 40) as f32 / (1 << 24) as f32;
        let is_next = |next: &f32| draw < (sum - SUMS[at]) / (next - SUMS[at]);
        below + u8::from(SUMS.get(at + 1).is_some_and(is_next))
    }

    fn halve(&mut self) {
        let halves = SUMS.map(|sum| level_of(sum / 2.0));
        for level in &mut self.levels {
            *level = halves[usize::from(*level)];
        }
    }

    fn find(&self, page: PageAddress) -> Option<usize> {
        let (bucket, print) = self.home(page);
        (bucket..bucket + WAYS).find(|cell| self.prints[*cell] == print)
    }

    /// The cell of a page's bucket that is given up for it.
    fn lowest(&self, page: PageAddress) -> usize {
        let (bucket, _) = self.home(page);
        let cells = bucket..bucket + WAYS;
        let order = |cell: &usize| (self.prints[*cell] != VACANT, self.levels[*cell]);
        cells.min_by_key(order).unwrap_or(bucket)
    }

    /// The first cell of a page's bucket, and its print.
    fn home(&self, page: PageAddress) -> (usize, u8) {
        // The map of the tier uses the hash itself.
        let hash = mix(hash(page));
        let bucket = scale(hash, self.prints.len() / WAYS);
        (bucket * WAYS, (hash as u8).max(VACANT + 1))
    }
}

fn cells(pages: usize) -> usize {
    let buckets = (pages as f32 / PAGES_PER_BUCKET) as usize;
    buckets.max(1) * WAYS
}

/// The highest level whose sum is no more than this one.
fn level_of(sum: f32) -> u8 {
    SUMS[1..].partition_point(|level| *level <= sum) as u8
}

const fn sums() -> [f32; 256] {
    let (mut sums, mut step, mut level) = ([0.0; 256], FIRST, 1);
    while level < sums.len() {
        sums[level] = sums[level - 1] + step;
        step *= GROWTH;
        level += 1;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(page: u32) -> PageAddress {
        PageAddress { zone: 3, page }
    }

    #[test]
    fn sums_are_about_what_was_added() {
        let mut table = WorthTable::new(4_096);
        for _ in 0..40 {
            for page in 0..100 {
                table.add(at(page), 0.07);
                table.add(at(page + 1_000), 1.05);
            }
        }
        let mean = |first: u32| {
            let sums = (first..first + 100).map(|page| table.of(at(page)));
            sums.sum::<f32>() / 100.0
        };
        let (small, large) = (mean(0), mean(1_000));
        assert!((2.4..=3.2).contains(&small), "{small}");
        assert!((39.0..=45.0).contains(&large), "{large}");
    }

    #[test]
    fn pages_that_are_asked_for_once_push_out_each_other() {
        let mut table = WorthTable::new(1_000);
        let often = 0..1_000;
        for page in often.clone().chain(often.clone()) {
            table.add(at(page), 0.5);
        }
        (5_000..15_000).for_each(|page| table.add(at(page), 0.1));
        let kept = often.filter(|page| table.of(at(*page)) >= 0.9).count();
        assert!(kept >= 850, "{kept}");
        let unknown = (50_000..60_000).filter(|page| table.level(at(*page)) > 0);
        assert!(unknown.count() <= 10_000 / 25);
    }

    #[test]
    fn sums_fade_and_a_level_is_kept_elsewhere() {
        let mut table = WorthTable::new(100);
        (0..100).for_each(|_| table.add(at(1), 1.0));
        let before = table.of(at(1));
        let mut other = WorthTable::new(100);
        other.raise(at(1), table.level(at(1)));
        assert_eq!(other.of(at(1)), before);
        while table.of(at(1)) == before {
            table.add(at(2), 1.0);
        }
        assert_eq!(table.additions(), 100 * HALF_LIFE);
        let share = 2.0 * table.of(at(1)) / before;
        assert!((0.9..=1.0).contains(&share), "{share}");
    }
}
