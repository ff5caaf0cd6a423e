//! The terms of each document: lists the other way round, in memory, made in two passes over them.
//!
//! The terms of a document ascend and are kept as distances in varints, in one vector for all
//! documents. The first pass counts the bytes of each document, the second fills them; both bring
//! terms in ascending order.

use crate::base::{DocId, varint_length};

/// Documents, numbered from 0, and the terms of each.
pub(crate) struct ForwardIndex {
    /// Where the terms of each document begin, and where the last one's end.
    starts: Vec<u32>,
    bytes: Vec<u8>,
    terms: usize,
}

/// The first pass.
pub(crate) struct Counting {
    lengths: Vec<u32>,
    last: Vec<u32>,
    terms: usize,
}

/// The second pass.
pub(crate) struct ForwardFilling {
    index: ForwardIndex,
    /// Where the next term of each document goes.
    next: Vec<u32>,
    last: Vec<u32>,
}

/// Bytes of memory for each document, without its terms, while it is made.
pub(crate) const BYTES_PER_DOCUMENT: usize = 12;

impl ForwardIndex {
    /// Begins with so many documents.
    pub(crate) fn count(documents: usize) -> Counting {
        Counting {
            lengths: vec![0; documents],
            last: vec![0; documents],
            terms: 0,
        }
    }

    /// Number of documents.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// One past the last term.
    pub(crate) fn terms(&self) -> usize {
        self.terms
    }

    /// The terms of a document, ascending.
    #[inline]
    pub(crate) fn terms_of(&self, doc: DocId) -> impl Iterator<Item = u32> + '_ {
        let ends = [doc as usize, doc as usize + 1].map(|at| self.starts[at] as usize);
        let mut bytes = self.bytes[ends[0]..ends[1]].iter();
        let mut next = 0u32;
        std::iter::from_fn(move || {
            let (mut distance, mut shift) = (0, 0);
            loop {
                let byte = *bytes.next()?;
                distance |= (byte as u32 & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
                shift += 7;
            }
            next += distance;
            Some(next - 1)
        })
    }
}

/// How far a term lies behind the last of a document; at least 1.
fn distance(last: &mut u32, term: u32) -> u64 {
    let distance = term + 1 - *last;
    *last = term + 1;
    distance as u64
}

impl Counting {
    /// Counts a term of a document, which is greater than those before.
    pub(crate) fn add(&mut self, doc: DocId, term: u32) {
        let distance = distance(&mut self.last[doc as usize], term);
        self.lengths[doc as usize] += varint_length(distance) as u32;
        self.terms = self.terms.max(term as usize + 1);
    }

    /// Bytes that the terms will take.
    pub(crate) fn bytes(&self) -> usize {
        self.lengths.iter().map(|length| *length as usize).sum()
    }

    /// Goes on to the second pass, which brings the same again.
    pub(crate) fn fill(self) -> ForwardFilling {
        let mut starts = Vec::with_capacity(self.lengths.len() + 1);
        starts.push(0);
        let mut end = 0;
        starts.extend(self.lengths.iter().map(|length| {
            end += length;
            end
        }));
        let mut next = self.lengths;
        let documents = next.len();
        next.copy_from_slice(&starts[..documents]);
        let mut last = self.last;
        last.fill(0);
        ForwardFilling {
            index: ForwardIndex {
                starts,
                bytes: vec![0; end as usize],
                terms: self.terms,
            },
            next,
            last,
        }
    }
}

impl ForwardFilling {
    /// Adds a term of a document as it was counted.
    pub(crate) fn add(&mut self, doc: DocId, term: u32) {
        let mut rest = distance(&mut self.last[doc as usize], term);
        let at = &mut self.next[doc as usize];
        loop {
            let more = rest > 0x7f;
            self.index.bytes[*at as usize] = (rest & 0x7f) as u8 | u8::from(more) << 7;
            *at += 1;
            rest >>= 7;
            if !more {
                return;
            }
        }
    }

    /// The index, with all that was counted.
    pub(crate) fn finish(self) -> ForwardIndex {
        debug_assert!(self.next == self.index.starts[1..]);
        self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_has_the_terms_that_were_added() {
        let documents: [&[u32]; 4] = [&[0, 1, 127, 128, 129], &[], &[0], &[3, 20_000, 3_000_000]];
        let postings = || {
            let mut all: Vec<(u32, u32)> = (0..)
                .zip(documents)
                .flat_map(|(doc, terms)| terms.iter().map(move |term| (*term, doc)))
                .collect();
            all.sort_unstable();
            all
        };
        let mut counting = ForwardIndex::count(documents.len());
        postings()
            .iter()
            .for_each(|(term, doc)| counting.add(*doc, *term));
        let mut filling = counting.fill();
        postings()
            .iter()
            .for_each(|(term, doc)| filling.add(*doc, *term));
        let index = filling.finish();
        assert_eq!((index.len(), index.terms()), (4, 3_000_001));
        for (doc, terms) in (0..).zip(documents) {
            assert_eq!(index.terms_of(doc).collect::<Vec<_>>(), terms);
        }
    }
}
