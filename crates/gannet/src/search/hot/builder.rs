//! Decodes a list, a stretch at a time, so that no query has to wait long for it.

use std::sync::Arc;

use super::groups::WINDOW;
use super::list::{BestShares, DecodedPostings, HotList, Origin, ROUNDING};
use super::norms::NormColumn;
use crate::base::DocId;
use crate::cache::{Pages, SpareBytes, Step};
use crate::postings::{Pair, TermCursor};
use crate::search::matching::matcher::BLOCK_STEPS;
use crate::search::scoring::scorer::Scorer;
use crate::search::scoring::term_scorer::TermScorer;

/// Postings that one use decodes at most, about.
const POSTINGS: usize = 1 << 16;

/// A list that is being decoded.
pub struct HotBuilder {
    /// All documents below this will be in it.
    until: DocId,
    /// The first document that was not looked at.
    next: DocId,
    /// Scores all its postings, by these norms.
    scorer: Scorer,
    norms: Arc<NormColumn>,
    origin: Origin,
    postings: DecodedPostings,
    best: BestShares,
    memory: SpareBytes,
}

/// The result of a step of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildProgress {
    /// There is more.
    More,
    /// That was all.
    Done,
    /// Too many of its frequencies are too large.
    Unfit,
}

impl HotBuilder {
    /// Will decode a list of about so many postings, as far as norms go, in `memory` of
    /// [`HotList::bytes`]. No posting scores better than the best of `pairs`.
    pub fn new(
        postings: usize,
        pairs: &[Pair],
        scorer: Scorer,
        norms: Arc<NormColumn>,
        origin: Origin,
        memory: SpareBytes,
    ) -> HotBuilder {
        let most = scorer.best(pairs) / scorer.most() + ROUNDING;
        HotBuilder {
            until: norms.below(),
            next: 0,
            postings: DecodedPostings {
                docs: Vec::with_capacity(postings + WINDOW),
                steps: Vec::with_capacity(postings),
                step: most.min(1.0) / f32::from(u8::MAX),
                frequencies: Vec::with_capacity(postings),
                long: Vec::with_capacity(HotList::long_max(postings)),
            },
            best: BestShares::new(postings),
            scorer,
            norms,
            origin,
            memory,
        }
    }

    /// One past the last document that will be in it.
    pub fn until(&self) -> DocId {
        self.until
    }

    /// The newest state of the index that it was made from.
    pub fn state(&self) -> u64 {
        self.origin.state
    }

    /// Goes on for a stretch of the list of `cursor`, which is of this origin.
    pub fn go_on(
        &mut self,
        cursor: &mut TermCursor,
        origin: Origin,
        pages: &mut Pages<'_>,
    ) -> Step<BuildProgress> {
        self.origin = self.origin.joined(origin);
        let most = self.postings.docs.len() + POSTINGS;
        while self.postings.docs.len() < most {
            pages.count_steps(BLOCK_STEPS)?;
            cursor.advance(self.next, pages)?;
            let (docs, frequencies) = cursor.block();
            let count = docs.partition_point(|doc| *doc < self.until);
            let Some(last) = docs[..count].last() else {
                return Ok(BuildProgress::Done);
            };
            self.next = last + 1;
            if !self.take(&docs[..count], &frequencies[..count]) {
                return Ok(BuildProgress::Unfit);
            }
        }
        Ok(BuildProgress::More)
    }

    /// Takes postings. Tells if their frequencies fit.
    fn take(&mut self, docs: &[DocId], frequencies: &[u32]) -> bool {
        let (postings, weight) = (&mut self.postings, self.scorer.most());
        for (doc, frequency) in docs.iter().zip(frequencies) {
            let score = self.scorer.score(*frequency as f32, self.norms.of(*doc));
            let share = score / weight + ROUNDING;
            self.best.take(share);
            let step = (share / postings.step).ceil();
            postings.steps.push(step.clamp(1.0, 255.0) as u8);
            if *frequency >= u32::from(u8::MAX) {
                if postings.long.len() == postings.long.capacity() {
                    return false;
                }
                let ordinal = postings.frequencies.len() as u32;
                postings.long.push((ordinal, *frequency));
            }
            let byte = u8::try_from(*frequency).unwrap_or(u8::MAX);
            postings.frequencies.push(byte);
        }
        postings.docs.extend_from_slice(docs);
        true
    }

    /// Makes the list.
    pub fn finish(self) -> HotList {
        let best = self.best.into_sorted();
        HotList::new(self.postings, self.until, best, self.origin, self.memory)
    }
}
