//! Counts the pages of each region, and finds the free ones, which are written first.

/// The state of the regions, a byte each.
#[derive(Debug)]
pub(super) struct Regions {
    /// Pages in each.
    filled: Vec<u8>,
    free: usize,
    /// No region before this one is free.
    first_free: usize,
}

impl Regions {
    /// So many regions, all of them free.
    pub(super) fn new(count: usize) -> Regions {
        Regions {
            filled: vec![0; count],
            free: count,
            first_free: 0,
        }
    }

    /// Returns the number of regions.
    pub(super) fn count(&self) -> usize {
        self.filled.len()
    }

    /// Returns true if all have pages.
    pub(super) fn are_full(&self) -> bool {
        self.free == 0
    }

    /// Pages in a region.
    pub(super) fn filled(&self, region: u32) -> usize {
        self.filled[region as usize].into()
    }

    /// Notes how many pages a region has.
    pub(super) fn fill(&mut self, region: u32, pages: usize) {
        let filled = &mut self.filled[region as usize];
        self.free = self.free + usize::from(pages == 0) - usize::from(*filled == 0);
        *filled = pages as u8;
        if pages == 0 {
            self.first_free = self.first_free.min(region as usize);
        }
    }

    /// The first region without pages, if there is one.
    pub(super) fn take_free(&mut self) -> Option<u32> {
        let regions = self.filled.iter().skip(self.first_free);
        let free = self.first_free + regions.take_while(|filled| **filled > 0).count();
        self.first_free = free;
        (free < self.filled.len()).then_some(free as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_regions_are_found_in_their_order() {
        let mut regions = Regions::new(5);
        for number in 0..5 {
            assert_eq!(regions.take_free(), Some(number));
            assert_eq!(regions.take_free(), Some(number));
            regions.fill(number, 9);
        }
        assert!(regions.are_full() && regions.take_free().is_none());
        regions.fill(4, 0);
        regions.fill(2, 0);
        assert!(!regions.are_full());
        assert_eq!(regions.take_free(), Some(2));
        regions.fill(2, 1);
        assert_eq!(regions.take_free(), Some(4));
    }
}
