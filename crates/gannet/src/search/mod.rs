//! From a query to its answer: the query tree, the language that people write it in, and what is shown of a
//! document that was found.

mod highlight;
mod parser;
mod print;
mod query;

pub use highlight::{SnippetOptions, Wanted, WantedPhrase, snippets};
pub use parser::{MAX_CLAUSES, MAX_DEPTH, MAX_QUERY_BYTES, parse};
pub use query::{Operator, PatternPart, Query, automatic_distance, pattern_parts};
