//! The blocks of a plane: erased ones, those that are being filled, and full ones.

use std::collections::VecDeque;

use crate::collect::Full;
use crate::profile::Profile;

/// Where the next units of a plane go.
#[derive(Debug, Default)]
pub struct Impacts {
    /// The block that is being filled.
    pub block: Option<u32>,
    /// Units of the host's in the page that is not full yet.
    pub host_units: u32,
}

/// The blocks of a plane.
#[derive(Debug)]
pub struct PlaneBlocks {
    /// Blocks from here on were never used.
    fresh: u32,
    end: u32,
    erased: VecDeque<u32>,
    /// Where the host's units go, and where moved ones go.
    pub frontiers: [Impacts; 2],
    /// Full blocks.
    pub full: Full,
    /// Valid units of all blocks.
    pub valid: u32,
}

impl PlaneBlocks {
    /// The blocks of a new drive.
    pub fn new(plane: u32, profile: &Profile) -> PlaneBlocks {
        let blocks = profile.geometry.blocks;
        PlaneBlocks {
            fresh: plane * blocks,
            end: (plane + 1) * blocks,
            erased: VecDeque::new(),
            frontiers: Default::default(),
            full: Full::new(profile.cleaning.collection),
            valid: 0,
        }
    }

    /// Blocks that can be filled.
    pub fn free(&self) -> u32 {
        self.end - self.fresh + self.erased.len() as u32
    }

    /// A block was erased.
    pub fn push_erased(&mut self, block: u32) {
        self.erased.push_back(block);
    }

    /// Blocks that were never used come first, then those that were erased longest ago, so that all
    /// wear alike.
    pub fn take_free(&mut self) -> Option<u32> {
        if self.fresh == self.end {
            return self.erased.pop_front();
        }
        self.fresh += 1;
        Some(self.fresh - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::X25_E;

    #[test]
    fn new_blocks_come_first_and_then_those_that_were_erased_longest_ago() {
        let mut profile = X25_E;
        profile.geometry.blocks = 3;
        let mut blocks = PlaneBlocks::new(2, &profile);
        assert_eq!((blocks.take_free(), blocks.take_free()), (Some(6), Some(7)));
        blocks.push_erased(7);
        blocks.push_erased(6);
        assert_eq!(blocks.free(), 3);
        let free: Vec<u32> = std::iter::from_fn(|| blocks.take_free()).collect();
        assert_eq!(free, [8, 7, 6]);
    }
}
