//! Flash memory as the translation layer sees it: blocks of units that are filled in order, made
//! invalid one by one, and erased as a whole.
//!
//! Invariants: the units of a block are filled from the first on; a unit is valid from the time it
//! is filled until it is invalidated; a block is erased only when none of its units is valid.
//! A unit number is what the host addresses, a slot is where its content stands.
//!
//! All tables begin as zeros, which the operating system gives without memory behind them: a large
//! drive takes memory only for what is used of it.

/// A place of a unit: `block * units_per_block + place in the block`.
pub type Slot = u32;

/// The blocks of a drive.
#[derive(Debug)]
pub struct Flash {
    units_per_block: u32,
    /// The unit in each slot, plus one; 0 where no valid one is.
    owners: Vec<u32>,
    /// Units of each block that were filled since it was erased.
    filled: Vec<u32>,
    /// Units of each block that are valid.
    valid: Vec<u32>,
    /// How often each block was erased.
    erases: Vec<u32>,
}

impl Flash {
    /// Erased blocks.
    pub fn new(blocks: u32, units_per_block: u32) -> Flash {
        Flash {
            units_per_block,
            owners: vec![0; blocks as usize * units_per_block as usize],
            filled: vec![0; blocks as usize],
            valid: vec![0; blocks as usize],
            erases: vec![0; blocks as usize],
        }
    }

    /// Units of a block that were filled.
    pub fn filled(&self, block: u32) -> u32 {
        self.filled[block as usize]
    }

    /// Units of a block that are valid.
    pub fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize]
    }

    /// Whether nothing more can be put into a block before it is erased.
    pub fn is_full(&self, block: u32) -> bool {
        self.filled(block) == self.units_per_block
    }

    /// Puts a unit into a block that is not full.
    pub fn fill(&mut self, block: u32, unit: u32) -> Slot {
        let slot = block * self.units_per_block + self.filled(block);
        self.owners[slot as usize] = unit + 1;
        self.filled[block as usize] += 1;
        self.valid[block as usize] += 1;
        slot
    }

    /// Leaves the next `units` of a block empty.
    pub fn skip(&mut self, block: u32, units: u32) {
        self.filled[block as usize] += units;
    }

    /// What a slot has is valid no more.
    pub fn invalidate(&mut self, slot: Slot) {
        self.owners[slot as usize] = 0;
        let block = self.block_of(slot);
        self.valid[block as usize] -= 1;
    }

    /// The block of a slot.
    pub fn block_of(&self, slot: Slot) -> u32 {
        slot / self.units_per_block
    }

    /// The place of a slot in its block.
    pub fn place_of(&self, slot: Slot) -> u32 {
        slot % self.units_per_block
    }

    /// The valid units of a block with their slots, in order.
    pub fn contents(&self, block: u32) -> impl Iterator<Item = (Slot, u32)> + '_ {
        let first = block * self.units_per_block;
        let slots = first..first + self.units_per_block;
        slots.filter_map(|slot| Some((slot, self.owners[slot as usize].checked_sub(1)?)))
    }

    /// Erases a block without valid units.
    pub fn erase(&mut self, block: u32) {
        debug_assert_eq!(self.valid(block), 0, "an erased block has no valid units");
        self.filled[block as usize] = 0;
        self.erases[block as usize] += 1;
    }

    /// How often each block was erased.
    pub fn erases(&self) -> impl Iterator<Item = u32> + '_ {
        self.erases.iter().copied()
    }

    /// The valid unit in a slot.
    #[cfg(test)]
    pub fn owner(&self, slot: Slot) -> Option<u32> {
        self.owners[slot as usize].checked_sub(1)
    }
}
