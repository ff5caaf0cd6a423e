//! Searches: the body of a request becomes options of the engine, its answer that of Elasticsearch.

mod answer;
mod highlight;
mod request;
mod run;
mod source;

pub use request::{SEARCH_PARAMETERS, SearchRequest};
pub use run::{SearchedIndex, count, search};
pub use source::SourceChoice;
