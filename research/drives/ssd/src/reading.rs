//! Where the units of a read come from.

use std::ops::Range;

use crate::array::Array;
use crate::flash::Slot;
use crate::ftl::Ftl;

/// The parts of a read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReadPlan {
    /// Units of pages that flash has, by the first slot and their number. A page is read once for
    /// units that follow each other.
    pub pages: Vec<(Slot, u32)>,
    /// Units that the write buffer still has.
    pub buffered: u32,
    /// Units that have no content.
    pub unmapped: u32,
}

impl ReadPlan {
    /// Finds the units.
    pub fn new(units: Range<u32>, ftl: &Ftl, array: &Array, units_per_page: u32) -> ReadPlan {
        let mut plan = ReadPlan::default();
        for unit in units {
            match ftl.find(unit) {
                None => plan.unmapped += 1,
                Some(slot) if is_buffered(slot, ftl, array, units_per_page) => plan.buffered += 1,
                Some(slot) => plan.add(slot, units_per_page),
            }
        }
        plan
    }

    fn add(&mut self, slot: Slot, units_per_page: u32) {
        match self.pages.last_mut() {
            Some((first, units)) if *first / units_per_page == slot / units_per_page => *units += 1,
            _ => self.pages.push((slot, 1)),
        }
    }
}

/// Whether the page of a slot has not been programmed yet: pages of a block are, in order.
fn is_buffered(slot: Slot, ftl: &Ftl, array: &Array, units_per_page: u32) -> bool {
    let (flash, block) = (ftl.flash(), ftl.flash().block_of(slot));
    let begun = flash.filled(block) / units_per_page;
    let programmed = begun.saturating_sub(array.unprogrammed(block));
    flash.place_of(slot) / units_per_page >= programmed
}
