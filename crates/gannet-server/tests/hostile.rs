//! Requests that nobody means well: each is answered, none is the server's fault.

use serde_json::{Value, json};

use crate::client::{Random, TestServer};

const PATHS: [(&str, &str); 31] = [
    ("POST", "/h/_search"),
    ("POST", "/h/_count"),
    ("POST", "/_msearch"),
    ("POST", "/_bulk"),
    ("POST", "/h/_bulk"),
    ("PUT", "/h/_doc/1"),
    ("POST", "/h/_update/1"),
    ("PUT", "/h/_mapping"),
    ("PUT", "/new"),
    ("POST", "/_mget"),
    ("POST", "/h/_analyze"),
    ("POST", "/_aliases"),
    ("PUT", "/h/_alias/other"),
    ("PUT", "/_index_template/t"),
    ("PUT", "/_component_template/c"),
    ("POST", "/h,n*/_search?scroll=1m"),
    ("POST", "/_search?sort=_doc"),
    ("POST", "/_search/scroll"),
    ("DELETE", "/_search/scroll"),
    ("DELETE", "/_pit"),
    ("POST", "/new*/_delete_by_query"),
    ("POST", "/h/_update_by_query"),
    ("POST", "/_reindex"),
    ("POST", "/h/_explain/keep"),
    ("POST", "/_validate/query?explain"),
    ("POST", "/_field_caps"),
    ("GET", "/_cat/aliases"),
    ("PUT", "/h/_settings"),
    ("GET", "/h/_doc/1"),
    ("GET", "/_cat/indices"),
    ("DELETE", "/new"),
];

/// Names that mean something somewhere, and some that mean nothing.
const NAMES: [&str; 40] = [
    "query",
    "bool",
    "must",
    "should",
    "match",
    "term",
    "terms",
    "ids",
    "values",
    "multi_match",
    "query_string",
    "fields",
    "size",
    "from",
    "highlight",
    "_source",
    "mappings",
    "properties",
    "type",
    "index",
    "delete",
    "doc",
    "body",
    "sort",
    "_doc",
    "search_after",
    "pit",
    "id",
    "scroll_id",
    "keep_alive",
    "actions",
    "add",
    "alias",
    "aliases",
    "index_patterns",
    "template",
    "source",
    "dest",
    "match_all",
    "\u{0}\u{feff}é",
];

fn value(random: &mut Random, depth: u64) -> Value {
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => json!(random.below(20_000)),
        1 => json!(*random.pick(&NAMES)),
        2 => json!(null),
        3 => json!(random.below(2) == 0),
        4 => json!(-1.5e300),
        5 => json!("x y\u{1f40b} \"a* (b".repeat(random.below(20) as usize)),
        6 => {
            let length = random.below(4);
            let list: Vec<Value> = (0..length).map(|_| value(random, depth - 1)).collect();
            json!(list)
        }
        _ => {
            let mut members = serde_json::Map::new();
            for _ in 0..random.below(4) {
                let name = (*random.pick(&NAMES)).to_owned();
                members.insert(name, value(random, depth - 1));
            }
            Value::Object(members)
        }
    }
}

fn body(random: &mut Random) -> Vec<u8> {
    let mut body = Vec::new();
    for _ in 0..random.below(4) + 1 {
        body.extend_from_slice(value(random, 5).to_string().as_bytes());
        body.push(b'\n');
    }
    // Now and then a byte is another one, or the end is missing.
    if random.below(4) == 0 {
        let at = random.below(body.len() as u64) as usize;
        body[at] = random.below(256) as u8;
    }
    if random.below(4) == 0 {
        body.truncate(random.below(body.len() as u64) as usize);
    }
    body
}

#[test]
fn random_bodies_are_answered_and_harm_nothing() {
    let server = TestServer::new();
    server.json("PUT", "/h/_doc/keep", r#"{"body":"a whale"}"#, 201);
    let mut random = Random(5);
    for _ in 0..1_500 {
        let (method, path) = *random.pick(&PATHS);
        let body = body(&mut random);
        let headers = [("Content-Type", "application/json")];
        let answered = server.send(method, path, &headers, &body);
        assert!(
            answered.status < 500,
            "{method} {path}: {}\n{}",
            answered.text(),
            String::from_utf8_lossy(&body)
        );
        if answered.status >= 400 {
            let json = answered.json();
            // Missing things are told in the forms that clients know.
            let is_told =
                json["found"] == false || json["num_freed"] == 0 || json["matched"] == false;
            assert!(
                !json["error"].is_null() || is_told,
                "{method} {path}: {json}"
            );
        }
    }
    assert_eq!(server.found("h", r#"{"match":{"body":"whale"}}"#), ["keep"]);
}

#[test]
fn deep_and_long_bodies_are_errors() {
    let server = TestServer::new();
    server.json("PUT", "/h/_doc/1", r#"{"body":"a whale"}"#, 201);
    let nested = |levels: usize| {
        let inner = r#"{"match":{"body":"whale"}}"#;
        let (open, close) = (r#"{"bool":{"must":"#.repeat(levels), "}}".repeat(levels));
        format!(r#"{{"query":{open}{inner}{close}}}"#)
    };
    server.json("POST", "/h/_search", &nested(20), 200);
    server.error("POST", "/h/_search", &nested(60), 400);
    server.error("POST", "/h/_search", &nested(10_000), 400);
    server.error("PUT", "/h/_doc/2", &"[".repeat(100_000), 400);
    let terms: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    let many = json!({ "query": { "terms": { "body": terms } } }).to_string();
    server.error("POST", "/h/_search", &many, 400);
    let words = json!({ "query": { "match": { "body": "word ".repeat(20_000) } } }).to_string();
    let (_, reason) = server.error("POST", "/h/_search", &words, 400);
    assert!(
        reason.contains("the limit is") || reason.contains("words"),
        "{reason}"
    );
    let deep = format!("/h/_search?{}", "filter_path=a.*.**.b&".repeat(50));
    server.json("GET", &deep, "", 200);
}
