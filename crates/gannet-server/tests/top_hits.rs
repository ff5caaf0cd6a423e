//! The hits of buckets (`top_hits`) and of groups (`inner_hits`).

use serde_json::{Value, json};

use crate::client::{Random, TestServer, text};

const KINDS: [&str; 4] = ["lamp", "rope", "desk lamp", "Harpoon"];

/// Milliseconds of a day of 2024, and of the first of January.
const DAY_MS: i64 = 86_400_000;
const FIRST_MS: i64 = 1_704_067_200_000;

/// A document as the test knows it.
#[derive(Clone, Debug)]
struct Thing {
    index: String,
    id: String,
    source: Value,
    at_ms: i64,
}

impl Thing {
    fn numbers(&self, field: &str) -> Vec<f64> {
        match &self.source[field] {
            Value::Array(list) => list.iter().filter_map(Value::as_f64).collect(),
            one => one.as_f64().into_iter().collect(),
        }
    }

    fn order(&self) -> (u64, String, u64) {
        let id = self.id.parse().unwrap();
        (
            self.source["rank"].as_u64().unwrap(),
            self.index.clone(),
            id,
        )
    }
}

fn fill(server: &TestServer, names: &[&str], seed: u64) -> Vec<Thing> {
    let mut random = Random(seed);
    let mut things = Vec::new();
    for name in names {
        let mapping = json!({ "mappings": { "properties": {
            "kind": { "type": "keyword" }, "at": { "type": "date" }, "on": { "type": "boolean" },
            "text": { "type": "text" }, "rank": { "type": "long" }, "price": { "type": "double" },
        }}});
        server.json("PUT", &format!("/{name}"), &mapping.to_string(), 200);
        let mut lines = String::new();
        for id in 0..60 {
            let day = random.below(70) as i64;
            let at_ms = FIRST_MS + day * DAY_MS + random.below(86_400_000) as i64;
            let mut source = json!({
                "kind": random.pick(&KINDS), "at": at_ms, "on": random.below(2) == 1,
                "text": if random.below(2) == 1 { "a lamp of oil" } else { "a lamp" },
                "rank": random.below(40), "made": random.pick(&KINDS),
                "price": [random.below(40) as f64 / 10.0, random.below(40) as f64 / 10.0],
            });
            if random.below(4) == 0 {
                source.as_object_mut().unwrap().remove("kind");
            }
            if random.below(4) == 0 {
                source["price"] = json!([]);
            }
            lines += &format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{source}\n");
            things.push(Thing {
                index: (*name).to_owned(),
                id: id.to_string(),
                source,
                at_ms,
            });
        }
        server.bulk(&format!("/{name}/_bulk"), &lines);
    }
    things
}

/// The hits of a bucket must be the first of those of the test, by their rank.
fn check(things: &[Thing], bucket: &Value, size: usize, is_in: &dyn Fn(&Thing) -> bool) {
    let mut inside: Vec<&Thing> = things.iter().filter(|thing| is_in(thing)).collect();
    inside.sort_by_key(|thing| thing.order());
    let told = &bucket["best"]["hits"];
    assert_eq!(bucket["doc_count"], inside.len(), "{bucket}");
    assert_eq!(
        told["total"],
        json!({ "value": inside.len(), "relation": "eq" })
    );
    let hits = told["hits"].as_array().unwrap();
    let found: Vec<(String, String)> = hits
        .iter()
        .map(|hit| (text(&hit["_index"]), text(&hit["_id"])))
        .collect();
    let expected: Vec<(String, String)> = inside
        .iter()
        .take(size)
        .map(|thing| (thing.index.clone(), thing.id.clone()))
        .collect();
    assert_eq!(found, expected, "{bucket}");
    for (hit, thing) in hits.iter().zip(&inside) {
        assert_eq!(hit["sort"][0], thing.source["rank"]);
        assert_eq!(hit["_source"], json!({ "rank": thing.source["rank"] }));
        assert_eq!(hit["_score"], Value::Null);
    }
}

fn buckets<'a>(told: &'a Value, name: &str) -> Vec<&'a Value> {
    let buckets = &told["aggregations"][name]["buckets"];
    let buckets: Vec<&Value> = match buckets {
        Value::Object(named) => named.values().collect(),
        other => other.as_array().unwrap().iter().collect(),
    };
    assert!(!buckets.is_empty(), "{told}");
    buckets
}

fn has_kind(thing: &Thing, field: &str, kind: &Value) -> bool {
    thing.source[field] == *kind
}

/// Every kind of bucket has the hits of its documents, of one index and of two.
#[test]
fn the_hits_of_a_bucket_are_the_first_of_its_documents() {
    for (seed, names) in [(1, vec!["a"]), (2, vec!["a", "b"])] {
        let server = TestServer::new();
        let things = fill(&server, &names, seed);
        let best = json!({ "best": { "top_hits": {
            "size": 4, "sort": [{ "rank": "asc" }], "_source": ["rank"],
        }}});
        let with = |mut aggregation: Value| {
            aggregation["aggs"] = best.clone();
            aggregation
        };
        let oil = json!({ "match": { "text": "oil" } });
        let body = json!({ "size": 0, "query": { "match": { "text": "lamp" } }, "aggs": {
            "kinds": with(json!({ "terms": { "field": "kind", "missing": "none" } })),
            "made": with(json!({ "terms": { "field": "made.keyword", "order": { "_key": "asc" } } })),
            "on": with(json!({ "terms": { "field": "on" } })),
            "rare": with(json!({ "rare_terms": { "field": "rank", "max_doc_count": 2 } })),
            "prices": with(json!({ "terms": { "field": "price", "size": 5 } })),
            "ranges": with(json!({ "range": { "field": "price", "ranges": [
                { "to": 1.3 }, { "from": 1.3, "to": 2.1, "key": "middle" }, { "from": 2.1 } ] } })),
            "steps": with(json!({ "histogram": { "field": "price", "interval": 0.3 } })),
            "weeks": with(json!({ "date_histogram": { "field": "at", "calendar_interval": "week",
                "time_zone": "Europe/Berlin" } })),
            "days": with(json!({ "date_histogram": { "field": "at", "fixed_interval": "10d" } })),
            "dates": with(json!({ "date_range": { "field": "at", "ranges": [
                { "to": "2024-02-01" }, { "from": "2024-02-01" } ] } })),
            "words": with(json!({ "filters": { "other_bucket_key": "rest", "filters": {
                "oil": oil, "desk": { "term": { "kind": "desk lamp" } } } } })),
            "oil": with(json!({ "filter": oil })),
            "unknown": with(json!({ "missing": { "field": "kind" } })),
            "free": with(json!({ "missing": { "field": "price" } })),
            "all": with(json!({ "global": {} })),
            "best": { "top_hits": { "size": 4, "sort": [{ "rank": "asc" }], "_source": ["rank"] } },
        }});
        let path = format!("/{}/_search", names.join(","));
        let told = server.json("POST", &path, &body.to_string(), 200);
        for bucket in buckets(&told, "kinds") {
            check(&things, bucket, 4, &|thing| match &bucket["key"] {
                Value::String(key) if key == "none" => thing.source.get("kind").is_none(),
                key => has_kind(thing, "kind", key),
            });
        }
        for bucket in buckets(&told, "made") {
            check(&things, bucket, 4, &|thing| {
                has_kind(thing, "made", &bucket["key"])
            });
        }
        for bucket in buckets(&told, "on") {
            let is_on = bucket["key"] == 1;
            check(&things, bucket, 4, &|thing| thing.source["on"] == is_on);
        }
        for bucket in buckets(&told, "rare") {
            assert!(bucket["doc_count"].as_u64().unwrap() <= 2);
            check(&things, bucket, 4, &|thing| {
                thing.source["rank"] == bucket["key"]
            });
        }
        for bucket in buckets(&told, "prices") {
            let price = bucket["key"].as_f64().unwrap();
            check(&things, bucket, 4, &|thing| {
                thing.numbers("price").contains(&price)
            });
        }
        for bucket in buckets(&told, "ranges") {
            let from = bucket["from"].as_f64().unwrap_or(f64::MIN);
            let to = bucket["to"].as_f64().unwrap_or(f64::MAX);
            check(&things, bucket, 4, &|thing| {
                thing
                    .numbers("price")
                    .iter()
                    .any(|price| (from..to).contains(price))
            });
        }
        for bucket in buckets(&told, "steps") {
            let number = (bucket["key"].as_f64().unwrap() / 0.3).round();
            check(&things, bucket, 4, &|thing| {
                thing
                    .numbers("price")
                    .iter()
                    .any(|price| (price / 0.3).floor() == number)
            });
        }
        let begins = |name: &str| -> Vec<i64> {
            let all = buckets(&told, name).into_iter();
            all.map(|bucket| bucket["key"].as_i64().unwrap()).collect()
        };
        for name in ["weeks", "days"] {
            let begins = begins(name);
            for (at, bucket) in buckets(&told, name).into_iter().enumerate() {
                let end = begins.get(at + 1).copied().unwrap_or(i64::MAX);
                check(&things, bucket, 4, &|thing| {
                    (begins[at]..end).contains(&thing.at_ms)
                });
            }
        }
        let february = FIRST_MS + 31 * DAY_MS;
        for bucket in buckets(&told, "dates") {
            let is_first = bucket.get("from").is_none();
            check(&things, bucket, 4, &|thing| {
                (thing.at_ms < february) == is_first
            });
        }
        let has_oil = |thing: &Thing| thing.source["text"] == "a lamp of oil";
        let is_desk = |thing: &Thing| thing.source["kind"] == "desk lamp";
        let told = &told["aggregations"];
        check(&things, &told["words"]["buckets"]["oil"], 4, &has_oil);
        check(&things, &told["words"]["buckets"]["desk"], 4, &is_desk);
        check(&things, &told["words"]["buckets"]["rest"], 4, &|thing| {
            !has_oil(thing) && !is_desk(thing)
        });
        check(&things, &told["oil"], 4, &has_oil);
        check(&things, &told["unknown"], 4, &|thing| {
            thing.source.get("kind").is_none()
        });
        check(&things, &told["free"], 4, &|thing| {
            thing.numbers("price").is_empty()
        });
        check(&things, &told["all"], 4, &|_| true);
        let top = json!({ "best": told["best"], "doc_count": things.len() });
        check(&things, &top, 4, &|_| true);
    }
}

#[test]
fn buckets_in_buckets_have_hits_and_combinations_too() {
    let server = TestServer::new();
    let things = fill(&server, &["a", "b"], 5);
    let best = json!({ "best": { "top_hits": {
        "size": 2, "sort": ["rank"], "_source": ["rank"] } } });
    let body = json!({ "size": 0, "aggs": {
        "kinds": { "terms": { "field": "kind" }, "aggs": {
            "on": { "terms": { "field": "on" }, "aggs": best },
            "mean": { "avg": { "field": "rank" } },
        }},
        "both": { "composite": { "size": 100, "sources": [
            { "kind": { "terms": { "field": "kind", "missing_bucket": true } } },
            { "step": { "histogram": { "field": "price", "interval": 0.7 } } },
            { "day": { "date_histogram": { "field": "at", "fixed_interval": "20d" } } },
        ] }, "aggs": best },
    }});
    let told = server.json("POST", "/a,b/_search", &body.to_string(), 200);
    for outer in buckets(&told, "kinds") {
        assert!(outer["mean"]["value"].is_number());
        for inner in outer["on"]["buckets"].as_array().unwrap() {
            check(&things, inner, 2, &|thing| {
                has_kind(thing, "kind", &outer["key"]) && thing.source["on"] == (inner["key"] == 1)
            });
        }
    }
    for bucket in buckets(&told, "both") {
        let key = &bucket["key"];
        let step = (key["step"].as_f64().unwrap() / 0.7).round();
        let day = key["day"].as_i64().unwrap();
        check(&things, bucket, 2, &|thing| {
            let kind = thing.source.get("kind").unwrap_or(&Value::Null);
            let has_step = thing
                .numbers("price")
                .iter()
                .any(|price| (price / 0.7).floor() == step);
            kind == &key["kind"] && has_step && (day..day + 20 * DAY_MS).contains(&thing.at_ms)
        });
    }
}

#[test]
fn hits_of_buckets_are_scored_and_shown_as_all_hits_are() {
    let server = TestServer::new();
    let lines = "{\"index\":{\"_id\":\"1\"}}\n{\"k\":\"x\",\"t\":\"oil\",\"n\":1.50}\n\
        {\"index\":{\"_id\":\"2\"}}\n{\"k\":\"x\",\"t\":\"oil and oil\",\"n\":2}\n\
        {\"index\":{\"_id\":\"3\"}}\n{\"k\":\"y\",\"t\":\"oil\",\"n\":3}\n\
        {\"index\":{\"_id\":\"4\"}}\n{\"k\":\"y\",\"t\":\"none\",\"n\":4}\n";
    server.bulk("/s/_bulk", lines);
    let query = r#""query":{"match":{"t":"oil"}}"#;
    let whole = server.json("POST", "/s/_search", &format!("{{{query}}}"), 200);
    let score = |id: &str| {
        let hits = whole["hits"]["hits"].as_array().unwrap();
        hits.iter().find(|hit| hit["_id"] == id).unwrap()["_score"].clone()
    };
    let aggs = r#""aggs":{"k":{"terms":{"field":"k.keyword"},"aggs":{"h":{"top_hits":{
        "version":true,"highlight":{"fields":{"t":{}}},"fields":["n"],"docvalue_fields":["k.keyword"]}}}}}"#;
    let body = format!("{{{query},\"size\":0,{aggs}}}");
    let answered = server.ask("POST", "/s/_search", &body);
    // Sources pass byte for byte.
    assert!(
        answered
            .text()
            .contains(r#""_source":{"k":"x","t":"oil","n":1.50}"#)
    );
    let told = answered.json();
    let hits = &told["aggregations"]["k"]["buckets"][0]["h"]["hits"];
    assert_eq!(hits["total"]["value"], 2);
    let ids: Vec<String> = hits["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| text(&hit["_id"]))
        .collect();
    for (hit, id) in hits["hits"].as_array().unwrap().iter().zip(&ids) {
        assert_eq!(hit["_score"], score(id));
        assert_eq!(hit["_version"], 1);
        assert_eq!(hit["fields"]["k.keyword"], json!(["x"]));
        assert!(
            hit["highlight"]["t"][0]
                .as_str()
                .unwrap()
                .contains("<em>oil</em>")
        );
    }
    assert_eq!(hits["max_score"], hits["hits"][0]["_score"]);
    let typed = server.json("POST", "/s/_search?typed_keys=true", &body, 200);
    let bucket = &typed["aggregations"]["sterms#k"]["buckets"][0];
    assert_eq!(bucket["top_hits#h"]["hits"]["total"]["value"], 2);
    // A least score holds for them, and a filter behind the query does not.
    let least = score("2").as_f64().unwrap();
    let body = format!("{{{query},\"size\":0,\"min_score\":{least},{aggs}}}");
    let told = server.json("POST", "/s/_search?rest_total_hits_as_int=true", &body, 200);
    let buckets = told["aggregations"]["k"]["buckets"].as_array().unwrap();
    assert!(
        buckets
            .iter()
            .all(|bucket| bucket["h"]["hits"]["total"] == bucket["doc_count"])
    );
    let post = format!("{{{query},\"post_filter\":{{\"ids\":{{\"values\":[]}}}},{aggs}}}");
    let told = server.json("POST", "/s/_search", &post, 200);
    assert_eq!(told["hits"]["total"]["value"], 0);
    assert_eq!(
        told["aggregations"]["k"]["buckets"][0]["h"]["hits"]["total"]["value"],
        2
    );
    let empty = r#"{"size":0,"aggs":{"n":{"range":{"field":"n","ranges":[{"from":100}]},"aggs":{"h":{"top_hits":{}}}}}}"#;
    let told = server.json("POST", "/s/_search", empty, 200);
    assert_eq!(
        told["aggregations"]["n"]["buckets"][0]["h"],
        json!({ "hits": { "total": { "value": 0, "relation": "eq" }, "max_score": null, "hits": [] } })
    );
}

#[test]
fn what_top_hits_do_not_have_is_an_error() {
    let server = TestServer::new();
    server.json(
        "PUT",
        "/s/_doc/1",
        r#"{"k":"x","n":1,"at":"2024-01-01"}"#,
        201,
    );
    for (aggs, part) in [
        (
            json!({ "h": { "top_hits": { "size": 101 } } }),
            "from + size must be less than or equal to: [100]",
        ),
        (
            json!({ "h": { "top_hits": { "script_fields": {} } } }),
            "[script_fields]",
        ),
        (
            json!({ "h": { "top_hits": { "sizes": 1 } } }),
            "did you mean [size]",
        ),
        (
            json!({ "h": { "top_hits": {}, "aggs": { "m": { "max": { "field": "n" } } } } }),
            "sub-aggregations",
        ),
        (
            json!({ "m": { "max": { "field": "n" }, "aggs": { "h": { "top_hits": {} } } } }),
            "sub-aggregations",
        ),
        (
            json!({ "m": { "histogram": { "field": "n", "interval": 1, "missing": 0 }, "aggs": { "h": { "top_hits": {} } } } }),
            "with [missing]",
        ),
        (
            json!({ "m": { "missing": { "field": "k.keyword" }, "aggs": { "h": { "top_hits": { "size": 1 } } } } }),
            "",
        ),
        (
            json!({ "h": { "top_hits": { "sort": ["nowhere"] } } }),
            "nowhere",
        ),
    ] {
        let body = json!({ "size": 0, "aggs": aggs }).to_string();
        if part.is_empty() {
            // No document is in the bucket, so there is nothing to search.
            server.json("POST", "/s/_search", &body, 200);
            continue;
        }
        let (_, reason) = server.error("POST", "/s/_search", &body, 400);
        assert!(reason.contains(part), "{body}: {reason}");
    }
    let lines: String = (0..1_001)
        .map(|n| format!("{{\"index\":{{}}}}\n{{\"n\":{n}}}\n"))
        .collect();
    server.bulk("/many/_bulk", &lines);
    let body = json!({ "size": 0, "aggs": { "n": { "terms": { "field": "n", "size": 2000 },
        "aggs": { "h": { "top_hits": { "size": 1 } } } } } });
    let (_, reason) = server.error("POST", "/many/_search", &body.to_string(), 400);
    assert!(reason.contains("more than 1000 buckets"), "{reason}");
}

/// Each group shows the first of its documents, also the group of those without a value.
#[test]
fn groups_show_hits_of_their_own() {
    for names in [vec!["a"], vec!["a", "b"]] {
        let server = TestServer::new();
        let things = fill(&server, &names, 9);
        let body = json!({
            "query": { "match": { "text": "lamp" } }, "size": 10, "sort": [{ "rank": "desc" }],
            "post_filter": { "term": { "on": true } },
            "collapse": { "field": "kind", "inner_hits": [
                { "name": "first", "size": 2, "sort": [{ "rank": "asc" }], "_source": ["rank"] },
                { "name": "best" },
            ]},
        });
        let path = format!("/{}/_search", names.join(","));
        let told = server.json("POST", &path, &body.to_string(), 200);
        let hits = told["hits"]["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 5, "{told}");
        for hit in hits {
            let kind = hit["_source"].get("kind");
            let is_in =
                |thing: &Thing| thing.source.get("kind") == kind && thing.source["on"] == true;
            let count = things.iter().filter(|thing| is_in(thing)).count();
            let first = json!({ "best": hit["inner_hits"]["first"], "doc_count": count });
            check(&things, &first, 2, &is_in);
            let best = &hit["inner_hits"]["best"]["hits"];
            assert_eq!(best["total"]["value"], count);
            assert_eq!(best["hits"].as_array().unwrap().len(), count.min(3));
            assert_eq!(best["max_score"], best["hits"][0]["_score"]);
            assert!(best["max_score"].is_number());
        }
    }
}

#[test]
fn groups_of_numbers_dates_and_booleans_show_hits() {
    let server = TestServer::new();
    let things = fill(&server, &["a"], 11);
    for field in ["rank", "at", "on"] {
        let body = json!({ "size": 100, "collapse": { "field": field,
            "inner_hits": { "name": "own", "size": 100, "_source": [field] } } });
        let told = server.json("POST", "/a/_search", &body.to_string(), 200);
        for hit in told["hits"]["hits"].as_array().unwrap() {
            let value = &hit["_source"][field];
            let count = things
                .iter()
                .filter(|thing| thing.source[field] == *value)
                .count();
            let own = &hit["inner_hits"]["own"]["hits"];
            assert_eq!(own["total"]["value"], count, "{field} {value}");
            let own = own["hits"].as_array().unwrap();
            assert!(own.iter().all(|hit| hit["_source"][field] == *value));
        }
    }
    for (inner, part) in [
        (json!({ "size": 1 }), "needs the [name]"),
        (
            json!([{ "name": "a" }, { "name": "a" }]),
            "already contains an entry for key [a]",
        ),
        (
            json!({ "name": "a", "from": 90, "size": 11 }),
            "but was [101]",
        ),
        (
            json!({ "name": "a", "collapse": { "field": "on" } }),
            "[collapse] of [inner_hits]",
        ),
    ] {
        let body = json!({ "collapse": { "field": "rank", "inner_hits": inner } });
        let (_, reason) = server.error("POST", "/a/_search", &body.to_string(), 400);
        assert!(reason.contains(part), "{reason}");
    }
}
