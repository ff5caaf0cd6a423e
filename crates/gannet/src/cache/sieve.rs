//! SIEVE: which frame, or which answer that is kept, to give up.
//!
//! Entries stand in the order of their arrival. A hand walks from the oldest to the newest; an
//! entry that was used is spared once for each use, the last three at most, and the first that was
//! not is evicted. One pass of a scan leaves the frames in use where they are. Where most frames
//! are in use the hand comes round soon. One use alone would not tell a page that every query needs
//! from one that two needed. Source: Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024, which
//! remembers one use; three read 6 % less on a mix of queries.

use std::hash::Hash;

use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// Uses that are remembered of an entry.
pub(super) const USES_MAX: u8 = 3;

/// A map that can name the next entry to evict.
#[derive(Debug)]
pub struct Sieve<K, V> {
    index: FxHashMap<K, u32>,
    entries: Vec<SieveEntry<K, V>>,
    vacant: Vec<u32>,
    newest: u32,
    oldest: u32,
    hand: u32,
}

#[derive(Debug)]
struct SieveEntry<K, V> {
    /// Both are there until it is evicted.
    content: Option<(K, V)>,
    /// Uses that the hand has not passed over yet.
    uses: u8,
    newer: u32,
    older: u32,
}

impl<K: Clone + Eq + Hash, V: Clone> Default for Sieve<K, V> {
    fn default() -> Self {
        Sieve::new()
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Sieve<K, V> {
    /// An empty one.
    pub fn new() -> Sieve<K, V> {
        Sieve {
            index: FxHashMap::default(),
            entries: Vec::new(),
            vacant: Vec::new(),
            newest: NONE,
            oldest: NONE,
            hand: NONE,
        }
    }

    /// The value of a key; it counts as used.
    pub fn get(&mut self, key: &K) -> Option<V> {
        let slot = *self.index.get(key)?;
        let entry = &mut self.entries[slot as usize];
        entry.uses = (entry.uses + 1).min(USES_MAX);
        entry.content.as_ref().map(|(_, value)| value.clone())
    }

    /// The value of a key; it does not count as used.
    pub fn peek(&self, key: &K) -> Option<&V> {
        let slot = *self.index.get(key)?;
        let content = self.entries[slot as usize].content.as_ref();
        content.map(|(_, value)| value)
    }

    /// Returns true if an entry can be added in the place of one that was evicted.
    pub fn has_vacant(&self) -> bool {
        !self.vacant.is_empty()
    }

    /// The most entries that there ever were at once.
    pub fn slots(&self) -> usize {
        self.entries.len()
    }

    /// Bytes that the tables for so many entries take at most. They double when they grow, beside
    /// the old ones, and a hash table is an eighth empty.
    pub fn table_bytes(slots: usize) -> usize {
        let slot = size_of::<SieveEntry<K, V>>() + size_of::<(K, u32)>() + 1 + size_of::<u32>();
        4 * slot * slots
    }

    /// Puts another value in the place of that of a key, and gives the old one. It does not count
    /// as used. Gives nothing if there is no such key.
    pub fn replace(&mut self, key: &K, value: V) -> Option<V> {
        let slot = *self.index.get(key)?;
        let content = self.entries[slot as usize].content.as_mut();
        content.map(|(_, old)| std::mem::replace(old, value))
    }

    /// Adds a value as the newest, unless the key is there already.
    pub fn insert(&mut self, key: K, value: V) {
        if self.index.contains_key(&key) {
            return;
        }
        let entry = SieveEntry {
            content: Some((key.clone(), value)),
            uses: 0,
            newer: NONE,
            older: self.newest,
        };
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.entries[newest as usize].newer = slot,
        }
        self.newest = slot;
        self.index.insert(key, slot);
        debug_assert_eq!(self.index.len() + self.vacant.len(), self.entries.len());
    }

    /// Takes out the entry that the hand chooses.
    pub fn evict(&mut self) -> Option<(K, V)> {
        let mut slot = if self.hand == NONE {
            self.oldest
        } else {
            self.hand
        };
        while slot != NONE && self.entries[slot as usize].uses > 0 {
            let entry = &mut self.entries[slot as usize];
            entry.uses -= 1;
            slot = if entry.newer == NONE {
                self.oldest
            } else {
                entry.newer
            };
        }
        if slot == NONE {
            return None;
        }
        self.hand = self.entries[slot as usize].newer;
        self.unlink(slot)
    }

    /// The values of which so many uses are remembered.
    pub fn with_uses(&self, uses: u8) -> impl Iterator<Item = &(K, V)> {
        let entries = self.entries.iter().filter(move |entry| entry.uses == uses);
        entries.filter_map(|entry| entry.content.as_ref())
    }

    fn unlink(&mut self, slot: u32) -> Option<(K, V)> {
        let entry = &mut self.entries[slot as usize];
        let (newer, older) = (entry.newer, entry.older);
        let content = entry.content.take();
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        if let Some((key, _)) = &content {
            self.index.remove(key);
        }
        self.vacant.push(slot);
        debug_assert!(content.is_some(), "what is linked has content");
        debug_assert_eq!(self.index.len() + self.vacant.len(), self.entries.len());
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::PageAddress;

    fn at(page: u32) -> PageAddress {
        PageAddress { zone: 0, page }
    }

    #[test]
    fn a_scan_does_not_push_out_what_is_used() {
        let mut sieve = Sieve::new();
        for page in 0..4 {
            sieve.insert(at(page), page);
        }
        sieve.get(&at(1));
        for page in 100..200 {
            sieve.insert(at(page), page);
            sieve.get(&at(1));
            assert!(sieve.evict().is_some_and(|(_, value)| value != 1));
        }
        assert_eq!(sieve.get(&at(1)), Some(1));
    }

    #[test]
    fn what_was_used_often_is_spared_longer_than_what_was_used_once() {
        let mut sieve = Sieve::new();
        for page in 0..8 {
            sieve.insert(at(page), page);
            sieve.get(&at(page));
        }
        for _ in 0..5 {
            sieve.get(&at(0));
        }
        let evicted: Vec<u32> = std::iter::from_fn(|| sieve.evict())
            .map(|(_, value)| value)
            .collect();
        assert_eq!(evicted.last(), Some(&0));
    }

    #[test]
    fn entries_are_told_apart_by_their_uses() {
        let mut sieve = Sieve::new();
        for page in 0..6 {
            sieve.insert(at(page), page);
            for _ in 0..page {
                sieve.get(&at(page));
            }
        }
        assert_eq!(sieve.evict(), Some((at(0), 0)));
        let used = |uses| sieve.with_uses(uses).map(|(_, page)| *page);
        let all: Vec<Vec<u32>> = (0..=USES_MAX).map(|uses| used(uses).collect()).collect();
        assert_eq!(all, [vec![], vec![1], vec![2], vec![3, 4, 5]]);
    }

    #[test]
    fn a_value_that_is_replaced_keeps_its_place() {
        let mut sieve = Sieve::new();
        sieve.insert(at(1), 1);
        sieve.insert(at(2), 2);
        assert_eq!(sieve.replace(&at(1), 7), Some(1));
        assert_eq!(sieve.replace(&at(3), 9), None);
        assert_eq!(sieve.evict(), Some((at(1), 7)));
        assert_eq!(sieve.evict(), Some((at(2), 2)));
        assert_eq!(sieve.evict(), None);
    }

    #[test]
    fn everything_can_be_evicted_once() {
        let mut sieve = Sieve::new();
        for page in 0..10 {
            sieve.insert(at(page), page);
            sieve.get(&at(page));
        }
        let mut evicted: Vec<u32> = std::iter::from_fn(|| sieve.evict())
            .map(|(_, value)| value)
            .collect();
        evicted.sort_unstable();
        assert_eq!(evicted, (0..10).collect::<Vec<_>>());
        sieve.insert(at(1), 1);
        assert_eq!(sieve.evict(), Some((at(1), 1)));
    }
}
