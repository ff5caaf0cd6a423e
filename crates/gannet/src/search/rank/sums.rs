//! The sums of scores of a union all of whose documents are counted: only documents whose sums are
//! enough are put in order and scored by the formula. Without it such a union takes half as many
//! instructions again.

use super::score::Score;
use crate::base::DocId;
use crate::cache::Pages;
use crate::documents::NormCursor;
use crate::search::scoring::formula::LeafId;
use crate::search::scoring::scorer::Scorer;
use crate::search::scoring::term_scorer::TermScorer;
use crate::search::scoring::top::Top;

/// The parts that scores need.
pub(super) struct SumScorer<'a> {
    pub(super) score: &'a Score,
    pub(super) norms: &'a mut [NormCursor],
    pub(super) top: &'a Top,
}

impl SumScorer<'_> {
    /// The sum that must be exceeded; nothing as long as every document enters.
    pub(super) fn least(&self) -> Option<f32> {
        Some(self.top.least_sum(0.0)).filter(|least| *least >= 0.0)
    }
}

/// The sums of a range, by the low bits of documents; 0 where there is none, and between ranges.
#[derive(Default)]
pub(super) struct UnionSums(Vec<f32>);

impl UnionSums {
    /// Documents of a range at most: each has a place of its own.
    pub(super) const RANGE: usize = 1 << 15;

    /// Bytes that all places take.
    pub(super) const BYTES: usize = Self::RANGE * size_of::<f32>();

    /// Makes room for a range of so many documents.
    pub(super) fn begin(&mut self, length: usize) {
        let length = length.next_power_of_two();
        self.0.resize(self.0.len().max(length), 0.0);
    }

    /// Adds the scores of one leaf. Tells how many places had none before; nothing if the leaf does
    /// not rank, or a norm is not at hand.
    pub(super) fn add(
        &mut self,
        leaf: LeafId,
        mut docs: &[DocId],
        mut frequencies: &[f32],
        scorer: &mut SumScorer<'_>,
        pages: &mut Pages<'_>,
    ) -> Option<usize> {
        let (formula, field) = scorer.score.scorer(leaf)?;
        // A score of 0 would not tell that the document was found.
        let formula = Some(formula).filter(|formula| formula.most() > 0.0)?;
        let (norms, mut fresh) = (&mut scorer.norms[field], 0);
        while let Some(first) = docs.first() {
            let norms = norms.at_hand(*first, pages)?;
            let count =
                docs.partition_point(|doc| (doc.wrapping_sub(*first) as usize) < norms.len());
            let (here, behind) = docs.split_at(count);
            fresh += self.add_some(here, frequencies, formula, norms);
            (docs, frequencies) = (behind, &frequencies[count..]);
        }
        Some(fresh)
    }

    /// The same with the norms from the first document on.
    #[inline(never)]
    fn add_some(
        &mut self,
        docs: &[DocId],
        frequencies: &[f32],
        formula: &Scorer,
        norms: &[u8],
    ) -> usize {
        let Some(first) = docs.first() else { return 0 };
        let (sums, mut fresh) = (&mut self.0[..], 0);
        let mask = sums.len() - 1;
        for (doc, frequency) in docs.iter().zip(frequencies) {
            // A damaged list may name documents in any order.
            let norm = norms.get(doc.wrapping_sub(*first) as usize);
            let norm = norm.copied().unwrap_or_default();
            let sum = &mut sums[*doc as usize & mask];
            fresh += usize::from(*sum == 0.0);
            *sum += formula.score(*frequency, norm);
        }
        fresh
    }

    /// Writes the places of the documents whose sums exceed `least`.
    #[inline(never)]
    pub(super) fn above(&self, docs: &[DocId], least: f32, kept: &mut Vec<u32>) {
        kept.resize(docs.len(), 0);
        let (sums, mut count) = (&self.0[..], 0);
        let mask = sums.len() - 1;
        for (place, doc) in docs.iter().enumerate() {
            // Written in any case: a branch could not be predicted.
            kept[count] = place as u32;
            count += usize::from(sums[*doc as usize & mask] > least);
        }
        kept.truncate(count);
    }

    #[inline(never)]
    pub(super) fn clear(&mut self, docs: &[DocId]) {
        let sums = &mut self.0[..];
        let mask = sums.len() - 1;
        docs.iter().for_each(|doc| sums[*doc as usize & mask] = 0.0);
    }
}
