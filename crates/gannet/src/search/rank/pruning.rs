//! Partial sums of scores, and the documents that they rule out.

use crate::search::scoring::top::{Top, excludes};

/// The factor that leaves room for rounding when a floor is taken from the threshold.
const FLOOR: f64 = 1.0 - 4e-6;

/// The known part of a document's score.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownScore {
    /// The sum of what clauses give.
    sum: f64,
    /// The best of them.
    most: f64,
}

/// Tells which documents may be left out, given those found so far.
#[derive(Clone, Copy, Debug)]
pub struct Pruning {
    /// The score that must be exceeded; below every score where all must be found.
    threshold: f32,
    /// The weight of clauses that are not the best: 1 for a sum.
    tie: f64,
}

impl KnownScore {
    /// Adds the score, or the bound, of one more clause.
    pub fn add(&mut self, score: f64) {
        self.sum += score;
        // Not `max`, which would have to mind numbers that are none.
        self.most = if score > self.most { score } else { self.most };
    }

    /// Joins two parts of a score.
    pub fn and(self, other: KnownScore) -> KnownScore {
        KnownScore {
            sum: self.sum + other.sum,
            most: self.most.max(other.most),
        }
    }

    /// The score: the best clause and `tie` times the others.
    fn score(self, tie: f64) -> f64 {
        self.most + (self.sum - self.most) * tie
    }
}

impl Pruning {
    /// Leaves out the documents that `top` rules out; none if all documents must be found.
    pub fn new(top: Option<&Top>, tie: f32) -> Pruning {
        Pruning {
            threshold: top.map_or(f32::NEG_INFINITY, Top::threshold),
            tie: tie.into(),
        }
    }

    /// The score up to which a clause lifts no document over the threshold, where the other
    /// clauses give `others`. Negative if there is none, or if the clauses are neither added up nor
    /// the best taken.
    pub fn floor(self, others: KnownScore) -> f32 {
        if !self.has_threshold() {
            return -1.0;
        }
        let threshold = self.threshold as f64 * FLOOR;
        match self.tie {
            1.0 => (threshold - others.sum) as f32,
            0.0 if others.most <= threshold => threshold as f32,
            _ => -1.0,
        }
    }

    /// The same for one leaf of a clause whose other leaves add up to at most `leaves`.
    pub fn floor_beside(self, others: KnownScore, leaves: f64) -> f32 {
        match self.tie {
            1.0 => self.floor(others) - (leaves / FLOOR) as f32,
            _ => -1.0,
        }
    }

    /// Returns true if enough documents were found for any to be left out.
    pub fn has_threshold(self) -> bool {
        self.excludes(KnownScore::default())
    }

    /// Returns true if a document with at most this score can be left out.
    pub fn excludes(self, known: KnownScore) -> bool {
        excludes(self.threshold, known.score(self.tie))
    }
}
