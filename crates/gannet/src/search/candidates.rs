//! The candidates of one batch: documents that may come among the best, with all that is known of them.
//!
//! Everything is kept column by column, so that each step of the ranking is one pass over what it needs.

use super::formula::Formula;
use super::matches::Matches;
use super::windows::Known;
use crate::base::DocId;

/// Candidates in ascending order of their documents.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// The documents and, in their rows, the frequencies of the leaves; in place of them the scores, once the
    /// norms are known.
    pub matches: Matches,
    fields: usize,
    /// The window that each was found in.
    windows: Vec<u32>,
    /// The norms of the fields.
    norms: Vec<u8>,
    /// Which are deleted.
    dead: Vec<bool>,
    /// What the clauses read so far add up to.
    known: Vec<Known>,
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

    /// Bytes that each candidate takes, its place among those to be confirmed included.
    pub fn bytes_each(leaves: usize, fields: usize) -> usize {
        size_of::<usize>()
            + Matches::bytes_per_document(leaves)
            + size_of::<u32>()
            + fields
            + 1
            + size_of::<Known>()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Lets `gather` add documents found in `window` to the matches.
    pub fn gather<T>(&mut self, window: u32, gather: impl FnOnce(&mut Matches) -> T) -> T {
        let gathered = gather(&mut self.matches);
        self.windows.resize(self.matches.len(), window);
        gathered
    }

    /// Makes room for norms and deletions, once all candidates were gathered.
    pub fn begin_tables(&mut self) {
        self.norms.resize(self.len() * self.fields, 0);
        self.dead.resize(self.len(), false);
        self.known.resize(self.len(), Known::default());
    }

    /// The window of a candidate.
    pub fn window(&self, at: usize) -> usize {
        self.windows[at] as usize
    }

    /// The documents, and the norms of their fields to be set: those of each document together.
    pub fn docs_and_norms(&mut self) -> (&[DocId], &mut [u8]) {
        (self.matches.docs(), &mut self.norms)
    }

    /// The rows of all candidates to be scored, and their norms.
    pub fn rows_and_norms(&mut self) -> (&mut [f32], &[u8]) {
        (self.matches.rows_mut(), &self.norms)
    }

    /// The row of a candidate, and its norms.
    pub fn row_and_norms(&mut self, at: usize) -> (&mut [f32], &[u8]) {
        let norms = &self.norms[at * self.fields..(at + 1) * self.fields];
        (self.matches.row_mut(at), norms)
    }

    /// The documents, and whether each is deleted, to be set.
    pub fn docs_and_dead(&mut self) -> (&[DocId], &mut [bool]) {
        (self.matches.docs(), &mut self.dead)
    }

    /// Drops what is deleted.
    pub fn drop_dead(&mut self) {
        self.retain(|candidates, at| !candidates.dead[at]);
    }

    /// What is known of a candidate's score.
    pub fn known(&self, at: usize) -> Known {
        self.known[at]
    }

    /// The most that the candidate's score can be, of a query with one clause.
    pub fn most(&self, at: usize) -> f64 {
        self.known[at].best()
    }

    /// Adds the score of a clause to each candidate.
    pub fn add_all(&mut self, clause: &Formula) {
        for (at, known) in self.known.iter_mut().enumerate() {
            known.add(clause.value(self.matches.row(at)) as f64);
        }
    }

    /// Adds the score of a clause to a candidate.
    pub fn add(&mut self, at: usize, clause: &Formula) {
        self.known[at].add(clause.value(self.matches.row(at)) as f64);
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
            self.dead[to] = self.dead[from];
            self.known[to] = self.known[from];
            for field in 0..self.fields {
                self.norms[to * self.fields + field] = self.norms[from * self.fields + field];
            }
        }
    }

    fn truncate(&mut self, length: usize) {
        self.matches.truncate(length);
        self.windows.truncate(length);
        self.dead.truncate(length);
        self.known.truncate(length);
        self.norms.truncate(length * self.fields);
    }
}
