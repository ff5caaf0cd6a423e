//! The order in memory of the lab's own policy: GreedyDual-Size-Frequency (Cherkasova, 1998).
//!
//! The value of an entry is age + uses * cost / bytes. Its cost is what reading it again would
//! take, so what flash also holds leaves first. The age is the value of the last victim: what was
//! valuable long ago falls behind what comes now.

use std::collections::HashMap;

use super::{Entry, Key, Policy, Ranked};

/// The keys by value.
#[derive(Debug, Default)]
pub struct GreedyDual {
    age: f64,
    order: Ranked,
    /// Uses of each entry since it entered.
    uses: HashMap<Key, u32>,
}

impl Policy for GreedyDual {
    fn insert(&mut self, entry: &Entry) {
        self.uses.insert(entry.key, 0);
        self.touch(entry);
    }

    fn touch(&mut self, entry: &Entry) {
        let uses = self.uses.entry(entry.key).or_default();
        *uses = uses.saturating_add(1);
        let worth = f64::from(*uses) * entry.again / entry.bytes.max(1) as f64;
        self.order.set(entry.key, self.age + worth);
    }

    fn remove(&mut self, key: Key) {
        self.order.remove(key);
        self.uses.remove(&key);
    }

    fn victim(&mut self, _: u64) -> Option<Key> {
        let (key, value) = self.order.pop()?;
        self.age = value;
        self.uses.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: Key, bytes: u64, again: f64) -> Entry {
        Entry {
            key,
            bytes,
            asked: 1,
            again,
        }
    }

    #[test]
    fn what_flash_also_holds_leaves_first() {
        let mut order = GreedyDual::default();
        order.insert(&entry(2, 100, 13_000.0));
        order.insert(&entry(1, 100, 2_000.0));
        order.insert(&entry(3, 1_000, 13_000.0));
        assert_eq!(order.victim(0), Some(3), "large for its cost");
        assert_eq!(order.victim(0), Some(1), "cheap to read again");
    }

    #[test]
    fn what_was_used_often_ages() {
        let mut order = GreedyDual::default();
        (0..3).for_each(|_| order.touch(&entry(1, 1, 1.0)));
        let mut newcomer = |key| {
            order.insert(&entry(key, 1, 1.0));
            order.victim(0)
        };
        assert_eq!(newcomer(2), Some(2), "worth 1");
        assert_eq!(newcomer(3), Some(3), "worth 1 beyond an age of 1");
        assert_eq!(
            newcomer(4),
            Some(1),
            "three uses long ago are worth as much, and older"
        );
    }
}
