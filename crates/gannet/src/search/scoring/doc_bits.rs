//! A bit for each document of an index.

use std::ops::Range;

use crate::base::DocId;

/// Documents, a bit for each that could be among them.
#[derive(Debug)]
pub struct DocBits {
    words: Vec<u64>,
}

impl DocBits {
    /// None yet of the documents below `below`.
    pub fn new(below: DocId) -> DocBits {
        DocBits {
            words: vec![0; DocBits::bytes(below) / size_of::<u64>()],
        }
    }

    /// Bytes that a bit takes for each document below `below`.
    pub fn bytes(below: DocId) -> usize {
        (below as usize).div_ceil(64) * size_of::<u64>()
    }

    /// Bytes that it holds.
    pub fn held(&self) -> usize {
        size_of_val(self.words.as_slice())
    }

    /// Adds a document, which is below the bound.
    #[inline]
    pub fn insert(&mut self, doc: DocId) {
        self.words[doc as usize / 64] |= 1 << (doc % 64);
    }

    /// Sets the bits of the 64 documents from 64 times `at` on, which is within the bound.
    pub fn set_word(&mut self, at: usize, bits: u64) {
        if let Some(word) = self.words.get_mut(at) {
            *word = bits;
        }
    }

    /// Returns true if it has the document.
    pub fn contains(&self, doc: DocId) -> bool {
        let word = self.words.get(doc as usize / 64);
        word.is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// Returns true if it has a document of a range.
    pub fn has_any(&self, docs: Range<DocId>) -> bool {
        let (Some(last), first) = (docs.end.checked_sub(1), docs.start) else {
            return false;
        };
        if first > last {
            return false;
        }
        let (from, to) = (first as usize / 64, last as usize / 64);
        let mask = |at: usize| {
            let lower = if at == from {
                u64::MAX << (first % 64)
            } else {
                u64::MAX
            };
            let upper = if at == to {
                u64::MAX >> (63 - last % 64)
            } else {
                u64::MAX
            };
            lower & upper
        };
        (from..=to.min(self.words.len())).any(|at| self.word(at) & mask(at) != 0)
    }

    /// Lists the documents of a range, if they are at most one in so many.
    pub fn few_within(&self, docs: Range<DocId>, one_in: usize, found: &mut Vec<DocId>) -> bool {
        let words = docs.start as usize / 64..(docs.end as usize).div_ceil(64);
        let bits: u32 = words.map(|at| self.word(at).count_ones()).sum();
        let are_few = bits as usize * one_in <= docs.len();
        if are_few {
            self.add_within(docs, found);
        }
        are_few
    }

    /// The documents of a range, ascending.
    pub fn within(&self, docs: Range<DocId>) -> Vec<DocId> {
        let words = docs.start / 64..docs.end.div_ceil(64);
        let bits = words.map(|at| self.word(at as usize).count_ones());
        let mut found = Vec::with_capacity(bits.sum::<u32>() as usize);
        self.add_within(docs, &mut found);
        found
    }

    /// Adds the documents of a range, ascending.
    fn add_within(&self, docs: Range<DocId>, found: &mut Vec<DocId>) {
        for at in docs.start / 64..docs.end.div_ceil(64) {
            let mut word = self.word(at as usize);
            if word == u64::MAX && docs.start <= at * 64 && at * 64 + 63 < docs.end {
                found.extend(at * 64..=at * 64 + 63);
                continue;
            }
            while word != 0 {
                let doc = at * 64 + word.trailing_zeros();
                word &= word - 1;
                if docs.contains(&doc) {
                    found.push(doc);
                }
            }
        }
    }

    /// The number of documents.
    pub fn count(&self) -> u64 {
        let ones = self.words.iter().map(|word| u64::from(word.count_ones()));
        ones.sum()
    }

    /// The bits of the 64 documents from 64 times `at` on.
    pub fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// The first `most` documents from `from` on.
    pub fn next(&self, from: DocId, most: usize, docs: &mut Vec<DocId>) {
        docs.clear();
        let mut mask = u64::MAX << (from % 64);
        for at in from as usize / 64..self.words.len() {
            let mut word = self.words[at] & mask;
            mask = u64::MAX;
            while word != 0 {
                if docs.len() == most {
                    return;
                }
                docs.push((at * 64) as DocId + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_back_in_order() {
        let mut bits = DocBits::new(200);
        let members = [1, 63, 64, 127, 199];
        members.iter().for_each(|doc| bits.insert(*doc));
        assert_eq!(bits.count(), 5);
        assert!(bits.contains(64) && !bits.contains(65) && !bits.contains(1_000));
        assert_eq!((bits.word(0), bits.word(9)), (1 << 63 | 2, 0));
        for first in 0..210 {
            for end in 0..210 {
                let has = members.iter().any(|doc| (first..end).contains(doc));
                assert_eq!(bits.has_any(first..end), has, "{first} {end}");
                let inside = members.iter().filter(|doc| (first..end).contains(doc));
                assert!(bits.within(first..end).iter().eq(inside), "{first} {end}");
            }
        }
        let mut docs = Vec::new();
        bits.next(0, 10, &mut docs);
        assert_eq!(docs, members);
        bits.next(2, 1, &mut docs);
        assert_eq!(docs, [63]);
        bits.next(200, 10, &mut docs);
        assert_eq!(docs, [0; 0]);
    }
}
