//! Documents that at least so many of several matchers match.
//!
//! A linear pass over the children finds the least document; queries have few. The pruned way to
//! the top of a disjunction is in `rank`; this one serves inside other nodes.

use super::matcher::{DocRange, Matcher, PagePrefetch, ScoreBounds, for_all};
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};

/// Matches what at least `minimum` of its children match.
pub struct Disjunction {
    children: Vec<Box<dyn Matcher>>,
    minimum: usize,
    doc: DocId,
}

impl Disjunction {
    /// The documents that at least `minimum` (one or more) of `children` match.
    pub fn new(children: Vec<Box<dyn Matcher>>, minimum: usize) -> Disjunction {
        Disjunction {
            children,
            minimum: minimum.max(1),
            doc: 0,
        }
    }

    /// The least document that a child stands on, and how many children stand there.
    fn least(&self) -> (DocId, usize) {
        let mut least = (END, 0);
        for child in &self.children {
            let doc = child.doc();
            if doc < least.0 {
                least = (doc, 1);
            } else if doc == least.0 {
                least.1 += 1;
            }
        }
        least
    }
}

impl Matcher for Disjunction {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let mut target = target;
        loop {
            pages.count_steps(self.children.len())?;
            for_all(&mut self.children, |child| {
                child.advance(target, pages).map(|_| ())
            })?;
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
        let here = self.children.iter_mut().filter(|child| child.doc() == doc);
        here.for_each(|child| child.collect(frequencies));
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
        let mut last = END;
        for_all(&mut self.children, |child| {
            last = last.min(child.page_end(target, pages)?);
            Ok(())
        })?;
        Ok(last)
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
