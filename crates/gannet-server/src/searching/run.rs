//! Carries searches out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gannet::{Error, Query, SearchOptions, SearchResults, Snapshot};
use serde_json::Value;

use super::answer::search_answer;
use super::request::SearchRequest;
use crate::fault::{Fault, Outcome};
use crate::http::Answer;
use crate::indexes::{Metadata, OpenIndex};
use crate::json::Members;
use crate::query::{Fields, Translator, of_parameter};

/// One state of an index, with what is kept of it.
pub struct SearchedIndex<'a> {
    /// The index.
    pub open: &'a OpenIndex,
    metadata: Arc<Metadata>,
    snapshot: Snapshot,
    /// Set when searches are to end.
    ends: Arc<AtomicBool>,
}

impl<'a> SearchedIndex<'a> {
    /// The newest state of an index.
    pub fn new(open: &'a OpenIndex, ends: Arc<AtomicBool>) -> SearchedIndex<'a> {
        // The fields that are found in documents are in the mapping before they are in a snapshot.
        let snapshot = open.index.snapshot();
        SearchedIndex {
            open,
            metadata: open.metadata(),
            snapshot,
            ends,
        }
    }

    fn query(&self, request: &SearchRequest) -> Outcome<Query> {
        let parser = |text: &str, operator| self.snapshot.parse(text, operator);
        let fields = Fields {
            metadata: &self.metadata,
            schema: self.snapshot.schema(),
            parser: &parser,
        };
        let translator = Translator::new(&fields);
        let query = match (&request.text, &request.query) {
            (Some((text, field, operator)), _) => {
                of_parameter(text, field.as_deref(), *operator, &translator)
            }
            (None, Some(query)) => translator.query(query),
            (None, None) => Ok(Query::MatchAll),
        };
        query.map_err(|fault| fault.of_index(&self.open.name))
    }

    fn run(&self, query: Query, mut options: SearchOptions) -> Outcome<SearchResults> {
        let ends = Arc::clone(&self.ends);
        options.cancelled = Some(Arc::new(move || ends.load(Ordering::Relaxed)));
        let mut found = self
            .snapshot
            .search_all(std::slice::from_ref(&query), &options);
        if matches!(found.as_slice(), [Err(Error::Expired { .. })]) {
            let newer = self.open.index.snapshot();
            found = newer.search_all(&[query], &options);
        }
        let found = found
            .pop()
            .unwrap_or_else(|| Err(Error::internal("a search gave no answer")));
        found.map_err(|error| {
            let fault = Fault::from(error).of_index(&self.open.name);
            match fault.status {
                400 => fault.within("search_phase_execution_exception", "all shards failed"),
                _ => fault,
            }
        })
    }
}

/// Searches an index.
pub fn search(searched: &SearchedIndex<'_>, request: &SearchRequest) -> Outcome<Answer> {
    request.check_window()?;
    let schema = searched.snapshot.schema();
    let highlight = request.highlight.as_ref();
    let query = searched.query(request)?;
    let options = SearchOptions {
        k: request.size,
        skip: request.from,
        count: request.counts,
        fetch: request.size > 0,
        sources: !request.source.is_none(),
        highlight: highlight.map_or_else(Vec::new, |highlight| highlight.fields(schema)),
        snippets: highlight.map_or_else(Default::default, |highlight| highlight.snippets.clone()),
        deadline: Some(request.deadline),
        ..SearchOptions::default()
    };
    let results = searched.run(query, options)?;
    search_answer(searched.open, request, &results)
}

/// Counts the documents that a query finds.
pub fn count(searched: &SearchedIndex<'_>, body: &Value, request: SearchRequest) -> Outcome<u64> {
    let members = Members::of("count", body)?;
    members.check(&["query"], &[])?;
    let request = SearchRequest {
        query: members.get("query").cloned(),
        ..request
    };
    let query = searched.query(&request)?;
    let options = SearchOptions {
        k: 0,
        count: true,
        fetch: false,
        deadline: Some(request.deadline),
        ..SearchOptions::default()
    };
    Ok(searched.run(query, options)?.total)
}
