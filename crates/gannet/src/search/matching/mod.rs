//! Matchers: which documents match, one algorithm a file.

pub(crate) mod ahead;
pub(crate) mod any_word;
pub(crate) mod bests;
pub(crate) mod between;
pub(crate) mod conjunction;
pub(crate) mod disjunction;
pub(crate) mod doc_set;
pub(crate) mod intersect;
pub(crate) mod list;
pub(crate) mod matcher;
pub(crate) mod matches;
pub(crate) mod page_ends;
pub(crate) mod phrase;
pub(crate) mod phrase_lists;
pub(crate) mod positions;
pub(crate) mod scored;
pub(crate) mod sets;
pub(crate) mod term;
pub(crate) mod tokens;
