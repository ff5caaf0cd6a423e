//! The candidates of one batch: documents that may come among the best, with all that is known of them.
//!
//! Everything is kept column by column, so that each step of the ranking is one pass over what it needs.

use super::matches::Matches;
use crate::base::DocId;

/// Candidates in ascending order of their documents.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// The documents and the frequencies of the leaves in them.
    pub matches: Matches,
    fields: usize,
    /// The window that each was found in.
    windows: Vec<u32>,
    /// The norms of the fields.
    norms: Vec<u8>,
    /// Which are deleted.
    dead: Vec<bool>,
    /// What the clauses read so far add up to, and the best of them.
    known: Vec<Known>,
}

/// What is known of a candidate's score.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// The sum over the clauses that were read.
    pub sum: f64,
    /// The best of them.
    pub most: f64,
}

impl Known {
    /// Adds the score, or the bound, of one more clause.
    pub fn add(&mut self, score: f64) {
        self.sum += score;
        self.most = self.most.max(score);
    }

    /// The score: the best clause and `tie` times the others.
    pub fn score(&self, tie: f64) -> f64 {
        self.most + (self.sum - self.most) * tie
    }
}

impl Candidates {
    /// No candidates yet of a query with so many leaves and fields.
    pub fn new(leaves: usize, fields: usize) -> Candidates {
        Candidates {
            matches: Matches::new(leaves),
            fields,
            ..Candidates::default()
        }
    }

    /// Bytes that each candidate takes.
    pub fn bytes_each(leaves: usize, fields: usize) -> usize {
        // The last for a score.
        let columns = size_of::<u32>() + size_of::<Known>() + fields + 1 + size_of::<f32>();
        Matches::bytes_per_document(leaves) + columns
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Adds a document found in `window`, and gives the row of its frequencies.
    pub fn push(&mut self, doc: DocId, window: u32) -> &mut [f32] {
        self.windows.push(window);
        self.known.push(Known::default());
        self.dead.push(false);
        self.norms.resize(self.windows.len() * self.fields, 0);
        self.matches.push(doc)
    }

    /// Adds documents found in `window`, in which no leaf occurs yet.
    pub fn extend(&mut self, docs: impl Iterator<Item = DocId>, window: u32) {
        self.gather(window, |matches| matches.extend_blank(docs));
    }

    /// Leaves of the query.
    pub fn leaves(&self) -> usize {
        self.matches.width()
    }

    /// Lets `gather` add documents found in `window` to the matches.
    pub fn gather<T>(&mut self, window: u32, gather: impl FnOnce(&mut Matches) -> T) -> T {
        let gathered = gather(&mut self.matches);
        let count = self.matches.len();
        self.windows.resize(count, window);
        self.known.resize(count, Known::default());
        self.dead.resize(count, false);
        self.norms.resize(count * self.fields, 0);
        gathered
    }

    /// The window of a candidate.
    pub fn window(&self, at: usize) -> usize {
        self.windows[at] as usize
    }

    /// The norms of a candidate's fields.
    pub fn norms(&self, at: usize) -> &[u8] {
        &self.norms[at * self.fields..(at + 1) * self.fields]
    }

    /// The norms of all candidates' fields: those of each document together.
    pub fn all_norms(&self) -> &[u8] {
        &self.norms
    }

    /// The documents, and the norms of their fields to be set: those of each document together.
    pub fn docs_and_norms(&mut self) -> (&[DocId], &mut [u8]) {
        (self.matches.docs(), &mut self.norms)
    }

    /// Sets whether the document is live.
    pub fn set_live(&mut self, at: usize, is_live: bool) {
        self.dead[at] = !is_live;
    }

    /// Drops what is deleted.
    pub fn drop_dead(&mut self) {
        self.retain(|candidates, at| !candidates.dead[at]);
    }

    /// What is known of a candidate's score.
    pub fn known(&self, at: usize) -> Known {
        self.known[at]
    }

    /// Adds a clause's score to a candidate.
    pub fn add_known(&mut self, at: usize, score: f64) {
        self.known[at].add(score);
    }

    /// Keeps those for which `keep` says so, given their place.
    pub fn retain(&mut self, mut keep: impl FnMut(&Candidates, usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.len() {
            if keep(self, at) {
                self.shift(at, kept);
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    fn shift(&mut self, from: usize, to: usize) {
        if from != to {
            self.matches.shift(from, to);
            self.windows[to] = self.windows[from];
            self.known[to] = self.known[from];
            self.dead[to] = self.dead[from];
            let start = from * self.fields;
            self.norms
                .copy_within(start..start + self.fields, to * self.fields);
        }
    }

    fn truncate(&mut self, length: usize) {
        self.matches.truncate(length);
        self.windows.truncate(length);
        self.known.truncate(length);
        self.dead.truncate(length);
        self.norms.truncate(length * self.fields);
    }
}
