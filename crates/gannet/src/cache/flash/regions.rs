//! Chooses the region that is written next.
//!
//! Regions are written in turn. Of the next few, the one that was read least since its turn is
//! overwritten, and the reads of those that were passed over count half from then on: so a region
//! stays as long as it is read more than its neighbours.

/// The number of regions that are looked at.
const CANDIDATES: usize = 8;

/// The state of the regions, two bytes each.
#[derive(Debug)]
pub(super) struct Regions {
    /// Pages in each.
    filled: Vec<u8>,
    /// The number of reads of pages of each, at most 255.
    reads: Vec<u8>,
    free: usize,
    hand: usize,
}

impl Regions {
    /// So many regions, all of them free.
    pub(super) fn new(count: usize) -> Regions {
        Regions {
            filled: vec![0; count],
            reads: vec![0; count],
            free: count,
            hand: 0,
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
    }

    /// Goes on behind a region.
    pub(super) fn go_on_behind(&mut self, region: u32) {
        self.hand = (region as usize + 1) % self.count();
    }

    /// Counts a read of a page of a region.
    pub(super) fn count_read(&mut self, region: u32) {
        let reads = &mut self.reads[region as usize];
        *reads = reads.saturating_add(1);
    }

    /// The region to write next: a free one, or the one that is missed least.
    pub(super) fn choose(&mut self) -> u32 {
        let chosen = match self.free {
            0 => self.choose_full(),
            _ => self.first_free(),
        };
        self.reads[chosen] = 0;
        self.hand = (chosen + 1) % self.count();
        chosen as u32
    }

    fn first_free(&self) -> usize {
        let count = self.count();
        let mut regions = (self.hand..self.hand + count).map(|region| region % count);
        regions
            .find(|region| self.filled[*region] == 0)
            .unwrap_or(self.hand)
    }

    fn choose_full(&mut self) -> usize {
        let count = self.count();
        let candidates =
            (self.hand..self.hand + CANDIDATES.min(count)).map(|region| region % count);
        let least = candidates
            .clone()
            .min_by_key(|region| self.reads[*region])
            .unwrap_or(self.hand);
        for region in candidates.take_while(|region| *region != least) {
            self.reads[region] /= 2;
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_regions_come_first_and_those_that_are_read_stay() {
        let mut regions = Regions::new(16);
        for number in 0..16 {
            let region = regions.choose();
            assert_eq!(region, number);
            regions.fill(region, 9);
        }
        assert!(regions.are_full());
        let mut chosen = Vec::new();
        for _ in 0..64 {
            (0..20).for_each(|_| regions.count_read(5));
            chosen.push(regions.choose());
        }
        assert!(!chosen.contains(&5));
        let mut others = chosen.clone();
        others.sort_unstable();
        others.dedup();
        assert_eq!(others.len(), 15, "{chosen:?}");
    }
}
