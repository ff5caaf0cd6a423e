//! Offering documents as they are found: where a query is one clause and norms are at hand, no batch is needed to
//! know a score, and the threshold of the moment rules more out than that of the batch before.

use super::Ranker;
use crate::base::DocId;
use crate::cache::{Pages, Step};
use crate::documents::NormCursor;
use crate::search::matcher::Offers;
use crate::search::matches::Matches;

/// What was found in a stretch.
pub(super) struct Direct {
    found: Matches,
    /// The norms of each field.
    norms: Vec<Vec<u8>>,
    scores: Vec<f32>,
}

impl Direct {
    /// Room for a query with so many leaves and fields.
    pub(super) fn new(leaves: usize, fields: usize) -> Direct {
        Direct {
            found: Matches::new(0..leaves),
            norms: vec![Vec::new(); fields],
            scores: Vec::new(),
        }
    }
}

impl Ranker {
    /// Whether what the only clause matches counts as it is, so that it can be offered at once.
    pub(super) fn is_direct(&self) -> bool {
        let only = self.root.clauses.len() == 1;
        only && self.options.prune && !self.tentative && self.live.all_live(self.options.below)
    }

    /// Offers what the only clause, a leaf, matches in a window, as long as the scores are at hand.
    pub(super) fn offer_leaf(
        &mut self,
        window: usize,
        last: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let (range, limit) = ((self.next, last), self.batch);
        let matcher = &mut self.root.clauses[0].matcher;
        let mut offers = Offers {
            top: &mut self.top,
            seen: 0,
            passed_over: false,
        };
        let offered = self.candidates.gather(window as u32, |left| {
            matcher.offer(range, limit, &mut offers, left, pages)
        });
        self.total += offers.seen;
        self.total_is_exact &= !offers.passed_over;
        offered
    }

    /// Offers what the only clause matches in a stretch of a window, if the scores are at hand; else they are
    /// candidates.
    pub(super) fn offer_found(
        &mut self,
        direct: &mut Direct,
        window: usize,
        (from, to): (DocId, DocId),
        pages: &mut Pages<'_>,
    ) -> Step<DocId> {
        let limit = self.batch - self.candidates.len();
        let matcher = &mut self.root.clauses[0].matcher;
        let next = matcher.gather(from, to, limit, &mut direct.found, pages)?;
        let found = &mut direct.found;
        if self.norms_at_hand(found.docs(), &mut direct.norms, pages) {
            self.offer_all(found, &direct.norms, &mut direct.scores);
        } else {
            self.candidates.gather(window as u32, |matches| {
                matches.append(found, 0..found.len())
            });
        }
        found.clear();
        Ok(next)
    }

    /// Gathers the norms of documents, field by field. Tells whether all are at hand.
    fn norms_at_hand(
        &mut self,
        docs: &[DocId],
        norms: &mut [Vec<u8>],
        pages: &mut Pages<'_>,
    ) -> bool {
        let mut fields = self.norms.iter_mut().zip(norms);
        fields.all(|(cursor, norms)| {
            norms.clear();
            norms_at_hand(cursor, docs, norms, pages)
        })
    }

    fn offer_all(&mut self, found: &mut Matches, norms: &[Vec<u8>], scores: &mut Vec<f32>) {
        for leaf in 0..self.score.leaves().len() {
            self.score.score_found(leaf, found, norms);
        }
        self.total += found.len() as u64;
        self.formula.values(found, scores);
        let mut threshold = self.top.threshold();
        for (doc, score) in found.docs().iter().zip(scores) {
            // Ties go to the smaller document, and what is behind a stop may be smaller.
            if *score >= threshold {
                self.top.offer(*doc, *score);
                threshold = self.top.threshold();
            }
        }
    }
}

/// Appends the norms of ascending docs; false if one is not at hand.
fn norms_at_hand(
    cursor: &mut NormCursor,
    docs: &[DocId],
    norms: &mut Vec<u8>,
    pages: &mut Pages<'_>,
) -> bool {
    while let Some(first) = docs.get(norms.len()) {
        let Some(page) = cursor.at_hand(*first, pages) else {
            return false;
        };
        let rest = docs[norms.len()..].iter();
        norms.extend(rest.map_while(|doc| page.get((doc - first) as usize)));
    }
    true
}
