//! The cursor over one term's list. (Signatures; the bodies follow.)

use super::entry::TermEntry;
use super::fragment::Fragment;
use crate::base::{DocId, Error, Result};
use crate::cache::{Pages, Step};

/// The most pairs of a bound.
pub const PAIRS_MAX: usize = 8;

/// A frequency and a norm that some posting may have together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The frequency.
    pub frequency: u32,
    /// The norm: Lucene's one-byte field length, smaller is shorter and scores higher.
    pub norm: u8,
}

/// No posting among the docs up to `last` scores higher than the best of `pairs()`.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The last doc for which the bound holds; `END` when the list has ended.
    pub last: DocId,
    pairs: [Pair; PAIRS_MAX],
    count: u8,
}

impl Bound {
    /// The competitive pairs; none when there is no posting.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs[..self.count as usize]
    }
}

/// Reads one term's list in doc order.
#[derive(Clone, Debug)]
pub struct TermCursor {
    doc: DocId,
}

impl TermCursor {
    /// A cursor over an entry's chunks and tail, then the memory part.
    pub fn new(entry: Option<TermEntry>, memory: Option<Fragment>) -> Result<TermCursor> {
        let _ = (entry, memory);
        Err(Error::invalid("unfinished"))
    }
    /// Documents that have the term.
    pub fn document_frequency(&self) -> u64 {
        0
    }
    /// Tokens of the term.
    pub fn total_frequency(&self) -> u64 {
        0
    }
    /// The current doc; `END` after the last. Before the first `advance` or `next` it means nothing.
    pub fn doc(&self) -> DocId {
        self.doc
    }
    /// Moves to the first doc `>= target`; never back.
    pub fn advance(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<DocId> {
        let _ = (target, pages);
        Ok(0)
    }
    /// Moves to the next doc (to the first, at the start).
    pub fn next(&mut self, pages: &mut Pages<'_>) -> Step<DocId> {
        let _ = pages;
        Ok(0)
    }
    /// The current doc's frequency. No I/O.
    pub fn frequency(&mut self) -> u32 {
        0
    }
    /// The current doc's positions, put into `out`.
    pub fn positions(&mut self, pages: &mut Pages<'_>, out: &mut Vec<u32>) -> Step<()> {
        let _ = (pages, out);
        Ok(())
    }
    /// A bound for the docs `target..=last` from the heads alone: the page that would hold `target`.
    pub fn bound(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Bound> {
        let _ = (target, pages);
        Err(Error::invalid("unfinished").into())
    }
    /// A closer bound, for the block that would hold `target`, if its page is the current one. No I/O.
    pub fn block_bound(&self, target: DocId) -> Option<Bound> {
        let _ = target;
        None
    }
    /// A bound for the whole list.
    pub fn list_bound(&mut self, pages: &mut Pages<'_>) -> Step<Bound> {
        let _ = pages;
        Err(Error::invalid("unfinished").into())
    }
    /// Notes the pages needed to look up these ascending docs; stops only if a head is missing.
    pub fn prefetch(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        let _ = (docs, pages);
        Ok(())
    }
    /// Notes the pages with the positions of these ascending docs.
    pub fn prefetch_positions(&mut self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        let _ = (docs, pages);
        Ok(())
    }
    /// Notes the next `max_pages` pages of a scan that starts at `target`.
    pub fn prefetch_from(
        &mut self,
        target: DocId,
        max_pages: usize,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        let _ = (target, max_pages, pages);
        Ok(())
    }
    /// Docs and frequencies from the current doc to the end of its decoded block; `advance` to the last
    /// doc + 1 goes on behind it. Empty at the start and at the end.
    pub fn block(&mut self) -> (&[DocId], &[u32]) {
        (&[], &[])
    }
}
