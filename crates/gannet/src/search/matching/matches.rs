//! Documents that matched, with the frequency of every leaf in each: a buffer that matchers fill
//! ahead.
//!
//! Working on many candidates at once is what turns single dependent reads into few batches.
//! Frequencies stand leaf by leaf, so that what is done for one leaf goes through memory in order
//! and takes no longer in a query of many.

use std::ops::Range;

use crate::base::DocId;
use crate::search::scoring::formula::LeafId;

/// A range of documents.
#[derive(Clone, Copy, Debug)]
pub struct DocRange {
    /// The first document.
    pub first: DocId,
    /// The last document.
    pub last: DocId,
}

/// The progress of filtering candidates: the first `kept` passed, those from `checked` on are still
/// to be asked, and those between were dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filtering {
    /// The number that passed.
    pub kept: usize,
    /// The number that were asked.
    pub checked: usize,
}

/// Bytes that are reserved at once at most.
const RESERVED_BYTES: usize = 16 << 10;

/// A run of documents in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Matches {
    docs: Vec<DocId>,
    /// The leaf of the first column.
    first: LeafId,
    /// The frequencies of each leaf. What a column is too short for is 0.
    columns: Vec<Vec<f32>>,
    /// The frequencies in one document, by leaf.
    row: Vec<f32>,
}

impl Matches {
    /// A buffer for some of the leaves of a query.
    pub fn new(leaves: Range<LeafId>) -> Matches {
        Matches {
            docs: Vec::new(),
            first: leaves.start,
            columns: vec![Vec::new(); leaves.len()],
            row: Vec::new(),
        }
    }

    /// Makes an empty buffer one for these leaves.
    pub fn begin(&mut self, leaves: Range<LeafId>) {
        debug_assert!(self.docs.is_empty());
        self.first = leaves.start;
        self.columns.resize_with(leaves.len(), Vec::new);
    }

    /// The leaves of which it has the frequencies.
    pub fn leaves(&self) -> Range<LeafId> {
        self.first..self.first + self.columns.len()
    }

    /// Makes room for so many documents, so that the buffer does not grow step by step; less where
    /// there are many leaves.
    pub fn reserve(&mut self, documents: usize) {
        let each = Matches::bytes_per_document(self.columns.len());
        let documents = documents.min(RESERVED_BYTES / each);
        self.docs.reserve(documents);
        for column in &mut self.columns {
            column.reserve(documents);
        }
    }

    /// Bytes that each document takes in a buffer for so many leaves.
    pub fn bytes_per_document(leaves: usize) -> usize {
        size_of::<DocId>() + leaves * size_of::<f32>()
    }

    /// Bytes that it takes for its leaves, however few documents there are.
    pub fn row_bytes(&self) -> usize {
        (self.first + self.columns.len()) * (size_of::<Vec<f32>>() + 2 * size_of::<f32>())
    }

    /// Bytes that its documents have room for.
    pub fn capacity_bytes(&self) -> usize {
        let columns = self.columns.iter().map(Vec::capacity);
        (self.docs.capacity() + columns.sum::<usize>()) * size_of::<f32>()
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// The documents.
    pub fn docs(&self) -> &[DocId] {
        &self.docs
    }

    /// The frequencies of a leaf, up to the last document in which it occurs or beyond.
    pub fn column(&self, leaf: LeafId) -> &[f32] {
        &self.columns[leaf - self.first]
    }

    /// The frequencies of a leaf in all documents, to be changed.
    pub fn column_mut(&mut self, leaf: LeafId) -> &mut [f32] {
        let column = &mut self.columns[leaf - self.first];
        column.resize(self.docs.len(), 0.0);
        column
    }

    /// The frequencies of all leaves in the document at `at`.
    pub fn row(&mut self, at: usize) -> &[f32] {
        self.row.clear();
        self.row.resize(self.first, 0.0);
        let column = |column: &Vec<f32>| column.get(at).copied().unwrap_or(0.0);
        self.row.extend(self.columns.iter().map(column));
        &self.row
    }

    /// Lets `collect` write the frequencies of the leaves that occur in the document at `at`.
    pub fn collect(&mut self, at: usize, collect: impl FnOnce(&mut [f32])) {
        self.row.clear();
        self.row.resize(self.first + self.columns.len(), 0.0);
        collect(&mut self.row);
        let frequencies = self.row[self.first..].iter();
        for (column, frequency) in self.columns.iter_mut().zip(frequencies) {
            if *frequency > 0.0 {
                set(column, at, *frequency);
            }
        }
    }

    /// Writes the frequency of a leaf in the document at `at`.
    pub fn set(&mut self, at: usize, leaf: LeafId, frequency: f32) {
        set(&mut self.columns[leaf - self.first], at, frequency);
    }

    /// Adds a document in which no leaf occurs yet.
    pub fn push(&mut self, doc: DocId) {
        self.docs.push(doc);
    }

    /// Adds the documents that `push` appends; no leaf occurs in them yet.
    pub fn extend_blank(&mut self, push: impl FnOnce(&mut Vec<DocId>)) {
        push(&mut self.docs);
    }

    /// Adds documents with the frequencies of one leaf, or of none.
    pub fn extend(&mut self, docs: &[DocId], frequencies: &[u32], leaf: Option<LeafId>) {
        if let Some(leaf) = leaf {
            let column = &mut self.columns[leaf - self.first];
            column.resize(self.docs.len(), 0.0);
            column.extend(frequencies.iter().map(|frequency| *frequency as f32));
        }
        self.docs.extend_from_slice(docs);
    }

    /// Adds those of some documents that stand at `places`, with the frequencies of one leaf.
    pub fn extend_from(
        &mut self,
        docs: &[DocId],
        frequencies: &[u32],
        places: &[u32],
        leaf: LeafId,
    ) {
        let column = &mut self.columns[leaf - self.first];
        column.resize(self.docs.len(), 0.0);
        let places = places.iter().map(|place| *place as usize);
        column.extend(places.clone().map(|place| frequencies[place] as f32));
        self.docs.extend(places.map(|place| docs[place]));
    }

    /// Adds some of the documents of another buffer, with the leaves that both have.
    pub fn append(&mut self, other: &Matches, which: Range<usize>) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            let theirs = (self.first + at).checked_sub(other.first);
            let theirs = theirs.and_then(|at| other.columns.get(at));
            let Some(theirs) = theirs.filter(|theirs| theirs.len() > which.start) else {
                continue;
            };
            column.resize(self.docs.len(), 0.0);
            column.extend_from_slice(&theirs[which.start..which.end.min(theirs.len())]);
        }
        self.docs.extend_from_slice(&other.docs[which]);
    }

    /// Gives back the room of an empty buffer.
    pub fn shrink(&mut self) {
        self.docs.shrink_to_fit();
        self.columns.iter_mut().for_each(Vec::shrink_to_fit);
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Moves the document at `from` down to `to`, where one was dropped.
    pub fn shift(&mut self, from: usize, to: usize) {
        if from != to {
            self.docs[to] = self.docs[from];
            for column in &mut self.columns {
                shift(column, from, to);
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

    /// Drops what filtering left between the documents kept and those not checked yet.
    pub fn drop_between(&mut self, state: Filtering) {
        let length = self.shift_all(state.checked..self.len(), state.kept);
        self.truncate(length);
    }

    /// Keeps only the documents at these ascending places.
    pub fn keep(&mut self, places: &[u32]) {
        keep(&mut self.docs, places);
        for column in &mut self.columns {
            keep_shorter(column, places);
        }
    }

    /// Drops everything from `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.docs.truncate(length);
        for column in &mut self.columns {
            column.truncate(length);
        }
    }
}

fn set(column: &mut Vec<f32>, at: usize, frequency: f32) {
    if column.len() <= at {
        column.resize(at + 1, 0.0);
    }
    column[at] = frequency;
}

fn shift(column: &mut [f32], from: usize, to: usize) {
    let moved = column.get(from).copied().unwrap_or(0.0);
    if let Some(place) = column.get_mut(to) {
        *place = moved;
    }
}

/// Keeps only what stands at these ascending places.
pub fn keep<T: Copy>(column: &mut Vec<T>, places: &[u32]) {
    for (to, from) in places.iter().enumerate() {
        column[to] = column[*from as usize];
    }
    column.truncate(places.len());
}

/// The same where there may be less than the places name.
fn keep_shorter(column: &mut Vec<f32>, places: &[u32]) {
    let within = places.partition_point(|place| (*place as usize) < column.len());
    keep(column, &places[..within]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(leaves: Range<LeafId>, docs: &[DocId]) -> Matches {
        let mut matches = Matches::new(leaves.clone());
        for (at, doc) in docs.iter().enumerate() {
            matches.push(*doc);
            for leaf in leaves.clone() {
                matches.set(at, leaf, (*doc as usize * 10 + leaf) as f32);
            }
        }
        matches
    }

    #[test]
    fn documents_are_added_from_buffers_for_more_and_fewer_leaves() {
        for leaves in [0..1, 0..2, 1..2, 1..3, 2..2] {
            let mut matches = of(0..2, &[1]);
            matches.append(&of(leaves.clone(), &[3, 4, 5]), 1..3);
            assert_eq!(matches.docs(), [1, 4, 5]);
            let frequency = |leaf: LeafId| {
                if leaves.contains(&leaf) {
                    40.0 + leaf as f32
                } else {
                    0.0
                }
            };
            assert_eq!(matches.row(1), [frequency(0), frequency(1)]);
            assert_eq!(matches.column_mut(1).len(), 3);
        }
    }

    #[test]
    fn what_a_column_is_too_short_for_is_nothing() {
        let mut matches = Matches::new(3..5);
        matches.extend_blank(|docs| docs.extend([1, 2, 3, 4]));
        matches.collect(1, |row| row[4] = 2.0);
        assert_eq!(matches.row(1), [0.0, 0.0, 0.0, 0.0, 2.0]);
        assert_eq!(matches.row(3), [0.0; 5]);
        matches.keep(&[1, 3]);
        assert_eq!(
            (matches.column(3), matches.column(4)),
            (&[][..], &[2.0][..])
        );
        matches.extend(&[7], &[5], Some(4));
        assert_eq!(matches.column(4), [2.0, 0.0, 5.0]);
        matches.shift(1, 0);
        assert_eq!(
            (matches.docs(), matches.column(4)),
            (&[4, 4, 7][..], &[0.0, 0.0, 5.0][..])
        );
    }

    #[test]
    fn documents_move_down_together() {
        let mut matches = of(0..1, &[1, 2, 3, 4]);
        assert_eq!(matches.shift_all(2..4, 0), 2);
        assert_eq!(matches.shift_all(3..4, 3), 4);
        assert_eq!(matches.docs(), [3, 4, 3, 4]);
        assert_eq!(matches.row(1), [40.0]);
    }
}
