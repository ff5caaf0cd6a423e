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
            json!({"collapse": {"field": "n", "inner_hits": {"name": "x"}}}),
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
    assert_eq!(found["hits"]["hits"][0]["sort"], json!([null]));
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
