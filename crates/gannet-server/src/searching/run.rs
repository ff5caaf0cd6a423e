//! Carries searches out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gannet::aggregations::AggregationRequest;
use gannet::{Error, Query, SearchOptions, SearchResults, Snapshot, SortBy, SortKey};
use serde_json::Value;

use super::aggregation_dates::with_formats;
use super::request::SearchRequest;
use super::stand_ins::StandIns;
use crate::fault::{Fault, Outcome};
use crate::indexes::{FieldType, Metadata, OpenIndex};
use crate::query::{Fields, Translator, any_of, of_parameter};

/// One state of an index, with what is kept of it.
pub struct SearchedIndex {
    /// The index.
    pub open: Arc<OpenIndex>,
    metadata: Arc<Metadata>,
    snapshot: Snapshot,
    /// Queries of Elasticsearch, of which each document that is found matches one; all if there
    /// are none.
    filters: Vec<Arc<Value>>,
    /// Set if it is searched as it was, or not at all.
    is_fixed: bool,
    /// Set when searches are to end.
    ends: Arc<AtomicBool>,
}

impl SearchedIndex {
    /// The newest state of an index.
    pub fn new(open: Arc<OpenIndex>, ends: Arc<AtomicBool>) -> SearchedIndex {
        // The fields that are found in documents are in the mapping before they are in a snapshot.
        let snapshot = open.index.snapshot();
        SearchedIndex {
            metadata: open.metadata(),
            open,
            snapshot,
            filters: Vec::new(),
            is_fixed: false,
            ends,
        }
    }

    /// The same, of which only the documents are found that match one of some queries.
    #[must_use]
    pub fn within(self, filters: Vec<Arc<Value>>) -> SearchedIndex {
        SearchedIndex { filters, ..self }
    }

    /// The query within the filters.
    pub fn limited(&self, query: Query) -> Outcome<Query> {
        if self.filters.is_empty() {
            return Ok(query);
        }
        let fields = Fields {
            metadata: &self.metadata,
            schema: self.snapshot.schema(),
        };
        let translator = Translator::new(&fields).filter();
        let filters = self.filters.iter().map(|filter| translator.query(filter));
        let filters = filters.collect::<Outcome<Vec<Query>>>()?;
        Ok(query.filtered(vec![any_of(filters, 1)]))
    }

    /// The same, which is searched as it is now from now on.
    #[must_use]
    pub fn fixed(self) -> SearchedIndex {
        SearchedIndex {
            is_fixed: true,
            ..self
        }
    }

    /// The state.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The metadata of the index.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The stand-ins for missing values in the order of a request.
    pub fn stand_ins(&self, request: &SearchRequest) -> StandIns {
        StandIns::new(&request.keys, &self.metadata.mapping, &request.unmapped)
    }

    /// The field of a key of an order, if the mapping declares it: it has no values as long as no
    /// document has it.
    fn declared<'k>(&self, key: &'k SortKey) -> Option<&'k String> {
        let SortBy::Field(name) = &key.by else {
            return None;
        };
        let field = self.metadata.mapping.field(name)?;
        (!field.is_found && field.kind != FieldType::Text).then_some(name)
    }

    /// The options of the engine that a request asks for.
    pub fn options(&self, request: &SearchRequest) -> SearchOptions {
        let unmapped = request.unmapped.iter();
        let mut other_fields: Vec<String> = unmapped.map(|(name, _)| name.clone()).collect();
        if let Some(aggs) = &request.aggs {
            note_fields(aggs, &mut other_fields);
        }
        let declared = request.keys.iter().filter_map(|key| self.declared(key));
        other_fields.extend(declared.cloned());
        other_fields.retain(|name| self.snapshot.schema().named(name).is_none());
        let highlight = request.highlight.as_ref();
        let schema = self.snapshot.schema();
        let stand_ins = self.stand_ins(request);
        let after = request.behind.as_deref();
        SearchOptions {
            k: request.size,
            skip: request.from,
            count: request.counts,
            fetch: request.size > 0,
            sources: !request.source.is_none() || !request.fetched.is_empty(),
            highlight: highlight.map_or_else(Vec::new, |highlight| highlight.fields(schema)),
            snippets: highlight
                .map_or_else(Default::default, |highlight| highlight.snippets.clone()),
            deadline: Some(request.deadline),
            sort: stand_ins.keys(&request.keys),
            after: after.map(|values| stand_ins.read(values)),
            collapse: request.collapse.clone(),
            min_score: request.least_score(),
            other_fields,
            ..SearchOptions::default()
        }
    }

    /// The aggregations of a request, if there are any; states of several indexes are merged.
    pub fn aggregations(
        &self,
        request: &SearchRequest,
        is_one_of_several: bool,
    ) -> Outcome<Option<Arc<AggregationRequest>>> {
        let Some(aggs) = &request.aggs else {
            return Ok(None);
        };
        let fields = Fields {
            metadata: &self.metadata,
            schema: self.snapshot.schema(),
        };
        if !self.filters.is_empty() && asks_for_all(aggs) {
            return Err(Fault::query_not_there(
                "the aggregation [global] by an alias with a filter",
            ));
        }
        let translator = Translator::new(&fields).filter();
        let mut filter = |query: &Value| translator.query(query).map_err(|fault| fault.reason);
        let aggs = with_formats(aggs, &self.metadata.mapping)
            .map_err(|fault| fault.of_index(&self.open.name))?;
        let asked = AggregationRequest::from_json(&aggs, &mut filter);
        let asked = asked.map_err(|error| Fault::from(error).of_index(&self.open.name))?;
        Ok(Some(Arc::new(AggregationRequest {
            is_shard: is_one_of_several,
            ..asked
        })))
    }

    /// The query of the hits of a request.
    pub fn query(&self, request: &SearchRequest) -> Outcome<Query> {
        let query = self.aggregated(request)?;
        let Some(filter) = &request.post_filter else {
            return Ok(query);
        };
        let filter = self.translated(|translator| translator.filter().query(filter))?;
        Ok(query.filtered(vec![filter]))
    }

    /// Ranks the documents of a request and aggregates them, which those are too that
    /// `post_filter` keeps out of the hits.
    pub fn ranked(
        &self,
        request: &SearchRequest,
        asked: Option<Arc<AggregationRequest>>,
        options: SearchOptions,
    ) -> Outcome<SearchResults> {
        if request.post_filter.is_none() || asked.is_none() {
            let options = SearchOptions {
                aggregations: asked,
                ..options
            };
            return self.run(self.query(request)?, options);
        }
        let counting = SearchOptions {
            k: 0,
            fetch: false,
            aggregations: asked,
            min_score: options.min_score,
            deadline: options.deadline,
            other_fields: options.other_fields.clone(),
            ..SearchOptions::default()
        };
        let aggregated = self.run(self.aggregated(request)?, counting)?;
        let mut results = self.run(self.query(request)?, options)?;
        results.aggregations = aggregated.aggregations;
        Ok(results)
    }

    /// The query of the documents that a request aggregates.
    fn aggregated(&self, request: &SearchRequest) -> Outcome<Query> {
        let query = self.translated(|translator| match (&request.text, &request.query) {
            (Some((text, field, operator)), _) => {
                of_parameter(text, field.as_deref(), *operator, translator)
            }
            (None, Some(query)) => translator.query(query),
            (None, None) => Ok(Query::MatchAll),
        })?;
        let limited = self.limited(query);
        let limited = limited.map_err(|fault| fault.of_index(&self.open.name))?;
        let conditions = self.translated(|translator| {
            let filter = translator.filter();
            let each = request.conditions.iter();
            let each = each.map(|condition| condition.query(&filter));
            each.collect::<Outcome<Vec<Query>>>()
        })?;
        Ok(limited.filtered(conditions))
    }

    /// Reads a part of a request as the fields of the index have it.
    fn translated<T>(&self, translate: impl FnOnce(&Translator<'_>) -> Outcome<T>) -> Outcome<T> {
        let fields = Fields {
            metadata: &self.metadata,
            schema: self.snapshot.schema(),
        };
        let translated = translate(&Translator::new(&fields));
        translated.map_err(|fault| fault.of_index(&self.open.name).of_shard())
    }

    /// Carries a query out.
    pub fn run(&self, query: Query, mut options: SearchOptions) -> Outcome<SearchResults> {
        let ends = Arc::clone(&self.ends);
        options.cancelled = Some(Arc::new(move || ends.load(Ordering::Relaxed)));
        let mut found = self
            .snapshot
            .search_all(std::slice::from_ref(&query), &options);
        let is_expired = matches!(found.as_slice(), [Err(Error::Expired { .. })]);
        if is_expired && self.is_fixed {
            return Err(Fault::new(
                404,
                "search_context_missing_exception",
                "the state that is searched was given up, since writes needed its memory or its space: begin anew",
            )
            .of_index(&self.open.name));
        }
        if is_expired {
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

    /// Counts the documents that a request finds.
    pub fn count(&self, request: &SearchRequest) -> Outcome<SearchResults> {
        let options = SearchOptions {
            k: 0,
            count: true,
            fetch: false,
            min_score: request.min_score,
            deadline: Some(request.deadline),
            ..SearchOptions::default()
        };
        self.run(self.query(request)?, options)
    }
}

/// Returns true if an aggregation is over all documents, whatever the query finds.
fn asks_for_all(aggs: &Value) -> bool {
    let mut kinds = aggs.as_object().into_iter().flatten();
    kinds.any(|(_, aggregation)| {
        let below = ["aggs", "aggregations"].map(|name| aggregation.get(name));
        aggregation.get("global").is_some() || below.into_iter().flatten().any(asks_for_all)
    })
}

/// Notes the fields that aggregations name. As in Elasticsearch, one that an index does not have
/// has no values there.
fn note_fields(aggs: &Value, fields: &mut Vec<String>) {
    match aggs {
        Value::Array(parts) => parts.iter().for_each(|part| note_fields(part, fields)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(field) if name == "field" => fields.push(field.clone()),
                    other => note_fields(other, fields),
                }
            }
        }
        _ => {}
    }
}
