//! From a query to its answer: plan, matching, ranking, and what is shown of the documents found.
//!
//! A query is planned against the schema (`plan`), its terms are looked up (`lookup`), and matchers
//! over their lists are built (`build`). Matchers say which documents match and how often each leaf
//! occurs; the formula makes scores of that; the ranking (`rank`) reads only pages that can still
//! matter. All of it runs in steps that stop when pages are missing, so that a `QueryGroup` carries
//! many queries forward in common rounds.
//!
//! The room knows no writer: it sees a snapshot through [`SearchView`].

mod build;
mod hot;
mod kinds;
mod lists;
mod matching;
mod options;
mod plan;
mod query;
mod rank;
mod results;
pub(crate) mod reuse;
mod run;
mod scoring;
mod statistics;
mod techniques;
mod values;
mod view;
mod words;

#[cfg(test)]
mod tests;

pub use hot::HotLists;
pub use lists::KnownPatterns;
pub use options::{Cancelled, Clock, SearchOptions, Ties};
pub use query::fields::check_name;
pub use query::parser::{Parsed, parse, parse_noting, parse_plain};
pub use query::{Operator, Query};
pub use results::highlight::SnippetOptions;
pub use results::hits::document_bytes;
pub use results::{
    AnswerPlace, CutExpansion, Hit, OffloadReport, PatternReport, PlanReport, PlanStep, Reused,
    SearchResults, TermReport,
};
pub use reuse::{
    FlashAnswers, RESULT_CACHE_MIN, ResultCache, ResultCacheFigures, SeenRoot, SeenState, key_of,
};
pub use run::group::{GROUP_MAX, QueryGroup};
pub use run::offload::{
    ListOffload, OffloadFound, OffloadList, OffloadRanking, OffloadTask, docs_span,
};
pub use scoring::bm25::Statistics;
pub use scoring::explanation::Explanation;
pub use scoring::field::FieldStatistics;
pub use statistics::QueryStatistics;
pub use techniques::Techniques;
pub use values::{AggregationRequest, AggregationState, SortBy, SortKey, SortValue};
pub use view::{ExternalIds, IdWalk, MemoryTerms, SearchView};
