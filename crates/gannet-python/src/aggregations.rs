//! Counts of values beside the hits: facets and aggregations, as they are asked for and answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use gannet::Snapshot;
use gannet::aggregations::{AggregationRequest, AggregationState};
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

/// The aggregations that are asked for, if there are any.
pub fn asked(
    py: Python<'_>,
    facets: Option<Facets>,
    aggs: Option<&Bound<'_, PyAny>>,
    snapshot: &Snapshot,
) -> PyResult<Option<Arc<AggregationRequest>>> {
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
            snapshot.parse_aggregations(&json).or_raise()?
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
    Ok(Some(Arc::new(request)))
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
