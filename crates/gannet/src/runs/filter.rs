//! The Bloom filter over the keys of a run, in a table that stays in memory.

use crate::base::{ByteReader, KeyHash, PageAddress, Result, ZoneNumber, put_varint};
use crate::storage::{Store, StreamWriter, Table};

/// Bits a key. One in fifty other keys passes.
const BITS_PER_KEY: u64 = 10;

/// Bytes of a word.
const WORD_BYTES: usize = 8;

/// A set of keys that may hold others too; without words it holds all.
#[derive(Clone, Debug)]
pub(crate) struct RunFilter {
    words: u64,
    table: Table,
    /// Set unless the table was left on the device.
    in_memory: bool,
}

impl RunFilter {
    /// A filter that every key passes.
    pub(crate) fn none() -> RunFilter {
        RunFilter::of_words(0)
    }

    /// An empty filter for so many keys.
    pub(crate) fn for_keys(keys: u64) -> RunFilter {
        RunFilter::of_words(words_for(keys))
    }

    fn of_words(words: u64) -> RunFilter {
        RunFilter {
            words,
            table: Table::new(WORD_BYTES, true),
            in_memory: true,
        }
    }

    /// Adds a key.
    pub(crate) fn insert(&mut self, key: &[u8]) {
        if self.words > 0 {
            let (word, bits) = KeyHash::of(key).place(self.words);
            let all = self.word(word) | bits;
            self.table.set(word, &all.to_le_bytes());
        }
    }

    /// Returns true if a key may have been added. If not, it was not.
    pub(crate) fn may_have(&self, key: KeyHash) -> bool {
        if !self.is_of_use() {
            return true;
        }
        let (word, bits) = key.place(self.words);
        self.word(word) & bits == bits
    }

    /// Returns true if it holds any key back.
    pub(crate) fn is_of_use(&self) -> bool {
        self.words > 0 && self.in_memory
    }

    /// Returns true if it is on the device and not in memory.
    pub(crate) fn is_left_out(&self) -> bool {
        !self.in_memory
    }

    /// Returns its bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.words * WORD_BYTES as u64
    }

    /// Returns the bytes of memory that it holds.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }

    /// Returns the addresses of its pages.
    pub(crate) fn pages(&self) -> impl Iterator<Item = PageAddress> {
        self.table.addresses().map(|(_, address)| address)
    }

    /// Gives its pages up; every key passes from now on.
    pub(crate) fn give_up(&mut self, store: &Store) {
        self.table.release(store);
        *self = RunFilter::none();
    }

    /// Has pages in the victims written anew by the next [`RunFilter::encode`].
    pub(crate) fn move_out_of(&mut self, is_victim: &dyn Fn(ZoneNumber) -> bool) {
        // None is missing: those that are left on the device were given up before.
        self.table.move_out_of(is_victim);
    }

    /// Writes its changed pages to `tables` and appends what [`RunFilter::decode`] reads.
    pub(crate) fn encode(
        &mut self,
        store: &Store,
        tables: &mut StreamWriter,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.table.write_changes(store, tables)?;
        put_varint(out, self.words);
        self.table.encode(out);
        Ok(())
    }

    /// Reads what [`RunFilter::encode`] wrote; its pages are on the device.
    pub(crate) fn decode(reader: &mut ByteReader<'_>) -> Result<RunFilter> {
        let words = reader.varint()?;
        let table = Table::new(WORD_BYTES, true).decode(reader)?;
        let most = words.div_ceil(table.entries_per_page() as u64);
        if words > u64::from(u32::MAX) || table.page_count() as u64 > most {
            let pages = table.page_count();
            return Err(reader.damaged(&format!("at most {most} pages of {words} words"), pages));
        }
        Ok(RunFilter {
            words,
            table,
            in_memory: words == 0,
        })
    }

    /// Reads its pages.
    pub(crate) fn load(&mut self, store: &Store) -> Result<()> {
        self.table.load_all(store, "the filter of a run")?;
        self.in_memory = true;
        Ok(())
    }

    fn word(&self, word: u64) -> u64 {
        let bytes = self
            .table
            .entry(word)
            .and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }
}

/// Returns the bytes that a filter for so many keys takes.
pub(crate) fn filter_bytes(keys: u64) -> u64 {
    words_for(keys) * WORD_BYTES as u64
}

fn words_for(keys: u64) -> u64 {
    (keys * BITS_PER_KEY).div_ceil(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_all_that_was_added_and_little_else() {
        let key = |number: u32| format!("document {number}").into_bytes();
        let mut filter = RunFilter::for_keys(20_000);
        (0..20_000).for_each(|number| filter.insert(&key(number)));
        let passes = |number: &u32| filter.may_have(KeyHash::of(&key(*number)));
        assert!((0..20_000).all(|number| passes(&number)));
        let others = (20_000..40_000).filter(passes).count();
        assert!(others < 600, "{others} of 20,000 others pass");
        assert!(RunFilter::none().may_have(KeyHash::of(b"any")));
    }
}
