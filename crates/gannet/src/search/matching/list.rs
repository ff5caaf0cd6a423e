//! A node whose documents one list gives, block by block: all of a term's, or those that its phrase
//! filter lets pass.
//!
//! Both are one matcher over a [`BlockSource`], so the loops over blocks are written once and call
//! nothing through a table. [`ListScore`] leaves out blocks and documents that score too little.

use super::matcher::{BLOCK_STEPS, LeadingList, Matcher, PagePrefetch, Role, ScoreBounds, filter};
use super::matches::{DocRange, Filtering, Matches};
use super::scored::{ListScore, Occurring, Offers};
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};
use crate::postings::TermCursor;
use crate::search::scoring::formula::{Leaf, LeafId};

/// Finds the matching documents of a list, a block at a time.
pub trait BlockSource: Send + Sized {
    /// The list.
    fn cursor(&self) -> &TermCursor;

    /// The list, to be moved on.
    fn cursor_mut(&mut self) -> &mut TermCursor;

    /// See [`Matcher::doc`].
    fn doc(&self) -> DocId;

    /// See [`Matcher::advance`].
    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId>;

    /// The matches at hand from the present one on.
    fn block(&mut self) -> Occurring<'_>;

    /// The frequency in the present document.
    fn frequency(&mut self) -> u32;

    /// Returns true if no document from `target` on was looked at.
    fn is_before(&self, target: DocId) -> bool;

    /// See [`Matcher::matches`].
    fn matches(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool>;

    /// The number of documents of the list, if all match.
    fn documents(&self) -> Option<u64>;

    /// See [`PagePrefetch::prefetch`].
    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()>;

    /// Notes the pages that going through the whole list needs, as far as they are known.
    fn prefetch_whole(&mut self, pages: &mut Pages<'_>) -> Step<()>;

    /// See [`Matcher::filter`].
    fn filter(
        matcher: &mut ListMatcher<Self>,
        role: Role,
        ahead: &mut Matches,
        state: &mut Filtering,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let end = ahead.len();
        filter(matcher, role, ahead, end, state, pages)
    }
}

/// Matches the documents that a list gives.
pub struct ListMatcher<B> {
    pub(super) blocks: B,
    pub(super) score: ListScore,
}

/// The result of a look ahead from a document on.
enum NextFound {
    /// A stretch that may be left out, up to this document.
    PassedOver(DocId),
    /// No match in the range.
    Beyond,
    /// A match, on which the matcher stands.
    Here,
}

impl<B: BlockSource> ListMatcher<B> {
    /// The documents that `blocks` gives; a leaf if they are scored.
    pub fn of(blocks: B, scored: Option<(LeafId, Leaf)>) -> ListMatcher<B> {
        let score = ListScore::new(scored);
        ListMatcher { blocks, score }
    }

    /// Looks from `next` to `to` for the first match that scores enough by the bounds of blocks.
    #[inline]
    fn look(&mut self, next: DocId, to: DocId, pages: &mut Pages<'_>) -> Step<NextFound> {
        let cursor = self.blocks.is_before(next).then_some(&mut self.blocks);
        if let Some(blocks) = cursor
            && let Some(last) = self.score.skippable(blocks.cursor_mut(), next, pages)?
        {
            return Ok(NextFound::PassedOver(last.saturating_add(1)));
        }
        Ok(match self.blocks.advance(next, pages)? {
            doc if doc > to => NextFound::Beyond,
            _ => NextFound::Here,
        })
    }
}

impl<B: BlockSource> Matcher for ListMatcher<B> {
    fn doc(&self) -> DocId {
        self.blocks.doc()
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        self.blocks.advance(target, pages)
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let Some(leaf) = self.score.leaf() {
            frequencies[leaf] = self.blocks.frequency() as f32;
        }
    }

    fn cost(&self) -> u64 {
        self.blocks.cursor().document_frequency()
    }

    fn cost_min(&self) -> u64 {
        self.documents().unwrap_or(0)
    }

    fn documents(&self) -> Option<u64> {
        self.blocks.documents()
    }

    fn gather(
        &mut self,
        range: DocRange,
        limit: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (before, mut next, to) = (out.len(), range.first, range.last);
        while out.len() < limit && next <= to {
            pages.count_steps(BLOCK_STEPS)?;
            next = match self.look(next, to, pages) {
                Ok(NextFound::PassedOver(next)) => next,
                Ok(NextFound::Beyond) => to.saturating_add(1),
                Ok(NextFound::Here) => {
                    let most = limit - out.len();
                    self.score.give(self.blocks.block(), to, most, out, pages)
                }
                Err(Stop::Pages) if out.len() > before => break,
                Err(stop) => return Err(stop),
            }
        }
        Ok(next)
    }

    fn matches(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        self.blocks.matches(doc, pages)
    }

    fn filter(
        &mut self,
        role: Role,
        ahead: &mut Matches,
        state: &mut Filtering,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        B::filter(self, role, ahead, state, pages)
    }

    fn list(&mut self) -> Option<&mut dyn LeadingList> {
        Some(self)
    }
}

impl<B: BlockSource> LeadingList for ListMatcher<B> {
    fn score(&mut self) -> &mut ListScore {
        &mut self.score
    }

    fn offer(
        &mut self,
        range: DocRange,
        limit: usize,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (mut next, to) = (range.first, range.last);
        while left.len() < limit && next <= to {
            pages.count_steps(BLOCK_STEPS)?;
            offers.passed_over |= self.score.skip_below(offers.top.threshold());
            next = match self.look(next, to, pages) {
                Ok(NextFound::PassedOver(next)) => next,
                Ok(NextFound::Beyond) => to.saturating_add(1),
                Ok(NextFound::Here) => {
                    let block = self.blocks.block();
                    self.score.offer(block, to, offers, left, pages)
                }
                Err(Stop::Pages) if next > range.first => break,
                Err(stop) => return Err(stop),
            }
        }
        Ok(next)
    }
}

/// By the list's own bounds: a filter lets no more pass than the list has.
impl<B: BlockSource> ScoreBounds for ListMatcher<B> {
    fn page_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        Ok(self.blocks.cursor_mut().bound(target, pages)?.last)
    }

    fn bound_within(
        &mut self,
        range: DocRange,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        let cursor = self.blocks.cursor_mut();
        self.score.bound_within(cursor, range, pages, scores)
    }

    fn block_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        let cursor = self.blocks.cursor_mut();
        cursor.look_at(target, pages)?;
        let blocks = cursor.blocks_ahead(target);
        Ok(blocks.and_then(|blocks| blocks.lasts().next()))
    }

    fn bound_near(
        &mut self,
        range: DocRange,
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        let cursor = self.blocks.cursor_mut();
        self.score.bound_near(cursor, range, leads, pages, scores)
    }
}

impl<B: BlockSource> PagePrefetch for ListMatcher<B> {
    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        if whole {
            self.blocks.prefetch_whole(pages)?;
        }
        self.blocks.cursor_mut().open(pages)
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.blocks.prefetch(docs, pages)
    }

    fn prefetch_within(&mut self, range: DocRange, pages: &mut Pages<'_>) -> Step<()> {
        let cursor = self.blocks.cursor_mut();
        cursor.prefetch_within(range.first, range.last, pages)
    }

    fn docs_pages(&self) -> u64 {
        self.blocks.cursor().docs_pages()
    }
}
