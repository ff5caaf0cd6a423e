//! Searches: the body of a request becomes options of the engine, its answer that of Elasticsearch,
//! or that of Gannet's own API (`own`).

mod aggregation_check;
mod aggregation_dates;
mod aggregations;
mod answer;
mod asked;
mod buckets;
mod condition;
mod contexts;
mod docvalues;
mod fetched;
mod highlight;
mod hit_values;
mod hits;
mod inner;
mod order;
mod own;
mod page;
mod parallel;
mod request;
mod run;
mod sorting;
mod source;
mod stand_ins;
mod top_hits;

pub use answer::{search_answer, shards};
pub use contexts::{Context, Contexts, Scroll};
pub use fetched::values_at;
pub use order::without_scores;
pub use own::OwnSearch;
pub use page::Targets;
pub use request::{SEARCH_PARAMETERS, SearchRequest, duration};
pub use run::SearchedIndex;
pub use source::SourceChoice;
