//! Declares fields in mappings: multi-fields, nulls that count as values, strings that are too
//! long, values that do not fit, fields without terms or without values.

use serde_json::{Value, json};

use crate::client::{TestServer, text};

/// A server with an index of books.
fn server() -> TestServer {
    let server = TestServer::new();
    let mapping = json!({ "mappings": { "properties": {
        "title": { "type": "text", "fields": {
            "raw": { "type": "keyword", "ignore_above": 12, "null_value": "none" },
            "stems": { "type": "text", "analyzer": "english" },
        } },
        "code": { "type": "keyword", "ignore_above": 4 },
        "year": { "type": "integer", "null_value": 1900 },
        "price": { "type": "double", "ignore_malformed": true },
    }}});
    server.json("PUT", "/books", &mapping.to_string(), 200);
    for (id, source) in [
        (
            "1",
            r#"{"title":"Wet dogs","code":"a1","year":2001,"price":2}"#,
        ),
        (
            "2",
            r#"{"title":"wet","code":"too long","year":null,"price":"cheap"}"#,
        ),
        (
            "3",
            r#"{"title":null,"code":"äöüß","year":1950,"price":1.5}"#,
        ),
        (
            "4",
            r#"{"title":["Dogs running far away","b"],"code":["a1",null]}"#,
        ),
    ] {
        server.json("PUT", &format!("/books/_doc/{id}"), source, 201);
    }
    server
}

fn found(server: &TestServer, query: &Value) -> Vec<String> {
    let mut ids = server.found("books", &query.to_string());
    ids.sort();
    ids
}

#[test]
fn multi_fields_are_searched_sorted_and_counted() {
    let server = server();
    for (query, ids) in [
        (json!({ "term": { "title.raw": "Wet dogs" } }), &["1"][..]),
        (json!({ "match": { "title.raw": "wet" } }), &["2"]),
        (json!({ "prefix": { "title.raw": "We" } }), &["1"]),
        (
            json!({ "wildcard": { "title.raw": "*e*" } }),
            &["1", "2", "3"],
        ),
        (
            json!({ "exists": { "field": "title.raw" } }),
            &["1", "2", "3", "4"],
        ),
        (
            json!({ "exists": { "field": "title.stems" } }),
            &["1", "2", "4"],
        ),
        (
            json!({ "terms": { "title.raw": ["b", "none"] } }),
            &["3", "4"],
        ),
        (
            json!({ "range": { "title.raw": { "gte": "a", "lt": "o" } } }),
            &["3", "4"],
        ),
        (json!({ "match": { "title.stems": "dog" } }), &["1", "4"]),
        (
            json!({ "match_phrase": { "title.stems": "run far" } }),
            &["4"],
        ),
        // Whole strings that are too long are no values.
        (
            json!({ "term": { "title.raw": "Dogs running far away" } }),
            &[],
        ),
        (json!({ "term": { "code": "too long" } }), &[]),
        (json!({ "exists": { "field": "code" } }), &["1", "3", "4"]),
        (json!({ "term": { "code": "äöüß" } }), &["3"]),
        (json!({ "term": { "year": 1900 } }), &["2"]),
        (json!({ "range": { "year": { "lte": 1950 } } }), &["2", "3"]),
        (json!({ "range": { "price": { "gt": 0 } } }), &["1", "3"]),
        // Without a field all are asked, and multi-fields too.
        (json!({ "query_string": { "query": "none" } }), &["3"]),
    ] {
        assert_eq!(found(&server, &query), ids, "{query}");
    }
    let body = json!({
        "sort": [{ "title.raw": "desc" }], "size": 4,
        "aggs": { "titles": { "terms": { "field": "title.raw", "size": 2 } } },
    });
    let answer = server.json("POST", "/books/_search", &body.to_string(), 200);
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let sorted: Vec<String> = hits.map(|hit| text(&hit["sort"][0])).collect();
    assert_eq!(sorted, ["wet", "none", "b", "Wet dogs"]);
    let buckets = &answer["aggregations"]["titles"]["buckets"];
    assert_eq!(buckets[0]["doc_count"], 1);
    assert_eq!(buckets.as_array().unwrap().len(), 2);
    let snippets = json!({
        "query": { "match": { "title.stems": "dog" } },
        "highlight": { "fields": { "title.stems": {} } }, "size": 1,
    });
    let answer = server.json("POST", "/books/_search", &snippets.to_string(), 200);
    let snippet = text(&answer["hits"]["hits"][0]["highlight"]["title.stems"][0]);
    assert!(snippet.contains("<em>"), "{snippet}");
    let told = server.json("GET", "/books/_field_caps?fields=title.*", "", 200);
    assert_eq!(told["fields"]["title.raw"]["keyword"]["aggregatable"], true);
}

#[test]
fn mappings_are_kept_and_change_only_where_they_can() {
    let server = server();
    let told = |server: &TestServer| {
        let told = server.json("GET", "/books/_mapping", "", 200);
        told["books"]["mappings"]["properties"].clone()
    };
    let before = told(&server);
    assert_eq!(before["title"]["fields"]["raw"]["ignore_above"], 12);
    assert_eq!(before["price"]["ignore_malformed"], true);
    for (properties, part) in [
        (
            json!({ "code": { "type": "keyword" } }),
            "Cannot update parameter [ignore_above] from [4] to [default]",
        ),
        (
            json!({ "year": { "type": "integer", "null_value": 1 } }),
            "[null_value]",
        ),
        (
            json!({ "title": { "type": "text", "fields": { "more": { "type": "keyword" } } } }),
            "[title.more]",
        ),
        (
            json!({ "title": { "type": "text", "fields": { "raw": { "type": "long" } } } }),
            "[title.raw]",
        ),
    ] {
        let body = json!({ "properties": properties }).to_string();
        let (_, reason) = server.error("PUT", "/books/_mapping", &body, 400);
        assert!(reason.contains(part), "{reason}");
    }
    let body = json!({ "properties": { "new": {
        "type": "keyword", "fields": { "words": { "type": "text" } },
    }}});
    server.json("PUT", "/books/_mapping", &body.to_string(), 200);
    for source in [
        json!({ "year": "next" }),
        json!({ "title.raw": "x" }),
        json!({ "title": { "raw": "x" } }),
        json!({ "new": "x".repeat(2_000) }),
    ] {
        server.error("PUT", "/books/_doc/9", &source.to_string(), 400);
    }
    server.json("PUT", "/books/_doc/5", r#"{"new":"two words"}"#, 201);
    let query = json!({ "match": { "new.words": "words" } });
    assert_eq!(found(&server, &query), ["5"]);
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    assert_eq!(told(&server)["title"], before["title"]);
    server.json("PUT", "/books/_doc/6", r#"{"new":"more words"}"#, 201);
    assert_eq!(found(&server, &query), ["5", "6"]);
}

/// Short strings that documents bring can be asked for as a whole, as in Elasticsearch.
#[test]
fn whole_strings_of_found_texts_are_a_multi_field() {
    let server = TestServer::new();
    let long = "x ".repeat(200);
    for (id, kind) in [("1", "desk lamp"), ("2", "lamp"), ("3", long.trim())] {
        let source = json!({ "kind": kind }).to_string();
        server.json("PUT", &format!("/books/_doc/{id}"), &source, 201);
    }
    let told = server.json("GET", "/books/_mapping", "", 200);
    let kind = &told["books"]["mappings"]["properties"]["kind"];
    let whole = json!({ "keyword": { "type": "keyword", "ignore_above": 256 } });
    assert_eq!(kind["fields"], whole);
    for (query, ids) in [
        (json!({ "term": { "kind.keyword": "lamp" } }), &["2"][..]),
        (json!({ "match": { "kind.keyword": "desk lamp" } }), &["1"]),
        (
            json!({ "terms": { "kind.keyword": ["lamp", "desk lamp", "x"] } }),
            &["1", "2"],
        ),
        (json!({ "term": { "kind.keyword": long.trim() } }), &[]),
        (
            json!({ "query_string": { "query": "kind.keyword:lamp" } }),
            &["2"],
        ),
    ] {
        assert_eq!(found(&server, &query), ids, "{query}");
    }
    for query in [
        json!({ "prefix": { "kind.keyword": "la" } }),
        json!({ "exists": { "field": "kind.keyword" } }),
        json!({ "range": { "kind.keyword": { "gte": "a" } } }),
        json!({ "query_string": { "query": "kind.keyword:la*" } }),
    ] {
        let body = json!({ "query": query }).to_string();
        let answer = server.json("POST", "/books/_search", &body, 400);
        assert!(answer.to_string().contains("[fields]"), "{answer}");
    }
    // The mapping as it is told can be given back, here and to another index.
    let mapping = told["books"]["mappings"].to_string();
    server.json("PUT", "/books/_mapping", &mapping, 200);
    let term = json!({ "term": { "kind.keyword": "lamp" } });
    assert_eq!(found(&server, &term), ["2"]);
    let body = json!({ "mappings": told["books"]["mappings"] }).to_string();
    server.json("PUT", "/other", &body, 200);
    server.json("PUT", "/other/_doc/1", r#"{"kind":"lamp"}"#, 201);
    let prefix = json!({ "prefix": { "kind.keyword": "la" } }).to_string();
    assert_eq!(server.found("other", &prefix), ["1"]);
}

/// A field that is not indexed is found by its values, one without values by its terms; all else is
/// an error that names the setting.
#[test]
fn fields_without_terms_or_values_say_so() {
    let server = TestServer::new();
    let mapping = json!({ "mappings": { "properties": {
        "n": { "type": "long", "index": false },
        "k": { "type": "keyword", "index": false },
        "m": { "type": "long", "doc_values": false },
        "t": { "type": "text", "index": false },
    }}});
    server.json("PUT", "/books", &mapping.to_string(), 200);
    for id in 0..5 {
        let source = json!({ "n": id, "k": format!("k{id}"), "m": id, "t": "some words" });
        server.json(
            "PUT",
            &format!("/books/_doc/{id}"),
            &source.to_string(),
            201,
        );
    }
    for (query, ids) in [
        (json!({ "term": { "n": 2 } }), &["2"][..]),
        (json!({ "terms": { "k": ["k1", "k4"] } }), &["1", "4"]),
        (json!({ "range": { "n": { "gt": 2 } } }), &["3", "4"]),
        (json!({ "term": { "m": 2 } }), &["2"]),
    ] {
        assert_eq!(found(&server, &query), ids, "{query}");
    }
    for (body, part) in [
        (json!({ "query": { "prefix": { "k": "k" } } }), "[index]"),
        (
            json!({ "query": { "range": { "k": { "gte": "k" } } } }),
            "[index]",
        ),
        (
            json!({ "query": { "exists": { "field": "n" } } }),
            "[index]",
        ),
        (json!({ "query": { "match": { "t": "words" } } }), "[index]"),
        (json!({ "query": { "term": { "t": "words" } } }), "[index]"),
        (
            json!({ "query": { "range": { "m": { "gt": 2 } } } }),
            "column",
        ),
        (json!({ "sort": ["m"] }), "column"),
        (
            json!({ "aggs": { "m": { "sum": { "field": "m" } } } }),
            "column",
        ),
    ] {
        let answer = server.json("POST", "/books/_search", &body.to_string(), 400);
        assert!(answer.to_string().contains(part), "{body}: {answer}");
    }
    let told = server.json("GET", "/books/_mapping", "", 200);
    assert_eq!(told["books"]["mappings"], mapping["mappings"]);
    let other = r#"{"properties":{"n":{"type":"long"}}}"#;
    let (_, reason) = server.error("PUT", "/books/_mapping", other, 400);
    assert!(
        reason.contains("[index] from [false] to [true]"),
        "{reason}"
    );
    let wrong = r#"{"mappings":{"properties":{"t":{"type":"text","doc_values":false}}}}"#;
    let (_, reason) = server.error("PUT", "/other", wrong, 400);
    assert!(reason.contains("[doc_values]"), "{reason}");
}
