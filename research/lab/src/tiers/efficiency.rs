//! CBLRU's order of lists in memory: by efficiency value, EV = frequency / S_C.
//!
//! S_C counts erase blocks that the cached part of a list takes. The paper wants a victim that is
//! at least as large as the newcomer (its figure 12). Among all lists that could be the most
//! efficient one, so the search is limited to the replace-first region: the window of the lowest
//! values. Where no list of the window is large enough, the lowest one leaves, then the next.

use std::collections::HashMap;

use super::{Entry, Key, Policy, Ranked, blocks};

/// The keys by efficiency value.
#[derive(Debug)]
pub struct Efficiency {
    /// The share of the lists that is the replace-first region.
    window: f64,
    order: Ranked,
    bytes: HashMap<Key, u64>,
}

impl Efficiency {
    /// An empty order.
    pub fn new(window: f64) -> Efficiency {
        Efficiency {
            window,
            order: Ranked::default(),
            bytes: HashMap::new(),
        }
    }
}

/// EV of an entry.
pub fn efficiency(entry: &Entry) -> f64 {
    f64::from(entry.asked) / blocks(entry.bytes).max(1) as f64
}

/// How many of so many entries are in the replace-first region.
pub fn window_of(share: f64, entries: usize) -> usize {
    (share * entries as f64).ceil() as usize
}

impl Policy for Efficiency {
    fn insert(&mut self, entry: &Entry) {
        self.order.set(entry.key, efficiency(entry));
        self.bytes.insert(entry.key, entry.bytes);
    }

    fn touch(&mut self, entry: &Entry) {
        self.order.set(entry.key, efficiency(entry));
    }

    fn remove(&mut self, key: Key) {
        self.order.remove(key);
        self.bytes.remove(&key);
    }

    fn victim(&mut self, bytes: u64) -> Option<Key> {
        let window = window_of(self.window, self.order.len());
        let is_fitting = |key: &Key| self.bytes[key] >= bytes;
        let fitting = self.order.iter().take(window).find(is_fitting);
        let victim = fitting.or_else(|| self.order.first())?;
        self.remove(victim);
        Some(victim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(key: Key, blocks: u64, asked: u32) -> Entry {
        Entry {
            key,
            bytes: blocks * super::super::BLOCK_BYTES,
            asked,
            again: 0.0,
        }
    }

    #[test]
    fn the_lowest_value_that_is_large_enough_leaves() {
        // As in figure 12: the list of the lowest value is too small for the newcomer.
        let mut order = Efficiency::new(0.5);
        for entry in [list(1, 1, 1), list(2, 4, 8), list(3, 1, 9), list(4, 9, 90)] {
            order.insert(&entry);
        }
        assert_eq!(order.victim(4 * super::super::BLOCK_BYTES), Some(2));
        assert_eq!(order.victim(9 * super::super::BLOCK_BYTES), Some(1));
        order.touch(&list(4, 9, 9 * 8));
        assert_eq!(order.victim(1), Some(4));
        assert_eq!((order.victim(1), order.victim(1)), (Some(3), None));
        assert!(order.bytes.is_empty());
    }
}
