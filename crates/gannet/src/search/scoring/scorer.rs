//! The formulas for the score of a term: the one place that tells them apart.

use super::bm25::{Bm25, Statistics};
use super::explanation::{Explanation, ScoredLeaf};
use super::term_scorer::TermScorer;
use crate::analysis::FieldId;
use crate::postings::Pair;

/// A scorer by one of the formulas.
#[derive(Clone, Debug)]
pub enum Scorer {
    /// BM25.
    Bm25(Bm25),
}

/// Asks the formula of a scorer: a row for each.
macro_rules! ask {
    ($scorer:expr, $formula:ident => $answer:expr) => {
        match $scorer {
            Scorer::Bm25($formula) => $answer,
        }
    };
}

impl Scorer {
    /// The scorer of terms that stand together in a field, which so many documents have each.
    pub fn new(
        statistics: &Statistics,
        field: FieldId,
        frequencies: impl Iterator<Item = u64>,
        boost: f32,
    ) -> Scorer {
        Scorer::Bm25(Bm25::of(statistics, field, frequencies, boost))
    }

    /// BM25, which drives know.
    pub fn bm25(&self) -> Option<&Bm25> {
        match self {
            Scorer::Bm25(bm25) => Some(bm25),
        }
    }
}

/// Each method asks once: loops are those of the formula.
impl TermScorer for Scorer {
    #[inline]
    fn product(&self, frequency: f32, norm: u8) -> f32 {
        ask!(self, formula => formula.product(frequency, norm))
    }

    #[inline]
    fn of_product(&self, product: f32) -> f32 {
        ask!(self, formula => formula.of_product(product))
    }

    #[inline]
    fn least_product(&self, floor: f32) -> f32 {
        ask!(self, formula => formula.least_product(floor))
    }

    #[inline]
    fn most(&self) -> f32 {
        ask!(self, formula => formula.most())
    }

    fn explain(&self, leaf: &ScoredLeaf<'_>) -> Explanation {
        ask!(self, formula => formula.explain(leaf))
    }

    #[inline]
    fn score(&self, frequency: f32, norm: u8) -> f32 {
        ask!(self, formula => formula.score(frequency, norm))
    }

    #[inline]
    fn score_all(&self, places: &mut [f32], norms: &[u8]) {
        ask!(self, formula => formula.score_all(places, norms));
    }

    fn best(&self, pairs: &[Pair]) -> f32 {
        ask!(self, formula => formula.best(pairs))
    }
}
