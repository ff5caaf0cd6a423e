//! Little memory: more passes, the same answers, and at last an error with a figure that holds.

use gannet_aggregate::{Error, Scope};
use proptest::prelude::*;
use serde_json::json;

use crate::comparing::{PLENTY, check, compare, expected, read};
use crate::requests::request;
use crate::world::{Random, Shard, documents};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the memory, an answer is the exact one, the reservation is never exceeded, and what
    /// an error says suffices.
    #[test]
    fn little_memory_changes_no_answer(
        seed in any::<u64>(),
        count in 300..1_500_usize,
        depth in 0..4_usize,
        share in 1..64_usize,
    ) {
        let aggs = request(&mut Random(seed | 1), depth, true);
        let documents = documents(count, seed);
        let tree = read(&aggs);
        let shard = Shard::of(documents.iter().collect());
        let most = shard.run(&tree, Scope::Alone, PLENTY, seed).expect("plenty").most_bytes;
        let bytes = most * share / 64;
        // Memory that suffices for one pass may not for the next, so there may be several errors.
        let (mut bytes, mut errors) = (bytes, 0);
        let outcome = loop {
            match shard.run(&tree, Scope::Alone, bytes, seed) {
                Err(Error::Memory { bytes: suffices, .. }) => {
                    prop_assert!(suffices as usize > bytes);
                    bytes = suffices as usize;
                    errors += 1;
                }
                other => break other.expect("only memory is short"),
            }
        };
        prop_assert!(errors < 4);
        prop_assert!(outcome.most_bytes <= bytes);
        let found = tree.answer(&outcome.state);
        check(found, &expected(&aggs, &documents), &aggs.to_string());
    }
}

/// Terms of many values, combinations of them, distinct values and percentiles are exact in a
/// fraction of their memory, by more passes.
#[test]
fn many_values_take_more_passes() {
    let documents = documents(30_000, 7);
    let shard = Shard::of(documents.iter().collect());
    let requests = [
        json!({ "a": { "terms": { "field": "date", "size": 5 } } }),
        json!({ "a": { "terms": { "field": "date", "size": 5, "order": { "_key": "desc" } } } }),
        json!({ "a": { "cardinality": { "field": "date" } } }),
        json!({ "a": { "percentiles": { "field": "date", "percents": [0, 1, 50, 99.9, 100] } } }),
        json!({ "a": { "terms": { "field": "tag" }, "aggs": {
            "d": { "cardinality": { "field": "date" } },
            "p": { "percentiles": { "field": "date", "percents": [5, 50] } },
        } } }),
        json!({ "a": { "terms": { "field": "url", "size": 3, "order": { "m": "desc" } }, "aggs": {
            "m": { "cardinality": { "field": "date" } },
        } } }),
        json!({ "a": { "terms": { "field": "url", "size": 400 }, "aggs": {
            "b": { "terms": { "field": "date", "size": 2 } },
        } } }),
        json!({ "a": { "composite": { "size": 20, "sources": [
            { "u": { "terms": { "field": "url", "order": "desc" } } },
            { "d": { "terms": { "field": "date" } } },
        ] } } }),
    ];
    for aggs in requests {
        let tree = read(&aggs);
        let plenty = shard.run(&tree, Scope::Alone, PLENTY, 1).expect("plenty");
        let least = shard.run(&tree, Scope::Alone, plenty.most_bytes / 6, 1);
        let least =
            least.unwrap_or_else(|error| panic!("{error} of {}: {aggs}", plenty.most_bytes));
        assert!(least.passes > plenty.passes, "{aggs}");
        assert!(
            least.passes <= 64 + plenty.passes + 7,
            "{} passes: {aggs}",
            least.passes
        );
        let found = tree.answer(&least.state).expect("an answer");
        compare(&found, &expected(&aggs, &documents), &aggs.to_string());
    }
}

/// All that is reserved in a run is what it says, and no more than is granted.
#[test]
fn without_memory_the_error_says_what_suffices() {
    let aggs = json!({ "many": { "histogram": { "field": "date", "interval": 86400000 } } });
    let documents = documents(3_000, 3);
    let shard = Shard::of(documents.iter().collect());
    let tree = read(&aggs);
    let error = shard
        .run(&tree, Scope::Alone, 30_000, 1)
        .err()
        .expect("too little");
    let Error::Memory { aggregation, bytes } = error else {
        panic!("{error}");
    };
    assert_eq!(aggregation, "many");
    assert!(shard.run(&tree, Scope::Alone, bytes as usize, 1).is_ok());
}
