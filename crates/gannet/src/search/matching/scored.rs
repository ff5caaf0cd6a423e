//! A leaf whose documents one list gives: which of them need not be found because they score too
//! little.
//!
//! Blocks are passed over by their bounds, and documents of a block by their own scores where their
//! norms are at hand.

use super::bests::Bests;
use super::matches::{DocRange, Matches};
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::postings::{Pair, TermCursor};
use crate::search::scoring::formula::{Leaf, LeafId};
use crate::search::scoring::scorer::Scorer;
use crate::search::scoring::term_scorer::TermScorer;
use crate::search::scoring::top::Top;

/// Ranges that span more pages of a list than this are bounded by the whole list.
const BOUND_PAGES_MAX: usize = 8;

/// Documents in which the leaf occurs, in ascending order.
#[derive(Clone, Copy)]
pub struct Occurring<'a> {
    /// The documents.
    pub docs: &'a [DocId],
    /// The frequency in each.
    pub frequencies: &'a [u32],
}

impl<'a> Occurring<'a> {
    /// The documents up to `to`.
    #[inline]
    fn up_to(self, to: DocId) -> Occurring<'a> {
        self.first(leading(self.docs, |doc| doc <= to))
    }

    /// The first `count` documents.
    #[inline]
    fn first(self, count: usize) -> Occurring<'a> {
        Occurring {
            docs: &self.docs[..count],
            frequencies: &self.frequencies[..count],
        }
    }

    /// The documents from a place on.
    #[inline]
    fn behind(self, at: usize) -> Occurring<'a> {
        Occurring {
            docs: &self.docs[at..],
            frequencies: &self.frequencies[at..],
        }
    }
}

/// Takes documents that are scored as soon as they are found.
pub struct Offers<'a> {
    /// The best documents so far.
    pub top: &'a mut Top,
    /// The number of documents that were offered or could not enter.
    pub seen: u64,
    /// Set if others were passed over.
    pub passed_over: bool,
}

/// The scores of a list's documents: those of a leaf, or none.
pub struct ListScore {
    scored: Option<(LeafId, Leaf)>,
    /// Scores up to this need not be found; negative if all must.
    floor: f32,
    /// The norms by which documents are prefiltered.
    norms: Option<NormCursor>,
    /// Places of documents that score enough, and room behind them.
    places: Vec<u32>,
    bests: Bests,
}

impl ListScore {
    /// A list of which all documents must be found.
    pub fn new(scored: Option<(LeafId, Leaf)>) -> ListScore {
        ListScore {
            scored,
            floor: -1.0,
            norms: None,
            places: Vec::new(),
            bests: Bests::default(),
        }
    }

    /// The leaf.
    pub fn leaf(&self) -> Option<LeafId> {
        self.scored.as_ref().map(|(leaf, _)| *leaf)
    }

    /// Lets documents be left out that score at most `floor`. Tells whether any may be.
    pub fn skip_below(&mut self, floor: f32) -> bool {
        self.floor = floor;
        self.scored.is_some() && floor >= 0.0
    }

    /// Lets them be left out by their own scores too.
    pub fn prefilter(&mut self, norms: NormCursor) {
        self.norms = Some(norms);
    }

    /// The end of the blocks of a list from the one that would hold `target` on in which nothing
    /// scores above the floor.
    #[inline]
    pub fn skippable(
        &mut self,
        cursor: &mut TermCursor,
        target: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<Option<DocId>> {
        let Some((_, how)) = self.scored.as_ref().filter(|_| self.floor >= 0.0) else {
            return Ok(None);
        };
        cursor.look_at(target, pages)?;
        let Some(blocks) = cursor.blocks_ahead(target) else {
            return Ok(None);
        };
        let bests = self.bests.of(blocks, how)?;
        let low = blocks.lasts().zip(bests);
        let low = low.take_while(|(_, best)| **best <= self.floor);
        Ok(low.last().map(|(last, _)| last))
    }

    /// Gives out those of a block's documents up to `to` that score above the floor or may do so,
    /// until there are `most`. Gives the first document that it did not look at.
    #[inline]
    pub fn give(
        &mut self,
        block: Occurring<'_>,
        to: DocId,
        most: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> DocId {
        let block = block.up_to(to);
        let looked_at = match (&self.scored, &mut self.norms, self.floor) {
            (Some((leaf, Leaf::Ranked { scorer, .. })), Some(norms), 0.0..) => {
                let least = scorer.least_product(self.floor);
                let (mut at, end) = (0, out.len().saturating_add(most));
                while at < block.docs.len() && out.len() < end {
                    let rest = block.behind(at);
                    let Some(norms) = norms.at_hand(rest.docs[0], pages) else {
                        let one = rest.first(1);
                        out.extend(one.docs, one.frequencies, Some(*leaf));
                        at += 1;
                        continue;
                    };
                    let (above, prefiltered) = above(scorer, least, rest, norms, &mut self.places);
                    at += give_places(above, prefiltered, rest, *leaf, end, out);
                }
                at
            }
            _ => {
                let given = block.first(block.docs.len().min(most));
                out.extend(given.docs, given.frequencies, self.leaf());
                given.docs.len()
            }
        };
        behind(&block.docs[..looked_at], to)
    }

    /// Offers a block's documents up to `to` as long as their norms are at hand, and puts the
    /// others into `left`. Gives the first document behind them.
    pub fn offer(
        &mut self,
        block: Occurring<'_>,
        to: DocId,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> DocId {
        let block = block.up_to(to);
        let mut at = 0;
        while let (Some((_, Leaf::Ranked { scorer, .. })), Some(norms)) =
            (&self.scored, &mut self.norms)
            && let Some(first) = block.docs.get(at)
            && let Some(norms) = norms.at_hand(*first, pages)
        {
            let rest = block.behind(at);
            let least = scorer.least_product(offers.top.threshold());
            let (above, prefiltered) = above(scorer, least, rest, norms, &mut self.places);
            for place in above.iter().map(|place| *place as usize) {
                let doc = rest.docs[place];
                let norm = norms[(doc - first) as usize];
                let score = scorer.score(rest.frequencies[place] as f32, norm);
                offers.top.offer(doc, score);
            }
            at += prefiltered;
        }
        offers.seen += at as u64;
        let rest = block.behind(at);
        left.extend(rest.docs, rest.frequencies, self.leaf());
        behind(block.docs, to)
    }

    /// Writes the best score of the documents of a range, by the head of the list.
    pub fn bound_within(
        &self,
        cursor: &mut TermCursor,
        range: DocRange,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<()> {
        if let Some((leaf, how)) = &self.scored {
            scores[*leaf] = best_within(cursor, how, range, pages)?;
        }
        Ok(())
    }

    /// Writes the best score of the documents of a range by the bounds of blocks, if the page at
    /// hand has all of them; where the list `leads`, takes their first page to hand. Tells whether
    /// it did.
    pub fn bound_near(
        &mut self,
        cursor: &mut TermCursor,
        range: DocRange,
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        let Some((leaf, how)) = &self.scored else {
            return Ok(true);
        };
        if leads {
            cursor.look_at(range.first, pages)?;
        }
        let Some(blocks) = cursor.blocks_ahead(range.first) else {
            return Ok(false);
        };
        let mut most = 0f32;
        for (last, best) in blocks.lasts().zip(self.bests.of(blocks, how)?) {
            most = if *best > most { *best } else { most };
            if last >= range.last {
                scores[*leaf] = most;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Counts the ascending documents before the first that is not `within`: most often all.
#[inline]
fn leading(docs: &[DocId], within: impl Fn(DocId) -> bool) -> usize {
    match docs.last() {
        Some(last) if !within(*last) => docs.partition_point(|doc| within(*doc)),
        _ => docs.len(),
    }
}

/// The document behind the last of these, or behind `to` if there is none.
fn behind(docs: &[DocId], to: DocId) -> DocId {
    docs.last().map_or(to, |doc| *doc).saturating_add(1)
}

/// Adds the documents at these places until there are `end`. Tells how many of `prefiltered` were
/// looked at.
#[inline]
fn give_places(
    places: &[u32],
    prefiltered: usize,
    from: Occurring<'_>,
    leaf: LeafId,
    end: usize,
    out: &mut Matches,
) -> usize {
    let room = (end - out.len()).min(places.len());
    out.extend_from(from.docs, from.frequencies, &places[..room], leaf);
    places.get(room).map_or(prefiltered, |next| *next as usize)
}

/// The places of the documents with norms in which the product that the score ascends with is above
/// `least`, and the number of documents with norms. The first norm is that of the first document.
fn above<'a>(
    scorer: &Scorer,
    least: f32,
    from: Occurring<'_>,
    norms: &[u8],
    places: &'a mut Vec<u32>,
) -> (&'a [u32], usize) {
    let first = from.docs[0];
    let count = leading(from.docs, |doc| ((doc - first) as usize) < norms.len());
    // Never shortened: what it had is written over.
    places.resize(places.len().max(count + 1), 0);
    let mut above = 0;
    let occurring = from.docs[..count].iter().zip(from.frequencies);
    for (place, (doc, frequency)) in occurring.enumerate() {
        let norm = norms[(doc - first) as usize];
        // Written in any case: a branch could not be predicted.
        places[above] = place as u32;
        above += usize::from(scorer.product(*frequency as f32, norm) > least);
    }
    (&places[..above], count)
}

/// The best score of `leaf` in a range of a list, by its head.
fn best_within(
    cursor: &mut TermCursor,
    leaf: &Leaf,
    range: DocRange,
    pages: &mut Pages<'_>,
) -> Step<f32> {
    let (mut most, mut at) = (0f32, range.first);
    for _ in 0..BOUND_PAGES_MAX {
        let bound = cursor.bound(at, pages)?;
        most = most.max(best(leaf, bound.pairs()));
        if bound.last >= range.last {
            return Ok(most);
        }
        at = bound.last + 1;
    }
    let list = cursor.list_bound(pages)?;
    Ok(best(leaf, list.pairs()))
}

/// The best score that impacts give.
pub fn best(leaf: &Leaf, pairs: &[Pair]) -> f32 {
    match leaf {
        Leaf::Ranked { scorer, .. } => scorer.best(pairs),
        Leaf::Constant(score) => *score,
    }
}
