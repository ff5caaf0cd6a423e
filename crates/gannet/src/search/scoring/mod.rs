//! BM25, and the best k.

pub(crate) mod bm25;
pub(crate) mod formula;
pub(crate) mod top;
