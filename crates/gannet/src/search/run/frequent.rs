//! The most frequent of the terms that a pattern stands for: those that the last word of a phrase
//! is searched for.
//!
//! Terms are only counted here. Which postings a term has in other trees, and in memory, is looked
//! up once it is known which terms are wanted. While a pattern fits very many terms, those are let
//! go of that were rarest so far.

use std::collections::BTreeMap;

use crate::base::{Reservation, Result};
use crate::search::query::ENDS_MAX;

/// The most terms that the last word of a phrase stands for: the most frequent ones, among equals
/// the first in order.
pub const FREQUENT_MAX: usize = ENDS_MAX;

/// The most terms that are counted at once.
const COUNTED_MAX: usize = 8 * FREQUENT_MAX;

/// Bytes that a term takes beside its key.
const NODE_BYTES: usize = 2 * size_of::<(Vec<u8>, u64)>();

/// Terms with the number of their documents.
pub struct MostFrequent {
    found: BTreeMap<Vec<u8>, u64>,
    memory: Reservation,
    is_cut: bool,
}

impl MostFrequent {
    /// None yet. Keys take their memory from `memory`.
    pub fn new(memory: Reservation) -> MostFrequent {
        MostFrequent {
            found: BTreeMap::new(),
            memory,
            is_cut: false,
        }
    }

    /// Counts more documents of a term.
    pub fn add(&mut self, key: &[u8], documents: u64) -> Result<()> {
        if let Some(counted) = self.found.get_mut(key) {
            *counted += documents;
            return Ok(());
        }
        let bytes = self.memory.bytes() + NODE_BYTES + key.len();
        self.memory.grow_to(bytes)?;
        self.found.insert(key.to_vec(), documents);
        if self.found.len() > COUNTED_MAX {
            self.keep_most()?;
        }
        Ok(())
    }

    /// The keys in order, and whether there are others.
    pub fn finish(mut self) -> Result<(Vec<Vec<u8>>, bool)> {
        if self.found.len() > FREQUENT_MAX {
            self.keep_most()?;
        }
        Ok((self.found.into_keys().collect(), self.is_cut))
    }

    /// Lets go of the rarest.
    fn keep_most(&mut self) -> Result<()> {
        self.is_cut = true;
        let mut counts: Vec<u64> = self.found.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let least = counts[FREQUENT_MAX - 1];
        let above = counts.partition_point(|count| *count > least);
        let mut equals = FREQUENT_MAX - above;
        self.found.retain(|_, count| {
            let is_kept = *count == least && equals > 0;
            equals -= usize::from(is_kept);
            *count > least || is_kept
        });
        let keys = self.found.keys().map(|key| NODE_BYTES + key.len());
        self.memory.grow_to(keys.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Budget;

    fn counted(terms: impl Iterator<Item = (u32, u64)>) -> (Vec<u32>, bool) {
        let budget = Budget::new(16 << 20);
        let mut most = MostFrequent::new(budget.reserve("terms", 0).unwrap());
        for (term, documents) in terms {
            most.add(&term.to_be_bytes(), documents).unwrap();
        }
        let (keys, is_cut) = most.finish().unwrap();
        let number = |key: &Vec<u8>| u32::from_be_bytes(key[..].try_into().unwrap());
        (keys.iter().map(number).collect(), is_cut)
    }

    #[test]
    fn the_most_frequent_are_kept_and_among_equals_the_first() {
        let few = counted([(7, 1), (3, 2), (7, 5)].into_iter());
        assert_eq!(few, (vec![3, 7], false));
        let many = FREQUENT_MAX as u32 + 10;
        let (kept, is_cut) = counted((0..many).map(|term| (term, 1 + u64::from(term >= many - 5))));
        assert!(is_cut && kept.len() == FREQUENT_MAX);
        assert_eq!(
            kept[FREQUENT_MAX - 6..][..2],
            [FREQUENT_MAX as u32 - 6, many - 5]
        );
        // Also of more than are counted at once.
        let all = 3 * COUNTED_MAX as u32;
        let (kept, is_cut) = counted((0..all).map(|term| (term, 1 + u64::from(term) % 100 / 99)));
        assert!(is_cut && kept.len() == FREQUENT_MAX);
        assert_eq!(
            kept.iter().filter(|term| **term % 100 == 99).count(),
            all as usize / 100
        );
    }
}
