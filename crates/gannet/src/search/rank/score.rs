//! The leaves of a query, and the norms they need.

use std::ops::Range;

use crate::analysis::FieldId;
use crate::search::scoring::formula::{Leaf, LeafId};
use crate::search::scoring::scorer::Scorer;
use crate::search::scoring::term_scorer::TermScorer;

/// The leaves of a query and the fields whose norms they need.
#[derive(Clone, Debug)]
pub struct Score {
    leaves: Vec<Leaf>,
    fields: Vec<FieldId>,
    field_of: Vec<usize>,
}

impl Score {
    /// The leaves of a query.
    pub fn new(leaves: Vec<Leaf>) -> Score {
        let field = |leaf: &Leaf| match leaf {
            Leaf::Ranked { field, .. } => Some(*field),
            Leaf::Constant(_) => None,
        };
        let mut fields: Vec<FieldId> = leaves.iter().filter_map(field).collect();
        fields.sort_unstable();
        fields.dedup();
        let place = |leaf| field(leaf).and_then(|field| fields.binary_search(&field).ok());
        let field_of = leaves.iter().map(|leaf| place(leaf).unwrap_or(0)).collect();
        Score {
            leaves,
            fields,
            field_of,
        }
    }

    /// The leaves.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The fields whose norms are needed, ascending.
    pub fn fields(&self) -> &[FieldId] {
        &self.fields
    }

    /// The scorer and the norm of a leaf that ranks; `norms` are those of [`Score::fields`].
    pub fn ranked(&self, leaf: LeafId, norms: &[u8]) -> Option<(&Scorer, u8)> {
        match &self.leaves[leaf] {
            Leaf::Ranked { scorer, .. } => Some((scorer, norms[self.field_of[leaf]])),
            Leaf::Constant(_) => None,
        }
    }

    /// The scorer of a leaf that ranks, and the place of its field among [`Score::fields`].
    pub fn scorer(&self, leaf: LeafId) -> Option<(&Scorer, usize)> {
        match &self.leaves[leaf] {
            Leaf::Ranked { scorer, .. } => Some((scorer, self.field_of[leaf])),
            Leaf::Constant(_) => None,
        }
    }

    /// Writes the leaves' scores.
    pub fn score(&self, frequencies: &[f32], norms: &[u8], scores: &mut [f32]) {
        scores.copy_from_slice(frequencies);
        self.score_row(0..scores.len(), scores, norms);
    }

    /// Makes scores of the frequencies of some leaves of one document.
    pub fn score_row(&self, leaves: Range<LeafId>, row: &mut [f32], norms: &[u8]) {
        for leaf in leaves {
            row[leaf] = if row[leaf] > 0.0 {
                let norm = norms.get(self.field_of[leaf]).copied().unwrap_or(0);
                self.leaves[leaf].score(row[leaf], norm)
            } else {
                0.0
            };
        }
    }

    /// The place of the field of a leaf among [`Score::fields`], if it ranks.
    pub fn field_of(&self, leaf: LeafId) -> usize {
        self.field_of[leaf]
    }

    /// Makes scores of the frequencies of one leaf, given the norms of its field.
    pub fn score_column(&self, leaf: LeafId, column: &mut [f32], norms: &[u8]) {
        match &self.leaves[leaf] {
            Leaf::Ranked { scorer, .. } => scorer.score_all(column, norms),
            Leaf::Constant(score) => {
                let column = column.iter_mut();
                column.for_each(|place| *place = if *place > 0.0 { *score } else { 0.0 });
            }
        }
    }

    /// Adds the scores of a leaf's frequencies to sums, with the norms of each field.
    pub fn add_to(&self, leaf: LeafId, frequencies: &[f32], norms: &[Vec<u8>], sums: &mut [f32]) {
        match &self.leaves[leaf] {
            Leaf::Ranked { scorer, .. } => {
                let norms = norms[self.field_of[leaf]].iter();
                let rows = sums.iter_mut().zip(frequencies).zip(norms);
                rows.for_each(|((sum, frequency), norm)| *sum += scorer.score(*frequency, *norm));
            }
            Leaf::Constant(score) => {
                let rows = sums.iter_mut().zip(frequencies);
                rows.for_each(|(sum, frequency)| {
                    *sum += if *frequency > 0.0 { *score } else { 0.0 }
                });
            }
        }
    }
}
