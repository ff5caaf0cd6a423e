//! Offering documents as they are found: where all that scores need is at hand, no batch is needed
//! to know them, and the threshold of the moment rules more out than that of the batch before.
//!
//! What was found in a stretch is worked on column by column. Sums of scores, rounded, are enough
//! to drop what cannot enter, before each further clause is asked; the few that stay are scored by
//! the formula.

use super::score::Score;
use crate::base::DocId;
use crate::cache::Pages;
use crate::documents::NormCursor;
use crate::search::matching::matches::{Matches, keep};
use crate::search::scoring::formula::Formula;

/// Clauses that are looked through in a step.
pub(super) const CLAUSES_A_STEP: usize = 8;

/// What was found in a stretch.
pub(super) struct Direct {
    pub(super) found: Matches,
    /// Whether it was tried in vain to offer it: clauses that were asked cannot go back.
    pub(super) was_tried: bool,
    /// The norms of each field.
    pub(super) norms: Vec<Vec<u8>>,
    /// What the clauses asked so far add up to, rounded.
    pub(super) sums: Vec<f32>,
    /// The places of those that stay.
    pub(super) kept: Vec<u32>,
    /// The norms of one document, and its leaves' scores.
    pub(super) row: Vec<u8>,
    pub(super) scores: Vec<f32>,
    /// Clauses that may still be asked and their bounds, the best first.
    pub(super) later: Vec<(usize, f64)>,
}

impl Direct {
    /// Room for a query with so many leaves and fields.
    pub(super) fn new(leaves: usize, fields: usize) -> Direct {
        Direct {
            found: Matches::new(0..leaves),
            was_tried: false,
            norms: vec![Vec::new(); fields],
            sums: Vec::new(),
            kept: Vec::new(),
            row: Vec::new(),
            scores: vec![0.0; leaves],
            later: Vec::new(),
        }
    }

    /// Begins with what was found. Tells whether all norms are at hand.
    pub(super) fn begin(&mut self, cursors: &mut [NormCursor], pages: &mut Pages<'_>) -> bool {
        self.sums.clear();
        self.sums.resize(self.found.len(), 0.0);
        let docs = self.found.docs();
        let mut fields = cursors.iter_mut().zip(&mut self.norms);
        fields.all(|(cursor, norms)| {
            norms.clear();
            norms_at_hand(cursor, docs, norms, pages)
        })
    }

    /// Whether a clause is still to be asked.
    pub(super) fn is_later(&self, clause: usize) -> bool {
        self.later.iter().any(|(later, _)| *later == clause)
    }

    /// Adds the scores of a clause to the sums.
    pub(super) fn add(&mut self, formula: &Formula, score: &Score) {
        match formula {
            Formula::Leaf(leaf) => {
                score.add_to(*leaf, self.found.column(*leaf), &self.norms, &mut self.sums);
            }
            Formula::Sum(parts) => parts.iter().for_each(|part| self.add(part, score)),
            Formula::Best { .. } => self.add_each(formula, score),
        }
    }

    fn add_each(&mut self, formula: &Formula, score: &Score) {
        for at in 0..self.sums.len() {
            self.sums[at] += formula.evaluate(self.score(at, score));
        }
    }

    /// The scores of the leaves in one document.
    pub(super) fn score(&mut self, at: usize, score: &Score) -> &[f32] {
        self.row.clear();
        self.row.extend(self.norms.iter().map(|norms| norms[at]));
        score.score(self.found.row(at), &self.row, &mut self.scores);
        &self.scores
    }

    /// Keeps those whose sums exceed `least`. Tells how many it dropped.
    pub(super) fn keep_above(&mut self, least: f32) -> usize {
        let before = self.sums.len();
        self.kept.resize(self.sums.len(), 0);
        let mut count = 0;
        for (at, sum) in self.sums.iter().enumerate() {
            // Written in any case: a branch could not be predicted.
            self.kept[count] = at as u32;
            count += usize::from(*sum > least);
        }
        if count < before {
            let kept = &self.kept[..count];
            self.found.keep(kept);
            keep(&mut self.sums, kept);
            self.norms.iter_mut().for_each(|norms| keep(norms, kept));
        }
        before - count
    }
}

/// Appends the norms of ascending docs; false if one is not at hand.
pub(super) fn norms_at_hand(
    cursor: &mut NormCursor,
    docs: &[DocId],
    norms: &mut Vec<u8>,
    pages: &mut Pages<'_>,
) -> bool {
    while let Some(first) = docs.get(norms.len()) {
        let Some(page) = cursor.at_hand(*first, pages) else {
            return false;
        };
        let rest = docs[norms.len()..].iter();
        norms.extend(rest.map_while(|doc| page.get((doc - first) as usize)));
    }
    true
}
