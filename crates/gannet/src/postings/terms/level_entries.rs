//! Entries that are to be put into a delta level.

use crate::base::Result;
use crate::postings::codec::short::{ShortList, put_entry};

/// Terms with their entries, one behind another in one allocation.
#[derive(Default)]
pub(crate) struct LevelEntries {
    bytes: Vec<u8>,
    /// The ends of each key and of the entry behind it.
    ends: Vec<(usize, usize)>,
}

impl LevelEntries {
    /// The number of terms.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a term with its entry.
    pub(crate) fn push(&mut self, key: &[u8], entry: &[u8]) {
        self.bytes.extend_from_slice(key);
        let end = self.bytes.len();
        self.bytes.extend_from_slice(entry);
        self.ends.push((end, self.bytes.len()));
    }

    /// Adds a term with the postings of all `parts`.
    pub(crate) fn push_joined(&mut self, key: &[u8], parts: &[ShortList<'_>]) -> Result<()> {
        self.bytes.extend_from_slice(key);
        let end = self.bytes.len();
        put_entry(parts, &mut self.bytes)?;
        self.ends.push((end, self.bytes.len()));
        Ok(())
    }

    /// Forgets all; the memory is kept.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Returns the keys with their entries.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(key, entry)| {
            let pair = (&self.bytes[start..*key], &self.bytes[*key..*entry]);
            start = *entry;
            pair
        })
    }
}
