//! The documents in which a word may stand between others, by the word's own list: a phrase filter
//! at work.
//!
//! If the filter names the others exactly, these are the documents that have the phrase, and no
//! other list is read.
//!
//! Source of the idea to test for neighbours before any position is read: the two-way cost-aware
//! filters of WiSER (He et al., 2020). There both lists are intersected first; here the rarer word
//! alone rules documents out before the other lists are read.

use super::list::{BlockSource, ListMatcher};
use super::matcher::BLOCK_STEPS;
use super::scored::Occurring;
use super::tokens::TokenRoom;
use crate::base::{Budget, DocId, END, Result};
use crate::cache::{Pages, Step};
use crate::postings::{Neighbours, Reach, TermCursor};
use crate::search::scoring::formula::{Leaf, LeafId};

/// Matches documents that have a word, and no proof that it stands nowhere between the wanted
/// neighbours: to be confirmed by positions, unless the fingerprints are exact. The leaf is told
/// how many tokens may stand there.
pub type BetweenMatcher = ListMatcher<BetweenBlocks>;

/// The documents of a list that pass its phrase filter.
pub struct BetweenBlocks {
    cursor: TermCursor,
    wanted: Neighbours,
    /// The documents of a block that passed, the tokens of each, and the place among them.
    docs: Vec<DocId>,
    tokens: Vec<u32>,
    at: usize,
    room: TokenRoom,
    /// The first document that was not looked at.
    next: DocId,
}

impl BetweenMatcher {
    /// The documents of `cursor` in which a token may stand between words with the `wanted`
    /// fingerprints; the leaf of `scored` is told how many may.
    pub fn new(
        mut cursor: TermCursor,
        wanted: Neighbours,
        scored: Option<(LeafId, Leaf)>,
        budget: &Budget,
    ) -> Result<BetweenMatcher> {
        cursor.will_need(Reach::Filter);
        let blocks = BetweenBlocks {
            cursor,
            wanted,
            docs: Vec::new(),
            tokens: Vec::new(),
            at: 0,
            room: TokenRoom::new(1, budget)?,
            next: 0,
        };
        Ok(ListMatcher::of(blocks, scored))
    }
}

impl BlockSource for BetweenBlocks {
    fn cursor(&self) -> &TermCursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut TermCursor {
        &mut self.cursor
    }

    fn doc(&self) -> DocId {
        self.docs.get(self.at).map_or(END, |doc| *doc)
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        loop {
            pages.count_steps(BLOCK_STEPS)?;
            let rest = &self.docs[self.at..];
            self.at += rest.partition_point(|doc| *doc < target);
            if self.at < self.docs.len() || self.next == END {
                return Ok(self.doc());
            }
            if self.cursor.advance(target.max(self.next), pages)? == END {
                self.next = END;
                continue;
            }
            let tokens = self.cursor.tokens_to_look_at();
            self.room.reserve(0, tokens)?;
            pages.count_steps(tokens)?;
            let (docs, tokens) = (&mut self.docs, &mut self.tokens);
            let last = self
                .cursor
                .block_between(self.wanted, pages, docs, tokens)?;
            (self.at, self.next) = (0, last.saturating_add(1));
        }
    }

    #[inline]
    fn block(&mut self) -> Occurring<'_> {
        Occurring {
            docs: &self.docs[self.at..],
            frequencies: &self.tokens[self.at..],
        }
    }

    fn frequency(&mut self) -> u32 {
        self.tokens.get(self.at).map_or(0, |tokens| *tokens)
    }

    #[inline]
    fn is_before(&self, target: DocId) -> bool {
        target >= self.next
    }

    /// Leaves the matcher on the document that was asked for, or on nothing.
    fn matches(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        let mut tokens = 0;
        if self.cursor.advance(doc, pages)? == doc {
            let looked_at = self.cursor.tokens_to_look_at();
            self.room.reserve(0, looked_at)?;
            pages.count_steps(looked_at)?;
            tokens = self.cursor.tokens_between(self.wanted, pages)?;
        }
        self.docs.clear();
        self.tokens.clear();
        if tokens > 0 {
            self.docs.push(doc);
            self.tokens.push(tokens);
        }
        (self.at, self.next) = (0, doc.saturating_add(1));
        Ok(tokens > 0)
    }

    fn documents(&self) -> Option<u64> {
        None
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch(docs, pages)?;
        self.cursor.prefetch_filters_of(docs, self.wanted, pages)
    }

    fn prefetch_whole(&mut self, pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch_whole(pages)?;
        self.cursor.prefetch_filters(self.wanted, pages)
    }
}
