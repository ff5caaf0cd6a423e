//! Bounds: what the docs ahead can score at most, known before they are read.

use super::{Part, TermCursor};
use crate::base::{DocId, END};
use crate::cache::{Pages, Step};
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
                Ok(Bound {
                    last: found.last,
                    frontier: found.frontier,
                })
            }
        }
    }

    /// A closer bound for the docs `target..=last`: the block that would hold `target`, if its page is at
    /// hand. Reads nothing.
    pub fn block_bound(&self, target: DocId) -> Option<Bound> {
        let part = self.part_of(target);
        match self.parts.get(part)? {
            Part::Fragment(_) => self.decoded_bound(part, target),
            Part::Chunk(_) => {
                let page = self.page.as_ref().filter(|page| page.part == part)?;
                let first = page.docs.blocks()[0].before;
                // Before the page there may be docs in the page before it.
                let in_page = first == END || target > first;
                let block = page.docs.find(target);
                let last = page.docs.blocks().get(block)?.last;
                let frontier = page.docs.frontier(block).ok()?;
                in_page.then_some(Bound { last, frontier })
            }
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

    /// The bound of the decoded block of a fragment.
    fn decoded_bound(&self, part: usize, target: DocId) -> Option<Bound> {
        let length = self.decoded.length;
        let docs = &self.decoded.docs[..length];
        let inside = self.part == part && *docs.first()? <= target && target <= *docs.last()?;
        let frequency = self.decoded.frequencies[..length].iter().max().copied()?;
        inside.then(|| Bound {
            last: docs[length - 1],
            frontier: Frontier::of(Pair { frequency, norm: 0 }),
        })
    }
}
