//! What is known of scores before they are all added up, and what that lets be left out.

use crate::search::scoring::top::{Top, excludes};

/// What is left of the threshold for rounding when a floor is taken from it.
const FLOOR: f64 = 1.0 - 4e-6;

/// What is known of a document's score.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownScore {
    /// The sum of what clauses give.
    sum: f64,
    /// The best of them.
    most: f64,
}

/// What may be left out, given the documents found so far.
#[derive(Clone, Copy, Debug)]
pub struct Pruning {
    /// The score that must be exceeded; below every score where all must be found.
    threshold: f32,
    /// What clauses that are not the best add: 1 for a sum.
    tie: f64,
}

impl KnownScore {
    /// Adds the score, or the bound, of one more clause.
    pub fn add(&mut self, score: f64) {
        self.sum += score;
        // Not `max`, which would have to mind numbers that are none.
        self.most = if score > self.most { score } else { self.most };
    }

    /// What both are together.
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
    /// What `top` rules out; nothing where all documents must be found.
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

    /// Whether there are documents enough for anything to be left out.
    pub fn has_threshold(self) -> bool {
        self.excludes(KnownScore::default())
    }

    /// Whether a document with at most this score can be left out.
    pub fn excludes(self, known: KnownScore) -> bool {
        excludes(self.threshold, known.score(self.tie))
    }
}
