//! Counts of values beside the hits: facets and aggregations, as they are asked for and answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use gannet::aggregations::{AggregationRequest, AggregationState};
use gannet::{Operator, Query, QueryStatistics, Snapshot};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::errors::{Raise, invalid};

/// The text before the names of facets, so that they differ from those of aggregations.
const FACET: &str = "facet of ";

/// Values of a facet unless another number is given.
const SHOWN: usize = 10;

/// Fields whose values are counted.
#[derive(FromPyObject)]
pub enum Facets {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
    /// Several, each with the number of values that is wanted.
    Sized(BTreeMap<String, usize>),
}

/// The aggregations that are asked for, if there are any. Those of one of several indexes are
/// merged with those of others.
pub fn asked(
    py: Python<'_>,
    facets: Option<Facets>,
    aggs: Option<&Bound<'_, PyAny>>,
    snapshot: &Snapshot,
    statistics: Option<&QueryStatistics>,
) -> PyResult<Option<Arc<AggregationRequest>>> {
    let others: Vec<&str> = statistics
        .into_iter()
        .flat_map(|own| own.fields())
        .collect();
    let read = |json: &Value| match others.as_slice() {
        [] => snapshot.parse_aggregations(json),
        others => AggregationRequest::from_json(json, &mut |filter| {
            let text = filter
                .as_str()
                .ok_or("expected a query as text for a filter")?;
            let parsed = snapshot.parse_among_noting(text, Operator::And, others);
            parsed
                .map(|own| own.query)
                .map_err(|error| error.to_string())
        }),
    };
    let request = request(py, facets, aggs, &read)?;
    Ok(request.map(|request| {
        Arc::new(AggregationRequest {
            is_shard: statistics.is_some(),
            ..request
        })
    }))
}

/// The same without an index, for an answer: filters are numbered, and not read.
pub fn shape(
    py: Python<'_>,
    facets: Option<Facets>,
    aggs: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<AggregationRequest>> {
    let read = |json: &Value| AggregationRequest::from_json(json, &mut |_| Ok(Query::MatchAll));
    request(py, facets, aggs, &read)
}

fn request(
    py: Python<'_>,
    facets: Option<Facets>,
    aggs: Option<&Bound<'_, PyAny>>,
    read: &dyn Fn(&Value) -> gannet::Result<AggregationRequest>,
) -> PyResult<Option<AggregationRequest>> {
    if facets.is_none() && aggs.is_none() {
        return Ok(None);
    }
    let mut request = match aggs {
        None => AggregationRequest::of(Default::default()),
        Some(aggs) => {
            let text = py.import("json")?.call_method1("dumps", (aggs,))?;
            let text: String = text.extract()?;
            let json: Value = serde_json::from_str(&text)
                .map_err(|error| invalid(format!("aggs: expected JSON: {error}")))?;
            read(&json).or_raise()?
        }
    };
    let sized: Vec<(String, usize)> = match facets {
        None => Vec::new(),
        Some(Facets::One(field)) => vec![(field, SHOWN)],
        Some(Facets::Several(fields)) => fields.into_iter().map(|one| (one, SHOWN)).collect(),
        Some(Facets::Sized(sized)) => sized.into_iter().collect(),
    };
    for (field, size) in sized {
        if size == 0 {
            return Err(invalid(format!(
                "facets: expected the number of values of {field:?} to be above 0"
            )));
        }
        request.add_terms(format!("{FACET}{field}"), &field, size);
    }
    Ok(Some(request))
}

/// The answer as JSON: an object of facets, and one of aggregations.
pub fn answered(
    asked: Option<&AggregationRequest>,
    found: Option<&AggregationState>,
) -> PyResult<Option<String>> {
    let (Some(asked), Some(found)) = (asked, found) else {
        return Ok(None);
    };
    let (mut facets, mut others) = (Map::new(), Map::new());
    if let Value::Object(all) = asked.answer(found).or_raise()? {
        for (name, answer) in all {
            match name.strip_prefix(FACET) {
                Some(field) => facets.insert(field.to_owned(), facet(&answer)),
                None => others.insert(name, answer),
            };
        }
    }
    Ok(Some(json!({"facets": facets, "aggs": others}).to_string()))
}

/// The values of a facet with their counts, the most frequent first.
fn facet(answer: &Value) -> Value {
    let buckets = answer["buckets"].as_array().map_or(&[][..], Vec::as_slice);
    let values = buckets.iter().map(|bucket| {
        let value = bucket.get("key_as_string").unwrap_or(&bucket["key"]);
        json!([value, bucket["doc_count"]])
    });
    Value::Array(values.collect())
}
