//! The documents of one term: its postings list behind the matcher's interface.

mod intersect;

use self::intersect::Intersection;
use super::matcher::{BLOCK_STEPS, Matcher, Offers, Role, filter};
use super::matches::Filtering;
use super::matches::Matches;
use super::scored::ListScore;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::postings::TermCursor;
use crate::search::scoring::formula::{Leaf, LeafId};

/// Where at least one in so many documents of a block is asked for, both are gone through side by
/// side.
const SIDE_BY_SIDE: usize = 8;

/// Matches the documents in one postings list.
pub struct TermMatcher {
    cursor: TermCursor,
    cost: u64,
    score: ListScore,
    intersection: Intersection,
}

impl TermMatcher {
    /// The documents of `cursor`, `cost` of them; a leaf if they are scored.
    pub fn new(cursor: TermCursor, cost: u64, scored: Option<(LeafId, Leaf)>) -> TermMatcher {
        TermMatcher {
            cursor,
            cost,
            score: ListScore::new(scored),
            intersection: Intersection::default(),
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
        self.score.leaf()
    }

    fn skip_below(&mut self, floor: f32) -> bool {
        self.score.skip_below(floor)
    }

    fn offer_block(
        &mut self,
        to: DocId,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> DocId {
        let block = self.cursor.block();
        self.score.offer(block, to, offers, left, pages)
    }

    fn prefilter(&mut self, norms: NormCursor) {
        self.score.prefilter(norms);
    }

    #[inline]
    fn skippable(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        self.score.skippable(&mut self.cursor, target, pages)
    }

    /// Gives out the rest of the decoded block.
    #[inline]
    fn give(&mut self, to: DocId, most: usize, out: &mut Matches, pages: &mut Pages<'_>) -> DocId {
        let block = self.cursor.block();
        self.score.give(block, to, most, out, pages)
    }

    fn block_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        self.cursor.look_at(target, pages)?;
        let blocks = self.cursor.blocks_ahead(target);
        Ok(blocks.and_then(|blocks| blocks.lasts().next()))
    }

    fn bound_near(
        &mut self,
        range: (DocId, DocId),
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        self.score
            .bound_near(&mut self.cursor, range, leads, pages, scores)
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
            pages.count_steps(BLOCK_STEPS)?;
            let asked = &ahead.docs()[state.checked..];
            let asked = &asked[..asked.partition_point(|doc| doc <= last)];
            let end = state.checked + asked.len();
            if asked.len() * SIDE_BY_SIDE < docs.len() {
                filter(self, role, ahead, end, state, pages)?;
                continue;
            }
            let common = self.intersection.of(asked, docs);
            let leaf = self.score.leaf();
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
        if let Some(leaf) = self.score.leaf() {
            frequencies[leaf] = self.cursor.frequency() as f32;
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
        self.score.bound(&mut self.cursor, target, pages, scores)
    }

    fn bound_within(
        &mut self,
        from: DocId,
        to: DocId,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        self.score
            .bound_within(&mut self.cursor, (from, to), pages, scores)
    }

    fn cost(&self) -> u64 {
        self.cost
    }

    fn documents(&self) -> Option<u64> {
        Some(self.cursor.document_frequency())
    }

    fn cost_min(&self) -> u64 {
        self.cost
    }
}
