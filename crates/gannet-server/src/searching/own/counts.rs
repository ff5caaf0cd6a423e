//! Counts beside the hits: facets and aggregations, in one run over the documents that match.

use std::sync::Arc;

use gannet::aggregations::{AggregationRequest, AggregationState};
use gannet::{Operator, Snapshot};
use serde_json::{Map, Value, json};

use super::request::OwnSearch;
use crate::fault::Outcome;

/// The text before the names of facets, so that they differ from those of aggregations.
const FACET: &str = "facet of ";

/// The counts of an answer.
#[derive(Default)]
pub struct OwnCounts {
    /// Facets by field.
    pub facets: Map<String, Value>,
    /// Aggregations by name.
    pub aggregations: Map<String, Value>,
}

impl OwnSearch {
    /// The counts that are asked for, if any are. Filters in aggregations are texts of the query
    /// language.
    pub fn counts(&self, snapshot: &Snapshot) -> Outcome<Option<Arc<AggregationRequest>>> {
        if self.facets.is_empty() && self.aggregations.is_none() {
            return Ok(None);
        }
        let mut asked = match &self.aggregations {
            None => AggregationRequest::of(Default::default()),
            Some(json) => AggregationRequest::from_json(json, &mut |filter| {
                let text = filter.as_str().ok_or_else(|| {
                    "expected a query as text, such as \"title:whale\", for a filter".to_owned()
                })?;
                let query = snapshot.parse(text, Operator::And);
                query.map_err(|error| error.to_string())
            })?,
        };
        for (field, size) in &self.facets {
            asked.add_terms(format!("{FACET}{field}"), field, *size);
        }
        Ok(Some(Arc::new(asked)))
    }
}

impl OwnCounts {
    /// Of what was found.
    pub fn of(asked: &AggregationRequest, found: &AggregationState) -> Outcome<OwnCounts> {
        let mut counts = OwnCounts::default();
        if let Value::Object(all) = asked.answer(found)? {
            for (name, answer) in all {
                match name.strip_prefix(FACET) {
                    Some(field) => counts.facets.insert(field.to_owned(), facet(&answer)),
                    None => counts.aggregations.insert(name, answer),
                };
            }
        }
        Ok(counts)
    }
}

/// A facet: its values with their counts, and the documents of other values.
fn facet(answer: &Value) -> Value {
    let buckets = answer["buckets"].as_array().map_or(&[][..], Vec::as_slice);
    let values = buckets.iter().map(|bucket| {
        let value = bucket.get("key_as_string").unwrap_or(&bucket["key"]);
        json!({ "value": value, "count": bucket["doc_count"] })
    });
    json!({
        "values": values.collect::<Vec<_>>(),
        "others": answer["sum_other_doc_count"],
    })
}
