//! From a query to its answer: plan, matching, ranking, and what is shown of the documents found.
//!
//! A query is planned against the schema (`plan`), its terms are looked up (`lookup`), and matchers over their
//! lists are built (`build`). Matchers say which documents match and how often each leaf occurs; the formula
//! makes scores of that; the ranking (`rank`) reads only pages that can still matter. All of it runs in steps
//! that stop when pages are missing, so that a `QueryGroup` carries many queries forward in common rounds.
//!
//! The room knows no writer: it sees a snapshot through [`SearchView`].

mod ahead;
mod between;
mod bm25;
mod build;
mod candidates;
mod collector;
mod conjunction;
mod disjunction;
mod doc_set;
mod execute;
mod expand;
mod explain;
mod fields;
mod formula;
mod group;
mod highlight;
mod hits;
mod lists;
mod lookup;
mod marks;
mod matcher;
mod matches;
mod offload;
mod options;
mod parser;
mod pattern;
mod phrase;
mod phrase_lists;
mod plan;
mod positions;
mod print;
mod query;
mod rank;
mod results;
mod reuse;
mod score;
mod scored;
mod sets;
mod techniques;
mod term;
mod tokens;
mod top;
mod view;
mod windows;

#[cfg(test)]
mod tests;

pub use bm25::{FieldStatistics, Statistics};
pub use explain::Explanation;
pub use fields::check_name;
pub use group::{GROUP_MAX, QueryGroup};
pub use highlight::SnippetOptions;
pub use hits::document_bytes;
pub use lists::KnownPatterns;
pub use offload::{ListOffload, OffloadFound, OffloadList, OffloadRanking, OffloadTask, docs_span};
pub use options::{Cancelled, Clock, SearchOptions};
pub use parser::parse;
pub use query::{Operator, Query};
pub use results::{
    CutExpansion, Hit, OffloadReport, PatternReport, PlanReport, PlanStep, Reused, SearchResults,
    TermReport,
};
pub use reuse::{RESULT_CACHE_MIN, ResultCache, ResultCacheFigures, SeenState, key_of};
pub use techniques::Techniques;
pub use view::{ExternalIds, MemoryTerms, SearchView};
