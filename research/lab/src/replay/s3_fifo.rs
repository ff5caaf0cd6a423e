//! S3-FIFO (Yang et al., SOSP 2023): a small queue for what is new, a large one for what was used
//! in it, and the names of what left the small one unused.
//!
//! The small queue has a tenth of the pages. It is on flash like the rest, so each page is written.

use std::collections::{HashSet, VecDeque};

use gannet::lab::{PageAddress, TierPolicy};

use super::tier::ReplayPolicy;
use super::trace::Page;

/// Uses that are remembered of a page.
const USES_MAX: u8 = 3;

/// The queues. An entry is a region and its page.
#[derive(Debug)]
pub struct S3Fifo {
    small: VecDeque<(u32, Page)>,
    main: VecDeque<(u32, Page)>,
    /// The names of pages that left the small queue, the oldest first.
    ghosts: VecDeque<Page>,
    ghost_names: HashSet<Page>,
    /// The uses of each page of the trace.
    uses: Vec<u8>,
    capacity: usize,
}

impl S3Fifo {
    /// A tier of so many pages for a trace of `all` pages.
    pub fn new(capacity: usize, all: usize) -> S3Fifo {
        S3Fifo {
            small: VecDeque::new(),
            main: VecDeque::new(),
            ghosts: VecDeque::new(),
            ghost_names: HashSet::new(),
            uses: vec![0; all],
            capacity,
        }
    }

    fn add_ghost(&mut self, page: Page) {
        if self.ghost_names.insert(page) {
            self.ghosts.push_back(page);
        }
        if self.ghosts.len() > self.capacity
            && let Some(oldest) = self.ghosts.pop_front()
        {
            self.ghost_names.remove(&oldest);
        }
    }

    fn leave_small(&mut self) -> Option<u32> {
        while self.small.len() * 10 >= self.capacity
            && let Some((region, page)) = self.small.pop_front()
        {
            if self.uses[page as usize] > 0 {
                self.uses[page as usize] = 0;
                self.main.push_back((region, page));
            } else {
                self.add_ghost(page);
                return Some(region);
            }
        }
        None
    }

    fn leave_main(&mut self) -> Option<u32> {
        while let Some((region, page)) = self.main.pop_front() {
            let uses = &mut self.uses[page as usize];
            if *uses == 0 {
                return Some(region);
            }
            *uses -= 1;
            self.main.push_back((region, page));
        }
        None
    }
}

impl ReplayPolicy for S3Fifo {
    fn count_read(&mut self, _region: u32, page: PageAddress) {
        let uses = &mut self.uses[page.page as usize];
        *uses = (*uses + 1).min(USES_MAX);
    }
}

impl TierPolicy for S3Fifo {
    fn admits(&mut self, _page: PageAddress, _is_full: bool) -> bool {
        true
    }

    fn fill(&mut self, region: u32, pages: &[PageAddress]) {
        for PageAddress { page, .. } in pages {
            self.uses[*page as usize] = 0;
            if self.ghost_names.contains(page) {
                self.main.push_back((region, *page));
            } else {
                self.small.push_back((region, *page));
            }
        }
    }

    fn choose(&mut self) -> u32 {
        let left = self.leave_small().or_else(|| self.leave_main());
        let left = left.or_else(|| Some(self.small.pop_front()?.0));
        left.unwrap_or_default()
    }
}
