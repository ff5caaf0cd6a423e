//! A leaf whose documents one list gives: which of them need not be found because they score too little.
//!
//! Blocks are passed over by their bounds, and documents of a block by their own scores where their norms are at hand.

use super::bm25::Bm25;
use super::formula::{Leaf, LeafId};
use super::matcher::Offers;
use super::matches::Matches;
use super::term::best;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::postings::TermCursor;

/// Documents, and how often the leaf occurs in each.
pub type Occurring<'a> = (&'a [DocId], &'a [u32]);

/// A leaf that ranks the documents of a list, or gives all the same score.
pub struct ScoredLeaf {
    /// The leaf.
    pub leaf: LeafId,
    /// What its frequency is worth.
    pub how: Leaf,
    /// Scores up to this need not be found; negative if all must.
    pub floor: f32,
    /// What documents are screened by.
    norms: Option<NormCursor>,
    /// Places of documents that score enough, and room behind them.
    places: Vec<u32>,
}

impl ScoredLeaf {
    /// A leaf of which all documents must be found.
    pub fn new((leaf, how): (LeafId, Leaf)) -> ScoredLeaf {
        ScoredLeaf {
            leaf,
            how,
            floor: -1.0,
            norms: None,
            places: Vec::new(),
        }
    }

    /// Lets documents be left out that score at most `floor`. Tells whether any may be.
    pub fn skip_below(&mut self, floor: f32) -> bool {
        self.floor = floor;
        floor >= 0.0
    }

    /// Lets them be left out by their own scores too.
    pub fn screen(&mut self, norms: NormCursor) {
        self.norms = Some(norms);
    }

    /// The end of the blocks of a list from the one that would hold `target` on in which nothing scores above the
    /// floor.
    #[inline]
    pub fn skippable(
        &self,
        cursor: &mut TermCursor,
        target: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<Option<DocId>> {
        if self.floor < 0.0 {
            return Ok(None);
        }
        cursor.look_at(target, pages)?;
        let blocks = cursor.block_bounds(target);
        let low = blocks.take_while(|(_, pairs)| best(&self.how, pairs) <= self.floor);
        Ok(low.last().map(|(last, _)| last))
    }

    /// Gives out those of some documents that score above the floor or may do so, until there are `most`. Tells how
    /// many it looked at.
    #[inline]
    pub fn give(
        &mut self,
        (docs, frequencies): Occurring<'_>,
        most: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> usize {
        let (Leaf::Ranked { bm25, .. }, Some(norms), 0.0..) =
            (&self.how, &mut self.norms, self.floor)
        else {
            let count = docs.len().min(most);
            out.extend(&docs[..count], &frequencies[..count], Some(self.leaf));
            return count;
        };
        let least = bm25.least_product(self.floor);
        let (mut at, end) = (0, out.len().saturating_add(most));
        while at < docs.len() && out.len() < end {
            let (docs, frequencies) = (&docs[at..], &frequencies[at..]);
            let Some(norms) = norms.at_hand(docs[0], pages) else {
                out.extend(&docs[..1], &frequencies[..1], Some(self.leaf));
                at += 1;
                continue;
            };
            let places = &mut self.places;
            let (above, screened) = above(bm25, least, (docs, frequencies), norms, places);
            for place in above.iter().map(|place| *place as usize) {
                if out.len() == end {
                    return at + place;
                }
                out.set(out.len(), self.leaf, frequencies[place] as f32);
                out.push(docs[place]);
            }
            at += screened;
        }
        at
    }

    /// Offers documents as long as their norms are at hand, and puts the others into `left`.
    pub fn offer(
        &mut self,
        (docs, frequencies): Occurring<'_>,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) {
        let mut at = 0;
        while let (Leaf::Ranked { bm25, .. }, Some(norms)) = (&self.how, &mut self.norms)
            && let Some(first) = docs.get(at)
            && let Some(norms) = norms.at_hand(*first, pages)
        {
            let (docs, frequencies) = (&docs[at..], &frequencies[at..]);
            let least = bm25.least_product(offers.top.threshold());
            let places = &mut self.places;
            let (above, screened) = above(bm25, least, (docs, frequencies), norms, places);
            for place in above.iter().map(|place| *place as usize) {
                let norm = norms[(docs[place] - first) as usize];
                let score = bm25.score(frequencies[place] as f32, norm);
                offers.top.offer(docs[place], score);
            }
            at += screened;
        }
        offers.seen += at as u64;
        left.extend(&docs[at..], &frequencies[at..], Some(self.leaf));
    }

    /// See [`super::matcher::Matcher::bound_near`].
    pub fn bound_near(
        &self,
        cursor: &mut TermCursor,
        (from, to): (DocId, DocId),
        leads: bool,
        pages: &mut Pages<'_>,
        scores: &mut [f32],
    ) -> Step<bool> {
        if leads {
            cursor.look_at(from, pages)?;
        }
        let mut most = 0f32;
        for (last, pairs) in cursor.block_bounds(from) {
            most = most.max(best(&self.how, pairs));
            if last >= to {
                scores[self.leaf] = most;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The places of the documents with norms in which the product that the score ascends with is above `least`, and the
/// number of documents with norms. The first norm is that of the first document.
fn above<'a>(
    bm25: &Bm25,
    least: f32,
    (docs, frequencies): Occurring<'_>,
    norms: &[u8],
    places: &'a mut Vec<u32>,
) -> (&'a [u32], usize) {
    let first = docs[0];
    let count = docs.partition_point(|doc| ((doc - first) as usize) < norms.len());
    // Never shortened: what it had is written over.
    places.resize(places.len().max(count + 1), 0);
    let mut above = 0;
    for (place, (doc, frequency)) in docs[..count].iter().zip(frequencies).enumerate() {
        let norm = norms[(doc - first) as usize];
        // Written in any case: a branch could not be predicted.
        places[above] = place as u32;
        above += usize::from(*frequency as f32 * bm25.inverse(norm) > least);
    }
    (&places[..above], count)
}
