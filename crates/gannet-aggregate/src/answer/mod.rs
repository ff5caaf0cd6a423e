//! The answer of a tree, as Elasticsearch's JSON has it, from the state of a run.

use std::cell::Cell;
use std::ops::Deref;

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::state::{BucketState, NodeState, State};
use crate::tree::{Aggregation, Aggregations, BUCKETS_MAX, Kind};

mod histograms;
mod keys;
mod metrics;
mod order;
mod terms;
mod typed;

/// The state that is answered, and the number of buckets that the answer may still have.
struct Shown<'s> {
    state: &'s State,
    left: Cell<usize>,
}

impl Shown<'_> {
    fn new(state: &State) -> Shown<'_> {
        Shown {
            state,
            left: Cell::new(BUCKETS_MAX),
        }
    }
}

impl Deref for Shown<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.state
    }
}

impl Aggregations {
    /// Returns the answer: the value of `aggregations`. `state` must be of a run of this tree, or
    /// of several that were merged.
    ///
    /// # Errors
    ///
    /// [`Error::Buckets`] if there are more than [`BUCKETS_MAX`] buckets in all of it: a bucket
    /// takes some hundred bytes of an answer, whatever memory the run had.
    pub fn answer(&self, state: &State) -> Result<Value> {
        let members = self.answer_list(&state.nodes, &Shown::new(state))?;
        Ok(Value::Object(members))
    }

    /// Returns the same with the type of each answer before its name, as in `sterms#kinds`.
    pub fn answer_by_types(&self, state: &State) -> Result<Value> {
        let mut answer = self.answer_list(&state.nodes, &Shown::new(state))?;
        self.named_by_type(&mut answer, state);
        Ok(Value::Object(answer))
    }

    fn answer_list(&self, nodes: &[NodeState], state: &Shown<'_>) -> Result<Map<String, Value>> {
        if nodes.len() != self.list.len() {
            return Err(of_another_request());
        }
        let mut members = Map::new();
        for (own, node) in self.list.iter().zip(nodes) {
            members.insert(own.name.clone(), own.answer(node, state)?);
        }
        Ok(members)
    }
}

fn of_another_request() -> Error {
    Error::given("the state is not of this request")
}

impl Aggregation {
    fn answer(&self, node: &NodeState, state: &Shown<'_>) -> Result<Value> {
        let (buckets, left) = match (&self.kind, node) {
            (Kind::Metric(metric), NodeState::Metric(found)) => {
                return metrics::answer(metric, found, state);
            }
            (Kind::Metric(_), _) | (_, NodeState::Metric(_)) => return Err(of_another_request()),
            (_, NodeState::Buckets(buckets, left)) => (buckets, *left),
        };
        match &self.kind {
            Kind::Terms(terms) => self.answer_terms(terms, buckets, left, state),
            Kind::Range(ranges) => self.answer_ranges(ranges, buckets, state),
            Kind::DateRange(ranges) => self.answer_date_ranges(ranges, buckets, state),
            Kind::IpRange(ranges) => {
                let mut list = Vec::new();
                for (range, bucket) in ranges.ranges.iter().zip(buckets) {
                    let mut members = Map::new();
                    for (name, end) in [("from", range.from), ("to", range.to)] {
                        if let Some(end) = end {
                            members.insert(name.to_owned(), json!(end.to_string()));
                        }
                    }
                    list.push((range.name(), self.bucket(members, bucket, state)?));
                }
                Ok(keyed(list, ranges.keyed, true))
            }
            Kind::Histogram(histogram) => self.answer_histogram(histogram, buckets, state),
            Kind::DateHistogram(histogram) => self.answer_dates(histogram, buckets, state),
            Kind::Composite(composite) => self.answer_composite(composite, buckets, state),
            Kind::Filters(filters) => {
                let names = filters
                    .filters
                    .iter()
                    .map(|(name, _)| name)
                    .chain(&filters.other);
                let mut list = Vec::new();
                for (name, bucket) in names.zip(buckets) {
                    list.push((name.clone(), self.bucket(Map::new(), bucket, state)?));
                }
                Ok(keyed(list, filters.keyed, false))
            }
            _ => {
                let bucket = buckets.first().ok_or_else(of_another_request)?;
                self.bucket(Map::new(), bucket, state)
            }
        }
    }

    fn too_many_buckets(&self) -> Error {
        Error::Buckets {
            aggregation: self.name.clone(),
            limit: BUCKETS_MAX,
        }
    }

    /// Returns a bucket: its members, its count, and what is below it.
    fn bucket(
        &self,
        mut members: Map<String, Value>,
        bucket: &BucketState,
        state: &Shown<'_>,
    ) -> Result<Value> {
        let left = state.left.get().checked_sub(1);
        state.left.set(left.ok_or_else(|| self.too_many_buckets())?);
        members.insert("doc_count".to_owned(), json!(bucket.count));
        members.extend(self.children.answer_list(&bucket.children, state)?);
        Ok(Value::Object(members))
    }
}

/// Returns buckets as an object by name, or as a list, perhaps with the name in each.
fn keyed(list: Vec<(String, Value)>, by_name: bool, with_key: bool) -> Value {
    if by_name {
        return json!({ "buckets": Value::Object(list.into_iter().collect()) });
    }
    let bucket = |(name, value): (String, Value)| match value {
        Value::Object(members) if with_key => {
            let mut all = Map::from_iter([("key".to_owned(), Value::String(name))]);
            all.extend(members);
            Value::Object(all)
        }
        value => value,
    };
    json!({ "buckets": list.into_iter().map(bucket).collect::<Vec<Value>>() })
}
