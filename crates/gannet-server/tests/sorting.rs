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
