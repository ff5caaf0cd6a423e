//! The documents in which a word may stand between others, by the word's own list: a phrase filter
//! at work.
//!
//! Where the filter names the others exactly, these are the documents that have the phrase, and no
//! other list is read.
//!
//! Source of the idea to test for neighbours before any position is read: the two-way cost-aware
//! filters of WiSER (He et al., 2020). There both lists are intersected first; here the rarer word
//! alone rules documents out before the other lists are read, by whichever kind of filter its list
//! keeps: the order is the same for both.

use super::matcher::{BLOCK_STEPS, Matcher, Offers};
use super::matches::Matches;
use super::scored::ListScore;
use super::tokens::TokenRoom;
use crate::base::{Budget, DocId, END, Result};
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::postings::{Neighbours, Reach, TermCursor};
use crate::search::scoring::formula::{Leaf, LeafId};

/// Matches documents that have a word, and no proof that it stands nowhere between the wanted
/// neighbours: to be confirmed by positions, unless the fingerprints are exact.
pub struct BetweenMatcher {
    cursor: TermCursor,
    wanted: Neighbours,
    /// Of which leaf the tokens that may stand between the wanted words are told as the frequency.
    score: ListScore,
    /// What passed of a block, with how many tokens, and where it stands among them.
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
        Ok(BetweenMatcher {
            cursor,
            wanted,
            score: ListScore::new(scored),
            docs: Vec::new(),
            tokens: Vec::new(),
            at: 0,
            room: TokenRoom::new(1, budget)?,
            next: 0,
        })
    }
}

impl Matcher for BetweenMatcher {
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
            let passed = (&mut self.docs, &mut self.tokens);
            let last = self.cursor.block_between(self.wanted, pages, passed)?;
            (self.at, self.next) = (0, last.saturating_add(1));
        }
    }

    fn leading_leaf(&self) -> Option<LeafId> {
        self.score.leaf()
    }

    fn skip_below(&mut self, floor: f32) -> bool {
        self.score.skip_below(floor)
    }

    fn prefilter(&mut self, norms: NormCursor) {
        self.score.prefilter(norms);
    }

    /// By the word's own bounds: what may stand between the wanted words is not more than the word.
    #[inline]
    fn skippable(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        match target >= self.next {
            true => self.score.skippable(&mut self.cursor, target, pages),
            false => Ok(None),
        }
    }

    /// Gives out what passed of the block.
    #[inline]
    fn give(&mut self, to: DocId, most: usize, out: &mut Matches, pages: &mut Pages<'_>) -> DocId {
        let block = (&self.docs[self.at..], &self.tokens[self.at..]);
        self.score.give(block, to, most, out, pages)
    }

    fn offer_block(
        &mut self,
        to: DocId,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> DocId {
        let block = (&self.docs[self.at..], &self.tokens[self.at..]);
        self.score.offer(block, to, offers, left, pages)
    }

    /// What it stands on is then the document that was asked for, or nothing.
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

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let (Some(leaf), Some(tokens)) = (self.score.leaf(), self.tokens.get(self.at)) {
            frequencies[leaf] = *tokens as f32;
        }
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch(docs, pages)?;
        self.cursor.prefetch_filters_of(docs, self.wanted, pages)
    }

    fn prefetch_within(&mut self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        self.cursor.prefetch_within(first, last, pages)
    }

    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        if whole {
            self.cursor.prefetch_whole(pages)?;
            self.cursor.prefetch_filters(self.wanted, pages)?;
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
        self.cursor.document_frequency()
    }
}
