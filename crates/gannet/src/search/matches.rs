//! Documents that matched, with the frequency of every leaf in each: a buffer that matchers fill ahead.
//!
//! Working on many candidates at once is what turns single dependent reads into few batches.

use std::ops::Range;

use crate::base::DocId;

/// Bytes that are reserved at once at most.
const RESERVED_BYTES: usize = 16 << 10;

/// A run of documents in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Matches {
    width: usize,
    docs: Vec<DocId>,
    frequencies: Vec<f32>,
}

impl Matches {
    /// A buffer for queries of `width` leaves.
    pub fn new(width: usize) -> Matches {
        Matches {
            width,
            ..Matches::default()
        }
    }

    /// Makes room for so many documents, so that the buffer does not grow step by step; less where rows are wide.
    pub fn reserve(&mut self, documents: usize) {
        let documents = documents.min(RESERVED_BYTES / Matches::bytes_per_document(self.width));
        self.docs.reserve(documents);
        self.frequencies.reserve(documents * self.width);
    }

    /// Makes an empty buffer one for queries of `width` leaves.
    pub fn widen(&mut self, width: usize) {
        debug_assert!(self.docs.is_empty() || self.width == width);
        self.width = width;
    }

    /// Bytes that each document takes.
    pub fn bytes_per_document(width: usize) -> usize {
        size_of::<DocId>() + width * size_of::<f32>()
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// The documents.
    pub fn docs(&self) -> &[DocId] {
        &self.docs
    }

    /// The frequencies in all documents, to be changed: those of each document together.
    pub fn rows_mut(&mut self) -> &mut [f32] {
        &mut self.frequencies
    }

    /// The frequencies of the leaves in the document at `at`.
    pub fn row(&self, at: usize) -> &[f32] {
        &self.frequencies[at * self.width..(at + 1) * self.width]
    }

    /// The same, to be changed.
    pub fn row_mut(&mut self, at: usize) -> &mut [f32] {
        &mut self.frequencies[at * self.width..(at + 1) * self.width]
    }

    /// Adds a document in which no leaf occurs yet, and gives its row.
    pub fn push(&mut self, doc: DocId) -> &mut [f32] {
        let at = self.docs.len();
        self.docs.push(doc);
        self.frequencies.resize((at + 1) * self.width, 0.0);
        self.row_mut(at)
    }

    /// Leaves of the query.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds the documents that `push` appends; no leaf occurs in them yet.
    pub fn extend_blank(&mut self, push: impl FnOnce(&mut Vec<DocId>)) {
        push(&mut self.docs);
        self.frequencies.resize(self.docs.len() * self.width, 0.0);
    }

    /// Adds documents with the frequencies of one leaf, or of none.
    pub fn extend(&mut self, docs: &[DocId], frequencies: &[u32], leaf: Option<usize>) {
        let from = self.docs.len() * self.width;
        self.docs.extend_from_slice(docs);
        self.frequencies.resize(self.docs.len() * self.width, 0.0);
        if let Some(leaf) = leaf {
            let rows = self.frequencies[from..].chunks_exact_mut(self.width);
            for (row, frequency) in rows.zip(frequencies) {
                row[leaf] = *frequency as f32;
            }
        }
    }

    /// Adds some of the documents of another buffer. It may be for more leaves or for fewer: those that both have are
    /// the same.
    pub fn append(&mut self, other: &Matches, which: Range<usize>) {
        self.docs.extend_from_slice(&other.docs[which.clone()]);
        if self.width == other.width {
            let rows = which.start * self.width..which.end * self.width;
            self.frequencies.extend_from_slice(&other.frequencies[rows]);
            return;
        }
        let common = self.width.min(other.width);
        for at in which {
            self.frequencies.extend_from_slice(&other.row(at)[..common]);
            let blank = self.width - common;
            self.frequencies.extend(std::iter::repeat_n(0.0, blank));
        }
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.docs.clear();
        self.frequencies.clear();
    }

    /// Moves the document at `from` down to `to`, where one was dropped.
    pub fn shift(&mut self, from: usize, to: usize) {
        if from != to {
            self.docs[to] = self.docs[from];
            for leaf in 0..self.width {
                self.frequencies[to * self.width + leaf] =
                    self.frequencies[from * self.width + leaf];
            }
        }
    }

    /// The same for several; gives the place behind the last.
    pub fn shift_all(&mut self, from: Range<usize>, to: usize) -> usize {
        if from.start != to {
            from.clone()
                .zip(to..)
                .for_each(|(from, to)| self.shift(from, to));
        }
        to + from.len()
    }

    /// Drops everything from `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.docs.truncate(length);
        self.frequencies.truncate(length * self.width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(width: usize, docs: &[DocId]) -> Matches {
        let mut matches = Matches::new(width);
        for doc in docs {
            let row = matches.push(*doc).iter_mut().enumerate();
            row.for_each(|(leaf, place)| *place = (*doc as usize * 10 + leaf) as f32);
        }
        matches
    }

    #[test]
    fn documents_are_added_from_buffers_for_more_and_fewer_leaves() {
        for width in 1..4 {
            let mut matches = of(2, &[1]);
            matches.append(&of(width, &[3, 4, 5]), 1..3);
            assert_eq!(matches.docs(), [1, 4, 5]);
            let second = if width > 1 { 41.0 } else { 0.0 };
            assert_eq!(matches.row(1), [40.0, second]);
            assert_eq!(matches.rows_mut().len(), 6);
        }
    }

    #[test]
    fn documents_move_down_together() {
        let mut matches = of(1, &[1, 2, 3, 4]);
        assert_eq!(matches.shift_all(2..4, 0), 2);
        assert_eq!(matches.shift_all(3..4, 3), 4);
        assert_eq!(matches.docs(), [3, 4, 3, 4]);
        assert_eq!(matches.row(1), [40.0]);
    }
}
