//! The documents that a vacuum takes out of all lists.

use crate::base::DocId;

/// Documents that were deleted before a vacuum began, one bit each.
#[derive(Clone, Debug, Default)]
pub struct DeadDocs {
    words: Vec<u64>,
    count: u64,
}

impl DeadDocs {
    /// Takes the documents whose bits are set in the bytes of a live set, the first document's in
    /// the lowest bit of the first byte.
    pub fn new(bytes: &[u8]) -> DeadDocs {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        let words: Vec<u64> = bytes.chunks(8).map(word).collect();
        let count = words.iter().map(|word| word.count_ones() as u64).sum();
        DeadDocs { words, count }
    }

    /// Bytes of memory for documents below `end`.
    pub fn memory_bytes(end: DocId) -> usize {
        (end as usize).div_ceil(64) * size_of::<u64>()
    }

    /// Returns the number of documents.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns true if a document is among them.
    #[inline]
    pub fn has(&self, doc: DocId) -> bool {
        let word = self.words.get(doc as usize / 64);
        word.is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// Returns true if any document from `first` to `last` is among them.
    pub fn has_any(&self, first: DocId, last: DocId) -> bool {
        self.within(first, last)
            .any(|(word, mask)| word & mask != 0)
    }

    /// Returns true if all documents from `first` to `last` are.
    pub fn has_all(&self, first: DocId, last: DocId) -> bool {
        self.within(first, last)
            .all(|(word, mask)| word & mask == mask)
    }

    /// The words with the documents from `first` to `last`, and which of their bits these are.
    fn within(&self, first: DocId, last: DocId) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (from, to) = (first as usize / 64, last as usize / 64);
        (from..=to).map(move |at| {
            let mut mask = u64::MAX;
            if at == from {
                mask &= u64::MAX << (first % 64);
            }
            if at == to {
                mask &= u64::MAX >> (63 - last % 64);
            }
            (self.words.get(at).copied().unwrap_or(0), mask)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_and_all_are_what_each_tells() {
        let mut bytes = vec![0u8; 33];
        for doc in [0usize, 1, 63, 64, 65, 66, 130, 255, 256, 257, 258, 259] {
            bytes[doc / 8] |= 1 << (doc % 8);
        }
        let dead = DeadDocs::new(&bytes);
        assert_eq!(dead.count(), 12);
        for first in 0..300 {
            for last in first..300 {
                let each: Vec<bool> = (first..=last).map(|doc| dead.has(doc)).collect();
                assert_eq!(dead.has_any(first, last), each.contains(&true));
                assert_eq!(dead.has_all(first, last), !each.contains(&false));
            }
        }
    }
}
