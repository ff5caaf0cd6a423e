//! Searches: the body of a request becomes options of the engine, its answer that of Elasticsearch.

mod aggregations;
mod answer;
mod contexts;
mod highlight;
mod order;
mod page;
mod request;
mod run;
mod sorting;
mod source;

pub use answer::{search_answer, shards};
pub use contexts::{Context, Contexts, Scroll};
pub use order::without_scores;
pub use page::Targets;
pub use request::{SEARCH_PARAMETERS, SearchRequest, duration};
pub use run::SearchedIndex;
pub use source::SourceChoice;
