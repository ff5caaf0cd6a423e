//! Documents of a block are ruled out by their own scores, where their norms are at hand.

use super::TermMatcher;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::search::bm25::Bm25;
use crate::search::formula::Leaf;
use crate::search::matcher::{Matcher, Offers};
use crate::search::matches::Matches;

impl TermMatcher {
    /// Gives out those of the first `count` documents of the decoded block that score above the floor or may do so,
    /// until there are `most`. Tells how many it looked at; nothing if it cannot tell their scores.
    pub(super) fn give_above(
        &mut self,
        count: usize,
        most: usize,
        out: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Option<usize> {
        let (Some((leaf, Leaf::Ranked { bm25, .. })), Some(norms)) =
            (&self.scored, &mut self.norms)
        else {
            return None;
        };
        let least = bm25.least_product(self.floor);
        let (docs, frequencies) = self.cursor.block();
        let (docs, frequencies) = (&docs[..count], &frequencies[..count]);
        let (mut at, end) = (0, out.len().saturating_add(most));
        while at < count && out.len() < end {
            let (docs, frequencies) = (&docs[at..], &frequencies[at..]);
            let Some(norms) = norms_of(docs, norms, pages) else {
                out.extend(&docs[..1], &frequencies[..1], Some(*leaf));
                at += 1;
                continue;
            };
            let (above, screened) = above(bm25, least, docs, frequencies, norms, &mut self.places);
            for place in above {
                if out.len() == end {
                    return Some(at + *place as usize);
                }
                out.set(out.len(), *leaf, frequencies[*place as usize] as f32);
                out.push(docs[*place as usize]);
            }
            at += screened;
        }
        Some(at)
    }

    /// Passes over blocks in which nothing can enter, or else offers what the next block has up to `to`. Gives the
    /// first document that was not looked at.
    pub(super) fn offer_next(
        &mut self,
        next: DocId,
        to: DocId,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        self.floor = offers.top.threshold();
        if let Some(last) = self.skippable(next, pages)? {
            offers.passed_over = true;
            return Ok(last.saturating_add(1));
        }
        match self.cursor.advance(next, pages)? <= to {
            true => Ok(self.offer_block(to, offers, left, pages)),
            false => Ok(to.saturating_add(1)),
        }
    }

    fn offer_block(
        &mut self,
        to: DocId,
        offers: &mut Offers<'_>,
        left: &mut Matches,
        pages: &mut Pages<'_>,
    ) -> DocId {
        let leaf = self.leading_leaf();
        let (docs, frequencies) = self.cursor.block();
        let count = docs.partition_point(|doc| *doc <= to);
        let (mut docs, mut frequencies) = (&docs[..count], &frequencies[..count]);
        let next = docs.last().map_or(to, |doc| *doc).saturating_add(1);
        while let (Some((_, Leaf::Ranked { bm25, .. })), Some(norms)) =
            (&self.scored, &mut self.norms)
            && let Some(norms) = norms_of(docs, norms, pages)
        {
            let least = bm25.least_product(offers.top.threshold());
            let (above, screened) = above(bm25, least, docs, frequencies, norms, &mut self.places);
            for place in above.iter().map(|place| *place as usize) {
                let norm = norms[(docs[place] - docs[0]) as usize];
                let score = bm25.score(frequencies[place] as f32, norm);
                offers.top.offer(docs[place], score);
            }
            offers.seen += screened as u64;
            (docs, frequencies) = (&docs[screened..], &frequencies[screened..]);
        }
        left.extend(docs, frequencies, leaf);
        next
    }
}

/// The norms at hand of the first of some documents and of those behind it.
fn norms_of<'a>(
    docs: &[DocId],
    norms: &'a mut NormCursor,
    pages: &mut Pages<'_>,
) -> Option<&'a [u8]> {
    norms.at_hand(*docs.first()?, pages)
}

/// The places of the documents with norms in which the product that the score ascends with is above `least`, and the
/// number of documents with norms. The first norm is that of the first document.
fn above<'a>(
    bm25: &Bm25,
    least: f32,
    docs: &[DocId],
    frequencies: &[u32],
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
