//! The documents of one term: all that its postings list has.

use super::intersect::{NOWHERE, locate};
use super::list::{BlockSource, ListMatcher};
use super::matcher::{BLOCK_STEPS, Role, filter};
use super::matches::{Filtering, Matches};
use super::scored::Occurring;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::postings::{BLOCK, TermCursor};
use crate::search::scoring::formula::{Leaf, LeafId};

/// Matches the documents in one postings list.
pub type TermMatcher = ListMatcher<TermBlocks>;

/// All documents of a list.
pub struct TermBlocks {
    cursor: TermCursor,
}

impl TermMatcher {
    /// The documents of `cursor`; a leaf if they are scored.
    pub fn new(cursor: TermCursor, scored: Option<(LeafId, Leaf)>) -> TermMatcher {
        ListMatcher::of(TermBlocks { cursor }, scored)
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
        let mut places = [NOWHERE; BLOCK];
        while let Some(&doc) = ahead.docs().get(state.checked) {
            let cursor = &mut matcher.blocks.cursor;
            cursor.advance(doc, pages)?;
            let block = cursor.block_docs();
            let Some(last) = block.last() else {
                // The list has ended.
                return filter(matcher, role, ahead, all, state, pages);
            };
            pages.count_steps(BLOCK_STEPS)?;
            let asked = &ahead.docs()[state.checked..all.min(state.checked + BLOCK)];
            let asked = &asked[..asked.partition_point(|doc| doc <= last)];
            let end = state.checked + asked.len();
            let mut found = locate(asked, block, &mut places[..asked.len()]);
            let leaf = matcher.score.leaf().filter(|_| found != 0);
            let frequencies = leaf.map_or(&[][..], |_| cursor.block().1);
            while found != 0 {
                let place = places[found.trailing_zeros() as usize] as usize;
                let at = state.checked + found.trailing_zeros() as usize;
                found &= found - 1;
                if let Some(leaf) = leaf {
                    ahead.set(at, leaf, frequencies[place] as f32);
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
