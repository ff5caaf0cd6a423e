//! BM25 as Lucene 10 computes it, bit for bit in `f32`: k1 = 1.2, b = 0.75, no constant factor k1 +
//! 1.
//!
//! Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
//! in the form of Lucene's `BM25Similarity`. Scores that agree in every bit let ties and orders be
//! compared with Lucene's. A document that was deleted counts in all statistics until a vacuum
//! removes it.

use std::sync::{Arc, OnceLock};

use crate::analysis::FieldId;
use crate::documents::norm_to_length;
use crate::postings::Pair;

/// BM25's k1: the smaller, the sooner more occurrences stop to matter.
pub const K1: f32 = 1.2;

/// BM25's b: the weight of the length of a field.
pub const B: f32 = 0.75;

/// Sums over the documents of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStatistics {
    /// Documents that have the field.
    pub documents: u64,
    /// Tokens in the field over all documents.
    pub total_length: u64,
}

impl FieldStatistics {
    /// The mean length of the field in the documents that have it.
    pub fn average_length(&self) -> f32 {
        (self.total_length as f64 / self.documents.max(1) as f64) as f32
    }
}

/// The inverse of the length normalization for each of the 256 norms of one field.
#[derive(Clone, Debug)]
pub struct NormCache {
    inverse: Arc<[f32; 256]>,
}

impl NormCache {
    /// The cache for a field whose mean length is `average_length`.
    pub fn new(average_length: f32) -> NormCache {
        let inverse = std::array::from_fn(|norm| {
            let length = norm_to_length(norm as u8) as f32;
            1.0 / (K1 * ((1.0 - B) + B * length / average_length))
        });
        NormCache {
            inverse: Arc::new(inverse),
        }
    }
}

/// The statistics of all fields, and what scores take from them, made when it is first asked for.
#[derive(Debug, Default)]
pub struct Statistics {
    fields: Arc<Vec<FieldStatistics>>,
    norms: Vec<OnceLock<NormCache>>,
}

impl Statistics {
    /// Of the fields by their numbers.
    pub fn new(fields: Arc<Vec<FieldStatistics>>) -> Statistics {
        Statistics {
            norms: fields.iter().map(|_| OnceLock::new()).collect(),
            fields,
        }
    }

    /// The statistics of a field.
    pub fn of(&self, field: FieldId) -> FieldStatistics {
        let statistics = self.fields.get(field as usize);
        statistics.copied().unwrap_or_default()
    }

    /// The norms of a field, as scores use them.
    pub fn norms(&self, field: FieldId) -> NormCache {
        let make = || NormCache::new(self.of(field).average_length());
        let norms = self.norms.get(field as usize);
        norms.map_or_else(make, |norms| norms.get_or_init(make).clone())
    }
}

/// Scores the occurrences of one term, or of one phrase, in one field.
#[derive(Clone, Debug)]
pub struct Bm25 {
    /// The inverse document frequency, times the boost of the query.
    pub weight: f32,
    norms: NormCache,
}

impl Bm25 {
    /// The scorer for a term with `idf` in the field of `norms`.
    pub fn new(idf: f32, boost: f32, norms: NormCache) -> Bm25 {
        let weight = boost * idf;
        Bm25 { weight, norms }
    }

    /// The score of `frequency` occurrences in a document whose field has `norm`.
    #[inline]
    pub fn score(&self, frequency: f32, norm: u8) -> f32 {
        let inverse = self.norms.inverse[norm as usize];
        self.weight - self.weight / (1.0 + frequency * inverse)
    }

    /// Makes scores of many frequencies, each with its norm; 0 stays 0.
    #[inline]
    pub fn score_all(&self, places: &mut [f32], norms: &[u8]) {
        let (weight, inverse) = (self.weight, &*self.norms.inverse);
        for (place, norm) in places.iter_mut().zip(norms) {
            *place = weight - weight / (1.0 + *place * inverse[*norm as usize]);
        }
    }

    /// The product of a frequency and [`Bm25::inverse`] of the norm that a score above `floor` must
    /// exceed; a little less, for the rounding of either.
    pub fn least_product(&self, floor: f32) -> f32 {
        match floor {
            ..0.0 => -1.0,
            _ if floor < self.weight => floor / (self.weight - floor) * (1.0 - 1e-5),
            _ => f32::INFINITY,
        }
    }

    /// The factor of a frequency in the score, for a norm.
    #[inline]
    pub fn inverse(&self, norm: u8) -> f32 {
        self.norms.inverse[norm as usize]
    }

    /// The factors of a frequency in the score, for all norms.
    pub fn inverses(&self) -> &[f32; 256] {
        &self.norms.inverse
    }

    /// The best score that any of the impacts (frequency, norm) gives.
    ///
    /// The score ascends with the frequency and descends with the norm, so pairs that another one
    /// beats in both need not be among them.
    pub fn best(&self, pairs: &[Pair]) -> f32 {
        // One division for all: the score ascends with this product, and rounding does not change
        // that.
        let products = pairs.iter().map(|pair| self.product(*pair));
        self.of_product(products.fold(0.0, |a, b| if b > a { b } else { a }))
    }

    /// The product with which the score of a pair ascends.
    #[inline]
    pub fn product(&self, pair: Pair) -> f32 {
        pair.frequency as f32 * self.norms.inverse[pair.norm as usize]
    }

    /// The score of a product.
    #[inline]
    pub fn of_product(&self, product: f32) -> f32 {
        self.weight - self.weight / (1.0 + product)
    }
}

/// The inverse document frequency of a term that `frequency` of `documents` have.
pub fn idf(documents: u64, frequency: u64) -> f32 {
    let (n, df) = (documents as f64, frequency as f64);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_lucene() {
        // idf = ln(1 + (10 - 3 + 0.5) / (3 + 0.5)) = ln(3.142857)
        assert_eq!(idf(10, 3), 1.145_132_3);
        let norms = NormCache::new(8.0);
        // tf = 2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 8)) = 2 / 2.75
        let score = Bm25::new(idf(10, 3), 1.0, norms.clone()).score(2.0, 4);
        assert!((score - 1.145_132_3 * 2.0 / 2.75).abs() < 1e-6, "{score}");
        let boosted = Bm25::new(idf(10, 3), 2.0, norms).score(2.0, 4);
        assert_eq!(boosted, 2.0 * score);
    }

    #[test]
    fn the_best_pair_bounds_all_it_beats() {
        let bm25 = Bm25::new(2.0, 1.0, NormCache::new(20.0));
        let pair = |frequency, norm| Pair { frequency, norm };
        let best = bm25.best(&[pair(3, 10), pair(9, 60)]);
        for (frequency, norm) in [(3, 10), (2, 11), (9, 60), (8, 200)] {
            assert!(bm25.score(frequency as f32, norm) <= best);
        }
        assert_eq!(bm25.best(&[]), 0.0);
    }
}
