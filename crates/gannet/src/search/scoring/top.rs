//! The best k documents: by score, and among equals by doc ID, the smaller first.
//!
//! Documents come in ascending order of their IDs but for those of one batch. So once the heap is
//! full, a document of a later batch whose score only equals the least of the heap stays out.
//! Everything whose bound is not above that score can be skipped.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::base::DocId;

/// The most documents that can be asked for.
pub const TOP_MAX: usize = 10_000;

/// Bounds are sums of rounded numbers; they are taken as this much larger than they came out.
const SLACK: f64 = 1e-6;

/// The same for sums of up to a thousand numbers that are rounded after each.
const SUM_SLACK: f64 = 1e-4;

/// Whether a document with a score of at most `bound` cannot exceed a threshold.
#[inline]
pub fn excludes(threshold: f32, bound: f64) -> bool {
    bound * (1.0 + SLACK) <= threshold as f64
}

/// A document and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The document.
    pub doc: DocId,
    /// Its score.
    pub score: f32,
}

impl Eq for Scored {}

impl Ord for Scored {
    /// The better of two is the lesser, so that a heap has the worst on top.
    fn cmp(&self, other: &Scored) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then(self.doc.cmp(&other.doc))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Scored) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Room that is made at first at most.
const RESERVED: usize = 64;

/// Keeps the best k of the documents that it is offered.
#[derive(Clone, Debug)]
pub struct Top {
    k: usize,
    heap: BinaryHeap<Scored>,
}

impl Top {
    /// Room for `k` documents.
    pub fn new(k: usize) -> Top {
        Top {
            k,
            heap: BinaryHeap::with_capacity(k.min(RESERVED)),
        }
    }

    /// Offers a document.
    #[inline]
    pub fn offer(&mut self, doc: DocId, score: f32) {
        if self.heap.len() < self.k {
            self.heap.push(Scored { doc, score });
        } else if let Some(mut worst) = self.heap.peek_mut()
            && (Scored { doc, score }) < *worst
        {
            *worst = Scored { doc, score };
        }
    }

    /// Whether no document with a score of at most `bound` can still enter.
    #[inline]
    pub fn excludes(&self, bound: f64) -> bool {
        excludes(self.threshold(), bound)
    }

    /// The rounded sum of scores up to which no document can enter if others may add `rest` to it.
    #[inline]
    pub fn least_sum(&self, rest: f64) -> f32 {
        (self.threshold() as f64 * (1.0 - SUM_SLACK) - rest * (1.0 + SUM_SLACK)) as f32
    }

    /// The score that must be exceeded; below every score while there is room.
    pub fn threshold(&self) -> f32 {
        match self.heap.peek() {
            _ if self.heap.len() < self.k => f32::NEG_INFINITY,
            Some(worst) => worst.score,
            None => f32::INFINITY,
        }
    }

    /// The documents, best first.
    pub fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_stay_and_ties_go_to_the_smaller_id() {
        let mut top = Top::new(3);
        for (doc, score) in [(1, 1.0), (2, 3.0), (5, 1.0), (7, 2.0), (9, 1.0), (11, 2.0)] {
            top.offer(doc, score);
        }
        let kept: Vec<_> = top.into_sorted().iter().map(|s| (s.doc, s.score)).collect();
        assert_eq!(kept, [(2, 3.0), (7, 2.0), (11, 2.0)]);
    }

    #[test]
    fn nothing_is_excluded_before_the_heap_is_full() {
        let mut top = Top::new(2);
        top.offer(1, 1.0);
        assert!(!top.excludes(0.0));
        top.offer(2, 2.0);
        assert!(top.excludes(0.99) && !top.excludes(1.0) && !top.excludes(1.01));
        assert!(Top::new(0).excludes(f64::MAX));
    }
}
