//! Matchers whose documents all have the same score: the union of lists, a set, all documents of a
//! field by its norms or its values, all documents, one document.

use std::sync::Arc;

use super::doc_set::DocSet;
use super::matcher::{Matcher, PagePrefetch, ScoreBounds, for_all};
use super::matches::DocRange;
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::columns::PresentDocs;
use crate::documents::NormCursor;
use crate::postings::TermCursor;
use crate::search::scoring::formula::LeafId;

/// A constant score: the leaf and its value; nothing where the node only filters.
pub type ConstantLeaf = Option<(LeafId, f32)>;

/// Finds the next document: the only part in which the matchers of this file differ.
pub trait Source: Send {
    /// The first document from `target` on, or [`END`].
    fn next(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId>;

    /// About how many documents there are.
    fn cost(&self) -> u64;

    /// The number of documents, if it is known.
    fn documents(&self) -> Option<u64> {
        None
    }
}

/// The union of many lists, read whole into a set when it is first asked.
pub struct Union {
    cursors: Vec<TermCursor>,
    cost: u64,
    set: DocSet,
}

impl Union {
    /// The documents of `cursors`.
    pub fn new(cursors: Vec<TermCursor>, set: DocSet) -> Union {
        let cost = cursors.iter().map(TermCursor::document_frequency).sum();
        Union { cursors, cost, set }
    }
}

impl Source for Union {
    fn next(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let set = &mut self.set;
        for_all(&mut self.cursors, |cursor| set.insert_all(cursor, pages))?;
        self.cursors.clear();
        Ok(set.next(target))
    }

    fn cost(&self) -> u64 {
        self.cost
    }
}

/// The documents of a set that is complete.
pub struct SetMembers(pub Arc<DocSet>);

impl Source for SetMembers {
    fn next(&mut self, target: DocId, _: &mut Pages<'_>) -> Step<DocId> {
        Ok(self.0.next(target))
    }

    fn cost(&self) -> u64 {
        self.0.count()
    }

    fn documents(&self) -> Option<u64> {
        Some(self.0.count())
    }
}

/// Documents in which a field has a norm.
pub struct HasField {
    norms: NormCursor,
    below: DocId,
    documents: u64,
}

impl HasField {
    /// The documents below `below` whose norm is not 0, `documents` of them.
    pub fn new(norms: NormCursor, below: DocId, documents: u64) -> HasField {
        HasField {
            norms,
            below,
            documents,
        }
    }
}

impl Source for HasField {
    fn next(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        for doc in target..self.below {
            pages.count_steps(1)?;
            if self.norms.norm(doc, pages)? != 0 {
                return Ok(doc);
            }
        }
        Ok(END)
    }

    fn cost(&self) -> u64 {
        self.documents
    }
}

/// Documents that have a value of a field in its column.
pub struct HasValue {
    present: PresentDocs,
    documents: u64,
}

impl HasValue {
    /// The documents of `present`, about `documents` of them.
    pub fn new(present: PresentDocs, documents: u64) -> HasValue {
        HasValue { present, documents }
    }
}

impl Source for HasValue {
    fn next(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        self.present.next(target, pages)
    }

    fn cost(&self) -> u64 {
        self.documents
    }
}

/// Every document below a number.
pub struct Everything(pub DocId);

impl Source for Everything {
    fn next(&mut self, target: DocId, _: &mut Pages<'_>) -> Step<DocId> {
        Ok(if target < self.0 { target } else { END })
    }

    fn cost(&self) -> u64 {
        self.0 as u64
    }
}

/// One document.
pub struct One(pub DocId);

impl Source for One {
    fn next(&mut self, target: DocId, _: &mut Pages<'_>) -> Step<DocId> {
        Ok(if target <= self.0 { self.0 } else { END })
    }

    fn cost(&self) -> u64 {
        1
    }
}

/// Matches the documents of a source, all with one score.
pub struct ConstantMatcher<S> {
    source: S,
    leaf: ConstantLeaf,
    doc: Option<DocId>,
}

/// Matches nothing.
pub fn nothing() -> ConstantMatcher<Everything> {
    ConstantMatcher::new(Everything(0), None)
}

impl<S: Source> ConstantMatcher<S> {
    /// The documents of `source` with the score of `leaf`.
    pub fn new(source: S, leaf: ConstantLeaf) -> ConstantMatcher<S> {
        ConstantMatcher {
            source,
            leaf,
            doc: None,
        }
    }
}

impl<S: Source> Matcher for ConstantMatcher<S> {
    fn doc(&self) -> DocId {
        self.doc.unwrap_or(0)
    }

    fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        match self.doc {
            Some(doc) if doc >= target => Ok(doc),
            _ => {
                let doc = self.source.next(target, pages)?;
                self.doc = Some(doc);
                Ok(doc)
            }
        }
    }

    fn collect(&mut self, frequencies: &mut [f32]) {
        if let Some((leaf, _)) = self.leaf {
            frequencies[leaf] = 1.0;
        }
    }

    fn cost(&self) -> u64 {
        self.source.cost()
    }

    fn documents(&self) -> Option<u64> {
        self.source.documents()
    }
}

impl<S: Source> ScoreBounds for ConstantMatcher<S> {
    fn bound_within(&mut self, _: DocRange, _: &mut Pages<'_>, scores: &mut [f32]) -> Step<()> {
        if let Some((leaf, score)) = self.leaf {
            scores[leaf] = score;
        }
        Ok(())
    }
}

/// Nothing is read before it is asked for.
impl<S: Source> PagePrefetch for ConstantMatcher<S> {}
