//! Matchers whose documents all have the same score: the union of many lists, all documents of a field, all
//! documents, one document.

use super::formula::LeafId;
use super::matcher::{Matcher, for_all};
use crate::base::{Budget, DocId, END, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::postings::TermCursor;

/// A constant score: the leaf and its value; nothing where the node only filters.
pub type ConstantLeaf = Option<(LeafId, f32)>;

/// Documents whose bits share a chunk of a [`DocSet`].
const CHUNK_DOCS: usize = 1 << 16;
const WORDS: usize = CHUNK_DOCS / 64;

/// A set of documents: one bit each, in chunks that exist where the set has members. After the bitmaps of
/// Roaring (Chambi et al., 2016), without their other containers.
pub struct DocSet {
    chunks: Vec<Option<Box<[u64; WORDS]>>>,
    reserved: Reservation,
}

impl DocSet {
    /// An empty set that takes its memory from `budget`.
    pub fn new(budget: &Budget) -> Result<DocSet> {
        Ok(DocSet {
            chunks: Vec::new(),
            reserved: budget.reserve("the documents of a prefix, wildcard or range", 0)?,
        })
    }

    /// Adds a document.
    pub fn insert(&mut self, doc: DocId) -> Result<()> {
        let at = doc as usize / CHUNK_DOCS;
        if self.chunks.len() <= at {
            self.chunks.resize_with(at + 1, || None);
        }
        if self.chunks[at].is_none() {
            let bytes = self.reserved.bytes() + size_of::<[u64; WORDS]>();
            self.reserved.grow_to(bytes)?;
        }
        let chunk = self.chunks[at].get_or_insert_with(|| Box::new([0; WORDS]));
        chunk[doc as usize % CHUNK_DOCS / 64] |= 1 << (doc % 64);
        Ok(())
    }

    /// The first member from `target` on, or [`END`].
    pub fn next(&self, target: DocId) -> DocId {
        let first = target as usize / CHUNK_DOCS;
        let mut word = target as usize % CHUNK_DOCS / 64;
        let mut mask = u64::MAX << (target % 64);
        for (at, chunk) in self.chunks.iter().enumerate().skip(first) {
            if let Some(chunk) = chunk {
                for (place, bits) in chunk.iter().enumerate().skip(word) {
                    let bits = bits & mask;
                    mask = u64::MAX;
                    if bits != 0 {
                        let bit = bits.trailing_zeros() as usize;
                        return (at * CHUNK_DOCS + place * 64 + bit) as DocId;
                    }
                }
            }
            (word, mask) = (0, u64::MAX);
        }
        END
    }
}

/// What the matchers of this file differ in: how the next document is found.
pub trait Source: Send {
    /// The first document from `target` on, or [`END`].
    fn next(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId>;

    /// About how many documents there are.
    fn cost(&self) -> u64;
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

/// Pages of each list that are read ahead into a union.
const UNION_PAGES: usize = 64;

impl Source for Union {
    fn next(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let set = &mut self.set;
        for_all(&mut self.cursors, |cursor| read_all(cursor, set, pages))?;
        self.cursors.clear();
        Ok(set.next(target))
    }

    fn cost(&self) -> u64 {
        self.cost
    }
}

/// Adds all documents of a list; called again after a stop, it goes on behind the last.
fn read_all(cursor: &mut TermCursor, set: &mut DocSet, pages: &mut Pages<'_>) -> Step<()> {
    let mut next = 0;
    loop {
        pages.count_steps(1)?;
        let doc = match cursor.advance(next, pages) {
            Ok(doc) => doc,
            Err(stop) => {
                if pages.reads_ahead() && pages.has_room() {
                    if cursor.docs_pages() <= UNION_PAGES as u64 {
                        cursor.prefetch_whole(pages)?;
                    }
                    cursor.prefetch_from(next.max(cursor.doc()), UNION_PAGES, pages)?;
                }
                return Err(stop);
            }
        };
        if doc == END {
            return Ok(());
        }
        set.insert(doc)?;
        next = doc + 1;
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

    fn prefetch(&mut self, _: &[DocId], _: &mut Pages<'_>) -> Step<()> {
        Ok(())
    }

    fn prefetch_within(&mut self, _: DocId, _: DocId, _: &mut Pages<'_>) -> Step<()> {
        Ok(())
    }

    fn bound(&mut self, _: DocId, _: &mut Pages<'_>, scores: &mut [f32]) -> Step<DocId> {
        if let Some((leaf, score)) = self.leaf {
            scores[leaf] = score;
        }
        Ok(END)
    }

    fn bound_within(
        &mut self,
        from: DocId,
        _: DocId,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        self.bound(from, pages, scores).map(|_| ())
    }

    fn cost(&self) -> u64 {
        self.source.cost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_its_members_in_order() {
        let mut set = DocSet::new(&Budget::new(1 << 20)).unwrap();
        let members = [0, 63, 64, 65_535, 65_536, 300_000];
        for doc in members {
            set.insert(doc).unwrap();
        }
        let mut found = Vec::new();
        let mut next = set.next(0);
        while next != END {
            found.push(next);
            next = set.next(next + 1);
        }
        assert_eq!(found, members);
        assert_eq!((set.next(66), set.next(300_001)), (65_535, END));
    }

    #[test]
    fn a_set_is_refused_beyond_the_budget() {
        let mut set = DocSet::new(&Budget::new(10_000)).unwrap();
        set.insert(1).unwrap();
        assert!(set.insert(1 << 20).is_err());
    }
}
