//! What every formula for the score of a term answers.
//!
//! A score ascends with one product of the frequency and a factor of the norm. So the best of many
//! is found without a division for each. The product must ascend with the frequency and descend
//! with the length, or impacts are no bounds. Rounding must not change that.

use super::explanation::{Explanation, ScoredLeaf};
use crate::postings::Pair;

/// Scores the occurrences of one term, or of one phrase, in one field.
pub trait TermScorer {
    /// The product of a frequency and the factor of a norm with which the score ascends.
    fn product(&self, frequency: f32, norm: u8) -> f32;

    /// The score of a product; 0 of 0.
    fn of_product(&self, product: f32) -> f32;

    /// The product that a score above `floor` must exceed; a little less, for the rounding of
    /// either.
    fn least_product(&self, floor: f32) -> f32;

    /// The upper bound of the scores.
    fn most(&self) -> f32;

    /// Explains the score of a leaf.
    fn explain(&self, leaf: &ScoredLeaf<'_>) -> Explanation;

    /// The score of `frequency` occurrences in a document whose field has `norm`.
    #[inline]
    fn score(&self, frequency: f32, norm: u8) -> f32 {
        self.of_product(self.product(frequency, norm))
    }

    /// Makes scores of many frequencies, each with its norm; 0 stays 0.
    #[inline]
    fn score_all(&self, places: &mut [f32], norms: &[u8]) {
        for (place, norm) in places.iter_mut().zip(norms) {
            *place = self.score(*place, *norm);
        }
    }

    /// The best score that any of the impacts (frequency, norm) gives.
    ///
    /// Pairs that another one beats in both need not be among them.
    fn best(&self, pairs: &[Pair]) -> f32 {
        let products = pairs
            .iter()
            .map(|pair| self.product(pair.frequency as f32, pair.norm));
        self.of_product(products.fold(0.0, |a, b| if b > a { b } else { a }))
    }
}
