//! LRU: what was asked for longest ago leaves first.

use super::{Entry, Key, Policy, Ranked};

/// The keys by when they were asked for last.
#[derive(Debug, Default)]
pub struct Lru(Ranked);

impl Policy for Lru {
    fn insert(&mut self, entry: &Entry) {
        self.0.set(entry.key, 0.0);
    }

    fn touch(&mut self, entry: &Entry) {
        self.0.set(entry.key, 0.0);
    }

    fn remove(&mut self, key: Key) {
        self.0.remove(key);
    }

    fn victim(&mut self, _: u64) -> Option<Key> {
        self.0.pop().map(|(key, _)| key)
    }
}
