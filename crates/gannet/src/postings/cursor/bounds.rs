//! Bounds: what the docs ahead can score at most, known before they are read.

use super::{Part, TermCursor};
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
use crate::postings::docs_page::DocsPage;
use crate::postings::frontier::{Frontier, Pair};

/// No posting among the docs up to `last` scores higher than the best of `pairs()`.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The last doc for which the bound holds; `END` when the list has ended.
    pub last: DocId,
    frontier: Frontier,
}

impl Bound {
    /// The competitive pairs; none when there is no posting.
    pub fn pairs(&self) -> &[Pair] {
        self.frontier.pairs()
    }

    fn none() -> Bound {
        Bound {
            last: END,
            frontier: Frontier::default(),
        }
    }
}

/// For each block of a page from one on: the last doc, and the competitive pairs of the docs up to it.
pub struct BlockBounds<'a> {
    page: Option<&'a DocsPage>,
    block: usize,
}

impl<'a> Iterator for BlockBounds<'a> {
    type Item = (DocId, &'a [Pair]);

    #[inline]
    fn next(&mut self) -> Option<(DocId, &'a [Pair])> {
        let (page, block) = (self.page?, self.block);
        let last = page.blocks().get(block)?.last;
        self.block += 1;
        Some((last, page.pairs(block)))
    }
}

impl TermCursor {
    /// A bound for the docs `target..=last`: the page that would hold `target`, from the heads alone.
    pub fn bound(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Bound> {
        self.open(pages)?;
        let part = self.part_of(target);
        match self.parts.get(part) {
            None => Ok(Bound::none()),
            Some(Part::Fragment(fragment)) => Ok(Bound {
                last: self.parts[part].last(),
                frontier: fragment.frontier(),
            }),
            Some(Part::Chunk(_)) => {
                let found = self.locate(part, target, pages)?;
                let frontier = match &self.index_page {
                    Some((p, _, index)) if *p == part => index.frontier(&found)?,
                    _ => self.parts[part].head()?.page_frontier(&found)?,
                };
                let last = found.last;
                Ok(Bound { last, frontier })
            }
        }
    }

    /// Closer bounds, if the page is at hand that would hold `target`: for each of its blocks from there on the
    /// last doc and the competitive pairs of the docs up to it. Reads nothing.
    #[inline]
    pub fn block_bounds(&self, target: DocId) -> BlockBounds<'_> {
        let part = self.part_of(target);
        let page = self.page.as_ref().filter(|page| page.part == part);
        let page = page.map(|page| &*page.docs);
        // Before the page there may be docs in the page before it.
        let page = page.filter(|docs| docs.starts_by(target));
        BlockBounds {
            block: page.map_or(0, |page| page.find(target, self.decoded.block)),
            page,
        }
    }

    /// Brings the page that would hold `target` to hand, for [`TermCursor::block_bounds`], unless the cursor is
    /// there or beyond. It must go on from `target` then.
    pub fn look_at(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<()> {
        if self.started && target <= self.doc {
            return Ok(());
        }
        self.open(pages)?;
        let part = self.part_of(target);
        match self.parts.get(part) {
            Some(Part::Chunk(_)) => self.turn_to(part, target, pages),
            _ => Ok(()),
        }
    }

    /// A bound for the whole list.
    pub fn list_bound(&mut self, pages: &mut Pages<'_>) -> Step<Bound> {
        self.open(pages)?;
        let mut bound = Bound::none();
        for part in &self.parts {
            bound.frontier.merge(&part.frontier()?);
            bound.last = part.last();
        }
        Ok(bound)
    }
}
