//! Searches of several indexes at once.

use serde_json::{Value, json};

use crate::client::{Random, TestServer, text};

const WORDS: [&str; 6] = ["whale", "ship", "sea", "white", "captain", "storm"];

fn fill(server: &TestServer, names: &[&str], seed: u64) {
    let mut random = Random(seed);
    for name in names {
        let count = 20 + random.below(40);
        let lines: String = (0..count)
            .map(|id| {
                let words: Vec<&str> = (0..1 + random.below(12))
                    .map(|_| *random.pick(&WORDS))
                    .collect();
                let source = json!({ "body": words.join(" "), "n": id });
                format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{source}\n")
            })
            .collect();
        server.bulk(&format!("/{name}/_bulk"), &lines);
    }
}

fn hits(found: &Value) -> Vec<(String, String, String)> {
    let hits = found["hits"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| {
        (
            text(&hit["_index"]),
            text(&hit["_id"]),
            hit["_score"].to_string(),
        )
    })
    .collect()
}

/// The pages of several indexes are those of a merge of the whole answers of each, best first, then
/// in the order of the names; whether or not all are open together.
#[test]
fn hits_are_merged_as_if_each_index_were_asked_alone() {
    let names = ["a", "b", "c", "d", "e", "f"];
    for max_open in [2, 8] {
        let server = TestServer::with(|settings| {
            settings.max_open = max_open;
            settings.memory = max_open * (40 << 20);
        });
        fill(&server, &names, 7);
        for query in [
            r#"{"match":{"body":"whale storm"}}"#,
            r#"{"match_all":{}}"#,
            r#"{"match_phrase":{"body":"white whale"}}"#,
            r#"{"match":{"nowhere":"x"}}"#,
        ] {
            let mut merged: Vec<(String, String, String)> = Vec::new();
            for name in names {
                let body = format!(r#"{{"query":{query},"size":1000}}"#);
                merged.extend(hits(&server.json(
                    "POST",
                    &format!("/{name}/_search"),
                    &body,
                    200,
                )));
            }
            merged.sort_by(|one, other| {
                let score = |hit: &(String, String, String)| hit.2.parse::<f64>().unwrap();
                score(other).total_cmp(&score(one))
            });
            let count = server.json("POST", "/_count", &format!(r#"{{"query":{query}}}"#), 200);
            assert_eq!(count["count"], merged.len());
            assert_eq!(count["_shards"]["total"], 6);
            for (from, size) in [(0, 10), (5, 17), (40, 300), (1000, 10), (0, 0)] {
                let body = format!(r#"{{"query":{query},"from":{from},"size":{size}}}"#);
                let found = server.json("POST", "/_all/_search", &body, 200);
                let page = merged.iter().skip(from).take(size).cloned();
                assert_eq!(
                    hits(&found),
                    page.collect::<Vec<_>>(),
                    "{query} {from} {size}"
                );
                assert_eq!(found["hits"]["total"]["value"], merged.len());
                assert_eq!(found["_shards"]["successful"], 6);
            }
        }
    }
}

#[test]
fn expressions_stand_for_indexes_as_in_elasticsearch() {
    let server = TestServer::new();
    for name in ["logs-1", "logs-2", "logs-3", "other", ".hidden"] {
        server.json("PUT", &format!("/{name}/_doc/1"), r#"{"a":"x"}"#, 201);
    }
    server.json("PUT", "/logs-2/_alias/second", "", 200);
    let asked = |expression: &str, parameters: &str| -> Result<Vec<String>, (u16, String)> {
        let path = format!("/{expression}/_search?size=100{parameters}");
        let answered = server.ask("GET", &path, "");
        let json = answered.json();
        if answered.status != 200 {
            return Err((answered.status, text(&json["error"]["type"])));
        }
        let mut names: Vec<String> = hits(&json).into_iter().map(|hit| hit.0).collect();
        names.sort();
        Ok(names)
    };
    let missing = Err((404, "index_not_found_exception".to_owned()));
    for (expression, parameters, expected) in [
        ("logs-1,other", "", vec!["logs-1", "other"]),
        ("logs-*", "", vec!["logs-1", "logs-2", "logs-3"]),
        ("logs-*,-logs-2", "", vec!["logs-1", "logs-3"]),
        ("logs-*,-*-1,-second", "", vec!["logs-3"]),
        ("_all", "", vec!["logs-1", "logs-2", "logs-3", "other"]),
        ("*,-logs*", "", vec!["other"]),
        ("second", "", vec!["logs-2"]),
        ("sec*", "", vec!["logs-2"]),
        ("second,logs-2", "", vec!["logs-2"]),
        (".hid*", "", vec![".hidden"]),
        (
            "*d*",
            "&expand_wildcards=open,hidden",
            vec![".hidden", "logs-2"],
        ),
        ("logs-1,none", "&ignore_unavailable=true", vec!["logs-1"]),
        ("none*", "", vec![]),
        ("logs-*", "&expand_wildcards=none", vec![]),
        ("logs-*", "&expand_wildcards=hidden", vec![]),
        ("logs-1", "&expand_wildcards=none", vec!["logs-1"]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(asked(expression, parameters), Ok(expected), "{expression}");
    }
    for (expression, parameters) in [
        ("none", ""),
        ("logs-1,none", ""),
        ("none*", "&allow_no_indices=false"),
        ("none", "&ignore_unavailable=true&allow_no_indices=false"),
    ] {
        assert_eq!(asked(expression, parameters), missing, "{expression}");
    }
    // A minus counts behind a pattern alone.
    let invalid = Err((400, "invalid_index_name_exception".to_owned()));
    assert_eq!(asked("-logs-1", ""), invalid);
    let (_, reason) = server.error("GET", "/a/_search?expand_wildcards=opn", "", 400);
    assert!(reason.contains("[opn]"), "{reason}");
    for (method, path, member) in [
        ("GET", "/logs-*,-logs-1/_mapping", "logs-3"),
        ("GET", "/logs-*,-logs-1/_settings", "logs-3"),
        ("GET", "/logs-*,-logs-1", "logs-3"),
    ] {
        let told = server.json(method, path, "", 200);
        assert_eq!(told.as_object().unwrap().len(), 2, "{told}");
        assert!(told.get(member).is_some(), "{told}");
    }
    let refreshed = server.json("POST", "/logs-*,-logs-1/_refresh", "", 200);
    assert_eq!(refreshed["_shards"]["total"], 2);
    let stats = server.json("GET", "/logs-*,-logs-1/_stats", "", 200);
    assert_eq!(stats["_all"]["total"]["docs"]["count"], 2);
}

#[test]
fn many_searches_of_several_indexes_are_answered() {
    let server = TestServer::new();
    fill(&server, &["a", "b"], 3);
    let lines = "{\"index\":[\"a\",\"b\"]}\n{\"query\":{\"match\":{\"body\":\"whale\"}}}\n\
        {\"index\":\"a,none\"}\n{}\n\
        {\"index\":\"a,none\",\"ignore_unavailable\":true}\n{\"size\":0}\n{}\n{\"size\":0}\n";
    let headers = [("Content-Type", "application/x-ndjson")];
    let answered = server.send("POST", "/b/_msearch", &headers, lines.as_bytes());
    let responses = answered.json()["responses"].clone();
    let statuses: Vec<_> = (0..4).map(|at| responses[at]["status"].clone()).collect();
    assert_eq!(statuses, [200, 404, 200, 200]);
    assert_eq!(responses[0]["_shards"]["total"], 2);
    assert_eq!(responses[2]["_shards"]["total"], 1);
    assert_ne!(responses[2]["hits"]["total"], responses[0]["hits"]["total"]);
}

/// A query that one of the indexes cannot answer fails, with its name.
#[test]
fn an_index_that_cannot_answer_is_named() {
    let server = TestServer::new();
    let mapping = r#"{"mappings":{"properties":{"f":{"type":"text","analyzer":"english"}}}}"#;
    server.json("PUT", "/b", mapping, 200);
    server.json("PUT", "/b/_doc/1", r#"{"f":"whales"}"#, 201);
    server.json("PUT", "/a/_doc/1", r#"{"f":"whales"}"#, 201);
    let body = r#"{"query":{"term":{"f":"whales"}}}"#;
    let error = server.json("POST", "/a,b/_search", body, 400);
    assert_eq!(error["error"]["index"], "b", "{error}");
}

/// An aggregation over a field that an index does not have is empty there, and changes nothing
/// elsewhere.
#[test]
fn fields_that_are_not_there_have_no_values() {
    let server = TestServer::new();
    let lines = "{\"index\":{}}\n{\"k\":\"a\",\"n\":3,\"at\":\"2020-01-02\"}\n\
        {\"index\":{}}\n{\"k\":\"b\",\"n\":4.5,\"at\":\"2020-03-02\"}\n";
    server.bulk("/has/_bulk", lines);
    server.bulk("/lacks/_bulk", "{\"index\":{}}\n{\"x\":1}\n");
    let aggs = r#"{"size":0,"aggs":{
        "terms":{"terms":{"field":"k"},"aggs":{"avg":{"avg":{"field":"n"}}}},
        "keyword":{"terms":{"field":"k.keyword"}},
        "stats":{"stats":{"field":"n"}},
        "count":{"value_count":{"field":"k"}},
        "distinct":{"cardinality":{"field":"k"}},
        "percentiles":{"percentiles":{"field":"n","percents":[50]}},
        "histogram":{"histogram":{"field":"n","interval":1}},
        "dates":{"date_histogram":{"field":"at","calendar_interval":"month"}},
        "latest":{"max":{"field":"at"}},
        "ranges":{"range":{"field":"n","ranges":[{"to":4},{"from":4}]}}}}"#;
    let of = |names: &str| {
        server.json("POST", &format!("/{names}/_search"), aggs, 200)["aggregations"].clone()
    };
    let empty = of("lacks");
    for name in ["terms", "keyword", "histogram", "dates"] {
        assert_eq!(empty[name]["buckets"], json!([]), "{name}: {empty}");
    }
    assert_eq!(empty["stats"]["count"], 0);
    assert_eq!(empty["stats"]["avg"], json!(null));
    assert_eq!(empty["latest"]["value"], json!(null));
    assert_eq!(
        (&empty["count"]["value"], &empty["distinct"]["value"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(empty["ranges"]["buckets"][1]["doc_count"], 0);
    assert_eq!(of("has")["stats"]["max"], 4.5);
    assert_eq!(of("has,lacks"), of("has"));
    assert_eq!(of("lacks"), empty);
    // What is of no kind is an error wherever it is.
    server.error(
        "POST",
        "/lacks/_search",
        r#"{"aggs":{"a":{"avgg":{"field":"n"}}}}"#,
        400,
    );
}
