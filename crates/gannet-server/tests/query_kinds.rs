//! Kinds of queries that join others or match terms, each on documents that show what it does.

use serde_json::{Value, json};

use crate::client::TestServer;

fn server() -> TestServer {
    let server = TestServer::new();
    let mapping = r#"{"mappings":{"properties":{"body":{"type":"text"},"tag":{"type":"keyword"},"n":{"type":"long"}}}}"#;
    server.json("PUT", "/k", mapping, 200);
    for (id, body, tag) in [
        ("1", "whale sea", "Beta"),
        ("2", "whale ship", "beta gamma"),
        ("3", "ship", "2020"),
        ("4", "whales", "bet"),
    ] {
        let source = json!({ "body": body, "tag": tag, "n": 1 }).to_string();
        server.json("PUT", &format!("/k/_doc/{id}"), &source, 201);
    }
    server
}

fn scores(server: &TestServer, query: &Value) -> Vec<(String, f64)> {
    let body = json!({ "query": query }).to_string();
    let found = server.json("POST", "/k/_search", &body, 200);
    let hits = found["hits"]["hits"].as_array().unwrap().iter();
    let mut hits: Vec<(String, f64)> = hits
        .map(|hit| {
            (
                hit["_id"].as_str().unwrap().to_owned(),
                hit["_score"].as_f64().unwrap(),
            )
        })
        .collect();
    hits.sort_by(|one, other| one.0.cmp(&other.0));
    hits
}

#[test]
fn what_matches_the_negative_query_scores_less() {
    let server = server();
    let positive = json!({ "match": { "body": "whale" } });
    let all = scores(&server, &positive);
    let boosting = |factor: f64| {
        let negative = json!({ "match": { "body": "ship" } });
        json!({ "boosting": { "positive": positive, "negative": negative, "negative_boost": factor, "boost": 2 } })
    };
    let found = scores(&server, &boosting(0.25));
    assert_eq!(found.len(), 2);
    assert!(
        (found[0].1 - 2.0 * all[0].1).abs() < 1e-5,
        "{found:?} {all:?}"
    );
    assert!(
        (found[1].1 - 0.5 * all[1].1).abs() < 1e-5,
        "{found:?} {all:?}"
    );
    for (query, part) in [
        (boosting(-1.0), "to be a positive value"),
        (
            json!({ "boosting": { "positive": positive, "negative_boost": 1 } }),
            "'negative' query",
        ),
    ] {
        let body = json!({ "query": query }).to_string();
        let (_, reason) = server.error("POST", "/k/_search", &body, 400);
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn regular_expressions_match_whole_terms() {
    let server = server();
    for (field, pattern, found) in [
        ("body", "whal[ef]", vec!["1", "2"]),
        ("body", "whale", vec!["1", "2"]),
        ("body", "whale.*", vec!["1", "2", "4"]),
        ("body", "s(ea|hip)", vec!["1", "2", "3"]),
        ("body", "Whale", vec![]),
        ("tag", "be.*", vec!["2", "4"]),
        ("tag", "[0-9]+", vec!["3"]),
        ("nothing", ".*", vec![]),
    ] {
        let query = json!({ "regexp": { field: pattern } });
        let expected: Vec<(String, f64)> = found.iter().map(|id| ((*id).to_owned(), 1.0)).collect();
        assert_eq!(scores(&server, &query), expected, "{query}");
    }
    let boosted = json!({ "regexp": { "tag": { "value": "b.t", "boost": 3 } } });
    assert_eq!(scores(&server, &boosted), [("4".to_owned(), 3.0)]);
    for (asked, part) in [
        (json!({ "body": "a(b" }), "not closed"),
        (json!({ "body": "a&b" }), "intersection"),
        (
            json!({ "body": { "value": "a", "flags": "NONE" } }),
            "[flags]",
        ),
        (json!({ "n": "1" }), "Can only use regexp queries"),
    ] {
        let body = json!({ "query": { "regexp": asked } }).to_string();
        let (_, reason) = server.error("POST", "/k/_search", &body, 400);
        assert!(reason.contains(part), "{asked}: {reason}");
    }
}

/// BM25's idf of a term that so many of all documents have.
fn idf_of(all: f64, having: f64) -> f64 {
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

fn assert_scores(found: &[(String, f64)], expected: &[(&str, f64)]) {
    let ids = |scores: Vec<&str>| scores.join(" ");
    assert_eq!(
        ids(found.iter().map(|(id, _)| id.as_str()).collect()),
        ids(expected.iter().map(|(id, _)| *id).collect())
    );
    for ((id, score), (_, wanted)) in found.iter().zip(expected) {
        assert!((score - wanted).abs() < 1e-5, "{id}: {score}, not {wanted}");
    }
}

/// Lucene keeps neither norms nor frequencies of a keyword: its length is 1, the mean length that
/// of different values.
#[test]
fn keywords_score_as_fields_of_one_value() {
    let server = TestServer::new();
    let mapping = r#"{"mappings":{"properties":{
        "tag":{"type":"keyword"},
        "title":{"type":"text","fields":{"raw":{"type":"keyword"}}}
    }}}"#;
    server.json("PUT", "/k", mapping, 200);
    for (id, tag, title) in [
        ("1", json!("a"), "one two"),
        ("2", json!(["a", "b", "c"]), "two"),
        ("3", json!(["a", "a", "a"]), "three"),
        ("4", json!("b"), "three"),
    ] {
        let source = json!({ "tag": tag, "title": title }).to_string();
        server.json("PUT", &format!("/k/_doc/{id}"), &source, 201);
    }
    // Six different values in four documents.
    let tf = 1.0 / (1.0 + 1.2 * (0.25 + 0.75 / 1.5));
    let a = idf_of(4.0, 3.0) * tf;
    let all = [("1", a), ("2", a), ("3", a)];
    for query in [
        json!({ "term": { "tag": "a" } }),
        json!({ "match": { "tag": "a" } }),
        json!({ "query_string": { "query": "tag:a" } }),
        json!({ "query_string": { "query": "a", "fields": ["tag"] } }),
        json!({ "simple_query_string": { "query": "a", "fields": ["tag"] } }),
        json!({ "multi_match": { "query": "a", "fields": ["tag"] } }),
        json!({ "bool": { "must": { "term": { "tag": "a" } }, "filter": { "match_all": {} } } }),
    ] {
        assert_scores(&scores(&server, &query), &all);
    }
    let both =
        json!({ "bool": { "should": [{ "term": { "tag": "a" } }, { "term": { "tag": "b" } }] } });
    let b = idf_of(4.0, 2.0) * tf;
    assert_scores(
        &scores(&server, &both),
        &[("1", a), ("2", a + b), ("3", a), ("4", b)],
    );
    let constant = json!({ "terms": { "tag": ["a", "b"], "boost": 2 } });
    assert_scores(
        &scores(&server, &constant),
        &[("1", 2.0), ("2", 2.0), ("3", 2.0), ("4", 2.0)],
    );
    let three = idf_of(4.0, 2.0) / 2.2;
    assert_scores(
        &scores(&server, &json!({ "term": { "title.raw": "three" } })),
        &[("3", three), ("4", three)],
    );
    let body = json!({ "query": { "term": { "tag": "a" } } }).to_string();
    let explained = server.json("POST", "/k/_explain/2", &body, 200).to_string();
    assert!(explained.contains("1 however many values"), "{explained}");
}

/// As Lucene's MultiPhraseQuery: the idfs of all words that the last one stands for count, and the
/// scores of all where it stands alone.
#[test]
fn the_end_of_a_phrase_stands_for_the_first_words() {
    let server = TestServer::new();
    let mapping = r#"{"mappings":{"properties":{"body":{"type":"text"}}}}"#;
    server.json("PUT", "/k", mapping, 200);
    for (id, body) in [
        ("1", "quick fox"),
        ("2", "quick fog"),
        ("3", "quick fore"),
        ("4", "quick dog"),
        ("5", "slow fox"),
    ] {
        let source = json!({ "body": body }).to_string();
        server.json("PUT", &format!("/k/_doc/{id}"), &source, 201);
    }
    let idf = |having: f64| idf_of(5.0, having);
    let asked = |text: &str, most: Option<u32>| {
        let mut clause = json!({ "query": text });
        if let Some(most) = most {
            clause["max_expansions"] = json!(most);
        }
        scores(
            &server,
            &json!({ "match_phrase_prefix": { "body": clause } }),
        )
    };
    // Each document has two words, so that a frequency of 1 counts 1 / 2.2.
    let all = (idf(4.0) + idf(1.0) + idf(1.0) + idf(2.0)) / 2.2;
    assert_scores(
        &asked("quick fo", None),
        &[("1", all), ("2", all), ("3", all)],
    );
    let two = (idf(4.0) + idf(1.0) + idf(1.0)) / 2.2;
    assert_scores(&asked("quick fo", Some(2)), &[("2", two), ("3", two)]);
    let one = (idf(4.0) + idf(1.0)) / 2.2;
    for most in [0, 1] {
        assert_scores(&asked("quick fo", Some(most)), &[("2", one)]);
    }
    let (rare, fox) = (idf(1.0) / 2.2, idf(2.0) / 2.2);
    let alone = [("1", fox), ("2", rare), ("3", rare), ("5", fox)];
    assert_scores(&asked("fo", None), &alone);
    assert_scores(&asked("Fo", Some(2)), &[("2", rare), ("3", rare)]);
    assert_scores(&asked("fa", None), &[]);
    let filtered = json!({ "bool": { "filter": { "match_phrase_prefix": { "body": "fo" } } } });
    assert_eq!(scores(&server, &filtered).len(), 4);
    // A document with two of the words has the scores of both.
    server.json("PUT", "/k/_doc/6", r#"{"body": "fog fox"}"#, 201);
    let found = asked("fo", None);
    let both = (idf_of(6.0, 2.0) + idf_of(6.0, 3.0)) / 2.2;
    assert!((found[4].1 - both).abs() < 1e-5, "{found:?}");
    let body = json!({ "query": { "match_phrase_prefix": { "body": { "query": "a", "max_expansions": 2000 } } } });
    let (_, reason) = server.error("POST", "/k/_search", &body.to_string(), 400);
    assert!(reason.contains("[max_expansions] above 1024"), "{reason}");
}
