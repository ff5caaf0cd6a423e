//! Random requests on random documents, alone and over shards, against the naive evaluation.

use gannet_aggregate::{Aggregations, BUCKETS_MAX, Error, Scope, State};
use proptest::prelude::*;
use serde_json::Value;

use crate::naive::evaluate;
use crate::requests::request;
use crate::world::{Document, Random, Shard, documents};

/// More than any run here takes.
pub const PLENTY: usize = 1 << 30;

/// Reads a request; filters have their numbers as `id`.
pub fn read(aggs: &Value) -> Aggregations {
    let mut filter = |own: &Value| {
        let id = own["id"].as_u64().ok_or("a filter without an ID")?;
        Ok(id as u32)
    };
    let tree = Aggregations::from_json(aggs, 0, &mut filter);
    tree.unwrap_or_else(|error| panic!("{error}: {aggs}"))
}

pub fn expected(aggs: &Value, documents: &[Document]) -> Value {
    let all: Vec<&Document> = documents.iter().collect();
    let matching = all.iter().copied().filter(|own| own.matches).collect();
    evaluate(aggs, &matching, &all)
}

/// Fails unless two answers are equal, but for the last digits of fractions. An answer may have
/// more members than are expected of deviations.
pub fn compare(found: &Value, expected: &Value, place: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            let names: Vec<&String> = found.keys().collect();
            for (name, expected) in expected {
                let own = found.get(name);
                let own = own.unwrap_or_else(|| panic!("{place}.{name} is missing: {names:?}"));
                compare(own, expected, &format!("{place}.{name}"));
            }
            let may_have_more = expected.contains_key("std_deviation");
            assert!(
                may_have_more || found.len() == expected.len(),
                "{place}: {names:?}"
            );
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(
                found.len(),
                expected.len(),
                "{place}: {found:?} {expected:?}"
            );
            for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
                compare(found, expected, &format!("{place}[{number}]"));
            }
        }
        (Value::Number(one), Value::Number(other)) if one != other => {
            let [one, other] = [one, other].map(|own| own.as_f64().expect("a number"));
            let near = (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1e-3);
            assert!(near, "{place}: {one} {other}");
        }
        (found, expected) => assert_eq!(found, expected, "{place}"),
    }
}

/// Returns the buckets of an answer.
fn buckets_in(answer: &Value) -> usize {
    let below = |all: &mut dyn Iterator<Item = &Value>| all.map(buckets_in).sum::<usize>();
    match answer {
        Value::Object(members) => {
            let own = usize::from(members.contains_key("doc_count"));
            own + below(&mut members.values())
        }
        Value::Array(list) => below(&mut list.iter()),
        _ => 0,
    }
}

/// Fails unless an answer is what is expected, or an error where that has too many buckets.
pub fn check(found: gannet_aggregate::Result<Value>, expected: &Value, place: &str) {
    match found {
        Err(Error::Buckets { limit, .. }) => {
            assert_eq!(limit, BUCKETS_MAX);
            assert!(buckets_in(expected) > limit, "{place}");
        }
        found => compare(&found.expect("an answer"), expected, place),
    }
}

pub fn answer_alone(
    tree: &Aggregations,
    documents: &[Document],
    bytes: usize,
    seed: u64,
) -> gannet_aggregate::Result<Value> {
    let shard = Shard::of(documents.iter().collect());
    let outcome = shard.run(tree, Scope::Alone, bytes, seed);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}: {tree}"));
    tree.answer(&outcome.state)
}

fn answer_over_shards(
    tree: &Aggregations,
    documents: &[Document],
    shards: usize,
    seed: u64,
) -> gannet_aggregate::Result<Value> {
    let mut merged: Option<State> = None;
    for number in 0..shards {
        let own = documents.iter().enumerate();
        let own = own.filter(|(at, _)| at % shards == number).map(|own| own.1);
        let outcome = Shard::of(own.collect()).run(tree, Scope::Shard, PLENTY, seed);
        let state = outcome
            .unwrap_or_else(|error| panic!("{error}: {tree}"))
            .state;
        // States are sent as text between processes.
        let text = serde_json::to_string(&state).expect("a state is stored");
        let state: State = serde_json::from_str(&text).expect("a state is read");
        match &mut merged {
            None => merged = Some(state),
            Some(merged) => merged.merge(state).expect("states merge"),
        }
    }
    tree.answer(&merged.expect("a shard"))
}

proptest! {
    /// A run answers what going through all documents answers.
    #[test]
    fn a_run_answers_as_a_naive_evaluation(seed in any::<u64>(), count in 0..600_usize, depth in 0..5_usize) {
        let aggs = request(&mut Random(seed | 1), depth, true);
        let documents = documents(count, seed);
        let tree = read(&aggs);
        let found = answer_alone(&tree, &documents, PLENTY, seed);
        check(found, &expected(&aggs, &documents), &aggs.to_string());
    }

    /// Merged states of shards answer what one run over all documents answers.
    #[test]
    fn shards_answer_as_one(seed in any::<u64>(), count in 0..400_usize, shards in 1..5_usize, depth in 0..4_usize) {
        let aggs = request(&mut Random(seed | 1), depth, true);
        let documents = documents(count, seed);
        let tree = read(&aggs);
        let found = answer_over_shards(&tree, &documents, shards, seed);
        check(found, &expected(&aggs, &documents), &aggs.to_string());
    }

    /// A request is printed as one that means the same.
    #[test]
    fn requests_are_read_as_they_are_printed(seed in any::<u64>(), depth in 0..8_usize) {
        let aggs = request(&mut Random(seed | 1), depth, true);
        let tree = read(&aggs);
        let printed = tree.to_json(&|id| serde_json::json!({ "id": id }));
        prop_assert_eq!(&read(&printed), &tree);
        prop_assert!(!tree.to_string().is_empty());
    }
}
