//! The best k documents: by score, and among equals by doc ID, the smaller first. Or all documents
//! of one score, for those who order equals otherwise.
//!
//! Documents come in ascending order of their IDs but for those of one batch. So once the heap is
//! full, a document of a later batch whose score only equals the least of the heap stays out.
//! Everything whose bound is not above that score can be skipped. Whoever goes back to earlier
//! documents may skip only what is below that score.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::doc_bits::DocBits;
use crate::base::DocId;

/// The most documents that can be asked for.
pub const TOP_MAX: usize = 10_000;

/// Bounds are sums of rounded numbers; they are taken as this much larger than they came out.
const SLACK: f64 = 1e-6;

/// The same for sums of up to a thousand numbers that are rounded after each.
const SUM_SLACK: f64 = 1e-4;

/// The share of the largest possible sum that rounding may take from a score. Where the score is
/// near 0, numbers near 1 are rounded twice; this is twice as much.
const ROUNDING: f64 = 4e-7;

/// Returns true if a document with a score of at most `bound` cannot exceed a threshold.
#[inline]
pub fn excludes(threshold: f32, bound: f64) -> bool {
    bound * (1.0 + SLACK) <= threshold as f64
}

/// The rounded sum of scores up to which no document can exceed a threshold if others may add
/// `rest` to it.
#[inline]
pub fn least_sum(threshold: f32, rest: f64) -> f32 {
    (threshold as f64 * (1.0 - SUM_SLACK) - rest * (1.0 + SUM_SLACK)) as f32
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

/// Keeps the best k of the documents that it is offered, or all that have one score.
#[derive(Debug)]
pub struct Top {
    k: usize,
    heap: BinaryHeap<Scored>,
    /// The score that must be exceeded: it is asked for much more often than it changes.
    threshold: f32,
    tied: Option<Box<TiedDocs>>,
    all: Option<Box<AllDocs>>,
}

/// All documents that were offered.
#[derive(Debug)]
pub struct AllDocs {
    /// The documents.
    pub docs: DocBits,
    /// The score of each document of the index, if scores were asked for.
    pub scores: Vec<f32>,
    /// The least score of a document that is taken.
    least: f32,
}

impl AllDocs {
    /// None yet of the documents below `below`.
    pub fn new(below: DocId, with_scores: bool) -> AllDocs {
        let scored = if with_scores { below as usize } else { 0 };
        AllDocs {
            docs: DocBits::new(below),
            scores: vec![0.0; scored],
            least: f32::NEG_INFINITY,
        }
    }

    /// The same, for documents of at least this score.
    #[must_use]
    pub fn of_at_least(self, least: f32) -> AllDocs {
        AllDocs { least, ..self }
    }

    /// Bytes that it takes.
    pub fn bytes(below: DocId, with_scores: bool) -> usize {
        let scored = if with_scores { below as usize } else { 0 };
        DocBits::bytes(below) + scored * size_of::<f32>()
    }

    fn insert(&mut self, doc: DocId, score: f32) {
        self.docs.insert(doc);
        if let Some(place) = self.scores.get_mut(doc as usize) {
            *place = score;
        }
    }
}

/// The documents that have one score.
#[derive(Debug)]
pub struct TiedDocs {
    score: f32,
    /// The score that a document must exceed to be looked at.
    threshold: f32,
    docs: DocBits,
}

impl TiedDocs {
    /// None yet of the documents below `below` that score `score`, out of parts that add up to
    /// `most` at most.
    pub fn new(score: f32, most: f64, below: DocId) -> TiedDocs {
        TiedDocs {
            score,
            threshold: ((score as f64 - most * ROUNDING) as f32).next_down(),
            docs: DocBits::new(below),
        }
    }

    /// Their score.
    pub fn score(&self) -> f32 {
        self.score
    }

    /// The documents.
    pub fn docs(&self) -> &DocBits {
        &self.docs
    }

    fn offer(&mut self, doc: DocId, score: f32) {
        if score == self.score {
            self.docs.insert(doc);
        }
    }
}

impl Top {
    /// Room for `k` documents.
    pub fn new(k: usize) -> Top {
        Top {
            k,
            heap: BinaryHeap::with_capacity(k.min(RESERVED)),
            threshold: if k == 0 {
                f32::INFINITY
            } else {
                f32::NEG_INFINITY
            },
            tied: None,
            all: None,
        }
    }

    /// Room for `k` documents, and for all that are offered. Nothing is excluded then.
    pub fn collecting(k: usize, all: AllDocs) -> Top {
        Top {
            threshold: f32::NEG_INFINITY,
            all: Some(Box::new(all)),
            ..Top::new(k)
        }
    }

    /// Room for as many documents, to be found anew among at least these: what scores less than all
    /// of them cannot enter.
    pub fn anew(self) -> Top {
        let mut top = Top::new(self.k);
        top.expect(self.threshold);
        top
    }

    /// Takes notice that there are as many documents of at least this score: what scores less
    /// cannot enter.
    pub fn expect(&mut self, score: f32) {
        if score > 0.0 {
            self.threshold = self.threshold.max(score.next_down());
        }
    }

    /// Returns the number of documents that are wanted.
    pub fn wanted(&self) -> usize {
        self.k
    }

    /// Takes all documents of one score.
    pub fn of(tied: TiedDocs) -> Top {
        Top {
            threshold: tied.threshold,
            tied: Some(Box::new(tied)),
            ..Top::new(0)
        }
    }

    /// Offers a document.
    #[inline]
    pub fn offer(&mut self, doc: DocId, score: f32) {
        if score >= self.threshold {
            self.take(doc, score);
        }
    }

    /// Returns true if all documents are collected, and neither the best of them nor scores.
    pub fn collects_alone(&self) -> bool {
        let are_unscored = |all: &AllDocs| all.scores.is_empty();
        self.k == 0 && self.all.as_deref().is_some_and(are_unscored)
    }

    /// Collects documents where [`Top::collects_alone`] holds.
    pub fn collect(&mut self, docs: &[DocId]) {
        if let Some(all) = &mut self.all {
            docs.iter().for_each(|doc| all.docs.insert(*doc));
        }
    }

    fn take(&mut self, doc: DocId, score: f32) {
        if let Some(all) = &mut self.all {
            if score < all.least {
                return;
            }
            all.insert(doc, score);
        }
        let offered = Scored { doc, score };
        if self.heap.len() < self.k {
            self.heap.push(offered);
        } else if let Some(mut worst) = self.heap.peek_mut() {
            if offered < *worst {
                *worst = offered;
            }
        } else if let Some(tied) = &mut self.tied {
            return tied.offer(doc, score);
        }
        if self.heap.len() == self.k && self.all.is_none() {
            let worst = self.heap.peek().map_or(f32::INFINITY, |worst| worst.score);
            self.threshold = self.threshold.max(worst);
        }
    }

    /// Bytes that the documents take.
    pub fn memory_bytes(&self) -> usize {
        self.heap.capacity() * size_of::<Scored>()
    }

    /// Returns true if no document with a score of at most `bound` can still enter.
    #[inline]
    pub fn excludes(&self, bound: f64) -> bool {
        excludes(self.threshold(), bound)
    }

    /// The rounded sum of scores up to which no document can enter if others may add `rest` to it.
    #[inline]
    pub fn least_sum(&self, rest: f64) -> f32 {
        least_sum(self.threshold(), rest)
    }

    /// The score that must be exceeded. While there is room it is below every score, or just below
    /// those of documents that are looked for anew.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Returns true if the documents of one score are wanted.
    pub fn is_of_one_score(&self) -> bool {
        self.tied.is_some()
    }

    /// The documents of one score, where these were wanted.
    pub fn into_tied(self) -> Option<Box<TiedDocs>> {
        self.tied
    }

    /// Takes all documents that were offered out, where they were collected.
    pub fn take_all(&mut self) -> Option<Box<AllDocs>> {
        self.all.take()
    }

    /// The documents, in no order.
    pub fn best(&self) -> impl Iterator<Item = Scored> {
        self.heap.iter().copied()
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
    fn all_documents_of_one_score_are_taken() {
        let mut top = Top::of(TiedDocs::new(2.0, 2.5, 200));
        assert!(!top.excludes(2.0) && top.excludes(1.99));
        for (doc, score) in [(1, 2.0), (63, 3.0), (64, 2.0), (65, 1.5), (199, 2.0)] {
            top.offer(doc, score);
        }
        let tied = top.into_tied().unwrap();
        let mut docs = Vec::new();
        tied.docs().next(0, 10, &mut docs);
        assert_eq!(docs, [1, 64, 199]);
        // A score of 0 leaves out nothing.
        assert!(!Top::of(TiedDocs::new(0.0, 0.0, 1)).excludes(0.0));
    }

    #[test]
    fn all_documents_are_collected_beside_the_best() {
        let mut top = Top::collecting(1, AllDocs::new(100, true));
        for (doc, score) in [(3, 1.0), (5, 4.0), (99, 0.0)] {
            assert!(!top.excludes(f64::from(score)));
            top.offer(doc, score);
        }
        let all = top.take_all().unwrap();
        assert_eq!((all.docs.count(), all.docs.contains(99)), (3, true));
        assert_eq!((all.scores[5], all.scores[6]), (4.0, 0.0));
        let best: Vec<_> = top.into_sorted().iter().map(|scored| scored.doc).collect();
        assert_eq!(best, [5]);
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
