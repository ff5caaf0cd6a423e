//! BM25 as Lucene 10 computes it, bit for bit in `f32`: k1 = 1.2, b = 0.75, no constant factor k1 +
//! 1.
//!
//! Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
//! in the form of Lucene's `BM25Similarity`. Scores that agree in every bit let ties and orders be
//! compared with Lucene's. A document that was deleted counts in all statistics until a vacuum
//! removes it.

use std::sync::{Arc, OnceLock};

use super::explanation::{Explanation, LeafNote, ScoredLeaf};
use super::field::FieldStatistics;
use super::term_scorer::TermScorer;
use crate::analysis::{Field, FieldId, Schema};
use crate::documents::norm_to_length;

/// BM25's k1: the smaller, the sooner more occurrences stop to matter.
pub const K1: f32 = 1.2;

/// BM25's b: the weight of the length of a field.
pub const B: f32 = 0.75;

/// The norm of a field of one token. Whole values count as that, however many there are, since
/// Lucene keeps no norms of them.
pub const NORM_OF_WHOLE: u8 = 1;

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

    /// The cache for a field of whole values, of which a document has so many on average.
    pub fn of_whole(average_length: f32) -> NormCache {
        let inverse = NormCache::new(average_length).inverse[NORM_OF_WHOLE as usize];
        NormCache {
            inverse: Arc::new([inverse; 256]),
        }
    }
}

/// The statistics of all fields, and what scores take from them, made when it is first asked for.
#[derive(Debug, Default)]
pub struct Statistics {
    fields: Arc<Vec<FieldStatistics>>,
    schema: Arc<Schema>,
    norms: Vec<OnceLock<NormCache>>,
}

impl Statistics {
    /// Of the fields of a schema by their numbers.
    pub fn new(fields: Arc<Vec<FieldStatistics>>, schema: Arc<Schema>) -> Statistics {
        Statistics {
            norms: fields.iter().map(|_| OnceLock::new()).collect(),
            fields,
            schema,
        }
    }

    /// Returns true if the values of a field are terms as a whole.
    pub fn is_whole(&self, field: FieldId) -> bool {
        self.schema.field(field).is_some_and(Field::is_whole)
    }

    /// The statistics of a field.
    pub fn of(&self, field: FieldId) -> FieldStatistics {
        let statistics = self.fields.get(field as usize);
        statistics.copied().unwrap_or_default()
    }

    /// The norms of a field, as scores use them.
    pub fn norms(&self, field: FieldId) -> NormCache {
        let average_length = self.of(field).average_length();
        let make = || {
            if self.is_whole(field) {
                NormCache::of_whole(average_length)
            } else {
                NormCache::new(average_length)
            }
        };
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

    /// The scorer of terms that stand together in a field, which so many documents have each. Their
    /// idfs are added up.
    pub fn of(
        statistics: &Statistics,
        field: FieldId,
        frequencies: impl Iterator<Item = u64>,
        boost: f32,
    ) -> Bm25 {
        let documents = statistics.of(field).documents;
        let each = frequencies.map(|frequency| f64::from(idf(documents, frequency)));
        let idf = each.sum::<f64>() as f32;
        Bm25::new(idf, boost, statistics.norms(field))
    }

    /// The factors of a frequency in the score, for all norms.
    pub fn inverses(&self) -> &[f32; 256] {
        &self.norms.inverse
    }
}

impl TermScorer for Bm25 {
    #[inline]
    fn product(&self, frequency: f32, norm: u8) -> f32 {
        frequency * self.norms.inverse[norm as usize]
    }

    #[inline]
    fn of_product(&self, product: f32) -> f32 {
        self.weight - self.weight / (1.0 + product)
    }

    fn least_product(&self, floor: f32) -> f32 {
        // A score is a difference of numbers near the weight, and off by what these are.
        let floor = floor - self.weight * 2.0 * f32::EPSILON;
        match floor {
            ..0.0 => -1.0,
            _ if floor < self.weight => floor / (self.weight - floor) * (1.0 - 1e-5),
            _ => f32::INFINITY,
        }
    }

    #[inline]
    fn most(&self) -> f32 {
        self.weight
    }

    fn explain(&self, leaf: &ScoredLeaf<'_>) -> Explanation {
        let note = leaf.note;
        let terms: Vec<&str> = note.terms.iter().map(|(term, _)| term.as_str()).collect();
        let what = format!(
            "weight of {}:{:?}, as boost * idf * tf of:",
            note.field,
            terms.join(" ")
        );
        let boost = Explanation::new(note.boost, "boost");
        let parts = vec![boost, explain_idf(note), self.explain_tf(leaf)];
        Explanation::new(leaf.score, what).with(parts)
    }

    #[inline]
    fn score_all(&self, places: &mut [f32], norms: &[u8]) {
        let (weight, inverse) = (self.weight, &*self.norms.inverse);
        for (place, norm) in places.iter_mut().zip(norms) {
            *place = weight - weight / (1.0 + *place * inverse[*norm as usize]);
        }
    }
}

impl Bm25 {
    fn explain_tf(&self, leaf: &ScoredLeaf<'_>) -> Explanation {
        let value = if self.weight == 0.0 {
            0.0
        } else {
            leaf.score / self.weight
        };
        let what = "tf, as frequency / (frequency + k1 * (1 - b + b * length / average)) of:";
        let (length, of_length) = if leaf.note.is_whole {
            (
                norm_to_length(NORM_OF_WHOLE),
                "length of the field, 1 however many values it has",
            )
        } else {
            (
                norm_to_length(leaf.norm),
                "length of the field (approximate above 40)",
            )
        };
        Explanation::new(value, what).with(vec![
            Explanation::new(
                leaf.frequency,
                "frequency: how often it occurs in the field",
            ),
            Explanation::new(K1, "k1"),
            Explanation::new(B, "b"),
            Explanation::new(length as f32, of_length),
            Explanation::new(
                leaf.note.statistics.average_length(),
                leaf.note.counted("average length of the field"),
            ),
        ])
    }
}

fn explain_idf(note: &LeafNote) -> Explanation {
    let documents = note.statistics.documents;
    let one = |(term, df): &(String, u64)| {
        let what = format!("idf of {term:?}, as ln(1 + (N - n + 0.5) / (n + 0.5)) of:");
        Explanation::new(idf(documents, *df), what).with(vec![
            Explanation::new(*df as f32, note.counted("n: documents with the term")),
            Explanation::new(
                documents as f32,
                note.counted("N: documents with the field"),
            ),
        ])
    };
    let mut each: Vec<Explanation> = note.terms.iter().map(one).collect();
    if each.len() == 1 {
        return each.remove(0);
    }
    let sum: f64 = each.iter().map(|idf| idf.value as f64).sum();
    Explanation::new(sum as f32, "idf, sum of:").with(each)
}

/// The inverse document frequency of a term that `frequency` of `documents` have.
pub fn idf(documents: u64, frequency: u64) -> f32 {
    let (n, df) = (documents as f64, frequency as f64);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::Pair;

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

    /// Lucene has no norms of a keyword, and takes 1 for each: with 1.5 values on average
    /// 1 / (1 + 1.2 * (0.25 + 0.75 / 1.5)) = 1 / 1.9, and 1 / 2.2 where each document has one.
    #[test]
    fn whole_values_count_as_one_token() {
        for (average, tf) in [(1.5, 1.0 / 1.9), (1.0, 1.0 / 2.2)] {
            let bm25 = Bm25::new(2.0, 1.0, NormCache::of_whole(average));
            for norm in [0, 1, 3, 200] {
                assert!((bm25.score(1.0, norm) - 2.0 * tf).abs() < 1e-6, "{norm}");
            }
        }
    }

    #[test]
    fn what_scores_above_a_floor_has_more_than_the_least_product() {
        let bm25 = Bm25::new(2.7, 1.3, NormCache::new(1.0));
        let mut product = 1e-6f32;
        while product < 1e3 {
            let floor = bm25.of_product(product).next_down();
            assert!(
                floor < 0.0 || product > bm25.least_product(floor),
                "{product}"
            );
            product *= 1.000_37;
        }
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
