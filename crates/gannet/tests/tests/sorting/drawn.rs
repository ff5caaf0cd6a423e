//! Queries, filters, orders and aggregations drawn at random, against a plain look at the JSON of
//! all documents.
//!
//! `GANNET_DRAWS`: how many are asked for in all (400).

use std::collections::BTreeMap;
use std::sync::Arc;

use gannet::aggregations::{AggregationRequest, Aggregations};
use gannet::{Document, Index, Limits, Operator, Query, SearchOptions};
use serde_json::{Value as Json, json};

use super::{Compared, Meaning, Model, QUERIES, Random, compare, document, ids, keys, values};
use crate::environment::number;

/// Fields that hits are ordered by.
const FIELDS: [&str; 7] = ["size", "price", "day", "kind", "open", "group", "_id"];

/// Fields whose values are counted, and those whose numbers are summed up.
const COUNTED: [&str; 5] = ["size", "kind", "group", "price", "open"];
const SUMMED: [&str; 2] = ["size", "price"];

/// A question, and its meaning.
struct Draw {
    text: String,
    query: Query,
    meanings: Vec<Meaning>,
    order: Vec<String>,
    counted: &'static str,
    summed: &'static str,
    size: usize,
    k: usize,
    skip: usize,
}

fn draw(random: &mut Random, index: &Index) -> Draw {
    let snapshot = index.snapshot();
    let (text, meaning) = random.one(&QUERIES);
    let mut meanings = vec![meaning];
    let mut shown = vec![text.to_owned()];
    let parse = |text: &str| snapshot.parse(text, Operator::Or).expect("a query");
    let mut filter = Vec::new();
    for _ in 0..random.below(3) {
        let (text, meaning) = random.one(&QUERIES);
        filter.push(parse(text));
        meanings.push(meaning);
        shown.push(text.to_owned());
    }
    let query = Query::Bool {
        must: vec![parse(text)],
        should: Vec::new(),
        must_not: Vec::new(),
        filter,
        minimum_should_match: 0,
    };
    let order = (0..random.below(4)).map(|_| {
        let turned = random.below(2) == 0;
        format!("{}{}", if turned { "-" } else { "" }, random.one(&FIELDS))
    });
    let mut order: Vec<String> = order.collect();
    if order.is_empty() {
        order.push("_doc".to_owned());
    }
    Draw {
        text: shown.join(" | "),
        query,
        meanings,
        order,
        counted: random.one(&COUNTED),
        summed: random.one(&SUMMED),
        size: 1 + random.below(12) as usize,
        k: random.below(30) as usize,
        skip: random.below(20) as usize,
    }
}

fn tree(draw: &Draw) -> Json {
    json!({
        "most": {
            "terms": { "field": draw.counted, "size": draw.size },
            "aggs": { "least": { "min": { "field": draw.summed } } },
        },
        "sum": { "stats": { "field": draw.summed } },
        "distinct": { "cardinality": { "field": draw.counted } },
        "tens": { "histogram": { "field": draw.summed, "interval": 10 } },
        "none": { "missing": { "field": draw.counted } },
    })
}

fn check(index: &Index, model: &Model, draw: &Draw) {
    let mut expected: Vec<&(u64, Json)> = model.documents.values().collect();
    expected.retain(|(_, document)| draw.meanings.iter().all(|meaning| meaning(document)));
    let order: Vec<&str> = draw.order.iter().map(String::as_str).collect();
    let of_values: Vec<&str> = order.iter().copied().filter(|key| *key != "_doc").collect();
    expected.sort_by(|a, b| compare(&of_values, a, b));
    let asked = tree(draw);
    let mut no_filter = |_: &Json| Err("no filter".to_owned());
    let tree = Aggregations::from_json(&asked, 0, &mut no_filter).expect("a tree");
    let options = SearchOptions {
        k: draw.k,
        skip: draw.skip,
        sort: keys(&order),
        count: true,
        aggregations: Some(Arc::new(AggregationRequest::of(tree.clone()))),
        ..SearchOptions::default()
    };
    let found = index
        .snapshot()
        .search_all(std::slice::from_ref(&draw.query), &options);
    let found = found
        .into_iter()
        .next()
        .expect("an answer")
        .expect("an answer");
    let told = format!("{} by {order:?}", draw.text);
    assert_eq!(found.total, expected.len() as u64, "{told}");
    let wanted = ids(expected.iter().skip(draw.skip).take(draw.k));
    let got: Vec<&str> = found.hits.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(got, wanted, "{told}");
    let answer = tree
        .answer(&found.aggregations.expect("a state"))
        .expect("an answer");
    let told = format!("{told}: {asked} gives {answer}");
    check_counts(&answer, &expected, draw, &told);
    check_sums(&answer, &expected, draw, &told);
}

fn numbers(document: &Json, field: &str) -> Vec<f64> {
    let number = |value| match value {
        Compared::Number(number) => Some(number),
        Compared::Text(_) => None,
    };
    values(document, field)
        .into_iter()
        .filter_map(number)
        .collect()
}

/// A value as the key of a bucket is compared: numbers before strings, each in their order.
fn bucket_key(value: &Compared) -> (u64, String) {
    match value {
        Compared::Number(number) => {
            let bits = number.to_bits();
            let key = if number.is_sign_negative() {
                !bits
            } else {
                bits | 1 << 63
            };
            (key, String::new())
        }
        Compared::Text(text) => (0, text.clone()),
    }
}

fn check_counts(answer: &Json, expected: &[&(u64, Json)], draw: &Draw, told: &str) {
    let mut counts: BTreeMap<(u64, String), (u64, Option<f64>)> = BTreeMap::new();
    let mut without = 0;
    for (_, document) in expected {
        let mut own: Vec<(u64, String)> = values(document, draw.counted)
            .iter()
            .map(bucket_key)
            .collect();
        without += u64::from(own.is_empty());
        own.sort();
        own.dedup();
        let least = numbers(document, draw.summed).into_iter().reduce(f64::min);
        for key in own {
            let (count, known) = counts.entry(key).or_default();
            *count += 1;
            *known = known.iter().copied().chain(least).reduce(f64::min);
        }
    }
    assert_eq!(answer["none"]["doc_count"], json!(without), "{told}");
    assert_eq!(answer["distinct"]["value"], json!(counts.len()), "{told}");
    let mut most: Vec<_> = counts.into_iter().collect();
    most.sort_by_key(|(key, (count, _))| (u64::MAX - count, key.clone()));
    let rest: u64 = most
        .iter()
        .skip(draw.size)
        .map(|(_, (count, _))| count)
        .sum();
    assert_eq!(answer["most"]["sum_other_doc_count"], json!(rest), "{told}");
    let buckets = answer["most"]["buckets"].as_array().expect("buckets");
    assert_eq!(buckets.len(), most.len().min(draw.size), "{told}");
    for (bucket, (key, (count, least))) in buckets.iter().zip(&most) {
        let own = match &bucket["key"] {
            Json::String(text) => Compared::Text(text.clone()),
            number => Compared::Number(number.as_f64().expect("a number")),
        };
        assert_eq!(
            (&bucket_key(&own), &bucket["doc_count"]),
            (key, &json!(count)),
            "{told}"
        );
        assert_eq!(bucket["least"]["value"].as_f64(), *least, "{told}");
    }
}

fn check_sums(answer: &Json, expected: &[&(u64, Json)], draw: &Draw, told: &str) {
    let all = expected
        .iter()
        .map(|(_, document)| numbers(document, draw.summed));
    let all: Vec<Vec<f64>> = all.collect();
    let flat: Vec<f64> = all.iter().flatten().copied().collect();
    let stats = &answer["sum"];
    assert_eq!(stats["count"], json!(flat.len()), "{told}");
    if !flat.is_empty() {
        let sum: f64 = flat.iter().sum();
        let got = stats["sum"].as_f64().expect("a sum");
        assert!((got - sum).abs() <= 1e-9 * sum.abs().max(1.0), "{told}");
        assert_eq!(
            stats["min"].as_f64(),
            flat.iter().copied().reduce(f64::min),
            "{told}"
        );
        assert_eq!(
            stats["max"].as_f64(),
            flat.iter().copied().reduce(f64::max),
            "{told}"
        );
    }
    let mut tens: BTreeMap<i64, u64> = BTreeMap::new();
    for own in &all {
        let mut own: Vec<i64> = own.iter().map(|n| (n / 10.0).floor() as i64).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter()
            .for_each(|ten| *tens.entry(ten).or_default() += 1);
    }
    let buckets = answer["tens"]["buckets"]
        .as_array()
        .expect("buckets")
        .iter();
    let counted = buckets.filter(|bucket| bucket["doc_count"] != 0);
    let counted = counted.map(|bucket| {
        let ten = bucket["key"].as_f64().expect("a number") / 10.0;
        (ten as i64, bucket["doc_count"].as_u64().expect("a count"))
    });
    assert!(counted.eq(tens), "{told}");
}

fn write(index: &Index, model: &mut Model, random: &mut Random, id: u64) {
    let at = model.written;
    let mut json = document(random, at);
    json["id"] = json!(id.to_string());
    let parsed = Document::parse(json.to_string().as_bytes()).expect("a document");
    index.write(vec![parsed]).expect("a batch");
    model.documents.insert(id.to_string(), (at, json));
    model.written += 1;
}

/// After more than twenty flushes, opened anew, a tenth replaced, half deleted, vacuumed, rebuilt.
#[test]
fn what_is_drawn_is_answered_as_the_documents_say() {
    let draws = number("GANNET_DRAWS", 400);
    let seed = number("GANNET_SEED", 0x5eed);
    println!("seed {seed}");
    let mut random = Random(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits {
        maintain_after: None,
        ..Limits::default()
    };
    let open = || {
        let options = Index::options().memory(32 << 20).limits(limits);
        options.open(folder.path()).expect("an index")
    };
    let (mut index, mut model) = (open(), Model::default());
    let some = |index: &Index, model: &Model, random: &mut Random| {
        for _ in 0..draws.div_ceil(7) {
            let draw = draw(random, index);
            check(index, model, &draw);
        }
    };
    for flush in 0..24_u64 {
        for id in 0..130 {
            write(&index, &mut model, &mut random, flush * 130 + id);
        }
        if flush < 23 {
            index.checkpoint().expect("a checkpoint");
        }
    }
    some(&index, &model, &mut random);
    index.checkpoint().expect("a checkpoint");
    drop(index);
    index = open();
    some(&index, &model, &mut random);
    let all = model.documents.len() as u64;
    for _ in 0..all / 10 {
        let id = random.below(all);
        write(&index, &mut model, &mut random, id);
    }
    some(&index, &model, &mut random);
    for id in 0..all {
        if id < all / 4 || random.below(3) == 0 {
            let id = id.to_string();
            index.delete(&[id.as_str()]).expect("a deletion");
            model.documents.remove(&id);
        }
    }
    some(&index, &model, &mut random);
    assert!((1..10_000).any(|_| !index.vacuum().expect("a slice")));
    some(&index, &model, &mut random);
    drop(index);
    index = open();
    some(&index, &model, &mut random);
    index.rebuild(&mut |_, _, _| ()).expect("a rebuild");
    some(&index, &model, &mut random);
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}
