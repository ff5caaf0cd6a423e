//! Answers of shards as bytes, and what they are together: the order of hits by values, facets and
//! aggregations. The Python code of `gannet.ray` carries them.

use std::cmp::Ordering;

use gannet::aggregations::{AggregationState, State};
use gannet::values::ValueType;
use gannet::{SearchResults, SortKey, SortValue};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::aggregations::{self, Facets};
use crate::errors::invalid;
use crate::sorting::{self, Keys};

/// The parts of an answer that are merged with those of other shards, as JSON.
#[derive(Clone, Default)]
pub struct ShardParts {
    /// The values of each hit by the keys of the order; nothing if that is by scores.
    pub places: Option<String>,
    /// The state of facets and aggregations, if any were asked for.
    pub counted: Option<String>,
}

impl ShardParts {
    /// The parts of an answer.
    pub fn of(results: &SearchResults) -> PyResult<ShardParts> {
        let counted = results.aggregations.as_ref().map(state_json).transpose()?;
        let is_sorted = results.hits.iter().any(|hit| !hit.sort.is_empty());
        let places = is_sorted.then(|| {
            let hits = results.hits.iter();
            let each = hits.map(|hit| Json::Array(hit.sort.iter().map(place_json).collect()));
            Json::Array(each.collect()).to_string()
        });
        Ok(ShardParts { places, counted })
    }
}

/// Returns the hits of shards in one order, as pairs of the shard and of the place there.
pub fn in_order(keys: Keys, shards: &[Option<String>]) -> PyResult<Vec<(usize, usize)>> {
    let keys = sorting::keys(Some(keys))?;
    let mut all: Vec<(usize, usize, Vec<SortValue>)> = Vec::new();
    for (shard, places) in shards.iter().enumerate() {
        let hits = places.as_deref().map_or(Ok(Vec::new()), read_places)?;
        all.extend(
            hits.into_iter()
                .enumerate()
                .map(|(at, values)| (shard, at, values)),
        );
    }
    all.sort_by(|one, other| compare(&keys, &one.2, &other.2));
    Ok(all.into_iter().map(|(shard, at, _)| (shard, at)).collect())
}

/// Returns facets and aggregations of all shards as JSON.
pub fn answered(
    py: Python<'_>,
    facets: Option<Facets>,
    aggs: Option<&Bound<'_, PyAny>>,
    shards: &[String],
) -> PyResult<Option<String>> {
    let Some(asked) = aggregations::shape(py, facets, aggs)? else {
        return Ok(None);
    };
    let mut sum: Option<State> = None;
    for shard in shards {
        let state: State = serde_json::from_str(shard).map_err(|error| strange(&error))?;
        match &mut sum {
            None => sum = Some(state),
            Some(sum) => sum
                .merge(state)
                .map_err(|error| invalid(error.to_string()))?,
        }
    }
    let sum = sum.map(AggregationState::new);
    aggregations::answered(Some(&asked), sum.as_ref())
}

fn compare(keys: &[SortKey], one: &[SortValue], other: &[SortValue]) -> Ordering {
    let values = one.iter().zip(other);
    let each = keys.iter().zip(values);
    each.map(|(key, (one, other))| key.compare(one, other))
        .fold(Ordering::Equal, Ordering::then)
}

fn state_json(state: &AggregationState) -> PyResult<String> {
    serde_json::to_string(&**state).map_err(|error| strange(&error))
}

/// A value as its type and its text.
fn place_json(value: &SortValue) -> Json {
    match value {
        None => Json::Null,
        Some(value) => json!([value.value_type().name(), value.to_string()]),
    }
}

fn read_places(text: &str) -> PyResult<Vec<Vec<SortValue>>> {
    let hits: Vec<Vec<Option<(String, String)>>> =
        serde_json::from_str(text).map_err(|error| strange(&error))?;
    let read = |(name, text): (String, String)| {
        let value = ValueType::from_name(&name)?.parse(&text)?;
        Some(value.into_owned())
    };
    let value = |value: Option<(String, String)>| match value {
        None => Ok(None),
        Some(value) => read(value)
            .map(Some)
            .ok_or_else(|| invalid("a shard gave a value that is none of its type".to_owned())),
    };
    let hit = |values: Vec<Option<(String, String)>>| values.into_iter().map(value).collect();
    hits.into_iter().map(hit).collect()
}

fn strange(error: &serde_json::Error) -> PyErr {
    invalid(format!(
        "a shard gave an answer that cannot be read: {error}; update Gannet on all nodes"
    ))
}
