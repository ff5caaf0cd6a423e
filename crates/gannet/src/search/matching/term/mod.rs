//! The documents of one term: all that its postings list has.

mod intersect;

use self::intersect::Intersection;
use super::list::{BlockSource, ListMatcher};
use super::matcher::{BLOCK_STEPS, Role, filter};
use super::matches::{Filtering, Matches};
use super::scored::Occurring;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::postings::TermCursor;
use crate::search::scoring::formula::{Leaf, LeafId};

/// If at least one in so many documents of a block is asked for, both are gone through side by
/// side.
const SIDE_BY_SIDE: usize = 8;

/// Matches the documents in one postings list.
pub type TermMatcher = ListMatcher<TermBlocks>;

/// All documents of a list.
pub struct TermBlocks {
    cursor: TermCursor,
    intersection: Intersection,
}

impl TermMatcher {
    /// The documents of `cursor`; a leaf if they are scored.
    pub fn new(cursor: TermCursor, scored: Option<(LeafId, Leaf)>) -> TermMatcher {
        let intersection = Intersection::default();
        let blocks = TermBlocks {
            cursor,
            intersection,
        };
        ListMatcher::of(blocks, scored)
    }
}

impl BlockSource for TermBlocks {
    fn cursor(&self) -> &TermCursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut TermCursor {
        &mut self.cursor
    }

    fn doc(&self) -> DocId {
        self.cursor.doc()
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        self.cursor.advance(target, pages)
    }

    fn block(&mut self) -> Occurring<'_> {
        let (docs, frequencies) = self.cursor.block();
        Occurring { docs, frequencies }
    }

    fn frequency(&mut self) -> u32 {
        self.cursor.frequency()
    }

    #[inline]
    fn is_before(&self, _: DocId) -> bool {
        true
    }

    fn matches(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        Ok(self.cursor.advance(doc, pages)? == doc)
    }

    fn documents(&self) -> Option<u64> {
        Some(self.cursor.document_frequency())
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch(docs, pages)
    }

    fn prefetch_whole(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch_whole(pages)
    }

    fn filter(
        matcher: &mut TermMatcher,
        role: Role,
        ahead: &mut Matches,
        state: &mut Filtering,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let all = ahead.len();
        if role == Role::Excluded {
            return filter(matcher, role, ahead, all, state, pages);
        }
        while let Some(&doc) = ahead.docs().get(state.checked) {
            let TermBlocks {
                cursor,
                intersection,
            } = &mut matcher.blocks;
            cursor.advance(doc, pages)?;
            let (docs, frequencies) = cursor.block();
            let Some(last) = docs.last() else {
                // The list has ended.
                return filter(matcher, role, ahead, all, state, pages);
            };
            pages.count_steps(BLOCK_STEPS)?;
            let asked = &ahead.docs()[state.checked..];
            let asked = &asked[..asked.partition_point(|doc| doc <= last)];
            let end = state.checked + asked.len();
            if asked.len() * SIDE_BY_SIDE < docs.len() {
                filter(matcher, role, ahead, end, state, pages)?;
                continue;
            }
            let common = intersection.of(asked, docs);
            let leaf = matcher.score.leaf();
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
}
