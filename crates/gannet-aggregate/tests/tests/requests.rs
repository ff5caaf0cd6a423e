//! Random requests as JSON.

use serde_json::{Map, Value, json};

use crate::world::Random;

/// Returns aggregations nested at most so deep.
pub fn request(random: &mut Random, depth: usize, is_top: bool) -> Value {
    let mut members = Map::new();
    for number in 0..1 + random.below(2) {
        members.insert(format!("a{number}"), one(random, depth, is_top));
    }
    Value::Object(members)
}

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len() as u64) as usize]
}

fn maybe(random: &mut Random, of: u64) -> bool {
    random.below(of) == 0
}

fn one(random: &mut Random, depth: usize, is_top: bool) -> Value {
    if depth == 0 || maybe(random, 4) {
        return metric(random);
    }
    let (kind, parameters, orders) = bucket(random, is_top);
    let mut below = match random.below(4) {
        0 => json!({}),
        _ => request(random, depth - 1, false),
    };
    let mut parameters = parameters;
    if orders && maybe(random, 2) {
        let (metric, path) = ordering(random);
        below["m"] = metric;
        let direction = pick(random, &["asc", "desc"]);
        let by_metric = json!({ path: direction });
        parameters["order"] = match random.below(3) {
            0 => json!([{ "_count": "desc" }, by_metric]),
            1 => json!([by_metric, { "_key": "desc" }]),
            _ => by_metric,
        };
    }
    let mut own = json!({ kind: parameters });
    if below != json!({}) {
        own["aggs"] = below;
    }
    own
}

/// A metric that orders buckets, and its path.
fn ordering(random: &mut Random) -> (Value, &'static str) {
    match random.below(5) {
        0 => (json!({ "avg": { "field": "size" } }), "m"),
        1 => (json!({ "stats": { "field": "size" } }), "m.max"),
        2 => (json!({ "cardinality": { "field": "tag" } }), "m"),
        3 => (
            json!({ "percentiles": { "field": "size", "percents": [50] } }),
            "m.50",
        ),
        _ => (
            json!({ "sum": { "field": "size", "missing": 3 } }),
            "m.value",
        ),
    }
}

fn metric(random: &mut Random) -> Value {
    let field = pick(random, &["size", "price", "date", "flag", "none"]);
    match random.below(10) {
        0 => json!({ "value_count": { "field": pick(random, &["tag", "url", "size", "none"]) } }),
        1 => {
            json!({ "cardinality": { "field": pick(random, &["tag", "url", "size", "price", "date", "flag"]) } })
        }
        2 => {
            json!({ "cardinality": { "field": "tag", "missing": pick(random, &["t1", "nothing"]) } })
        }
        3 => json!({ "percentiles": { "field": field, "percents": [0, 12.5, 50, 99, 100] } }),
        4 => json!({ "extended_stats": { "field": pick(random, &["size", "flag"]) } }),
        5 => json!({ "stats": { "field": field } }),
        6 => json!({ "sum": { "field": "price", "missing": 2.5 } }),
        7 => json!({ "min": { "field": field } }),
        8 => json!({ "max": { "field": field } }),
        _ => json!({ "avg": { "field": field } }),
    }
}

/// Returns a kind with its parameters, and if it may be ordered by a metric.
fn bucket(random: &mut Random, is_top: bool) -> (&'static str, Value, bool) {
    match random.below(if is_top { 13 } else { 11 }) {
        0 if maybe(random, 2) => ("rare_terms", rare_terms(random), false),
        0..4 => ("terms", terms(random), true),
        4 => ("range", ranges(random), false),
        5 => ("histogram", histogram(random), false),
        6 | 7 => ("date_histogram", dates(random), false),
        8 => ("filter", json!({ "id": random.below(3) }), false),
        9 => {
            let mut own = json!({ "filters": { "one": { "id": 0 }, "two": { "id": 1 } } });
            if maybe(random, 2) {
                own["other_bucket_key"] = json!("rest");
            }
            ("filters", own, false)
        }
        10 => (
            "missing",
            json!({ "field": pick(random, &["tag", "size", "none"]) }),
            false,
        ),
        11 => ("global", json!({}), false),
        _ => ("composite", composite(random), false),
    }
}

fn terms(random: &mut Random) -> Value {
    let field = pick(
        random,
        &["tag", "url", "url", "size", "price", "flag", "date", "none"],
    );
    let mut own = json!({ "field": field });
    if maybe(random, 2) {
        own["size"] = json!(1 + random.below(1 + random.0 % 40));
    }
    match random.below(4) {
        0 => own["order"] = json!({ "_key": pick(random, &["asc", "desc"]) }),
        1 => own["order"] = json!({ "_count": "asc" }),
        _ => {}
    }
    if maybe(random, 4) {
        own["min_doc_count"] = json!(1 + random.below(5));
    }
    let value = |random: &mut Random| match field {
        "tag" => json!(format!("t{}", random.below(12))),
        "url" => json!(format!("/{}", random.below(450))),
        "flag" => json!(pick(random, &["true", "false"])),
        "date" => json!(pick(random, &["2020-01-01", "2019-11-11T11:11:11"])),
        _ => json!(random.below(20)),
    };
    if maybe(random, 3) {
        own["missing"] = value(random);
    }
    for name in ["include", "exclude"] {
        if maybe(random, 6) {
            let list: Vec<Value> = (0..random.below(9)).map(|_| value(random)).collect();
            own[name] = json!(list);
        }
    }
    own
}

fn rare_terms(random: &mut Random) -> Value {
    let mut own = terms(random);
    for name in ["size", "order", "min_doc_count"] {
        own.as_object_mut().expect("an object").remove(name);
    }
    if maybe(random, 2) {
        own["max_doc_count"] = json!(1 + random.below(9));
    }
    own
}

fn ranges(random: &mut Random) -> Value {
    let field = pick(random, &["size", "price"]);
    let mut ranges = Vec::new();
    for _ in 0..1 + random.below(4) {
        let (one, other) = (random.below(40) as f64 / 2.0, random.below(40) as f64 / 2.0);
        let mut range = json!({});
        if maybe(random, 4) {
            range["to"] = json!(one);
        } else {
            range["from"] = json!(one.min(other));
            if !maybe(random, 4) {
                range["to"] = json!(one.max(other));
            }
        }
        ranges.push(range);
    }
    let mut own = json!({ "field": field, "ranges": ranges });
    if maybe(random, 3) {
        own["missing"] = json!(4);
    }
    own
}

fn histogram(random: &mut Random) -> Value {
    let width = [1.0, 2.5, 7.0][random.below(3) as usize];
    let mut own = json!({ "field": "size", "interval": width });
    if maybe(random, 3) {
        own["offset"] = json!(0.5);
    }
    match random.below(4) {
        0 => own["min_doc_count"] = json!(random.below(4)),
        1 => own["extended_bounds"] = json!({ "min": -15.0, "max": 30.0 }),
        2 => own["hard_bounds"] = json!({ "min": -3.0, "max": 11.0 }),
        _ => {}
    }
    if maybe(random, 4) {
        own["order"] = json!({ "_count": "desc" });
    }
    if maybe(random, 4) {
        own["missing"] = json!(50);
    }
    own
}

fn interval(random: &mut Random) -> Value {
    let mut own = json!({ "field": "date" });
    if maybe(random, 2) {
        own["calendar_interval"] = json!(pick(random, &["week", "month", "quarter", "year"]));
    } else {
        own["fixed_interval"] = json!(pick(random, &["2400h", "700h"]));
    }
    if maybe(random, 2) {
        own["time_zone"] = json!(pick(
            random,
            &[
                "Europe/Berlin",
                "America/New_York",
                "+05:30",
                "Australia/Lord_Howe"
            ]
        ));
    }
    if maybe(random, 3) {
        own["offset"] = json!(pick(random, &["6h", "-3h"]));
    }
    own
}

fn dates(random: &mut Random) -> Value {
    let mut own = interval(random);
    match random.below(4) {
        0 => own["min_doc_count"] = json!(1),
        1 => {
            own["hard_bounds"] =
                json!({ "min": 1_577_836_800_000_u64, "max": 1_609_459_200_000_u64 })
        }
        2 => own["extended_bounds"] = json!({ "max": 1_709_459_200_000_u64 }),
        _ => {}
    }
    own
}

fn composite(random: &mut Random) -> Value {
    let mut sources = Vec::new();
    for number in 0..1 + random.below(3) {
        let (kind, mut own) = match random.below(6) {
            0 => ("histogram", json!({ "field": "size", "interval": 5.0 })),
            1 => ("date_histogram", interval(random)),
            2 => ("terms", json!({ "field": "price" })),
            3 => ("terms", json!({ "field": "flag" })),
            _ => ("terms", json!({ "field": pick(random, &["tag", "url"]) })),
        };
        if maybe(random, 2) {
            own["order"] = json!(pick(random, &["asc", "desc"]));
        }
        if maybe(random, 2) {
            own["missing_bucket"] = json!(true);
        }
        sources.push(json!({ format!("s{number}"): { kind: own } }));
    }
    json!({ "sources": sources, "size": 1 + random.below(30) })
}
