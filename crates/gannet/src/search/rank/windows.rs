//! Windows: stretches of doc IDs for which bounds of all clauses are known, and what must be read
//! in them.
//!
//! Bounds come from list heads, one for each page of a list. A window ends where the first page of
//! a clause that can matter ends, so in a window such a clause has one page; of very many clauses
//! some have several. Clauses are ordered by their bounds; those that together cannot lift a
//! document above the threshold are *not essential*: documents that only they match need not be
//! found. Source: MaxScore (Turtle and Flood, "Query Evaluation: Strategies and Optimizations",
//! 1995), with the bounds of pages instead of lists as in block-max methods (Ding and Suel, "Faster
//! Top-k Document Retrieval Using Block-Max Indexes", 2011). Here the page is the unit of I/O: what
//! is skipped is not read.

use super::pruning::{KnownScore, Pruning};
use crate::base::DocId;

/// A stretch of doc IDs with the bounds that hold in it.
#[derive(Clone, Debug)]
pub struct Window {
    /// The first doc ID.
    pub first: DocId,
    /// The last doc ID.
    pub last: DocId,
    /// Bounds of the clauses' scores.
    pub bounds: Vec<f64>,
    /// Set for each clause that finds candidates; empty if no document of the window can enter.
    pub essential: Vec<bool>,
}

impl Window {
    /// Bytes that a window takes for each clause.
    pub const CLAUSE_BYTES: usize = size_of::<f64>() + size_of::<bool>();

    /// Returns true if any document of the window can come among the best.
    pub fn matters(&self) -> bool {
        self.essential.contains(&true)
    }

    /// Returns true if all clauses find candidates.
    pub fn leaves_none(&self) -> bool {
        !self.essential.contains(&false)
    }

    /// The clause that finds all candidates, if one alone does.
    pub fn only_essential(&self) -> Option<usize> {
        let mut essential = (0..self.essential.len()).filter(|clause| self.essential[*clause]);
        essential.next().filter(|_| essential.next().is_none())
    }

    /// The upper bound of those of `clauses` that are not essential.
    pub fn rest(&self, clauses: impl IntoIterator<Item = usize>) -> KnownScore {
        let mut rest = KnownScore::default();
        let later = clauses
            .into_iter()
            .filter(|clause| !self.essential[*clause]);
        later.for_each(|clause| rest.add(self.bounds[clause]));
        rest
    }

    /// The score of `clause` up to which no document can enter whatever the other clauses add.
    pub fn floor(&self, clause: usize, pruning: Pruning) -> f32 {
        let others = (0..self.bounds.len()).filter(|other| *other != clause);
        let mut known = KnownScore::default();
        others.for_each(|other| known.add(self.bounds[other]));
        pruning.floor(known)
    }

    /// Returns true if a clause that may find candidates here had to wait in `earlier`: its cursor
    /// would have to go back.
    pub fn goes_back(&self, earlier: &Window) -> bool {
        let both = self.essential.iter().zip(&earlier.essential);
        both.into_iter().any(|(now, before)| *now && !before)
    }
}
