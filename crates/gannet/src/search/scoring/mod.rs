//! Formulas for the score of a term, one a file, how scores are joined, and the best k.

pub(crate) mod bm25;
pub(crate) mod doc_bits;
pub(crate) mod explanation;
pub(crate) mod field;
pub(crate) mod formula;
pub(crate) mod scorer;
pub(crate) mod term_scorer;
pub(crate) mod top;
