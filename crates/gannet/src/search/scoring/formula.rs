//! Computes the score of a document from the scores of the leaves of its query.
//!
//! Matching and scoring are two things. A matcher says which documents match and with which
//! frequency each *leaf* (a term, a phrase, a constant) occurs; the formula makes a score of that.
//! It is evaluated in one fixed order, so a score does not depend on the order in which lists were
//! read. As in Lucene, sums are taken in `f64` and rounded to `f32` once at each node.
//!
//! Every formula ascends with each of its leaves, so evaluating it over upper bounds of the leaves
//! gives an upper bound of the score.

use std::ops::Range;

use super::scorer::Scorer;
use super::term_scorer::TermScorer;
use crate::analysis::FieldId;

/// The ordinal of a leaf within its query.
pub type LeafId = usize;

/// Scores the frequency of a leaf.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// A term or a phrase in a field.
    Ranked {
        /// The field, for its norms.
        field: FieldId,
        /// The scorer.
        scorer: Scorer,
    },
    /// The same for every document that matches.
    Constant(f32),
}

/// A score as a function of the leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// The score of a leaf, 0 where it does not match.
    Leaf(LeafId),
    /// The sum of the parts.
    Sum(Vec<Formula>),
    /// The best part, plus `tie` times the others.
    Best {
        /// The parts.
        parts: Vec<Formula>,
        /// The weight of the parts that are not the best, between 0 and 1.
        tie: f32,
    },
}

impl Formula {
    /// A formula that is always 0: of what only filters.
    pub fn zero() -> Formula {
        Formula::Sum(Vec::new())
    }

    /// Returns true if it is one leaf.
    pub fn is_leaf(&self) -> bool {
        matches!(self, Formula::Leaf(_))
    }

    /// Leaves of the formula: from the first to the last of them.
    pub fn leaves(&self) -> Range<LeafId> {
        match self {
            Formula::Leaf(leaf) => *leaf..leaf + 1,
            Formula::Sum(parts) | Formula::Best { parts, .. } => {
                let leaves = parts.iter().map(Formula::leaves);
                let leaves = leaves.filter(|leaves| !leaves.is_empty());
                let joined = leaves.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
                joined.unwrap_or(0..0)
            }
        }
    }

    /// A sum of leaves without one of them; nothing if it is another formula.
    pub fn without(&self, leaf: LeafId, leaves: &[f32]) -> Option<f64> {
        let Formula::Sum(parts) = self else {
            return None;
        };
        let scores = parts.iter().map(|part| match part {
            Formula::Leaf(other) if *other == leaf => Some(0.0),
            Formula::Leaf(other) => Some(leaves[*other] as f64),
            _ => None,
        });
        scores.sum()
    }

    /// Evaluates it like [`Formula::evaluate`], without a call in the most frequent case, a leaf.
    #[inline]
    pub fn value(&self, leaves: &[f32]) -> f32 {
        match self {
            Formula::Leaf(leaf) => leaves[*leaf],
            other => other.evaluate(leaves),
        }
    }

    /// The score, given the scores of the leaves.
    pub fn evaluate(&self, leaves: &[f32]) -> f32 {
        match self {
            Formula::Leaf(leaf) => leaves[*leaf],
            Formula::Sum(parts) => {
                // Not `sum`, which gives -0 where there are no parts.
                let scores = parts.iter().map(|part| part.value(leaves) as f64);
                scores.fold(0.0, |sum, score| sum + score) as f32
            }
            Formula::Best { parts, tie } => best(parts, *tie, leaves),
        }
    }
}

fn best(parts: &[Formula], tie: f32, leaves: &[f32]) -> f32 {
    let (mut most, mut sum) = (0f32, 0f64);
    for part in parts {
        let score = part.value(leaves);
        most = most.max(score);
        sum += score as f64;
    }
    // As a sum where all count in full, whichever formula a root chose.
    if tie == 1.0 {
        return sum as f32;
    }
    (most as f64 + (sum - most as f64) * tie as f64) as f32
}

impl Leaf {
    /// The score of a frequency above 0; `norm` is that of the leaf's field.
    #[inline]
    pub fn score(&self, frequency: f32, norm: u8) -> f32 {
        match self {
            Leaf::Ranked { scorer, .. } => scorer.score(frequency, norm),
            Leaf::Constant(score) => *score,
        }
    }

    /// The field whose norms it needs.
    pub fn field(&self) -> Option<FieldId> {
        match self {
            Leaf::Ranked { field, .. } => Some(*field),
            Leaf::Constant(_) => None,
        }
    }

    /// The upper bound of the scores of this leaf.
    pub fn most(&self) -> f32 {
        match self {
            Leaf::Ranked { scorer, .. } => scorer.most(),
            Leaf::Constant(score) => *score,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_leaves_without_one() {
        let sum = Formula::Sum(vec![Formula::Leaf(0), Formula::Leaf(2)]);
        assert_eq!(sum.without(2, &[1.0, 4.0, 2.0]), Some(1.0));
        let nested = Formula::Sum(vec![Formula::Leaf(0), Formula::zero()]);
        assert_eq!(nested.without(0, &[1.0]), None);
    }

    #[test]
    fn sums_and_bests_of_leaves() {
        let leaf = Formula::Leaf;
        let formula = Formula::Sum(vec![
            leaf(0),
            Formula::Best {
                parts: vec![leaf(1), leaf(2)],
                tie: 0.5,
            },
        ]);
        assert_eq!(formula.evaluate(&[1.0, 4.0, 2.0]), 6.0);
        assert_eq!(formula.evaluate(&[1.0, 0.0, 0.0]), 1.0);
        assert!(Formula::zero().evaluate(&[]).is_sign_positive());
        assert_eq!(
            Formula::Sum(vec![Formula::zero(), leaf(2), leaf(4)]).leaves(),
            2..5
        );
    }
}
