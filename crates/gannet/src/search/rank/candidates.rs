//! The candidates of one batch: documents that may come among the best, with all that is known of
//! them.
//!
//! Everything is kept column by column, so that each step of the ranking is one pass over what it
//! needs.

use std::ops::Range;

use super::pruning::KnownScore;
use super::score::Score;
use crate::base::DocId;
use crate::search::matching::matches::{Matches, keep};
use crate::search::scoring::formula::{Formula, LeafId};

/// Candidates in ascending order of their documents.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// The documents and the frequencies of the leaves; in place of them the scores, once the norms
    /// are known.
    pub matches: Matches,
    /// The window that each was found in.
    windows: Vec<u32>,
    /// The norms of each field.
    norms: Vec<Vec<u8>>,
    /// Set for each deleted candidate.
    dead: Vec<bool>,
    /// The sums of the clauses read so far.
    known: Vec<KnownScore>,
    /// The places of those that are kept.
    kept: Vec<u32>,
    /// The norms of one.
    row: Vec<u8>,
}

impl Candidates {
    /// No candidates yet of a query with so many leaves and fields.
    pub fn new(leaves: usize, fields: usize) -> Candidates {
        Candidates {
            matches: Matches::new(0..leaves),
            norms: vec![Vec::new(); fields],
            ..Candidates::default()
        }
    }

    /// Bytes that each candidate takes.
    pub fn bytes_each(leaves: usize, fields: usize) -> usize {
        size_of::<u32>()
            + Matches::bytes_per_document(leaves)
            + size_of::<u32>()
            + fields
            + 1
            + size_of::<KnownScore>()
    }

    /// The number of candidates.
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
        let length = self.len();
        for norms in &mut self.norms {
            norms.resize(length, 0);
        }
        self.dead.resize(self.len(), false);
        self.known.resize(self.len(), KnownScore::default());
    }

    /// The window of a candidate.
    pub fn window(&self, at: usize) -> usize {
        self.windows[at] as usize
    }

    /// The documents, and the norms of a field, to be set.
    pub fn docs_and_norms(&mut self, field: usize) -> (&[DocId], &mut [u8]) {
        (self.matches.docs(), &mut self.norms[field])
    }

    /// Makes scores of the frequencies of some leaves.
    pub fn score_columns(&mut self, leaves: Range<LeafId>, score: &Score) {
        for leaf in leaves {
            let norms = self.norms.get(score.field_of(leaf));
            let norms = norms.map_or(&[][..], |norms| norms);
            score.score_column(leaf, self.matches.column_mut(leaf), norms);
        }
    }

    /// Makes scores of the frequencies of some leaves of a candidate.
    pub fn score_row(&mut self, at: usize, leaves: Range<LeafId>, score: &Score, row: &mut [f32]) {
        self.row.clear();
        self.row.extend(self.norms.iter().map(|norms| norms[at]));
        score.score_row(leaves, row, &self.row);
    }

    /// The documents, and whether each is deleted, to be set.
    pub fn docs_and_dead(&mut self) -> (&[DocId], &mut [bool]) {
        (self.matches.docs(), &mut self.dead)
    }

    /// Drops what is deleted.
    pub fn drop_dead(&mut self) {
        self.retain(|candidates, at| !candidates.dead[at]);
    }

    /// The part of a candidate's score that is known.
    pub fn known(&self, at: usize) -> KnownScore {
        self.known[at]
    }

    /// Adds the score of a clause to each candidate.
    pub fn add_all(&mut self, clause: &Formula) {
        if let Formula::Leaf(leaf) = clause {
            let scores = self.matches.column(*leaf).iter();
            let known = self.known.iter_mut().zip(scores);
            return known.for_each(|(known, score)| known.add(*score as f64));
        }
        for (at, known) in self.known.iter_mut().enumerate() {
            known.add(clause.value(self.matches.row(at)) as f64);
        }
    }

    /// Adds the score of a clause to a candidate.
    pub fn add(&mut self, at: usize, clause: &Formula) {
        self.known[at].add(clause.value(self.matches.row(at)) as f64);
    }

    /// Keeps those for which `keeps` says so, given their place.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Candidates, usize) -> bool) {
        let mut kept = std::mem::take(&mut self.kept);
        kept.resize(self.len(), 0);
        let mut count = 0;
        for at in 0..self.len() {
            // Written in any case: a branch could not be predicted.
            kept[count] = at as u32;
            count += usize::from(keeps(self, at));
        }
        kept.truncate(count);
        if count < self.len() {
            self.keep(&kept);
        }
        self.kept = kept;
    }

    fn keep(&mut self, places: &[u32]) {
        self.matches.keep(places);
        keep(&mut self.windows, places);
        keep(&mut self.dead, places);
        keep(&mut self.known, places);
        for norms in &mut self.norms {
            keep(norms, places);
        }
    }

    fn truncate(&mut self, length: usize) {
        self.matches.truncate(length);
        self.windows.truncate(length);
        self.dead.truncate(length);
        self.known.truncate(length);
        for norms in &mut self.norms {
            norms.truncate(length);
        }
    }
}
