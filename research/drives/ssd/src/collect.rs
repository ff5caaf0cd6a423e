//! Garbage collection: which block of a plane is emptied next.
//!
//! Who fills blocks reports each one that is full; who asks for a victim takes it out, moves its
//! valid units and erases it.

use std::collections::VecDeque;

use crate::flash::Flash;

/// How the victim is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collection {
    /// The block with the fewest valid units, the oldest of several.
    Greedy,
    /// The block that was full first.
    Fifo,
}

/// The full blocks of a plane, the oldest first.
#[derive(Debug)]
pub struct Full {
    collection: Collection,
    blocks: VecDeque<u32>,
}

impl Full {
    /// No blocks.
    pub fn new(collection: Collection) -> Full {
        Full {
            collection,
            blocks: VecDeque::new(),
        }
    }

    /// A block is full now.
    pub fn push(&mut self, block: u32) {
        self.blocks.push_back(block);
    }

    /// Takes the next victim out.
    pub fn take_victim(&mut self, flash: &Flash) -> Option<u32> {
        match self.collection {
            Collection::Fifo => self.blocks.pop_front(),
            Collection::Greedy => {
                let valid = self.blocks.iter().map(|block| flash.valid(*block));
                let (at, _) = valid.enumerate().min_by_key(|(_, valid)| *valid)?;
                self.blocks.remove(at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three full blocks of four units with 2, 1 and 1 valid ones.
    fn flash() -> Flash {
        let mut flash = Flash::new(3, 4);
        for unit in 0..12 {
            let slot = flash.fill(unit / 4, unit);
            if ![0, 1, 4, 8].contains(&unit) {
                flash.invalidate(slot);
            }
        }
        flash
    }

    fn victims(collection: Collection) -> Vec<u32> {
        let (flash, mut full) = (flash(), Full::new(collection));
        (0..3).for_each(|block| full.push(block));
        std::iter::from_fn(|| full.take_victim(&flash)).collect()
    }

    #[test]
    fn greedy_takes_the_block_with_the_fewest_valid_units() {
        assert_eq!(victims(Collection::Greedy), [1, 2, 0]);
    }

    #[test]
    fn fifo_takes_the_block_that_was_full_first() {
        assert_eq!(victims(Collection::Fifo), [0, 1, 2]);
    }
}
