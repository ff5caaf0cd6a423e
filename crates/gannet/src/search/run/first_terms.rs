//! The first of the terms that a pattern stands for, in their order, as Lucene takes them for the
//! last word of a phrase.

use std::collections::BTreeSet;

use crate::base::{Reservation, Result};

/// Bytes that a term takes beside its key.
const NODE_BYTES: usize = 2 * size_of::<Vec<u8>>();

/// The first terms of those that were added, in any order.
pub struct FirstTerms {
    most: usize,
    found: BTreeSet<Vec<u8>>,
    memory: Reservation,
}

impl FirstTerms {
    /// None yet, of which so many are kept at most. Keys take their memory from `memory`.
    pub fn new(most: usize, memory: Reservation) -> FirstTerms {
        FirstTerms {
            most,
            found: BTreeSet::new(),
            memory,
        }
    }

    /// Adds a term, unless enough are before it.
    pub fn add(&mut self, key: &[u8]) -> Result<()> {
        if self.is_behind(key) || self.found.contains(key) {
            return Ok(());
        }
        let bytes = self.memory.bytes() + NODE_BYTES + key.len();
        self.memory.grow_to(bytes)?;
        self.found.insert(key.to_vec());
        if self.found.len() > self.most
            && let Some(last) = self.found.pop_last()
        {
            let left = self.memory.bytes() - NODE_BYTES - last.len();
            self.memory.grow_to(left)?;
        }
        Ok(())
    }

    /// Returns true if enough terms are before a key.
    pub fn is_behind(&self, key: &[u8]) -> bool {
        let last = self.found.last().map(Vec::as_slice);
        self.found.len() >= self.most && last.is_none_or(|last| key > last)
    }

    /// The keys in order.
    pub fn finish(self) -> Vec<Vec<u8>> {
        self.found.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Budget;

    #[test]
    fn the_first_are_kept_in_whatever_order_they_come() {
        let budget = Budget::new(16 << 20);
        let mut first = FirstTerms::new(3, budget.reserve("terms", 0).unwrap());
        for key in ["d", "b", "f", "b", "a", "c", "e"] {
            first.add(key.as_bytes()).unwrap();
        }
        assert!(first.is_behind(b"d") && !first.is_behind(b"bb"));
        let bytes = first.memory.bytes();
        let keys = first.finish();
        assert_eq!(keys, ["a", "b", "c"].map(|key| key.as_bytes().to_vec()));
        assert_eq!(bytes, 3 * (NODE_BYTES + 1));
    }
}
