//! Requests that are wrong or not supported: errors that name what is wrong.

use gannet_aggregate::{
    Aggregations, Error, Kind, Metric, MetricKind, Order, OrderBy, Run, Scope, Terms, Want,
};
use serde_json::{Value, json};

use crate::world::type_of;

fn read(aggs: &Value) -> Result<Aggregations, Error> {
    Aggregations::from_json(aggs, 0, &mut |_| Err("no filters here".to_owned()))
}

fn error(aggs: &Value) -> String {
    match read(aggs) {
        Err(error) => error.to_string(),
        Ok(tree) => match Run::new(&tree, Scope::Alone, &type_of, Box::new(|_| true)) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("no error: {aggs}"),
        },
    }
}

/// Each mistake is named in the error.
#[test]
fn mistakes_are_named() {
    let one = |own: Value| json!({ "x": own });
    let cases = [
        (json!([]), "aggs"),
        (one(json!({})), "has no kind"),
        (
            one(json!({ "terms": { "field": "tag" }, "avg": { "field": "size" } })),
            "two kinds",
        ),
        (one(json!({ "terms": {} })), "has no \"field\""),
        (
            one(json!({ "terms": { "field": "tag", "script": "1" } })),
            "\"script\" of terms \"x\" is not supported",
        ),
        (
            one(json!({ "terms": { "field": "tag", "include": "a.*" } })),
            "patterns and partitions",
        ),
        (
            one(json!({ "terms": { "field": "tag", "size": 0 } })),
            "\"size\"",
        ),
        (
            one(json!({ "rare_terms": { "field": "tag", "max_doc_count": 101 } })),
            "\"max_doc_count\"",
        ),
        (
            one(json!({ "ip_range": { "field": "tag", "ranges": [{ "mask": "10.0.0.1" }] } })),
            "a network such as",
        ),
        (
            one(json!({ "ip_range": { "field": "tag", "ranges": [{}] } })),
            "needs a field of type ip",
        ),
        (
            one(json!({ "terms": { "field": "tag", "min_doc_count": 0 } })),
            "min_doc_count",
        ),
        (
            one(json!({ "terms": { "field": "tag", "order": { "m>n": "asc" } } })),
            "order",
        ),
        (
            one(json!({ "terms": { "field": "tag", "order": { "m": "asc" } } })),
            "must be a metric below it",
        ),
        (
            one(json!({ "terms": { "field": "size", "include": ["word"] } })),
            "which is no long",
        ),
        (
            one(json!({ "geo_bounds": { "field": "size" } })),
            "geo_bounds",
        ),
        (one(json!({ "avg": { "field": "tag" } })), "needs numbers"),
        (one(json!({ "avg": { "field": "text" } })), "has no column"),
        (
            one(
                json!({ "avg": { "field": "size" }, "aggs": { "y": { "avg": { "field": "size" } } } }),
            ),
            "metric",
        ),
        (
            one(json!({ "histogram": { "field": "size", "interval": 0 } })),
            "above 0",
        ),
        (
            one(json!({ "histogram": { "field": "tag", "interval": 1 } })),
            "long or double",
        ),
        (
            one(
                json!({ "histogram": { "field": "size", "interval": 1, "extended_bounds": { "min": 5, "max": 1 } } }),
            ),
            "above their max",
        ),
        (
            one(json!({ "range": { "field": "size", "ranges": [{ "from": 5, "to": 1 }] } })),
            "upside down",
        ),
        (
            one(json!({ "range": { "field": "size", "ranges": [] } })),
            "1 to 1024",
        ),
        (
            one(json!({ "date_histogram": { "field": "date" } })),
            "calendar_interval",
        ),
        (
            one(json!({ "date_histogram": { "field": "date", "calendar_interval": "2d" } })),
            "calendar_interval",
        ),
        (
            one(json!({ "date_histogram": { "field": "date", "fixed_interval": "0s" } })),
            "above 0",
        ),
        (
            one(
                json!({ "date_histogram": { "field": "date", "fixed_interval": "1d", "time_zone": "Mars" } }),
            ),
            "Mars",
        ),
        (
            one(json!({ "date_histogram": { "field": "size", "fixed_interval": "1d" } })),
            "type date",
        ),
        (one(json!({ "filter": { "term": {} } })), "no filters here"),
        (
            one(json!({ "percentiles": { "field": "size", "percents": [101] } })),
            "0 to 100",
        ),
        (
            one(json!({ "percentiles": { "field": "size", "hdr": {} } })),
            "hdr",
        ),
        (one(json!({ "composite": { "sources": [] } })), "sources"),
        (
            one(
                json!({ "composite": { "sources": [{ "a": { "terms": { "field": "tag" } } }], "after": { "b": 1 } } }),
            ),
            "after_key",
        ),
        (
            one(json!({ "terms": { "field": "tag" }, "aggs": { "g": { "global": {} } } })),
            "at the top",
        ),
        (
            one(json!({ "terms": { "field": "tag" }, "meta": {} })),
            "\"meta\" of aggregation",
        ),
        (
            one(json!({ "histogram": { "field": "size", "interval": 1,
                "extended_bounds": { "max": 9 }, "hard_bounds": { "max": 8 } } })),
            "within \"hard_bounds\"",
        ),
        (
            one(
                json!({ "composite": { "sources": [{ "a": { "date_histogram": {
                "field": "date", "fixed_interval": "1d", "format": "dd.MM.yyyy" } } }] } }),
            ),
            "epoch_millis",
        ),
    ];
    for (aggs, expected) in cases {
        let found = error(&aggs);
        assert!(found.contains(expected), "{aggs}: {found}");
    }
    let mut deep = json!({ "x": { "terms": { "field": "tag" } } });
    for _ in 0..8 {
        deep = json!({ "x": { "terms": { "field": "tag" }, "aggs": deep } });
    }
    assert!(error(&deep).contains("8 deep"));
}

/// Members that change no exact answer are let pass.
#[test]
fn hints_are_let_pass() {
    let aggs = json!({ "x": { "terms": {
        "field": "tag", "shard_size": 100, "execution_hint": "map", "collect_mode": "breadth_first",
    } }, "y": { "cardinality": { "field": "tag", "precision_threshold": 10 } } });
    assert!(read(&aggs).is_ok());
}

/// A tree is built without JSON, and dates are computed when one is read.
#[test]
fn trees_are_built_and_printed() {
    let mut terms = Terms::of("tag");
    let by_price = OrderBy::Metric("price".to_owned(), None);
    terms.order = vec![Order {
        by: by_price,
        ascending: false,
    }];
    let mut tree = Aggregations::default().with("tags", Kind::Terms(terms));
    let price = Kind::Metric(Metric::of(MetricKind::Avg, "price"));
    tree.list[0].children = Aggregations::default().with("price", price);
    let printed = json!({ "tags": {
        "terms": { "field": "tag", "size": 10, "order": [{ "price": "desc" }], "min_doc_count": 1 },
        "aggs": { "price": { "avg": { "field": "price" } } },
    } });
    assert_eq!(
        serde_json::from_str::<Value>(&tree.to_string()).ok(),
        Some(printed.clone())
    );
    assert_eq!(read(&printed), Ok(tree));
    for aggs in [
        json!({ "r": { "rare_terms": { "field": "tag", "max_doc_count": 3 } } }),
        json!({ "i": { "ip_range": { "field": "ip", "ranges": [
            { "from": "::2" }, { "key": "10.0.0.0/8", "from": "10.0.0.0", "to": "11.0.0.0" },
        ] } } }),
    ] {
        let tree = read(&aggs).expect("a request");
        let printed = serde_json::from_str::<Value>(&tree.to_string()).ok();
        assert_eq!(printed, Some(aggs));
    }
    let aggs =
        json!({ "d": { "date_range": { "field": "date", "ranges": [{ "from": "now-1d/d" }] } } });
    let tree = Aggregations::from_json(&aggs, 90_000_000, &mut |_| Ok(0)).expect("a request");
    let Kind::DateRange(own) = &tree.list[0].kind else {
        panic!("{tree}");
    };
    assert_eq!(own.ranges.ranges[0].from, Some(0));
}

/// A run says when it is given what it did not ask for.
#[test]
fn what_was_not_asked_for_is_rejected() {
    let tree = read(&json!({ "x": { "terms": { "field": "tag" } } })).expect("a request");
    let mut run = Run::new(&tree, Scope::Alone, &type_of, Box::new(|_| true)).expect("a run");
    assert!(matches!(run.wants(), Want::Pass(_)));
    assert!(matches!(
        run.give_terms(&[String::new()]),
        Err(Error::Given(_))
    ));
    assert!(matches!(run.give_numbers(&[None]), Err(Error::Given(_))));
    assert!(matches!(run.into_state(), Err(Error::Given(_))));
}

/// A request whose text is damaged is rejected, or planned without panics.
#[test]
fn damaged_requests_are_read_without_panics() {
    let mut random = crate::world::Random(1_234_567);
    let (mut planned, mut rejected) = (0, 0);
    for _ in 0..20_000 {
        let depth = random.below(4) as usize;
        let mut text = crate::requests::request(&mut random, depth, true)
            .to_string()
            .into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(text.len() as u64) as usize;
            text[at] = b"0123456789[]{},\":-+.eE"[random.below(22) as usize];
        }
        let Ok(aggs) = serde_json::from_slice::<Value>(&text) else {
            continue;
        };
        let tree = Aggregations::from_json(&aggs, 0, &mut |_| Ok(0));
        let run =
            tree.map(|tree| Run::new(&tree, Scope::Alone, &type_of, Box::new(|_| true)).is_ok());
        match run {
            Ok(true) => planned += 1,
            _ => rejected += 1,
        }
    }
    assert!(planned > 100 && rejected > 100);
}
