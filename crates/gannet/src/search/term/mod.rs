//! The documents of one term: its postings list behind the matcher's interface.

mod intersect;

use self::intersect::intersect;
use super::formula::{Leaf, LeafId};
use super::matcher::{Filtering, Matcher, Offers, Role, filter};
use super::matches::Matches;
use super::scored::ScoredLeaf;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::postings::{Pair, TermCursor};

/// Ranges that span more pages of a list than this are bounded by the whole list.
const BOUND_PAGES_MAX: usize = 8;

/// Where at least one in so many documents of a block is asked for, both are gone through side by side.
const SIDE_BY_SIDE: usize = 8;

/// Matches the documents in one postings list.
pub struct TermMatcher {
    cursor: TermCursor,
    cost: u64,
    scored: Option<ScoredLeaf>,
    /// Candidates of a block that match, and where in the block.
    common: Vec<(u32, u32)>,
}

impl TermMatcher {
    /// The documents of `cursor`, `cost` of them; a leaf if they are scored.
    pub fn new(cursor: TermCursor, cost: u64, scored: Option<(LeafId, Leaf)>) -> TermMatcher {
        TermMatcher {
            cursor,
            cost,
            scored: scored.map(ScoredLeaf::new),
            common: Vec::new(),
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

    fn leading_leaf(&self) -> Option<LeafId> {
        self.scored.as_ref().map(|scored| scored.leaf)
    }

    fn skip_below(&mut self, floor: f32) -> bool {
        let scored = self.scored.as_mut();
        scored.is_some_and(|scored| scored.skip_below(floor))
    }

    fn offer_block(
        &mut self,
        to: DocId,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> DocId {
        let (docs, frequencies) = self.cursor.block();
        let count = docs.partition_point(|doc| *doc <= to);
        let (docs, frequencies) = (&docs[..count], &frequencies[..count]);
        match &mut self.scored {
            Some(scored) => scored.offer((docs, frequencies), offers, left, pages),
            None => left.extend(docs, frequencies, None),
        }
        docs.last().map_or(to, |doc| *doc).saturating_add(1)
    }

    fn screen(&mut self, norms: NormCursor) {
        if let Some(scored) = &mut self.scored {
            scored.screen(norms);
        }
    }

    #[inline]
    fn skippable(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        match &self.scored {
            Some(scored) => scored.skippable(&mut self.cursor, target, pages),
            None => Ok(None),
        }
    }

    /// Gives out the rest of the decoded block.
    #[inline]
    fn give(&mut self, to: DocId, most: usize, out: &mut Matches, pages: &mut Pages<'_>) -> DocId {
        let (docs, frequencies) = self.cursor.block();
        let count = docs.partition_point(|doc| *doc <= to);
        let given = match &mut self.scored {
            Some(scored) => scored.give((&docs[..count], &frequencies[..count]), most, out, pages),
            None => {
                let count = count.min(most);
                out.extend(&docs[..count], &frequencies[..count], None);
                count
            }
        };
        let last = docs[..given].last().map_or(to, |doc| *doc);
        last.saturating_add(1)
    }

    fn block_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        self.cursor.look_at(target, pages)?;
        let mut blocks = self.cursor.block_bounds(target);
        Ok(blocks.next().map(|(last, _)| last))
    }

    fn bound_near(
        &mut self,
        range: (DocId, DocId),
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        match &self.scored {
            Some(scored) => scored.bound_near(&mut self.cursor, range, leads, pages, scores),
            None => Ok(true),
        }
    }

    fn filter(
        &mut self,
        role: Role,
        ahead: &mut Matches,
        state: &mut Filtering,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if role == Role::Excluded {
            return filter(self, role, ahead, ahead.len(), state, pages);
        }
        while let Some(&doc) = ahead.docs().get(state.checked) {
            self.cursor.advance(doc, pages)?;
            let (docs, frequencies) = self.cursor.block();
            let Some(last) = docs.last() else {
                // The list has ended.
                return filter(self, role, ahead, ahead.len(), state, pages);
            };
            let asked = &ahead.docs()[state.checked..];
            let asked = &asked[..asked.partition_point(|doc| doc <= last)];
            let end = state.checked + asked.len();
            if asked.len() * SIDE_BY_SIDE < docs.len() {
                filter(self, role, ahead, end, state, pages)?;
                continue;
            }
            let common = intersect(asked, docs, &mut self.common);
            let leaf = self.scored.as_ref().map(|scored| scored.leaf);
            for (at, place) in common {
                let at = state.checked + *at as usize;
                if let Some(leaf) = leaf {
                    ahead.set(at, leaf, frequencies[*place as usize] as f32);
                }
                if role == Role::Required {
                    ahead.shift(at, state.kept);
                    state.kept += 1;
                }
            }
            if role == Role::Optional {
                state.kept = ahead.shift_all(state.checked..end, state.kept);
            }
            state.checked = end;
        }
        Ok(())
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let Some(ScoredLeaf { leaf, .. }) = &self.scored {
            frequencies[*leaf] = self.cursor.frequency() as f32;
        }
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch(docs, pages)
    }

    fn prefetch_within(&mut self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch_within(first, last, pages)
    }

    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        if whole {
            self.cursor.prefetch_whole(pages)?;
        }
        self.cursor.open(pages)
    }

    fn docs_pages(&self) -> u64 {
        self.cursor.docs_pages()
    }

    fn bound(&mut self, target: DocId, pages: &mut Pages<'_>, scores: &mut [f32]) -> Step<DocId> {
        let bound = self.cursor.bound(target, pages)?;
        if let Some(ScoredLeaf { leaf, how, .. }) = &self.scored {
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
        let Some(ScoredLeaf { leaf, how, .. }) = &self.scored else {
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
