//! The form of answers, member by member, as Elasticsearch documents it.

use gannet_aggregate::{Aggregations, Kind, Scope, State};
use serde_json::{Value, json};

use crate::comparing::{PLENTY, read};
use crate::world::{Document, Own, Shard, documents};
use gannet_values::Number;

fn document(id: u32, size: i64, price: f64, tag: &str, date: i64) -> Document {
    let number = |number| vec![Own::Number(number)];
    let values = [
        ("size", number(Number::Long(size))),
        ("price", number(Number::Double(price))),
        ("tag", vec![Own::Term(tag.to_owned())]),
        ("date", number(Number::Long(date))),
        ("flag", number(Number::Long(i64::from(id == 1)))),
    ];
    Document {
        id,
        matches: true,
        in_long_piece: false,
        values: values.into_iter().collect(),
    }
}

fn few() -> Vec<Document> {
    vec![
        document(1, 10, 1.5, "a", 1_577_836_800_000),
        document(4, 20, 2.5, "b", 1_580_601_600_000),
        document(5, 30, 4.0, "b", 1_586_000_000_000),
    ]
}

fn answer(aggs: &Value) -> Value {
    let tree = read(aggs);
    let documents = few();
    let shard = Shard::of(documents.iter().collect());
    let outcome = shard.run(&tree, Scope::Alone, PLENTY, 1).expect("a run");
    tree.answer(&outcome.state).expect("an answer")
}

fn check(own: Value, expected: Value) {
    assert_eq!(answer(&json!({ "x": own }))["x"], expected);
}

/// Metrics answer one value, or several by name.
#[test]
fn metrics_have_the_form_of_elasticsearch() {
    check(
        json!({ "avg": { "field": "size" } }),
        json!({ "value": 20.0 }),
    );
    check(
        json!({ "sum": { "field": "none" } }),
        json!({ "value": 0.0 }),
    );
    check(
        json!({ "min": { "field": "none" } }),
        json!({ "value": null }),
    );
    check(
        json!({ "value_count": { "field": "tag" } }),
        json!({ "value": 3 }),
    );
    check(
        json!({ "cardinality": { "field": "tag" } }),
        json!({ "value": 2 }),
    );
    check(
        json!({ "max": { "field": "date" } }),
        json!({ "value": 1_586_000_000_000.0, "value_as_string": "2020-04-04T11:33:20.000Z" }),
    );
    check(
        json!({ "stats": { "field": "price" } }),
        json!({ "count": 3, "min": 1.5, "max": 4.0, "avg": 8.0 / 3.0, "sum": 8.0 }),
    );
    let extended = answer(&json!({ "x": { "extended_stats": { "field": "size", "sigma": 1 } } }));
    let extended = &extended["x"];
    assert_eq!(extended["sum_of_squares"], json!(1_400.0));
    assert_eq!(extended["variance_sampling"], json!(100.0));
    assert_eq!(
        extended["std_deviation_bounds"]["upper_sampling"],
        json!(30.0)
    );
    check(
        json!({ "percentiles": { "field": "size", "percents": [50, 75] } }),
        json!({ "values": { "50.0": 20.0, "75.0": 25.0 } }),
    );
    check(
        json!({ "percentiles": { "field": "size", "percents": [50], "keyed": false } }),
        json!({ "values": [{ "key": 50.0, "value": 20.0 }] }),
    );
}

/// Rare terms are all answered, or there is an error.
#[test]
fn rare_terms_are_those_of_few_documents() {
    check(
        json!({ "rare_terms": { "field": "tag" } }),
        json!({ "buckets": [{ "key": "a", "doc_count": 1 }] }),
    );
    check(
        json!({ "rare_terms": { "field": "tag", "max_doc_count": 2 } }),
        json!({ "buckets": [{ "key": "a", "doc_count": 1 }, { "key": "b", "doc_count": 2 }] }),
    );
    let mut tree = read(&json!({ "x": { "rare_terms": { "field": "size" } } }));
    if let Kind::Terms(terms) = &mut tree.list[0].kind {
        terms.size = 2;
    }
    let documents = few();
    let shard = Shard::of(documents.iter().collect());
    let outcome = shard.run(&tree, Scope::Alone, PLENTY, 1).expect("a run");
    let error = tree.answer(&outcome.state).expect_err("too many");
    assert!(error.to_string().contains("more than 2 terms"), "{error}");
}

/// Buckets have keys, texts of keys where those are no numbers or strings, and counts.
#[test]
fn buckets_have_the_form_of_elasticsearch() {
    let terms = |buckets: Value, other| json!({ "doc_count_error_upper_bound": 0, "sum_other_doc_count": other, "buckets": buckets });
    check(
        json!({ "terms": { "field": "tag", "size": 1 }, "aggs": { "m": { "sum": { "field": "size" } } } }),
        terms(
            json!([{ "key": "b", "doc_count": 2, "m": { "value": 50.0 } }]),
            1,
        ),
    );
    check(
        json!({ "terms": { "field": "flag" } }),
        terms(
            json!([
                { "key": 0, "key_as_string": "false", "doc_count": 2 },
                { "key": 1, "key_as_string": "true", "doc_count": 1 },
            ]),
            0,
        ),
    );
    check(
        json!({ "range": { "field": "size", "ranges": [{ "to": 20 }, { "key": "high", "from": 20 }] } }),
        json!({ "buckets": [
            { "key": "*-20.0", "to": 20.0, "doc_count": 1 },
            { "key": "high", "from": 20.0, "doc_count": 2 },
        ] }),
    );
    check(
        json!({ "date_range": { "field": "date", "format": "yyyy-MM", "keyed": true, "ranges": [
            { "from": "2020-01||+1M" },
        ] } }),
        json!({ "buckets": { "2020-02-*": {
            "from": 1_580_515_200_000.0, "from_as_string": "2020-02", "doc_count": 2,
        } } }),
    );
    check(
        json!({ "histogram": { "field": "size", "interval": 10, "hard_bounds": { "max": 20 } } }),
        json!({ "buckets": [{ "key": 10.0, "doc_count": 1 }, { "key": 20.0, "doc_count": 1 }] }),
    );
    check(
        json!({ "histogram": { "field": "size", "interval": 20, "keyed": true } }),
        json!({ "buckets": { "0.0": { "key": 0.0, "doc_count": 1 }, "20.0": { "key": 20.0, "doc_count": 2 } } }),
    );
    check(
        json!({ "date_histogram": { "field": "date", "calendar_interval": "quarter", "time_zone": "+01:00" } }),
        json!({ "buckets": [
            { "key_as_string": "2020-01-01T00:00:00.000+01:00", "key": 1_577_833_200_000_u64, "doc_count": 2 },
            { "key_as_string": "2020-04-01T00:00:00.000+01:00", "key": 1_585_695_600_000_u64, "doc_count": 1 },
        ] }),
    );
    check(
        json!({ "missing": { "field": "none" } }),
        json!({ "doc_count": 3 }),
    );
    check(
        json!({ "filters": { "filters": [{ "id": 0 }, { "id": 1 }] } }),
        json!({ "buckets": [{ "doc_count": 0 }, { "doc_count": 3 }] }),
    );
    check(
        json!({ "composite": { "size": 2, "sources": [
            { "t": { "terms": { "field": "tag" } } },
            { "d": { "date_histogram": { "field": "date", "calendar_interval": "1M", "format": "yyyy-MM" } } },
        ] } }),
        json!({
            "after_key": { "t": "b", "d": "2020-02" },
            "buckets": [
                { "key": { "t": "a", "d": "2020-01" }, "doc_count": 1 },
                { "key": { "t": "b", "d": "2020-02" }, "doc_count": 1 },
            ],
        }),
    );
}

/// A composite is read to its end page by page, each combination once.
#[test]
fn pages_of_a_composite_follow_each_other() {
    let documents = documents(400, 11);
    let shard = Shard::of(documents.iter().collect());
    let page = |size: usize, after: Option<&Value>, dates: &Value| {
        let mut own = json!({ "size": size, "sources": [
            { "t": { "terms": { "field": "tag", "order": "desc", "missing_bucket": true } } },
            { "d": { "date_histogram": dates } },
            { "p": { "terms": { "field": "price" } } },
        ] });
        if let Some(after) = after {
            own["after"] = after.clone();
        }
        let tree = read(&json!({ "x": { "composite": own } }));
        let outcome = shard.run(&tree, Scope::Alone, PLENTY, 3).expect("a run");
        let answer = tree.answer(&outcome.state).expect("an answer");
        let list = answer["x"]["buckets"].as_array().cloned().expect("a list");
        (list, answer["x"].get("after_key").cloned())
    };
    let zones = ["UTC", "America/New_York", "Asia/Kathmandu"];
    let formats = [
        None,
        Some("yyyy-MM-dd"),
        Some("strict_date_optional_time"),
        Some("epoch_millis"),
    ];
    for (zone, format) in zones
        .into_iter()
        .flat_map(|zone| formats.map(|format| (zone, format)))
    {
        let dates = json!({
            "field": "date", "calendar_interval": "month", "time_zone": zone, "format": format,
        });
        let (all, _) = page(10_000, None, &dates);
        let (mut pages, mut after) = (Vec::new(), None);
        for _ in 0..100 {
            let (next, key) = page(37, after.as_ref(), &dates);
            pages.extend(next);
            if key.is_none() {
                break;
            }
            after = key;
        }
        assert_eq!(pages, all, "{dates}");
    }
}

/// An answer of too many empty buckets is an error with the limit.
#[test]
fn too_many_buckets_are_an_error() {
    let tree = read(&json!({ "x": { "histogram": { "field": "size", "interval": 1e-7 } } }));
    let documents = few();
    let shard = Shard::of(documents.iter().collect());
    let outcome = shard.run(&tree, Scope::Alone, PLENTY, 1).expect("a run");
    let error = tree
        .answer(&outcome.state)
        .expect_err("too many")
        .to_string();
    assert!(error.contains("65536 buckets"), "{error}");
}

/// Buckets are counted over all aggregations and levels.
#[test]
fn too_many_buckets_together_are_an_error() {
    let below = |interval: f64| json!({ "x": { "histogram": { "field": "size", "interval": interval, "extended_bounds": { "min": 0, "max": 40_000 } } } });
    let twice = |interval: f64| json!({ "r": { "range": { "field": "size", "ranges": [{ "from": 0 }, { "from": 1 }] }, "aggs": below(interval) } });
    assert_eq!(
        answer(&below(1.0))["x"]["buckets"]
            .as_array()
            .unwrap()
            .len(),
        40_001
    );
    assert_eq!(
        answer(&twice(2.0))["r"]["buckets"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let documents = few();
    let shard = Shard::of(documents.iter().collect());
    let tree = read(&twice(1.0));
    let state = shard
        .run(&tree, Scope::Alone, PLENTY, 1)
        .expect("a run")
        .state;
    for answered in [tree.answer(&state), tree.answer_by_types(&state)] {
        let error = answered.expect_err("80,002 buckets").to_string();
        assert!(error.contains("65536 buckets"), "{error}");
    }
}

/// States of other types, of other requests and of runs alone do not merge.
#[test]
fn states_that_do_not_belong_together_are_rejected() {
    let documents = few();
    let shard = Shard::of(documents.iter().collect());
    let state = |aggs: &Value, scope| {
        let tree = read(aggs);
        shard.run(&tree, scope, PLENTY, 1).expect("a run").state
    };
    let terms = json!({ "x": { "terms": { "field": "tag" } } });
    let other = json!({ "x": { "avg": { "field": "size" } } });
    let mut own = state(&terms, Scope::Shard);
    assert!(own.merge(state(&terms, Scope::Alone)).is_err());
    assert!(own.merge(state(&other, Scope::Shard)).is_err());
    assert!(read(&other).answer(&own).is_err());
    let text = serde_json::to_string(&own).expect("stored");
    let long: State = serde_json::from_str(&text.replace("\"tag\":4", "\"tag\":5")).expect("read");
    let error = own.merge(long).expect_err("two types").to_string();
    assert!(
        error.contains("keyword in one shard and long in another"),
        "{error}"
    );
}

/// A damaged state is rejected, or answered without panics.
#[test]
fn damaged_states_are_read_without_panics() {
    let requests = [
        json!({ "x": { "terms": { "field": "tag" }, "aggs": { "s": { "extended_stats": { "field": "price" } } } } }),
        json!({ "x": { "date_histogram": { "field": "date", "fixed_interval": "30d" } } }),
        json!({ "x": { "histogram": { "field": "size", "interval": 10 } } }),
        json!({ "x": { "percentiles": { "field": "price" } }, "y": { "cardinality": { "field": "tag" } } }),
        json!({ "x": { "range": { "field": "size", "ranges": [{ "to": 20 }, { "from": 20 }] } } }),
        json!({ "x": { "composite": { "sources": [{ "t": { "terms": { "field": "tag" } } }] } } }),
        json!({ "x": { "filter": { "id": 0 } } }),
    ];
    let documents = few();
    let shard = Shard::of(documents.iter().collect());
    let trees: Vec<Aggregations> = requests.iter().map(read).collect();
    let mut random = crate::world::Random(99);
    let mut texts: Vec<String> = Vec::new();
    for tree in &trees {
        for scope in [Scope::Alone, Scope::Shard] {
            let state = shard.run(tree, scope, PLENTY, 1).expect("a run").state;
            texts.push(serde_json::to_string(&state).expect("stored"));
        }
    }
    let mut answered = 0;
    for _ in 0..20_000 {
        let mut text = texts[random.below(texts.len() as u64) as usize]
            .clone()
            .into_bytes();
        for _ in 0..1 + random.below(3) {
            let at = random.below(text.len() as u64) as usize;
            text[at] = b"0123456789[]{},\"-x"[random.below(18) as usize];
        }
        let Ok(state) = serde_json::from_slice::<State>(&text) else {
            continue;
        };
        for tree in &trees {
            answered += u32::from(tree.answer(&state).is_ok());
        }
        let other = &texts[random.below(texts.len() as u64) as usize];
        let mut merged: State = serde_json::from_str(other).expect("a state");
        let _ = merged.merge(state);
    }
    assert!(answered > 0);
}
