//! LRU: what was asked for longest ago goes first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::Policy;

/// The keys by when they were asked for last.
#[derive(Debug)]
pub struct Lru<K> {
    /// Counts what was asked for.
    time: u64,
    keys: BTreeMap<u64, K>,
    times: HashMap<K, u64>,
}

impl<K> Default for Lru<K> {
    fn default() -> Lru<K> {
        Lru {
            time: 0,
            keys: BTreeMap::new(),
            times: HashMap::new(),
        }
    }
}

impl<K: Clone + Eq + Hash> Policy<K> for Lru<K> {
    fn insert(&mut self, key: K) {
        self.time += 1;
        self.times.insert(key.clone(), self.time);
        self.keys.insert(self.time, key);
    }

    fn touch(&mut self, key: &K) {
        if let Some(key) = self.times.get(key).and_then(|time| self.keys.remove(time)) {
            self.insert(key);
        }
    }

    fn victim(&mut self) -> Option<K> {
        let (_, key) = self.keys.pop_first()?;
        self.times.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_longest_ago_goes_first() {
        let mut lru = Lru::default();
        "abc".chars().for_each(|key| lru.insert(key));
        lru.touch(&'a');
        let order: String = std::iter::from_fn(|| lru.victim()).collect();
        assert_eq!(order, "bca");
        assert!(lru.times.is_empty());
    }
}
