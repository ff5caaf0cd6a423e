//! Bounds: what the docs ahead can score at most, known before they are read.

use super::{Part, TermCursor};
use crate::base::{DocId, END, Result};
use crate::cache::{Pages, Step};
use crate::postings::codec::docs_page::DocsPage;
use crate::postings::codec::impacts::{Impacts, Pair};

/// No posting among the docs up to `last` scores higher than the best of `pairs()`.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The last doc for which the bound holds; `END` when the list has ended.
    pub last: DocId,
    impacts: Impacts,
}

impl Bound {
    /// The impacts; none when there is no posting.
    pub fn pairs(&self) -> &[Pair] {
        self.impacts.pairs()
    }

    fn none() -> Bound {
        Bound {
            last: END,
            impacts: Impacts::default(),
        }
    }
}

/// The blocks of the page at hand from one on.
#[derive(Clone, Copy)]
pub struct BlocksAhead<'a> {
    /// The serial number of the page that the cursor took to hand: another number, another page.
    pub page_serial: u64,
    page: &'a DocsPage,
    first: usize,
}

impl<'a> BlocksAhead<'a> {
    /// The last docs of the blocks.
    #[inline]
    pub fn lasts(self) -> impl Iterator<Item = DocId> + 'a {
        self.page.blocks()[self.first..]
            .iter()
            .map(|block| block.last)
    }

    /// The number of the first of them in its page.
    pub fn first(self) -> usize {
        self.first
    }

    /// Returns the number of blocks of the page.
    pub fn all(self) -> usize {
        self.page.blocks().len()
    }

    /// Gives the impacts of a block, by its number in the page, to `take`: no posting in it scores
    /// higher than the best of them.
    #[inline]
    pub fn each_pair(self, block: usize, take: impl FnMut(Pair)) -> Result<()> {
        self.page.each_pair(block, take)
    }
}

impl TermCursor {
    /// A bound for the docs `target..=last`: the page that would hold `target`, from the heads
    /// alone.
    pub fn bound(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<Bound> {
        self.open(pages)?;
        let part = self.part_of(target);
        match self.parts.get(part) {
            None => Ok(Bound::none()),
            Some(Part::Fragment(fragment)) => Ok(Bound {
                last: self.parts[part].last(),
                impacts: fragment.impacts(),
            }),
            Some(Part::Chunk(_)) => {
                let found = self.locate(part, target, pages)?;
                let impacts = match &self.index_page {
                    Some((p, _, index)) if *p == part => index.impacts(&found)?,
                    _ => self.parts[part].head()?.page_impacts(&found)?,
                };
                let last = found.last;
                Ok(Bound { last, impacts })
            }
        }
    }

    /// Blocks with closer bounds, if the page is at hand that would hold `target`: from the block
    /// on that would. Reads nothing.
    #[inline]
    pub fn blocks_ahead(&self, target: DocId) -> Option<BlocksAhead<'_>> {
        let part = self.part_of(target);
        let page = self.page.as_ref().filter(|page| page.part == part)?;
        // Before the page there may be docs in the page before it.
        let docs = Some(&*page.docs).filter(|docs| docs.starts_by(target))?;
        let first = docs.find(target, self.decoded.block);
        let blocks = BlocksAhead {
            page_serial: self.pages_taken,
            page: docs,
            first,
        };
        Some(blocks).filter(|blocks| blocks.first < blocks.all())
    }

    /// Brings the page that would hold `target` to hand, for [`TermCursor::blocks_ahead`], unless
    /// the cursor is there or beyond. It must go on from `target` then.
    pub fn look_at(&mut self, target: DocId, pages: &mut Pages<'_>) -> Step<()> {
        if self.started && target <= self.doc {
            return Ok(());
        }
        self.open(pages)?;
        let part = self.part_of(target);
        match self.parts.get(part) {
            Some(Part::Chunk(_)) => self.go_to_page(part, target, pages),
            _ => Ok(()),
        }
    }

    /// A bound for the whole list.
    pub fn list_bound(&mut self, pages: &mut Pages<'_>) -> Step<Bound> {
        self.open(pages)?;
        let mut bound = Bound::none();
        for part in &self.parts {
            bound.impacts.merge(&part.impacts()?);
            bound.last = part.last();
        }
        Ok(bound)
    }
}
