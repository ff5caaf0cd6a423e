//! Details in which answers follow Elasticsearch, as random requests to both have shown.

use serde_json::{Value, json};

use crate::client::TestServer;

fn server() -> TestServer {
    let server = TestServer::new();
    let mapping = json!({ "mappings": { "properties": {
        "body": { "type": "text" },
        "tag": { "type": "keyword" },
        "n": { "type": "long" },
        "flag": { "type": "boolean" },
        "day": { "type": "date", "format": "yyyy-MM-dd||epoch_millis" },
    }}});
    server.json("PUT", "/d", &mapping.to_string(), 200);
    for (id, source) in [
        (
            "1",
            json!({ "body": "red fox", "tag": "a", "n": 1, "flag": true, "day": "2024-01-02" }),
        ),
        (
            "2",
            json!({ "body": "red red hen", "tag": "b", "n": 2, "flag": false, "day": "2024-03-04" }),
        ),
        ("3", json!({ "body": "日本 fox", "tag": "b" })),
        ("4", json!({ "body": "3.14" })),
    ] {
        server.json("PUT", &format!("/d/_doc/{id}"), &source.to_string(), 201);
    }
    server
}

/// The types of an error and of its cause.
fn types(server: &TestServer, path: &str, body: &str) -> (String, String) {
    let told = server.json("POST", path, body, 400);
    let kind = |value: &Value| value["type"].as_str().unwrap().to_owned();
    (kind(&told["error"]), kind(&told["error"]["root_cause"][0]))
}

#[test]
fn errors_have_the_types_of_elasticsearch() {
    let server = server();
    let query = |query: &str| format!(r#"{{"query":{query}}}"#);
    for body in [
        query(r#"{"term":{"n":"word"}}"#),
        query(r#"{"terms":{"n":[1,"x"]}}"#),
        query(r#"{"match":{"n":"word"}}"#),
        query(r#"{"term":{"flag":"perhaps"}}"#),
        query(r#"{"prefix":{"n":"1"}}"#),
        query(r#"{"fuzzy":{"n":"1"}}"#),
        query(r#"{"bool":{"should":[{"match_all":{}}],"minimum_should_match":"x"}}"#),
    ] {
        let told = types(&server, "/d/_search", &body);
        let whole = ("search_phase_execution_exception", "query_shard_exception");
        assert_eq!((told.0.as_str(), told.1.as_str()), whole, "{body}");
    }
    let never = query(r#"{"range":{"day":{"gte":"never"}}}"#);
    assert_eq!(types(&server, "/d/_search", &never).1, "parse_exception");
    let range = r#"{"aggs":{"a":{"date_range":{"field":"day","format":"yyyy-MM","ranges":[{"to":"1990-01-01"}]}}}}"#;
    assert_eq!(types(&server, "/d/_search", range).1, "parse_exception");
    for (body, kind) in [
        (r#"{"size":-1}"#, "illegal_argument_exception"),
        (r#"{"from":-5}"#, "illegal_argument_exception"),
        (r#"{"size":"many"}"#, "number_format_exception"),
        (r#"{"query":null}"#, "parsing_exception"),
        (r#"{"highlight":{"fields":3}}"#, "x_content_parse_exception"),
        (
            r#"{"query":{"bool":{"most":[]}}}"#,
            "x_content_parse_exception",
        ),
        (
            r#"{"query":{"bool":{"must":"x"}}}"#,
            "x_content_parse_exception",
        ),
        (
            r#"{"query":{"match_all":{"boost":-1}}}"#,
            "parsing_exception",
        ),
        (r#"{"query":{"exists":{}}}"#, "parsing_exception"),
        (r#"{"min_score":"x"}"#, "number_format_exception"),
        (r#"{"query":{"match":{"body":null}}}"#, "parsing_exception"),
        (r#"{"query":{"terms":{"tag":[null]}}}"#, "parsing_exception"),
        (r#"{"query":{"term":{}}}"#, "illegal_argument_exception"),
        (
            r#"{"query":{"term":{"tag":null}}}"#,
            "illegal_argument_exception",
        ),
        (
            r#"{"query":{"match_phrase":{"body":{"query":"a","slop":-1}}}}"#,
            "illegal_argument_exception",
        ),
        (
            r#"{"query":{"multi_match":{"query":"a","type":"no","fields":["body"]}}}"#,
            "parse_exception",
        ),
        (r#"{"aggs":{"a":{"nosuch":{}}}}"#, "parsing_exception"),
    ] {
        assert_eq!(types(&server, "/d/_search", body).0, kind, "{body}");
    }
    for (method, path, body, kind) in [
        ("PUT", "/bad", r#"{"mapping":{}}"#, "parse_exception"),
        (
            "PUT",
            "/bad",
            r#"{"settings":{"number_of_shards":0}}"#,
            "illegal_argument_exception",
        ),
        (
            "PUT",
            "/_index_template/bad",
            r#"{"nosuch":1}"#,
            "x_content_parse_exception",
        ),
        (
            "POST",
            "/_search/scroll",
            r#"{"scroll_id":"nosuch"}"#,
            "illegal_argument_exception",
        ),
        (
            "POST",
            "/d/_doc",
            r#"{"n":{"a":1}}"#,
            "document_parsing_exception",
        ),
    ] {
        assert_eq!(
            server.error(method, path, body, 400).0,
            kind,
            "{path} {body}"
        );
    }
    let told = server.json("POST", "/none/_search", "{}", 404);
    assert_eq!(told["error"]["index_uuid"], "_na_");
}

#[test]
fn what_elasticsearch_takes_is_no_error() {
    let server = server();
    for (query, found) in [
        (r#"{"ids":{}}"#, vec![]),
        (r#"{"exists":{"field":3}}"#, vec![]),
        (r#"{"match":{"n":{"query":"word","lenient":true}}}"#, vec![]),
        (
            r#"{"multi_match":{"query":"fox","fields":["n","tag"],"lenient":true}}"#,
            vec![],
        ),
        (
            r#"{"bool":{"must_not":{"term":{"n":1}},"adjust_pure_negative":false}}"#,
            vec![],
        ),
        (
            r#"{"bool":{"must":{"term":{"n":1}},"adjust_pure_negative":true}}"#,
            vec!["1"],
        ),
        (
            r#"{"range":{"n":{"from":1,"to":2,"include_lower":false}}}"#,
            vec!["2"],
        ),
        (
            r#"{"range":{"day":{"from":"2024-01-02","to":null}}}"#,
            vec!["1", "2"],
        ),
        // All must match, and none only should.
        (
            r#"{"match":{"body":{"query":"red fox","operator":"and","minimum_should_match":1}}}"#,
            vec![],
        ),
        (
            r#"{"match":{"body":{"query":"red fox","operator":"and","minimum_should_match":"50%"}}}"#,
            vec!["1"],
        ),
        // With anything behind it the last word is whole.
        (r#"{"match_bool_prefix":{"body":"he"}}"#, vec!["2"]),
        (r#"{"match_bool_prefix":{"body":"he "}}"#, vec![]),
        // Ideographs are words of one sign each.
        (r#"{"prefix":{"body":"日"}}"#, vec!["3"]),
        (r#"{"prefix":{"body":"日本"}}"#, vec![]),
        // A term that begins so, and no words that follow each other.
        (r#"{"prefix":{"body":"red fo"}}"#, vec![]),
        (r#"{"prefix":{"body":"re-"}}"#, vec![]),
        (r#"{"prefix":{"body":"3."}}"#, vec!["4"]),
    ] {
        let body = format!(r#"{{"query":{query},"sort":"_doc"}}"#);
        let told = server.json("POST", "/d/_search", &body, 200);
        let hits = told["hits"]["hits"].as_array().unwrap().iter();
        let ids: Vec<&str> = hits.map(|hit| hit["_id"].as_str().unwrap()).collect();
        assert_eq!(ids, found, "{query}");
    }
    let prefix = r#"{"query":{"prefix":{"body":"日"}}}"#;
    let told = server.json("POST", "/d/_search", prefix, 200);
    assert_eq!(told["hits"]["max_score"], 1.0);
    server.json("POST", "/d/_search", r#"{"highlight":{}}"#, 200);
}

#[test]
fn hits_have_scores_and_values_where_elasticsearch_has_them() {
    let server = server();
    let first = |members: &str| {
        let body = format!(r#"{{"query":{{"match":{{"body":"fox"}}}}{members}}}"#);
        server.json("POST", "/d/_search", &body, 200)["hits"]["hits"][0].clone()
    };
    let score = first("")["_score"].clone();
    assert!(score.as_f64().is_some_and(|score| score > 0.0));
    assert_eq!(first(r#","sort":"tag""#)["_score"], Value::Null);
    assert_eq!(
        first(r#","sort":"tag","track_scores":true"#)["_score"],
        score
    );
    assert_eq!(
        first(r#","sort":"_doc","track_scores":true"#)["_score"],
        score
    );
    assert_eq!(first(r#","sort":["_score"]"#).get("sort"), None);
    // A score is told as it is, and what is told is where the next page begins.
    let hit = first(r#","sort":["_score",{"_id":"asc"}]"#);
    assert_eq!(hit["sort"][0], score);
    let after = format!(
        r#","sort":["_score",{{"_id":"asc"}}],"search_after":{}"#,
        hit["sort"]
    );
    assert_ne!(first(&after)["_id"], hit["_id"]);
    // One without a value stands for the others without, and has none to show.
    let body = r#"{"query":{"ids":{"values":["3"]}},"collapse":{"field":"n"}}"#;
    let told = server.json("POST", "/d/_search", body, 200);
    assert_eq!(told["hits"]["hits"][0].get("fields"), None);
}

#[test]
fn dates_of_aggregations_are_in_the_format_of_their_mapping() {
    let server = server();
    let body = json!({ "size": 0, "aggs": {
        "months": { "date_histogram": { "field": "day", "calendar_interval": "month", "min_doc_count": 1 } },
        "first": { "min": { "field": "day" } },
        "iso": { "max": { "field": "day", "format": "strict_date_optional_time" } },
    }});
    let told = server.json("POST", "/d/_search", &body.to_string(), 200);
    let found = &told["aggregations"];
    assert_eq!(found["months"]["buckets"][0]["key_as_string"], "2024-01-01");
    assert_eq!(found["first"]["value_as_string"], "2024-01-02");
    assert_eq!(found["iso"]["value_as_string"], "2024-03-04T00:00:00.000Z");
}

#[test]
fn writes_say_first_what_elasticsearch_says_first() {
    let server = server();
    let missing = server.error(
        "POST",
        "/d/_update/9?if_seq_no=1&if_primary_term=1",
        r#"{"doc":{"n":1}}"#,
        404,
    );
    assert_eq!(missing.0, "document_missing_exception");
    let upsert = r#"{"doc":{"n":1},"doc_as_upsert":true}"#;
    let path = "/d/_update/1?if_seq_no=1&if_primary_term=1";
    let rejected = "action_request_validation_exception";
    assert_eq!(server.error("POST", path, upsert, 400).0, rejected);
    let version = server.error("PUT", "/d/_doc/1?version=2", "{}", 400);
    assert_eq!(version.0, rejected);
    assert_eq!(
        server.error("PUT", "/d/_doc/1?version=2", "", 400).0,
        "parse_exception"
    );
    server.error("GET", "/d/_doc/1?version=7", "", 409);
    server.json("GET", "/d/_doc/1?version=1", "", 200);
    let lines =
        "{\"create\":{\"_id\":\"1\"}}\n{\"n\":\"x\"}\n{\"create\":{\"_id\":\"1\"}}\n{\"n\":1}\n";
    let told = server.bulk("/d/_bulk", lines);
    let kinds = [0, 1].map(|at| told["items"][at]["create"]["error"]["type"].clone());
    assert_eq!(
        kinds,
        [
            "document_parsing_exception",
            "version_conflict_engine_exception"
        ]
    );
    for line in [
        "{\"create\":{\"_id\":\"1\",\"if_seq_no\":1,\"if_primary_term\":1}}\n{}\n".to_owned(),
        format!(
            "{{\"update\":{{\"_id\":\"1\",\"if_seq_no\":1,\"if_primary_term\":1}}}}\n{upsert}\n"
        ),
    ] {
        assert_eq!(types(&server, "/d/_bulk", &line).0, rejected, "{line}");
    }
    // An update makes an index, as every write but a deletion.
    server.json("POST", "/new/_update/1", upsert, 201);
    server.error("POST", "/newer/_update/1", r#"{"doc":{}}"#, 404);
    server.json("GET", "/newer/_count", "", 200);
}

#[test]
fn several_searches_of_which_one_cannot_be_read_are_an_error() {
    let server = server();
    for (body, status) in [
        ("{\"size\":-1}", 400),
        ("{", 400),
        ("{\"suggest\":{\"a\":{}}}", 200),
    ] {
        let lines = format!("{{}}\n{{}}\n{{}}\n{body}\n");
        let headers = [("Content-Type", "application/x-ndjson")];
        let told = server.send("POST", "/d/_msearch", &headers, lines.as_bytes());
        assert_eq!(told.status, status, "{body}");
    }
}
