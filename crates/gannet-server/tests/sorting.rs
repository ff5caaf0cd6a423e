//! Orders, pages and aggregations over several indexes are those of one index with all documents.

use serde_json::{Value, json};

use crate::client::{Random, TestServer, text};

/// Documents of three indexes, and all of them in one.
fn server() -> TestServer {
    let server = TestServer::new();
    let mut random = Random(11);
    for at in 0..150 {
        let index = ["a", "b", "c"][at % 3];
        let mut source = json!({
            "unique": at,
            "n": random.below(20),
            "price": random.below(1000) as f64 / 8.0,
            "kind": format!("k{}", random.below(6)),
            "day": format!("2024-{:02}-{:02}", random.below(12) + 1, random.below(28) + 1),
        });
        if random.below(5) == 0 {
            source.as_object_mut().unwrap().remove("n");
        }
        for path in [format!("/{index}/_doc/{at}"), format!("/all/_doc/{at}")] {
            server.json("PUT", &path, &source.to_string(), 201);
        }
    }
    server
}

fn search(server: &TestServer, index: &str, body: &Value) -> Value {
    server.json("POST", &format!("/{index}/_search"), &body.to_string(), 200)
}

#[test]
fn several_indexes_are_ordered_as_one() {
    let server = server();
    for sort in [
        json!([{"price": "asc"}, {"unique": "desc"}]),
        json!([{"kind.keyword": "desc"}, {"price": "asc"}, {"unique": "asc"}]),
        json!([{"n": {"order": "desc", "missing": "_first"}}, {"price": "desc"}, {"unique": "asc"}]),
        json!([{"day": "asc"}, {"price": "asc"}, {"unique": "asc"}]),
    ] {
        let ids = |index: &str, from: usize| {
            let body = json!({"sort": sort, "size": 40, "from": from});
            let found = search(&server, index, &body);
            let hits = found["hits"]["hits"].as_array().unwrap().iter();
            let hits = hits.map(|hit| (hit["sort"].to_string(), text(&hit["_id"])));
            hits.collect::<Vec<_>>()
        };
        for from in [0, 30] {
            assert_eq!(ids("a,b,c", from), ids("all", from), "{sort} {from}");
        }
    }
}

/// Each value of a field has one hit, as in one index with all documents, in any page.
#[test]
fn several_indexes_are_collapsed_as_one() {
    let server = server();
    for (field, sort) in [
        (
            "kind.keyword",
            json!([{"price": "asc"}, {"unique": "desc"}]),
        ),
        (
            "n",
            json!([{"day": "desc"}, {"price": "asc"}, {"unique": "asc"}]),
        ),
        (
            "day",
            json!([{"n": {"order": "desc", "missing": "_first"}}, {"unique": "asc"}]),
        ),
    ] {
        let hits = |index: &str, body: &Value| {
            let found = search(&server, index, body);
            assert_eq!(found["hits"]["total"]["value"], 150);
            let hits = found["hits"]["hits"].as_array().unwrap().iter();
            let hits = hits.map(|hit| (hit["fields"][field].to_string(), text(&hit["_id"])));
            hits.collect::<Vec<_>>()
        };
        let all = json!({"size": 200});
        let mut seen = std::collections::BTreeSet::new();
        let mut body = json!({"sort": sort});
        let found = search(&server, "all", &json!({"sort": sort, "size": all["size"]}));
        let each = found["hits"]["hits"].as_array().unwrap().iter();
        let value = |hit: &Value| match field {
            "kind.keyword" => hit["_source"]["kind"].to_string(),
            other => hit["_source"][other].to_string(),
        };
        let first = each.filter(|hit| seen.insert(value(hit)));
        let expected: Vec<String> = first.map(|hit| text(&hit["_id"])).collect();
        body["collapse"] = json!({"field": field});
        for (from, size) in [(0, 200), (1, 4), (3, 2)] {
            (body["from"], body["size"]) = (json!(from), json!(size));
            let (one, several) = (hits("all", &body), hits("a,b,c", &body));
            assert_eq!(one, several, "{field} {from}");
            let ids: Vec<&String> = one.iter().map(|(_, id)| id).collect();
            let wanted: Vec<&String> = expected.iter().skip(from).take(size).collect();
            assert_eq!(ids, wanted, "{field} {from}");
        }
    }
    let by_score =
        json!({"query": {"match": {"kind": "k1 k2"}}, "collapse": {"field": "kind.keyword"}});
    let found = search(&server, "all", &by_score);
    let hits = found["hits"]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2);
    assert!(hits[0]["_score"].is_number() && hits[0].get("sort").is_none());
    let by_place = json!({"sort": "_doc", "collapse": {"field": "kind.keyword"}, "size": 3});
    assert_eq!(
        search(&server, "all", &by_place)["hits"]["hits"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    for (body, part) in [
        (
            json!({"collapse": {"field": "n", "inner_hits": {"name": "x", "explain": true}}}),
            "inner_hits",
        ),
        (json!({"collapse": {}}), "needs the [field]"),
        (json!({"collapse": {"field": "none"}}), "no field"),
        (
            json!({"collapse": {"field": "n"}, "sort": [{"price": "asc"}], "search_after": [3]}),
            "over several indexes",
        ),
    ] {
        let path = "/a,b,c/_search";
        let error = server
            .json("POST", path, &body.to_string(), 400)
            .to_string();
        assert!(error.contains(part), "{error}");
    }
    let scroll = "/all/_search?scroll=1m";
    let body = json!({"collapse": {"field": "n"}}).to_string();
    let error = server.json("POST", scroll, &body, 400).to_string();
    assert!(error.contains("scroll context"), "{error}");
}

/// External IDs are keys, alone and behind others, with pages of any number.
#[test]
fn hits_are_ordered_by_id() {
    let server = server();
    for sort in [
        json!(["_id"]),
        json!([{"_id": "desc"}]),
        json!([{"kind.keyword": "asc"}, "_id"]),
    ] {
        let whole = search(&server, "all", &json!({"sort": sort, "size": 200}));
        let ids = |found: &Value| -> Vec<String> {
            let hits = found["hits"]["hits"].as_array().unwrap().iter();
            hits.map(|hit| text(&hit["_id"])).collect()
        };
        let mut expected: Vec<(String, String)> = Vec::new();
        for hit in whole["hits"]["hits"].as_array().unwrap() {
            expected.push((text(&hit["_source"]["kind"]), text(&hit["_id"])));
        }
        if sort.as_array().unwrap().len() == 2 {
            expected.sort();
        } else {
            expected.sort_by(|a, b| a.1.cmp(&b.1));
        }
        if sort[0]["_id"] == "desc" {
            expected.reverse();
        }
        let expected: Vec<String> = expected.into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids(&whole), expected, "{sort}");
        let several = search(&server, "a,b,c", &json!({"sort": sort, "size": 200}));
        assert_eq!(ids(&several), expected, "{sort}");
        let (mut seen, mut body) = (Vec::new(), json!({"sort": sort, "size": 40}));
        loop {
            let page = search(&server, "a,b,c", &body);
            let hits = page["hits"]["hits"].as_array().unwrap();
            let Some(last) = hits.last() else {
                break;
            };
            body["search_after"] = last["sort"].clone();
            seen.extend(ids(&page));
        }
        assert_eq!(seen, expected, "{sort}");
    }
}

#[test]
fn pages_of_a_point_in_time_have_each_document_once() {
    let server = server();
    let point = server.json("POST", "/a,b,c/_pit?keep_alive=1m", "", 200);
    let (mut seen, mut after) = (Vec::new(), Value::Null);
    loop {
        let mut body = json!({
            "pit": {"id": point["id"]}, "size": 7, "sort": [{"n": {"order": "desc"}}],
        });
        if !after.is_null() {
            body["search_after"] = after;
        }
        let found = server.json("POST", "/_search", &body.to_string(), 200);
        let hits = found["hits"]["hits"].as_array().unwrap();
        let Some(last) = hits.last() else { break };
        after = last["sort"].clone();
        seen.extend(hits.iter().map(|hit| text(&hit["_id"])));
    }
    assert_eq!(seen.len(), 150);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 150);
}

#[test]
fn what_has_no_values_is_named() {
    let server = server();
    for (body, part) in [
        (json!({"sort": [{"nowhere": "desc"}]}), "nowhere"),
        (
            json!({"query": {"range": {"n": {"gte": "many"}}}}),
            "numbers",
        ),
        (json!({"query": {"range": {"kind": {"gte": "a"}}}}), "words"),
    ] {
        let found = server.json("POST", "/a/_search", &body.to_string(), 400);
        let reason = text(&found["error"]["root_cause"][0]["reason"]);
        assert!(reason.contains(part), "{body}: {reason}");
    }
    let unmapped = json!({"sort": [{"nowhere": {"order": "desc", "unmapped_type": "long"}}]});
    let found = search(&server, "a", &unmapped);
    assert_eq!(found["hits"]["hits"][0]["sort"], json!([i64::MIN]));
}

#[test]
fn buckets_have_a_limit() {
    let server = server();
    let below = json!({"n": {"histogram": {"field": "n", "interval": 1, "extended_bounds": {"min": 0, "max": 40_000}}}});
    let aggs = json!({"twice": {
        "range": {"field": "n", "ranges": [{"from": 0}, {"from": 1}]},
        "aggs": below,
    }});
    let body = json!({"size": 0, "aggs": aggs}).to_string();
    for index in ["a", "a,b,c"] {
        let path = format!("/{index}/_search");
        let (kind, reason) = server.error("POST", &path, &body, 400);
        assert_eq!(kind, "too_many_buckets_exception");
        assert!(reason.contains("65536 buckets"), "{reason}");
    }
    let found = search(&server, "a", &json!({"size": 0, "aggs": below}));
    let buckets = found["aggregations"]["n"]["buckets"].as_array().unwrap();
    assert_eq!(buckets.len(), 40_001);
}

#[test]
fn several_indexes_are_aggregated_as_one() {
    let server = server();
    let aggs = json!({
        "kinds": {
            "terms": {"field": "kind.keyword", "size": 3},
            "aggs": {"price": {"stats": {"field": "price"}}},
        },
        "months": {"date_histogram": {"field": "day", "calendar_interval": "month"}},
        "cheap": {"filter": {"range": {"price": {"lt": 50}}}},
        "n": {"cardinality": {"field": "n"}},
        "prices": {"percentiles": {"field": "price"}},
        "none": {"missing": {"field": "n"}},
        "all": {"global": {}},
    });
    let body = json!({"size": 0, "query": {"range": {"n": {"gte": 3}}}, "aggs": aggs});
    let of = |index: &str| search(&server, index, &body)["aggregations"].clone();
    let (several, one) = (of("a,b,c"), of("all"));
    assert_eq!(several, one);
    assert_eq!(one["all"]["doc_count"], 150);
    assert_eq!(one["kinds"]["buckets"].as_array().unwrap().len(), 3);
}

/// As Elasticsearch 8.19 has them: Lucene's extremes of the type that numbers are compared by.
#[test]
fn missing_values_have_the_stand_ins_of_their_types() {
    let server = TestServer::new();
    let kinds = [
        "long",
        "integer",
        "short",
        "byte",
        "float",
        "double",
        "half_float",
        "boolean",
        "date",
        "ip",
        "keyword",
    ];
    let properties: Value = kinds
        .iter()
        .map(|kind| (*kind, json!({"type": kind})))
        .collect();
    let mapping = json!({"mappings": {"properties": properties}}).to_string();
    server.json("PUT", "/kinds", &mapping, 200);
    server.json("PUT", "/kinds/_doc/none", "{}", 201);
    let source = json!({
        "long": 1, "integer": 1, "short": 1, "byte": 1, "float": 1.5, "double": 1.5,
        "half_float": 1.5, "boolean": true, "date": "2020-01-01", "ip": "1.2.3.4", "keyword": "a",
    });
    server.json("PUT", "/kinds/_doc/some", &source.to_string(), 201);
    let (int, long) = (
        [json!(i32::MIN), json!(i32::MAX)],
        [json!(i64::MIN), json!(i64::MAX)],
    );
    let (fraction, null) = (
        [json!("-Infinity"), json!("Infinity")],
        [Value::Null, Value::Null],
    );
    for kind in kinds {
        let [least, greatest] = match kind {
            "integer" | "short" | "byte" => &int,
            "long" | "boolean" | "date" => &long,
            "float" | "double" | "half_float" => &fraction,
            _ => &null,
        };
        for (order, missing, expected) in [
            ("asc", "_last", greatest),
            ("desc", "_last", least),
            ("asc", "_first", least),
            ("desc", "_first", greatest),
        ] {
            let body = json!({"sort": [{kind: {"order": order, "missing": missing}}]});
            let found = search(&server, "kinds", &body);
            let place = usize::from(missing == "_last");
            let hit = &found["hits"]["hits"][place];
            assert_eq!(hit["_id"], "none", "{body}");
            assert_eq!(hit["sort"], json!([expected]), "{body}");
            for after in [expected, &Value::Null] {
                let mut body = body.clone();
                body["search_after"] = json!([after]);
                let found = search(&server, "kinds", &body);
                let hits = found["hits"]["hits"].as_array().unwrap();
                assert_eq!(hits.len(), 1 - place, "{body}");
            }
        }
    }
}

#[test]
fn stand_ins_are_taken_back_as_they_are_written() {
    let server = TestServer::new();
    let mapping = json!({"mappings": {"properties": {
        "at": {"type": "date"}, "n": {"type": "long"}, "unique": {"type": "integer"},
    }}});
    server.json("PUT", "/days", &mapping.to_string(), 200);
    server.json("PUT", "/days/_doc/1", r#"{"unique": 1}"#, 201);
    server.json("PUT", "/days/_doc/2", r#"{"unique": 2}"#, 201);
    for (key, missing) in [
        (
            json!({"at": {"format": "strict_date_optional_time"}}),
            json!("+292278994-08-17T07:12:55.807Z"),
        ),
        (
            json!({"at": {"format": "yyyy-MM-dd", "order": "desc"}}),
            json!("+292275056-05-16"),
        ),
        (
            json!({"at": {"format": "epoch_millis"}}),
            json!("9223372036854775807"),
        ),
        (json!({"none": {"unmapped_type": "long"}}), json!(i64::MAX)),
        (
            json!({"none": {"unmapped_type": "double", "order": "desc"}}),
            json!("-Infinity"),
        ),
        (json!({"none": {"unmapped_type": "keyword"}}), Value::Null),
    ] {
        let mut body = json!({"sort": [key, "unique"]});
        let found = search(&server, "days", &body);
        assert_eq!(found["hits"]["hits"][0]["sort"], json!([missing, 1]));
        body["search_after"] = json!([missing, 1]);
        let found = search(&server, "days", &body);
        assert_eq!(found["hits"]["hits"].as_array().unwrap().len(), 1, "{body}");
        assert_eq!(found["hits"]["hits"][0]["sort"], json!([missing, 2]));
    }
    // The other end is a value, behind which all come or none.
    for (after, count) in [
        (json!("Infinity"), 2),
        (json!("-Infinity"), 1),
        (json!("1.5"), 2),
    ] {
        let key = json!({"none": {"unmapped_type": "double", "order": "desc"}});
        let body = json!({"sort": [key, "unique"], "search_after": [after, 1]});
        let found = search(&server, "days", &body);
        assert_eq!(
            found["hits"]["hits"].as_array().unwrap().len(),
            count,
            "{body}"
        );
    }
    // Clients whose numbers are doubles round it.
    for (order, rounded) in [
        ("asc", "9223372036854776000"),
        ("desc", "-9223372036854776000"),
    ] {
        let body = format!(
            r#"{{"sort": [{{"n": "{order}"}}, "unique"], "search_after": [{rounded}, 1]}}"#
        );
        let found = server.json("POST", "/days/_search", &body, 200);
        assert_eq!(found["hits"]["hits"].as_array().unwrap().len(), 1, "{body}");
    }
}

/// Documents that have a stand-in as their value and such as have none are one row, which pages
/// pass through once, of one index and of several.
#[test]
fn extremes_and_missing_values_stand_together() {
    let server = TestServer::new();
    let mapping = json!({"mappings": {"properties": {
        "n": {"type": "long"}, "small": {"type": "integer"}, "unique": {"type": "integer"},
    }}});
    for index in ["a", "b", "all"] {
        server.json("PUT", &format!("/{index}"), &mapping.to_string(), 200);
    }
    let mut random = Random(5);
    for at in 0..60 {
        let mut source = json!({"unique": at});
        match random.below(5) {
            0 => (source["n"], source["small"]) = (json!(i64::MAX), json!(i32::MAX)),
            1 => (source["n"], source["small"]) = (json!(i64::MIN), json!(i32::MIN)),
            2 => (source["n"], source["small"]) = (json!(at), json!(at)),
            _ => {}
        }
        for index in [["a", "b"][at % 2], "all"] {
            let path = format!("/{index}/_doc/{at}");
            server.json("PUT", &path, &source.to_string(), 201);
        }
    }
    for (field, least, greatest) in [
        ("n", i64::MIN, i64::MAX),
        ("small", i64::from(i32::MIN), i64::from(i32::MAX)),
    ] {
        for (order, missing) in [
            ("asc", "_last"),
            ("asc", "_first"),
            ("desc", "_last"),
            ("desc", "_first"),
        ] {
            let stand_in = if (order == "asc") == (missing == "_last") {
                greatest
            } else {
                least
            };
            let all = search(&server, "all", &json!({"size": 100}));
            let value = |hit: &Value| {
                let source = &hit["_source"];
                let value = source[field].as_i64().unwrap_or(stand_in);
                (value, source["unique"].as_i64().unwrap())
            };
            let hits = all["hits"]["hits"].as_array().unwrap().iter();
            let mut expected: Vec<(i64, i64)> = hits.map(value).collect();
            expected.sort_by_key(|(value, unique)| {
                let value = i128::from(*value);
                (if order == "asc" { value } else { -value }, *unique)
            });
            for index in ["all", "a,b"] {
                let mut seen = Vec::new();
                let mut body = json!({
                    "sort": [{field: {"order": order, "missing": missing}}, "unique"], "size": 7,
                });
                loop {
                    let page = search(&server, index, &body);
                    let hits = page["hits"]["hits"].as_array().unwrap();
                    let Some(last) = hits.last() else { break };
                    body["search_after"] = last["sort"].clone();
                    let sort = hits.iter().map(|hit| &hit["sort"]);
                    seen.extend(
                        sort.map(|sort| (sort[0].as_i64().unwrap(), sort[1].as_i64().unwrap())),
                    );
                }
                assert_eq!(seen, expected, "{index} {body}");
            }
        }
    }
}
