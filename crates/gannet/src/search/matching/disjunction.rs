//! Documents that at least so many of several matchers match.
//!
//! A linear pass over where the children stand finds the least document, and only those that stand
//! before it are called. The pruned way to the top of a disjunction is in `rank`; this one serves
//! inside other nodes.
//!
//! Invariant: once `started`, each child stands on its document in `stands`.

use super::matcher::{Matcher, PagePrefetch, ScoreBounds, for_all};
use super::matches::DocRange;
use super::page_ends::PageEnds;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};

/// Matches what at least `minimum` of its children match.
pub struct Disjunction {
    children: Vec<Box<dyn Matcher>>,
    /// The document of each child. Many children are passed over by a look at this alone.
    stands: Vec<DocId>,
    /// Set once all children were advanced.
    started: bool,
    minimum: usize,
    doc: DocId,
}

impl Disjunction {
    /// The documents that at least `minimum` (one or more) of `children` match.
    pub fn new(children: Vec<Box<dyn Matcher>>, minimum: usize) -> Disjunction {
        Disjunction {
            stands: vec![0; children.len()],
            children,
            started: false,
            minimum: minimum.max(1),
            doc: 0,
        }
    }

    /// Advances the children that stand before `target`.
    fn advance_all(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<()> {
        pages.count_steps(self.children.len())?;
        let started = self.started;
        let children = self.children.iter_mut().zip(&mut self.stands);
        let behind = children.filter(|(_, doc)| !started || **doc < target);
        for_all(behind, |(child, doc)| {
            *doc = child.advance(target, pages)?;
            Ok(())
        })?;
        self.started = true;
        Ok(())
    }

    /// The least document that a child stands on, and how many children stand there.
    fn least(&self) -> (DocId, usize) {
        let least = self.stands.iter().fold(END, |least, doc| least.min(*doc));
        let there = self.stands.iter().filter(|doc| **doc == least);
        (least, there.count())
    }
}

impl Matcher for Disjunction {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let mut target = target;
        loop {
            self.advance_all(target, pages)?;
            let (doc, count) = self.least();
            if doc == END || count >= self.minimum {
                self.doc = doc;
                return Ok(doc);
            }
            target = doc + 1;
        }
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        let doc = self.doc;
        let children = self.children.iter_mut().zip(&self.stands);
        let here = children.filter(|(_, stands)| **stands == doc);
        here.for_each(|(child, _)| child.collect(frequencies));
    }

    fn buffer_bytes(&self) -> usize {
        self.children.iter().map(|child| child.buffer_bytes()).sum()
    }

    fn cost(&self) -> u64 {
        self.children.iter().map(|child| child.cost()).sum()
    }

    fn cost_min(&self) -> u64 {
        let children = self.children.iter().map(|child| child.cost_min());
        match self.minimum {
            1 => children.max().unwrap_or(0),
            _ => 0,
        }
    }
}

impl ScoreBounds for Disjunction {
    fn page_end(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let mut ends = PageEnds::of(self.children.len());
        for_all(&mut self.children, |child| {
            ends.add(child.page_end(target, pages)?);
            Ok(())
        })?;
        Ok(ends.end())
    }

    fn bound_within(
        &mut self,
        range: DocRange,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        for_all(&mut self.children, |child| {
            child.bound_within(range, pages, scores)
        })
    }
}

impl PagePrefetch for Disjunction {
    fn open(&mut self, whole: bool, pages: &mut Pages<'_>) -> Step<()> {
        for_all(&mut self.children, |child| child.open(whole, pages))
    }

    fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        for_all(&mut self.children, |child| child.prefetch(docs, pages))
    }

    fn prefetch_within(&mut self, range: DocRange, pages: &mut Pages<'_>) -> Step<()> {
        for_all(&mut self.children, |child| {
            child.prefetch_within(range, pages)
        })
    }

    fn docs_pages(&self) -> u64 {
        self.children.iter().map(|child| child.docs_pages()).sum()
    }
}
