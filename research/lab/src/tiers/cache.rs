//! A cache in memory of entries of any size: their keys and bytes, without their content.
//!
//! Invariant: the bytes of all entries are at most the capacity, and the policy knows exactly the
//! keys of the entries.

use std::collections::HashMap;

use super::{Entry, Key, Policy};

/// The tier in memory.
#[derive(Debug)]
pub struct Cache {
    capacity: u64,
    used: u64,
    entries: HashMap<Key, Entry>,
    policy: Box<dyn Policy>,
}

impl Cache {
    /// An empty cache of so many bytes.
    pub fn new(capacity: u64, policy: Box<dyn Policy>) -> Cache {
        Cache {
            capacity,
            used: 0,
            entries: HashMap::new(),
            policy,
        }
    }

    /// Bytes that it may hold.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether an entry is there. `entry` says what is known of it now.
    pub fn ask(&mut self, entry: &Entry) -> bool {
        let Some(held) = self.entries.get_mut(&entry.key) else {
            return false;
        };
        *held = Entry {
            bytes: held.bytes,
            ..*entry
        };
        self.policy.touch(held);
        true
    }

    /// Takes an entry in that is not there, or more of one, and gives those that had to leave for
    /// it. An entry that is larger than the cache is given back at once.
    pub fn admit(&mut self, entry: Entry) -> Vec<Entry> {
        if entry.bytes > self.capacity {
            self.remove(entry.key);
            return vec![entry];
        }
        match self.held(entry.key) {
            0 => self.insert(entry),
            held if held < entry.bytes => self.grow(entry, held),
            _ => Vec::new(),
        }
    }

    fn insert(&mut self, entry: Entry) -> Vec<Entry> {
        let gone = self.evict(entry.bytes);
        self.used += entry.bytes;
        self.policy.insert(&entry);
        self.entries.insert(entry.key, entry);
        gone
    }

    fn grow(&mut self, entry: Entry, held: u64) -> Vec<Entry> {
        self.used += entry.bytes - held;
        self.policy.touch(&entry);
        self.entries.insert(entry.key, entry);
        self.evict(0)
    }

    /// Bytes of an entry; 0 if it is not there.
    pub fn held(&self, key: Key) -> u64 {
        self.entries.get(&key).map_or(0, |entry| entry.bytes)
    }

    /// Evicts until so many bytes more are within the capacity.
    fn evict(&mut self, bytes: u64) -> Vec<Entry> {
        let mut gone = Vec::new();
        while self.used + bytes > self.capacity {
            let victim = self.policy.victim(bytes);
            match victim.and_then(|victim| self.forget(victim)) {
                Some(victim) => gone.push(victim),
                None => break,
            }
        }
        gone
    }

    /// Takes an entry away if it is there.
    pub fn remove(&mut self, key: Key) {
        if self.forget(key).is_some() {
            self.policy.remove(key);
        }
    }

    fn forget(&mut self, key: Key) -> Option<Entry> {
        let entry = self.entries.remove(&key)?;
        self.used -= entry.bytes;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::tiers::{Efficiency, GreedyDual, Lru};

    fn entry(key: Key) -> Entry {
        Entry {
            key,
            bytes: 1 + 37 * u64::from(key),
            asked: 1,
            again: 1.0,
        }
    }

    /// A list of entries, what was asked for last at its end.
    #[derive(Default)]
    struct Model(Vec<Entry>);

    impl Model {
        fn ask(&mut self, key: Key) -> bool {
            let at = self.0.iter().position(|other| other.key == key);
            if let Some(at) = at {
                let entry = self.0.remove(at);
                self.0.push(entry);
            }
            at.is_some()
        }

        fn admit(&mut self, entry: Entry, capacity: u64) -> Vec<Entry> {
            if entry.bytes > capacity {
                return vec![entry];
            }
            let used = |entries: &[Entry]| entries.iter().map(|entry| entry.bytes).sum::<u64>();
            let fits = |at: &usize| used(&self.0[*at..]) + entry.bytes <= capacity;
            let first = (0..self.0.len()).find(fits).unwrap_or(self.0.len());
            let gone = self.0.drain(..first).collect();
            self.0.push(entry);
            gone
        }

        fn remove(&mut self, key: Key) {
            self.0.retain(|entry| entry.key != key);
        }
    }

    #[test]
    fn lru_does_what_a_list_does() {
        let mut cache = Cache::new(1_000, Box::<Lru>::default());
        let (mut model, mut random) = (Model::default(), Random::new(1, "cache"));
        for _ in 0..20_000 {
            let key = random.below(80).min(random.below(80)) as Key;
            if random.below(50) == 0 {
                let removed = random.below(80) as Key;
                cache.remove(removed);
                model.remove(removed);
            }
            let is_hit = cache.ask(&entry(key));
            assert_eq!(is_hit, model.ask(key), "{key}");
            if !is_hit {
                assert_eq!(cache.admit(entry(key)), model.admit(entry(key), 1_000));
            }
            assert_eq!(cache.entries.len(), model.0.len());
        }
    }

    #[test]
    fn more_of_an_entry_makes_others_leave() {
        let mut cache = Cache::new(1_000, Box::<Lru>::default());
        let bytes = |key, bytes| Entry {
            bytes,
            ..entry(key)
        };
        for key in 1..=3 {
            cache.admit(bytes(key, 300));
        }
        assert_eq!(cache.admit(bytes(3, 400)), []);
        assert_eq!(cache.admit(bytes(3, 100)), [], "more is there");
        assert_eq!(cache.admit(bytes(2, 301)), [bytes(1, 300)]);
        assert_eq!([1, 2, 3].map(|key| cache.held(key)), [0, 301, 400]);
        assert_eq!(cache.admit(bytes(2, 1_001)), [bytes(2, 1_001)], "too large");
        assert_eq!((cache.held(2), cache.used), (0, 400));
    }

    /// What any policy must keep: bytes within the capacity, every entry accounted for.
    fn hold_invariants(policy: Box<dyn Policy>) {
        let mut cache = Cache::new(1_000, policy);
        let (mut inside, mut random) = (Vec::new(), Random::new(2, "cache"));
        for asked in 0..20_000 {
            let key = random.below(80) as Key;
            let asked = Entry {
                asked: asked / 80,
                again: random.below(9) as f64,
                ..entry(key)
            };
            assert_eq!(cache.ask(&asked), inside.contains(&key));
            if !inside.contains(&key) {
                let gone = cache.admit(asked);
                inside.push(key);
                inside.retain(|key| gone.iter().all(|gone| gone.key != *key));
            }
            let bytes: u64 = inside.iter().map(|key| entry(*key).bytes).sum();
            assert_eq!(cache.used, bytes);
            assert!(bytes <= 1_000);
        }
    }

    #[test]
    fn every_policy_stays_within_the_capacity() {
        hold_invariants(Box::<Lru>::default());
        hold_invariants(Box::<GreedyDual>::default());
        hold_invariants(Box::new(Efficiency::new(0.25)));
    }
}
