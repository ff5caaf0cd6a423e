//! Texts in Lucene's two syntaxes. What is expected was answered by OpenSearch 3.0 for the same
//! documents.

use serde_json::json;

use crate::client::TestServer;

fn server() -> TestServer {
    let server = TestServer::new();
    let mapping = json!({ "mappings": { "properties": {
        "title": { "type": "text" }, "body": { "type": "text" }, "tag": { "type": "keyword" },
        "n": { "type": "long" }, "at": { "type": "date" },
    }}});
    server.json("PUT", "/s", &mapping.to_string(), 200);
    for (id, source) in [
        (
            "1",
            json!({ "title": "red fish", "body": "blue sea", "tag": "Beta", "n": 1, "at": "2001-05-06" }),
        ),
        (
            "2",
            json!({ "title": "blue fish", "body": "red sky", "tag": "beta gamma", "n": 5 }),
        ),
        (
            "3",
            json!({ "title": "green bird", "body": "blue sky", "n": 9, "at": "2010-01-01" }),
        ),
    ] {
        server.json("PUT", &format!("/s/_doc/{id}"), &source.to_string(), 201);
    }
    server
}

fn found(server: &TestServer, query: &serde_json::Value) -> String {
    let mut found = server.found("s", &query.to_string());
    found.sort();
    found.join("")
}

#[test]
fn the_classic_syntax_is_read_as_lucene_reads_it() {
    let server = server();
    for (text, ids) in [
        ("fish", "12"),
        ("red AND sky", "2"),
        ("red && sky", "2"),
        ("fish OR bird", "123"),
        ("fish || bird", "123"),
        ("+blue -fish", "3"),
        ("blue !fish", "3"),
        ("-fish", "3"),
        ("title:blue", "2"),
        (r#""blue sky""#, "3"),
        (r#""sky blue"~2"#, "3"),
        ("title:(red OR green)", "13"),
        ("(fish AND sea) OR bird", "13"),
        // A word between two clauses changes both of them, and no others.
        ("red AND sky OR bird", "2"),
        ("bird OR red AND sky", "2"),
        ("bi*", "3"),
        ("b?rd", "3"),
        ("BI*", "3"),
        ("brid~", "3"),
        ("fish NOT sky", "1"),
        ("*", "123"),
        ("*:*", "123"),
        ("tag:*", "12"),
        ("_exists_:at", "13"),
        ("n:[1 TO 5]", "12"),
        ("n:{1 TO 5]", "2"),
        ("n:[5 TO *]", "23"),
        ("n:>5", "3"),
        ("n:>=5", "23"),
        ("n:(>=1 AND <9)", "12"),
        ("at:[2001 TO 2005]", "1"),
        (r#"tag:"beta gamma""#, "2"),
        (r"tag:beta\ gamma", "2"),
        ("tag:Be*", "1"),
        ("sky^2 fish", "123"),
        ("nofield:x", ""),
        ("5", "2"),
        ("", ""),
    ] {
        let query = json!({ "query_string": { "query": text } });
        assert_eq!(found(&server, &query), ids, "{text}");
    }
    for (members, ids) in [
        (
            json!({ "query": "blue sky", "default_operator": "AND", "default_field": "body" }),
            "3",
        ),
        (
            json!({ "query": "blue", "fields": ["title^2", "tag"] }),
            "2",
        ),
        (
            json!({ "query": "blue sky fish", "default_field": "body", "minimum_should_match": 2 }),
            "3",
        ),
        (
            json!({ "query": "x", "default_field": "n", "lenient": true }),
            "",
        ),
    ] {
        let query = json!({ "query_string": members });
        assert_eq!(found(&server, &query), ids, "{query}");
    }
    for text in [
        "(red", "\"red", "red AND", "red)", "n:[1", "AND red", "+", "a ^x",
    ] {
        let body = json!({ "query": { "query_string": { "query": text } } });
        let (_, reason) = server.error("POST", "/s/_search", &body.to_string(), 400);
        assert!(reason.contains("Failed to parse query"), "{text}: {reason}");
    }
    let body = json!({ "query": { "query_string": { "query": "/re/" } } });
    let (_, reason) = server.error("POST", "/s/_search", &body.to_string(), 400);
    assert!(reason.contains("regular expression"), "{reason}");
    let q = |query: &str| {
        server.json("GET", &format!("/s/_search?{query}"), "", 200)["hits"]["total"]["value"]
            .clone()
    };
    assert_eq!(q("q=title:red&df=body"), 1);
    assert_eq!(q("q=red&df=body"), 1);
    assert_eq!(q("q=n:%3E1"), 2);
}

#[test]
fn every_text_has_a_meaning_in_the_simple_syntax() {
    let server = server();
    for (text, ids) in [
        ("fish", "12"),
        ("red + sky", "2"),
        ("fish | bird", "123"),
        ("blue -fish", "123"),
        ("blue + -fish", "3"),
        ("blue + --fish", "12"),
        (r#""blue sky""#, "3"),
        (r#""sky blue"~2"#, "3"),
        ("bi*", "3"),
        ("brid~1", "3"),
        ("(fish + sea) | bird", "13"),
        ("fish | bird + green", "3"),
        ("(fish", "12"),
        ("fish)", "12"),
        ("\"fish", "12"),
        ("+ fish |", "12"),
        ("", ""),
        ("()", ""),
    ] {
        let query =
            json!({ "simple_query_string": { "query": text, "fields": ["title", "body"] } });
        assert_eq!(found(&server, &query), ids, "{text}");
    }
    let all = json!({ "simple_query_string": {
        "query": "blue sky", "fields": ["body"], "default_operator": "and",
    }});
    assert_eq!(found(&server, &all), "3");
}

#[test]
fn the_last_word_of_a_bool_prefix_is_a_beginning() {
    let server = server();
    for (query, ids) in [
        (json!({ "body": "blue s" }), "123"),
        (
            json!({ "body": { "query": "blue s", "operator": "and" } }),
            "13",
        ),
        (json!({ "body": "SK" }), "23"),
        (json!({ "nofield": "x" }), ""),
    ] {
        let query = json!({ "match_bool_prefix": query });
        assert_eq!(found(&server, &query), ids, "{query}");
    }
}

#[test]
fn a_range_whose_ends_are_the_wrong_way_round_finds_nothing() {
    let server = server();
    for ends in [
        json!({ "n": { "gte": 9, "lte": 1 } }),
        json!({ "n": { "gt": 5, "lt": 5 } }),
        json!({ "n": { "gt": 5.5, "lt": 1 } }),
        json!({ "tag": { "gte": "z", "lt": "a" } }),
        json!({ "at": { "gte": "2020", "lte": "2001" } }),
    ] {
        assert_eq!(found(&server, &json!({ "range": ends })), "", "{ends}");
    }
    assert_eq!(
        found(
            &server,
            &json!({ "range": { "n": { "gte": 5, "lte": 5 } } })
        ),
        "2"
    );
}

#[test]
fn a_filter_behind_the_query_leaves_aggregations_as_they_are() {
    let server = server();
    let body = json!({
        "query": { "match": { "title": "fish" } },
        "post_filter": { "term": { "n": 5 } },
        "aggs": { "n": { "sum": { "field": "n" } } },
    });
    for path in ["/s/_search", "/s,s*/_search"] {
        let answer = server.json("POST", path, &body.to_string(), 200);
        assert_eq!(answer["hits"]["total"]["value"], 1);
        assert_eq!(answer["hits"]["hits"][0]["_id"], "2");
        assert_eq!(answer["aggregations"]["n"]["value"], 6.0);
    }
}

#[test]
fn operations_are_counted_from_0() {
    let server = TestServer::new();
    let first = server.json("PUT", "/c/_doc/1", r#"{"a":1}"#, 201);
    assert_eq!(first["_seq_no"], 0);
    assert_eq!(server.json("GET", "/c/_doc/1", "", 200)["_seq_no"], 0);
    server.json(
        "PUT",
        "/c/_doc/1?if_seq_no=0&if_primary_term=1",
        r#"{"a":2}"#,
        200,
    );
    server.error(
        "PUT",
        "/c/_doc/1?if_seq_no=0&if_primary_term=1",
        r#"{"a":3}"#,
        409,
    );
}

#[test]
fn tokens_have_the_types_of_lucene() {
    let server = TestServer::new();
    let body = json!({ "analyzer": "standard", "text": "Whale 1999 3.14 東 한국어 🐋 a1" });
    let answer = server.json("POST", "/_analyze", &body.to_string(), 200);
    let tokens = answer["tokens"].as_array().unwrap().iter();
    let types: Vec<&str> = tokens
        .map(|token| token["type"].as_str().unwrap())
        .collect();
    let expected = "<ALPHANUM> <NUM> <NUM> <IDEOGRAPHIC> <HANGUL> <EMOJI> <ALPHANUM>";
    assert_eq!(types.join(" "), expected);
}
