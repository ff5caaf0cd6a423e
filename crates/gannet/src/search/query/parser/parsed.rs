//! The result of parsing, and the limits of a query's text.

use crate::base::{Error, Result};
use crate::search::query::Query;

/// The longest query in bytes.
pub(crate) const MAX_QUERY_BYTES: usize = 64 << 10;

/// The most parentheses that can be open at once.
pub(crate) const MAX_DEPTH: usize = 32;

/// The most words, phrases, ranges and parentheses in one query.
pub(crate) const MAX_CLAUSES: usize = 1024;

/// A query that was read from text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The query.
    pub query: Query,
    /// Sentences for whoever wrote the text, about what was not taken as it could have been meant;
    /// each once.
    pub notes: Vec<String>,
}

/// Rejects a text that is too long to be looked at.
pub(crate) fn check_length(text: &str) -> Result<()> {
    if text.len() > MAX_QUERY_BYTES {
        Err(Error::invalid(format!(
            "the query has {} bytes, the limit is {MAX_QUERY_BYTES}: ask for less, or in several queries",
            text.len()
        )))
    } else {
        Ok(())
    }
}
