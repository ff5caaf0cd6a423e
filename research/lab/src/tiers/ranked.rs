//! Keys in the order of a value, and of the time at which it was set where values are equal.

use std::collections::{BTreeMap, HashMap};

use super::Key;

/// The place of a key: its value as ordered bits, then the time.
type Rank = (u64, u64);

/// Keys by value, the lowest first.
#[derive(Debug, Default)]
pub struct Ranked {
    /// Counts the values that were set.
    time: u64,
    keys: BTreeMap<Rank, Key>,
    ranks: HashMap<Key, Rank>,
}

impl Ranked {
    /// Gives a key a value, which is not negative; the key moves behind all others of that value.
    pub fn set(&mut self, key: Key, value: f64) {
        self.remove(key);
        self.time += 1;
        // The bits of floating-point numbers that are not negative are ordered as the numbers are.
        let rank = (value.max(0.0).to_bits(), self.time);
        self.keys.insert(rank, key);
        self.ranks.insert(key, rank);
    }

    /// Forgets a key; tells whether it was there.
    pub fn remove(&mut self, key: Key) -> bool {
        let rank = self.ranks.remove(&key);
        rank.is_some_and(|rank| self.keys.remove(&rank).is_some())
    }

    /// Forgets the first key and gives it with its value.
    pub fn pop(&mut self) -> Option<(Key, f64)> {
        let ((value, _), key) = self.keys.pop_first()?;
        self.ranks.remove(&key);
        Some((key, f64::from_bits(value)))
    }

    /// The first key.
    pub fn first(&self) -> Option<Key> {
        self.keys.first_key_value().map(|(_, key)| *key)
    }

    /// The keys in order.
    pub fn iter(&self) -> impl Iterator<Item = Key> + '_ {
        self.keys.values().copied()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_by_value_and_then_by_time() {
        let mut ranked = Ranked::default();
        for (key, value) in [(1, 2.0), (2, 0.5), (3, 0.5), (4, 0.0), (2, 0.5)] {
            ranked.set(key, value);
        }
        assert_eq!(ranked.iter().collect::<Vec<_>>(), [4, 3, 2, 1]);
        assert!(ranked.remove(3) && !ranked.remove(3));
        assert_eq!(ranked.pop(), Some((4, 0.0)));
        assert_eq!(ranked.pop(), Some((2, 0.5)));
        assert_eq!((ranked.len(), ranked.ranks.len()), (1, 1));
    }
}
