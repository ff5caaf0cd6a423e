//! The documents in which a word may stand between others, by the word's own list: a phrase filter at work.
//!
//! Source of the idea to test for neighbours before any position is read: the two-way cost-aware filters of
//! WiSER (He et al., 2020). There both lists are intersected first; here the rarer word alone rules documents
//! out before the other lists are read.

use super::formula::LeafId;
use super::matcher::Matcher;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::postings::{Neighbours, Reach, TermCursor};

/// Matches documents that have a word, and no proof that it stands nowhere between the wanted neighbours.
pub struct BetweenMatcher {
    cursor: TermCursor,
    wanted: Neighbours,
    /// Which frequency is told: how many tokens may stand between the wanted words.
    leaf: Option<LeafId>,
    /// What passed of a block, with how many tokens, and where it stands among them.
    passed: Vec<(DocId, u32)>,
    at: usize,
    /// The first document that was not looked at.
    next: DocId,
}

impl BetweenMatcher {
    /// The documents of `cursor` in which a token may stand between words with the `wanted` fingerprints; `leaf`
    /// is told how many may.
    pub fn new(mut cursor: TermCursor, wanted: Neighbours, leaf: Option<LeafId>) -> BetweenMatcher {
        cursor.will_need(Reach::Filter);
        BetweenMatcher {
            cursor,
            wanted,
            leaf,
            passed: Vec::new(),
            at: 0,
            next: 0,
        }
    }
}

impl Matcher for BetweenMatcher {
    fn doc(&self) -> DocId {
        self.passed.get(self.at).map_or(END, |(doc, _)| *doc)
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        loop {
            let rest = &self.passed[self.at..];
            self.at += rest.partition_point(|(doc, _)| *doc < target);
            if self.at < self.passed.len() || self.next == END {
                return Ok(self.doc());
            }
            if self.cursor.advance(target.max(self.next), pages)? == END {
                self.next = END;
                continue;
            }
            let last = self
                .cursor
                .block_between(self.wanted, pages, &mut self.passed)?;
            (self.at, self.next) = (0, last.saturating_add(1));
        }
    }

    fn matches(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        let there = self.cursor.advance(doc, pages)? == doc;
        Ok(there && self.cursor.tokens_between(self.wanted, pages)? > 0)
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let (Some(leaf), Some((_, tokens))) = (self.leaf, self.passed.get(self.at)) {
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

    fn bound(&mut self, target: DocId, pages: &mut Pages<'_>, _: &mut [f32]) -> Step<DocId> {
        Ok(self.cursor.bound(target, pages)?.last)
    }

    fn bound_within(&mut self, _: DocId, _: DocId, _: &mut Pages<'_>, _: &mut [f32]) -> Step<()> {
        Ok(())
    }

    fn cost(&self) -> u64 {
        self.cursor.document_frequency()
    }
}
