//! The answers of searches: what is returned, and in which form.

use serde_json::{Value, json};

use crate::client::TestServer;

fn server() -> TestServer {
    let server = TestServer::new();
    for id in 0..25 {
        let body = "whale ".repeat(id % 5 + 1);
        let source = json!({ "title": format!("Book {id}"), "body": body.trim(), "deep": { "a": 1, "b": [{ "c": id }] } });
        server.json(
            "PUT",
            &format!("/books/_doc/{id}"),
            &source.to_string(),
            201,
        );
    }
    server
}

#[test]
fn hits_come_in_pages_best_first() {
    let server = server();
    let body = r#"{"query":{"match":{"body":"whale"}},"size":10,"from":20}"#;
    let found = server.json("POST", "/books/_search", body, 200);
    assert_eq!(
        found["hits"]["total"],
        json!({ "value": 25, "relation": "eq" })
    );
    assert_eq!(found["hits"]["hits"].as_array().unwrap().len(), 5);
    assert_eq!(found["timed_out"], false);
    assert_eq!(found["_shards"]["successful"], 1);
    let found = server.json("GET", "/books/_search?size=3", "", 200);
    let hits = found["hits"]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3);
    assert_eq!(found["hits"]["max_score"], 1.0);
    let hit = &hits[0];
    assert_eq!(
        (&hit["_index"], &hit["_score"]),
        (&json!("books"), &json!(1.0))
    );
    let scores = |body: &str| -> Vec<f64> {
        let found = server.json("POST", "/books/_search", body, 200);
        let hits = found["hits"]["hits"].as_array().unwrap().clone();
        hits.iter()
            .map(|hit| hit["_score"].as_f64().unwrap())
            .collect()
    };
    let best = scores(r#"{"query":{"match":{"body":"whale"}},"sort":["_score"]}"#);
    assert!(best.is_sorted_by(|one, next| one >= next), "{best:?}");
    let constant = r#"{"query":{"constant_score":{"filter":{"match":{"body":"whale"}},"boost":2.5}},"size":2}"#;
    assert_eq!(scores(constant), [2.5, 2.5]);
    assert_eq!(
        scores(r#"{"query":{"bool":{"filter":{"match":{"body":"whale"}}}},"size":1}"#),
        [0.0]
    );
    assert_eq!(
        scores(r#"{"query":{"prefix":{"body":"wha"}},"size":1}"#),
        [1.0]
    );
}

#[test]
fn totals_are_exact_or_left_out() {
    let server = server();
    let total = |member: &str| {
        let body = format!("{{\"size\":0{member}}}");
        server.json("POST", "/books/_search", &body, 200)["hits"].clone()
    };
    for member in ["", ",\"track_total_hits\":true", ",\"track_total_hits\":7"] {
        assert_eq!(
            total(member)["total"],
            json!({ "value": 25, "relation": "eq" })
        );
    }
    assert_eq!(total(",\"track_total_hits\":false").get("total"), None);
    assert_eq!(total("")["hits"], json!([]));
    let found = server.json("GET", "/books/_search?rest_total_hits_as_int=true", "", 200);
    assert_eq!(found["hits"]["total"], 25);
}

#[test]
fn sources_are_returned_as_far_as_asked_for() {
    let server = server();
    let source = |member: &str| {
        let body = format!("{{\"query\":{{\"ids\":{{\"values\":[\"7\"]}}}},\"_source\":{member}}}");
        server.json("POST", "/books/_search", &body, 200)["hits"]["hits"][0]
            .get("_source")
            .cloned()
    };
    assert_eq!(source("false"), None);
    assert_eq!(source("\"title\""), Some(json!({ "title": "Book 7" })));
    assert_eq!(
        source("[\"deep.b.c\"]"),
        Some(json!({ "deep": { "b": [{ "c": 7 }] } }))
    );
    let cut = source(r#"{"includes":["deep","title"],"excludes":["*.a"]}"#);
    assert_eq!(
        cut,
        Some(json!({ "title": "Book 7", "deep": { "b": [{ "c": 7 }] } }))
    );
    let found = server.json(
        "GET",
        "/books/_search?_source_includes=title&size=1",
        "",
        200,
    );
    assert_eq!(
        found["hits"]["hits"][0]["_source"]
            .as_object()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn hits_have_the_version_of_their_document_if_asked_for() {
    let server = server();
    server.json("PUT", "/books/_doc/7", r#"{"title":"Book 7"}"#, 200);
    let hit = |path: &str, members: &str| {
        let body = format!("{{\"query\":{{\"ids\":{{\"values\":[\"7\"]}}}}{members}}}");
        server.json("POST", path, &body, 200)["hits"]["hits"][0].clone()
    };
    let told = |hit: &Value| {
        let names = ["_version", "_seq_no", "_primary_term"];
        names.map(|name| hit.get(name).and_then(Value::as_u64))
    };
    let whole = [Some(2), Some(25), Some(1)];
    let members = ",\"version\":true,\"seq_no_primary_term\":true";
    assert_eq!(told(&hit("/books/_search", members)), whole);
    let url = "/books/_search?version=true&seq_no_primary_term=true";
    assert_eq!(told(&hit(url, "")), whole);
    let version = [Some(2), None, None];
    assert_eq!(told(&hit("/books/_search", ",\"version\":true")), version);
    assert_eq!(told(&hit("/books/_search", "")), [None; 3]);
    // What a state that is held has of a document does not change with it.
    let opened = server.json("POST", "/books/_pit?keep_alive=1m", "", 200);
    server.json("PUT", "/books/_doc/7", r#"{"title":"Book 7 again"}"#, 200);
    let pit = format!("{members},\"pit\":{{\"id\":{}}}", opened["id"]);
    let held = hit("/_search", &pit);
    assert_eq!(
        (told(&held), &held["_source"]["title"]),
        (whole, &json!("Book 7"))
    );
}

#[test]
fn a_least_score_leaves_out_what_scores_less() {
    let server = server();
    let found = |members: &str| {
        let body =
            format!("{{\"query\":{{\"match\":{{\"body\":\"whale\"}}}},\"size\":25{members}}}");
        server.json("POST", "/books/_search", &body, 200)
    };
    let all = found("");
    let scores = |found: &Value| -> Vec<f64> {
        let hits = found["hits"]["hits"].as_array().unwrap();
        hits.iter()
            .map(|hit| hit["_score"].as_f64().unwrap())
            .collect()
    };
    let least = scores(&all)[7];
    let kept = scores(&all).into_iter().filter(|score| *score >= least);
    let kept: Vec<f64> = kept.collect();
    assert!(kept.len() < 25);
    let asked =
        format!(",\"min_score\":{least},\"aggs\":{{\"n\":{{\"filter\":{{\"match_all\":{{}}}}}}}}");
    let some = found(&asked);
    assert_eq!(scores(&some), kept);
    assert_eq!(some["hits"]["total"]["value"], kept.len());
    assert_eq!(some["aggregations"]["n"]["doc_count"], kept.len());
    let sorted = found(&format!(",\"min_score\":{least},\"sort\":\"_doc\""));
    assert_eq!(sorted["hits"]["total"]["value"], kept.len());
    assert_eq!(sorted["hits"]["hits"].as_array().unwrap().len(), kept.len());
    assert_eq!(sorted["hits"]["hits"][0]["_score"], Value::Null);
}

#[test]
fn snippets_mark_what_was_found() {
    let server = TestServer::new();
    server.json(
        "PUT",
        "/books/_doc/1",
        r#"{"title":"Moby Dick","body":"Call me <Ishmael>."}"#,
        201,
    );
    let body =
        r#"{"query":{"match":{"body":"ishmael"}},"highlight":{"fields":{"body":{},"title":{}}}}"#;
    let found = server.json("POST", "/books/_search", body, 200);
    let highlight = &found["hits"]["hits"][0]["highlight"];
    assert_eq!(
        *highlight,
        json!({ "body": ["Call me <<em>Ishmael</em>>."] })
    );
    let body = r#"{"query":{"match":{"body":"ishmael"}},"highlight":{"encoder":"html","pre_tags":["["],"post_tags":["]"],"fields":{"b*":{}}}}"#;
    let found = server.json("POST", "/books/_search", body, 200);
    assert_eq!(
        found["hits"]["hits"][0]["highlight"]["body"][0],
        "Call me &lt;[Ishmael]&gt;."
    );
    let (_, reason) = server.error(
        "POST",
        "/books/_search",
        r#"{"highlight":{"fields":{"a":{"typ":"plain"}}}}"#,
        400,
    );
    assert!(reason.contains("did you mean [type]?"), "{reason}");
}

#[test]
fn what_a_search_cannot_do_is_rejected_by_name() {
    let server = server();
    for (body, part) in [
        (r#"{"aggs":{"a":{"trems":{"field":"t"}}}}"#, "trems"),
        (
            r#"{"aggs":{"a":{"geohash_grid":{"field":"t"}}}}"#,
            "geohash_grid",
        ),
        (r#"{"knn":{"field":"v"}}"#, "vector search ([knn])"),
        (r#"{"sort":[{"year":"up"}]}"#, "[asc] or [desc]"),
        (
            r#"{"search_after":[1]}"#,
            "[search_after] with another [sort]",
        ),
        (
            r#"{"sort":["_score","_doc"],"search_after":[1]}"#,
            "search_after has 1 value(s) but sort has 2.",
        ),
        (
            r#"{"sort":"_doc","search_after":["a"]}"#,
            "a list of one number",
        ),
        (r#"{"suggest":{"a":{}}}"#, "[suggest]"),
        (
            r#"{"qurey":{"match_all":{}}}"#,
            "unknown key [qurey] in [search] did you mean [query]?",
        ),
        (
            r#"{"from":9995,"size":6}"#,
            "less than or equal to: [10000] but was [10001]",
        ),
        (r#"{"size":-1}"#, "[size]"),
        (r#"{"timeout":"soon"}"#, "[timeout]"),
        (r#"{"query":"#, "the body cannot be read as JSON"),
        (
            r#"{"query":{"match_all":{}},"query":{"match_none":{}}}"#,
            "Duplicate field 'query'",
        ),
        ("[]", "expected an object"),
    ] {
        let (_, reason) = server.error("POST", "/books/_search", body, 400);
        assert!(reason.contains(part), "{body}: {reason}");
    }
    // What is asked for by nothing is no harm.
    server.json(
        "POST",
        "/books/_search",
        r#"{"aggs":{},"explain":false,"stored_fields":[]}"#,
        200,
    );
    let (_, reason) = server.error("GET", "/books/_search?siez=1", "", 400);
    assert!(reason.contains("did you mean [size]?"), "{reason}");
}

#[test]
fn many_searches_are_answered_one_by_one() {
    let server = server();
    let lines = "{\"index\":\"books\"}\n{\"query\":{\"match\":{\"body\":\"whale\"}},\"size\":1}\n\
        {\"index\":\"none\"}\n{}\n\
        {}\n{\"query\":{\"x\":{}}}\n";
    let headers = [("Content-Type", "application/x-ndjson")];
    let answered = server
        .send("POST", "/books/_msearch", &headers, lines.as_bytes())
        .json();
    let responses = answered["responses"].as_array().unwrap();
    let statuses: Vec<_> = responses.iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, [json!(200), json!(404), json!(400)]);
    assert_eq!(responses[0]["hits"]["hits"].as_array().unwrap().len(), 1);
    assert_eq!(responses[1]["error"]["type"], "index_not_found_exception");
}

#[test]
fn patterns_that_stand_for_too_many_terms_are_warned_of() {
    let server = TestServer::new();
    let lines: String = (0..1_200)
        .map(|n| format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"body\":\"white w{n}\"}}\n"))
        .collect();
    server.bulk("/many/_bulk", &lines);
    let body = r#"{"query":{"fuzzy":{"body":{"value":"w100","fuzziness":2}}},"size":1}"#;
    let answered = server.ask("POST", "/many/_search", body);
    let warning = answered.header("Warning").unwrap_or_default().to_owned();
    assert!(
        warning.starts_with("299 Elasticsearch-8.19.0") && warning.contains("more terms"),
        "{warning}"
    );
    assert_eq!(answered.json()["hits"]["total"]["relation"], "gte");
    // As in Elasticsearch, the end of a phrase stands for 50 words, in silence.
    let body = r#"{"query":{"match_phrase_prefix":{"body":"white w"}},"size":1}"#;
    let answered = server.ask("POST", "/many/_search", body);
    assert!(answered.header("Warning").is_none());
    let total = json!({ "value": 50, "relation": "eq" });
    assert_eq!(answered.json()["hits"]["total"], total);
}
