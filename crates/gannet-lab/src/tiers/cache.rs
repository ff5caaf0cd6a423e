//! A cache of entries of any size: their keys and bytes, without their content.
//!
//! Invariant: the bytes of all entries are at most the capacity, and the policy knows exactly the
//! keys of the entries.

use std::collections::HashMap;
use std::hash::Hash;

use super::Policy;

/// One tier.
#[derive(Debug)]
pub struct Cache<K, P> {
    capacity: u64,
    used: u64,
    entries: HashMap<K, u64>,
    policy: P,
}

impl<K: Clone + Eq + Hash, P: Policy<K>> Cache<K, P> {
    /// An empty cache of so many bytes.
    pub fn new(capacity: u64, policy: P) -> Cache<K, P> {
        Cache {
            capacity,
            used: 0,
            entries: HashMap::new(),
            policy,
        }
    }

    /// Whether an entry is there.
    pub fn ask(&mut self, key: &K) -> bool {
        let is_there = self.entries.contains_key(key);
        if is_there {
            self.policy.touch(key);
        }
        is_there
    }

    /// Takes an entry in that is not there, and gives those that had to go for it, with their
    /// bytes. An entry that is larger than the cache stays outside.
    pub fn admit(&mut self, key: K, bytes: u64) -> Vec<(K, u64)> {
        let mut gone = Vec::new();
        if bytes > self.capacity || self.entries.contains_key(&key) {
            return gone;
        }
        while self.used + bytes > self.capacity {
            let Some((victim, bytes)) = self.evict() else {
                break;
            };
            gone.push((victim, bytes));
        }
        self.used += bytes;
        self.policy.insert(key.clone());
        self.entries.insert(key, bytes);
        gone
    }

    fn evict(&mut self) -> Option<(K, u64)> {
        let victim = self.policy.victim()?;
        let bytes = self.entries.remove(&victim)?;
        self.used -= bytes;
        Some((victim, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::tiers::Lru;

    /// A list of keys with their bytes, what was asked for last at its end.
    #[derive(Default)]
    struct Model(Vec<(usize, u64)>);

    impl Model {
        fn ask(&mut self, key: usize) -> bool {
            let at = self.0.iter().position(|(other, _)| *other == key);
            if let Some(at) = at {
                let entry = self.0.remove(at);
                self.0.push(entry);
            }
            at.is_some()
        }

        fn admit(&mut self, key: usize, bytes: u64, capacity: u64) -> Vec<(usize, u64)> {
            if bytes > capacity {
                return Vec::new();
            }
            let used =
                |entries: &[(usize, u64)]| entries.iter().map(|(_, bytes)| bytes).sum::<u64>();
            let first = (0..self.0.len()).find(|at| used(&self.0[*at..]) + bytes <= capacity);
            let gone = self.0.drain(..first.unwrap_or(self.0.len())).collect();
            self.0.push((key, bytes));
            gone
        }
    }

    #[test]
    fn a_cache_does_what_a_list_does() {
        let (mut cache, mut model) = (Cache::new(1_000, Lru::default()), Model::default());
        let mut random = Random::new(1, "cache");
        for _ in 0..20_000 {
            let key = random.below(80).min(random.below(80));
            let is_hit = cache.ask(&key);
            assert_eq!(is_hit, model.ask(key), "{key}");
            if !is_hit {
                let bytes = 1 + 37 * key as u64;
                assert_eq!(cache.admit(key, bytes), model.admit(key, bytes, 1_000));
            }
            assert!(cache.used <= 1_000);
            assert_eq!(cache.entries.len(), model.0.len());
        }
    }
}
