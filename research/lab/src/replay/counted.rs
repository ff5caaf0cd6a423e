//! The policies of the hybrid cache paper (Li et al., 2012), on pages of one size.
//!
//! The efficiency value of an entry is its accesses for its size, so that of a page is its
//! accesses. What has less than a threshold is discarded. CBLRU gives up the entry that was used
//! last the longest ago. CBSLRU has a static part beside it, the most efficient pages of the first
//! half of the log, which never leave. `Efficiency` gives up the page of the least value.

use std::ops::Range;

use super::misses::Misses;
use super::ranking::Ranking;
use super::trace::Page;

/// Accesses of each page.
#[derive(Debug)]
struct Accesses(Vec<u32>);

impl Accesses {
    fn new(pages: usize) -> Accesses {
        Accesses(vec![0; pages])
    }

    fn count(&mut self, page: Page) -> u32 {
        let accesses = &mut self.0[page as usize];
        *accesses += 1;
        *accesses
    }
}

/// Accesses are the worth, from the threshold on.
#[derive(Debug)]
pub struct Efficiency {
    accesses: Accesses,
    threshold: u32,
}

impl Efficiency {
    /// For a trace of so many pages.
    pub fn new(pages: usize, threshold: u32) -> Efficiency {
        Efficiency {
            accesses: Accesses::new(pages),
            threshold,
        }
    }
}

impl Ranking for Efficiency {
    fn offer(&mut self, page: Page, least: Option<u64>) -> Option<u64> {
        let accesses = self.accesses.count(page);
        let worth = u64::from(accesses);
        (accesses >= self.threshold && least.is_none_or(|least| least <= worth)).then_some(worth)
    }

    fn read(&mut self, page: Page) -> u64 {
        self.accesses.count(page).into()
    }
}

/// The order of use, from the threshold on, beside pages that never leave.
#[derive(Debug)]
pub struct Cblru {
    accesses: Accesses,
    threshold: u32,
    clock: u64,
    /// Set for each page of the static part.
    is_static: Vec<bool>,
}

impl Cblru {
    /// For a trace of so many pages, without a static part.
    pub fn new(pages: usize, threshold: u32) -> Cblru {
        Cblru {
            accesses: Accesses::new(pages),
            threshold,
            clock: 0,
            is_static: vec![false; pages],
        }
    }

    /// CBSLRU: the same with the pages that some queries missed most, so many of them.
    pub fn with_static(mut self, misses: &Misses, queries: Range<usize>, most: usize) -> Cblru {
        for page in most_missed(misses, queries, self.is_static.len(), most) {
            self.is_static[page as usize] = true;
        }
        self
    }
}

impl Ranking for Cblru {
    fn offer(&mut self, page: Page, _least: Option<u64>) -> Option<u64> {
        let is_worth_it = self.accesses.count(page) >= self.threshold;
        self.clock += 1;
        if self.is_static[page as usize] {
            Some(u64::MAX)
        } else {
            is_worth_it.then_some(self.clock)
        }
    }

    fn read(&mut self, page: Page) -> u64 {
        self.accesses.count(page);
        self.clock += 1;
        if self.is_static[page as usize] {
            u64::MAX
        } else {
            self.clock
        }
    }
}

/// The pages that some queries missed most often, at most so many, of a trace of `pages`.
fn most_missed(misses: &Misses, queries: Range<usize>, pages: usize, most: usize) -> Vec<Page> {
    let mut counts: Vec<(u32, Page)> = (0..pages as Page).map(|page| (0, page)).collect();
    let mut begin = 0;
    for round in &misses.rounds {
        if queries.contains(&round.query) {
            for page in &misses.pages[begin..round.pages_end] {
                counts[*page as usize].0 += 1;
            }
        }
        begin = round.pages_end;
    }
    counts.sort_unstable_by_key(|(count, page)| (std::cmp::Reverse(*count), *page));
    let missed = counts.iter().take_while(|(count, _)| *count > 0);
    missed.take(most).map(|(_, page)| *page).collect()
}
