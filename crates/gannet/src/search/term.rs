//! The documents of one term: its postings list behind the matcher's interface.

use super::formula::{Leaf, LeafId};
use super::matcher::Matcher;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::postings::{Pair, TermCursor};

/// Ranges that span more pages of a list than this are bounded by the whole list.
const BOUND_PAGES_MAX: usize = 8;

/// Matches the documents in one postings list.
pub struct TermMatcher {
    cursor: TermCursor,
    cost: u64,
    scored: Option<(LeafId, Leaf)>,
}

impl TermMatcher {
    /// The documents of `cursor`, `cost` of them; a leaf if they are scored.
    pub fn new(cursor: TermCursor, cost: u64, scored: Option<(LeafId, Leaf)>) -> TermMatcher {
        TermMatcher {
            cursor,
            cost,
            scored,
        }
    }
}

impl Matcher for TermMatcher {
    fn doc(&self) -> DocId {
        self.cursor.doc()
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        self.cursor.advance(target, pages)
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let Some((leaf, _)) = &self.scored {
            frequencies[*leaf] = self.cursor.frequency() as f32;
        }
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch(docs, pages)
    }

    fn prefetch_within(&mut self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch_within(first, last, pages)
    }

    fn bound(&mut self, target: DocId, pages: &mut Pages<'_>, scores: &mut [f32]) -> Step<DocId> {
        let bound = self.cursor.bound(target, pages)?;
        if let Some((leaf, how)) = &self.scored {
            scores[*leaf] = best(how, bound.pairs());
        }
        Ok(bound.last)
    }

    fn bound_within(
        &mut self,
        from: DocId,
        to: DocId,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        let Some((leaf, how)) = &self.scored else {
            return Ok(());
        };
        scores[*leaf] = best_within(&mut self.cursor, how, from, to, pages)?;
        Ok(())
    }

    fn cost(&self) -> u64 {
        self.cost
    }

    fn cost_min(&self) -> u64 {
        self.cost
    }
}

/// The best score of `leaf` in the documents `from..=to` of a list, by its head.
pub fn best_within(
    cursor: &mut TermCursor,
    leaf: &Leaf,
    from: DocId,
    to: DocId,
    pages: &mut Pages<'_>,
) -> Step<f32> {
    let (mut most, mut at) = (0f32, from);
    for _ in 0..BOUND_PAGES_MAX {
        let bound = cursor.bound(at, pages)?;
        most = most.max(best(leaf, bound.pairs()));
        if bound.last >= to {
            return Ok(most);
        }
        at = bound.last + 1;
    }
    let list = cursor.list_bound(pages)?;
    Ok(best(leaf, list.pairs()))
}

/// The best score that competitive pairs give.
pub fn best(leaf: &Leaf, pairs: &[Pair]) -> f32 {
    match leaf {
        Leaf::Ranked { bm25, .. } => bm25.best(pairs),
        Leaf::Constant(score) => *score,
    }
}
