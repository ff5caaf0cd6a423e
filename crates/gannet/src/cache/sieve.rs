//! SIEVE: which frame to give up.
//!
//! Entries stand in the order of their arrival. A hand walks from the oldest to the newest; an entry that
//! was used since the hand last passed is spared once, the first that was not is evicted. One pass of a scan
//! leaves the frames in use where they are. Source: Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024.

use rustc_hash::FxHashMap;

use crate::base::PageAddress;

const NONE: u32 = u32::MAX;

/// A map from page addresses to values that can name the next to evict.
#[derive(Debug)]
pub(super) struct Sieve<V> {
    index: FxHashMap<PageAddress, u32>,
    entries: Vec<Entry<V>>,
    vacant: Vec<u32>,
    newest: u32,
    oldest: u32,
    hand: u32,
}

#[derive(Debug)]
struct Entry<V> {
    address: PageAddress,
    value: Option<V>,
    used: bool,
    newer: u32,
    older: u32,
}

impl<V: Clone> Sieve<V> {
    pub(super) fn new() -> Sieve<V> {
        Sieve {
            index: FxHashMap::default(),
            entries: Vec::new(),
            vacant: Vec::new(),
            newest: NONE,
            oldest: NONE,
            hand: NONE,
        }
    }

    /// The value at an address; it counts as used.
    pub(super) fn get(&mut self, address: PageAddress) -> Option<V> {
        let slot = *self.index.get(&address)?;
        let entry = &mut self.entries[slot as usize];
        entry.used = true;
        entry.value.clone()
    }

    /// Adds a value as the newest, unless the address is there already.
    pub(super) fn insert(&mut self, address: PageAddress, value: V) {
        if self.index.contains_key(&address) {
            return;
        }
        let entry = Entry {
            address,
            value: Some(value),
            used: false,
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
        self.index.insert(address, slot);
    }

    /// Takes out the entry that the hand chooses.
    pub(super) fn evict(&mut self) -> Option<V> {
        let mut slot = if self.hand == NONE {
            self.oldest
        } else {
            self.hand
        };
        while slot != NONE && self.entries[slot as usize].used {
            let entry = &mut self.entries[slot as usize];
            entry.used = false;
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

    fn unlink(&mut self, slot: u32) -> Option<V> {
        let entry = &mut self.entries[slot as usize];
        let (newer, older, address) = (entry.newer, entry.older, entry.address);
        let value = entry.value.take();
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        self.index.remove(&address);
        self.vacant.push(slot);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(page: u32) -> PageAddress {
        PageAddress { zone: 0, page }
    }

    #[test]
    fn a_scan_does_not_push_out_what_is_used() {
        let mut sieve = Sieve::new();
        for page in 0..4 {
            sieve.insert(at(page), page);
        }
        sieve.get(at(1));
        for page in 100..200 {
            sieve.insert(at(page), page);
            sieve.get(at(1));
            assert!(sieve.evict().is_some_and(|value| value != 1));
        }
        assert_eq!(sieve.get(at(1)), Some(1));
    }

    #[test]
    fn everything_can_be_evicted_once() {
        let mut sieve = Sieve::new();
        for page in 0..10 {
            sieve.insert(at(page), page);
            sieve.get(at(page));
        }
        let mut evicted: Vec<u32> = std::iter::from_fn(|| sieve.evict()).collect();
        evicted.sort_unstable();
        assert_eq!(evicted, (0..10).collect::<Vec<_>>());
        sieve.insert(at(1), 1);
        assert_eq!(sieve.evict(), Some(1));
    }
}
