//! Buckets by their keys: each gets a number, in the order in which they are first seen.

use gannet_values::{ValueType, key_of_long};
use hashbrown::HashTable;

use crate::memory::{Full, Ledger};

/// Keywords and longs of smaller numbers have their bucket in an array, whatever else there is.
/// Counting by an array takes a fifth of the time of a hash table.
const DIRECT_LEAST: usize = 1 << 16;

/// An array grows as long as at least one in so many of its places is used.
const DIRECT_SPREAD: usize = 8;

/// Tells a bucket from others of the same aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BucketKey {
    /// The bucket of the aggregation above.
    pub(crate) parent: u32,
    /// The space of the key: see [`crate::values::ClassKey`].
    pub(crate) class: u32,
    pub(crate) key: u64,
}

impl BucketKey {
    /// Returns a hash whose bits are all mixed.
    pub(crate) fn hash(self) -> u64 {
        let above = u64::from(self.parent) << 2 ^ u64::from(self.class);
        let mixed = (self.key ^ above.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 29
    }
}

/// Numbers of buckets by their keys.
#[derive(Debug, Default)]
pub(crate) struct Table {
    keys: Vec<BucketKey>,
    index: HashTable<u32>,
    /// Bytes that the index is reserved with.
    index_bytes: usize,
    /// For parent 0 and class 0: the number of the bucket and one, by the distance of its key from
    /// the least that the array can have.
    direct: Vec<u32>,
    least: Option<u64>,
}

impl Table {
    /// Returns an empty table. Keys of a field of this type are often small numbers, or never.
    pub(crate) fn new(field_type: ValueType) -> Table {
        let least = match field_type {
            ValueType::Ip | ValueType::Keyword => Some(0),
            ValueType::Long => Some(key_of_long(0)),
            _ => None,
        };
        Table {
            least,
            ..Table::default()
        }
    }

    pub(crate) fn keys(&self) -> &[BucketKey] {
        &self.keys
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the bucket of a key of parent 0 and class 0, if the array has it.
    pub(crate) fn direct(&self, key: u64) -> Option<u32> {
        self.direct.get(self.place(key)?)?.checked_sub(1)
    }

    fn place(&self, key: u64) -> Option<usize> {
        usize::try_from(key.checked_sub(self.least?)?).ok()
    }

    pub(crate) fn find(&self, key: BucketKey) -> Option<u32> {
        if self.is_direct(key) {
            return self.direct(key.key);
        }
        self.find_hashed(key, key.hash())
    }

    fn find_hashed(&self, key: BucketKey, hash: u64) -> Option<u32> {
        let is = |number: &u32| self.keys[*number as usize] == key;
        self.index.find(hash, is).copied()
    }

    fn is_direct(&self, key: BucketKey) -> bool {
        let is_on_top = key.parent == 0 && key.class == 0;
        is_on_top
            && self
                .place(key.key)
                .is_some_and(|place| place < self.direct.len())
    }

    pub(crate) fn find_or_add(
        &mut self,
        key: BucketKey,
        ledger: &mut Ledger<'_>,
    ) -> Result<u32, Full> {
        if let Some(number) = self.find(key) {
            return Ok(number);
        }
        let number = u32::try_from(self.keys.len()).map_err(|_| Full)?;
        let place = self
            .place(key.key)
            .filter(|_| key.parent == 0 && key.class == 0);
        if let Some(place) = place {
            self.grow_direct(place, ledger)?;
            if place < self.direct.len() {
                ledger.push(&mut self.keys, key)?;
                self.direct[place] = number + 1;
                return Ok(number);
            }
        }
        self.grow_index(ledger)?;
        ledger.push(&mut self.keys, key)?;
        let keys = &self.keys;
        self.index
            .insert_unique(key.hash(), number, |number| keys[*number as usize].hash());
        Ok(number)
    }

    /// Makes the array long enough for a place, if it is used well enough, and moves what it takes
    /// over from the index.
    fn grow_direct(&mut self, place: usize, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        let used = self.keys.len() * DIRECT_SPREAD;
        if place < self.direct.len() || place >= used.max(DIRECT_LEAST) {
            return Ok(());
        }
        let length = (place + 1).max(self.direct.len() * 2).max(1_024);
        ledger.fill(&mut self.direct, length, 0)?;
        let least = self.least.unwrap_or_default();
        let (keys, direct) = (&self.keys, &mut self.direct);
        self.index.retain(|number| {
            let key = keys[*number as usize];
            let place = key.key.checked_sub(least).map(|place| place as usize);
            let place = place.filter(|_| key.parent == 0 && key.class == 0);
            match place.and_then(|place| direct.get_mut(place)) {
                Some(place) => {
                    *place = *number + 1;
                    false
                }
                None => true,
            }
        });
        Ok(())
    }

    fn grow_index(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        if self.index.len() < self.index.capacity() {
            return Ok(());
        }
        let more = self.index.len().max(28);
        // A place and its tag; a table is at most 7/8 full, and a power of two large.
        let places = ((self.index.len() + more) * 8 / 7 + 1).next_power_of_two();
        let bytes = places * 5 + 64;
        ledger.add(bytes)?;
        let keys = &self.keys;
        let hash = |number: &u32| keys[*number as usize].hash();
        if self.index.try_reserve(more, hash).is_err() {
            ledger.give_back(bytes);
            return Err(Full);
        }
        ledger.give_back(self.index_bytes);
        self.index_bytes = bytes;
        Ok(())
    }

    /// Forgets all buckets, and gives the bytes back.
    pub(crate) fn release(&mut self, ledger: &mut Ledger<'_>) {
        ledger.release(&mut self.keys);
        ledger.release(&mut self.direct);
        self.index = HashTable::new();
        ledger.give_back(std::mem::take(&mut self.index_bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use gannet_values::{ValueType, key_of_long};

    use super::{BucketKey, Table};
    use crate::memory::Ledger;

    /// Whatever the keys, a table gives each its number, in an array or by hash, and gives back all
    /// bytes when it is released.
    #[test]
    fn a_table_numbers_keys_as_a_map_does() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = |end: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % end
        };
        let tables = [
            (ValueType::Keyword, 0, 300_000),
            (ValueType::Keyword, 0, 1 << 40),
            (ValueType::Long, key_of_long(-1_000), 300_000),
            (ValueType::Double, 0, 5_000),
        ];
        for (field_type, least, spread) in tables {
            let held = Arc::new(AtomicUsize::new(0));
            let seen = held.clone();
            let mut ledger = Ledger::new(Box::new(move |bytes| {
                seen.store(bytes, Ordering::Relaxed);
                true
            }));
            let (mut table, mut map) = (Table::new(field_type), HashMap::new());
            for _ in 0..200_000 {
                let end = 1 + next(spread);
                let key = BucketKey {
                    parent: u32::from(next(4) == 0),
                    class: u32::from(next(9) == 0),
                    key: least + next(end),
                };
                assert_eq!(table.find(key), map.get(&key).copied());
                let number = map.len() as u32;
                let number = *map.entry(key).or_insert(number);
                assert_eq!(table.find_or_add(key, &mut ledger), Ok(number));
                assert_eq!(table.keys()[number as usize], key);
            }
            assert_eq!(table.len(), map.len());
            assert!(held.load(Ordering::Relaxed) >= map.len() * size_of::<BucketKey>());
            table.release(&mut ledger);
            assert_eq!(held.load(Ordering::Relaxed), 0);
        }
    }
}
