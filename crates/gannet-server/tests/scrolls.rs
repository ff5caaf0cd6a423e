//! Scrolls and points in time: one state, page by page.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{TestServer, text};

fn server() -> TestServer {
    let server = TestServer::new();
    for (name, count) in [("a", 37), ("b", 5), ("c", 23)] {
        let lines: String = (0..count)
            .map(|id| {
                format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"n\":{id},\"t\":\"whale\"}}\n")
            })
            .collect();
        server.bulk(&format!("/{name}/_bulk"), &lines);
    }
    server
}

fn ids(found: &Value) -> Vec<String> {
    let hits = found["hits"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| format!("{}/{}", text(&hit["_index"]), text(&hit["_id"])))
        .collect()
}

/// Every document is met once, in the state in which the scroll began, whatever is written.
#[test]
fn a_scroll_meets_every_document_of_its_state_once() {
    let server = server();
    for sort in [r#","sort":"_doc""#, r#","sort":["_doc"]"#, ""] {
        let body = format!(r#"{{"size":7,"query":{{"match_all":{{}}}}{sort}}}"#);
        let mut found = server.json("POST", "/a,b,c/_search?scroll=1m", &body, 200);
        let mut met: Vec<String> = Vec::new();
        let mut n = 0;
        loop {
            assert_eq!(found["hits"]["total"]["value"], 65);
            assert_eq!(found["_shards"]["successful"], 3);
            let page = ids(&found);
            if page.is_empty() {
                break;
            }
            met.extend(page);
            // Others write meanwhile.
            server.json("PUT", &format!("/b/_doc/new{n}"), r#"{"n":1}"#, 201);
            server.json("DELETE", &format!("/b/_doc/new{n}"), "", 200);
            server.json(
                "PUT",
                &format!("/a/_doc/{n}"),
                &format!(r#"{{"n":{n},"t":"whale"}}"#),
                200,
            );
            n += 1;
            let next = json!({ "scroll": "1m", "scroll_id": found["_scroll_id"] });
            found = server.json("POST", "/_search/scroll", &next.to_string(), 200);
        }
        assert_eq!(met.len(), 65, "{sort}");
        assert_eq!(met.iter().collect::<BTreeSet<_>>().len(), 65, "{sort}");
        let end = json!({ "scroll_id": [found["_scroll_id"]] }).to_string();
        let ended = server.json("DELETE", "/_search/scroll", &end, 200);
        assert_eq!(ended, json!({ "succeeded": true, "num_freed": 1 }));
        server.json("DELETE", "/_search/scroll", &end, 404);
        let (kind, _) = server.error("POST", "/_search/scroll", &end.replace(['[', ']'], ""), 404);
        assert_eq!(kind, "search_context_missing_exception");
    }
}

#[test]
fn a_point_in_time_is_searched_page_by_page() {
    let server = server();
    let pit = server.json("POST", "/a,b,c/_pit?keep_alive=1m", "", 200);
    server.json("PUT", "/a/_doc/later", r#"{"t":"whale"}"#, 201);
    let id = pit["id"].clone();
    let mut after: Option<Value> = None;
    let mut met: BTreeSet<String> = BTreeSet::new();
    loop {
        let mut body = json!({
            "size": 10, "query": { "match": { "t": "whale" } }, "sort": [{ "_shard_doc": "asc" }],
            "pit": { "id": id, "keep_alive": "1m" },
        });
        if let Some(after) = &after {
            body["search_after"] = after.clone();
        }
        let found = server.json("POST", "/_search", &body.to_string(), 200);
        assert_eq!(found["pit_id"], id);
        assert_eq!(found["hits"]["total"]["value"], 65);
        let hits = found["hits"]["hits"].as_array().unwrap();
        let Some(last) = hits.last() else {
            break;
        };
        assert_eq!(last["_score"], Value::Null);
        after = Some(last["sort"].clone());
        for hit in ids(&found) {
            assert!(met.insert(hit));
        }
    }
    assert_eq!(met.len(), 65);
    // By score it is searched, too, and no index may be named beside it.
    let body = json!({ "query": { "match": { "t": "whale" } }, "pit": { "id": id } }).to_string();
    assert_eq!(
        server.json("POST", "/_search", &body, 200)["hits"]["total"]["value"],
        65
    );
    let (_, reason) = server.error("POST", "/a/_search", &body, 400);
    assert!(reason.contains("Do not specify any index"), "{reason}");
    let other = server.json("POST", "/a/_search/point_in_time?keep_alive=1m", "", 200);
    let ids = json!({ "pit_id": [other["pit_id"], "none"] }).to_string();
    let closed = server.json("DELETE", "/_search/point_in_time", &ids, 200);
    assert_eq!(closed["pits"][0]["successful"], true);
    assert_eq!(closed["pits"][1]["successful"], false);
    let close = json!({ "id": id }).to_string();
    server.json("DELETE", "/_pit", &close, 200);
    server.json("DELETE", "/_pit", &close, 404);
    let (kind, _) = server.error("POST", "/_search", &body, 404);
    assert_eq!(kind, "search_context_missing_exception");
}

#[test]
fn pages_by_place_begin_where_they_are_asked_to() {
    let server = server();
    let body = r#"{"size":1000,"sort":["_doc"]}"#;
    let all = ids(&server.json("POST", "/a,b,c/_search", body, 200));
    for (from, size) in [(0, 10), (30, 20), (41, 5), (64, 10), (65, 1)] {
        let body = format!(r#"{{"from":{from},"size":{size},"sort":"_doc"}}"#);
        let page = ids(&server.json("POST", "/a,b,c/_search", &body, 200));
        let expected: Vec<String> = all.iter().skip(from).take(size).cloned().collect();
        assert_eq!(page, expected, "{from} {size}");
    }
    let found = server.json("GET", "/a/_search?sort=_doc&size=2", "", 200);
    assert_eq!(found["hits"]["hits"][1]["sort"], json!([1]));
}

/// A context ends after its time and with its index, and there are limits of how many are kept.
#[test]
fn what_is_kept_has_limits() {
    let server = server();
    for (body, path, part) in [
        (r#"{"from":1}"#, "/a/_search?scroll=1m", "using [from]"),
        (
            r#"{"size":0}"#,
            "/a/_search?scroll=1m",
            "[size] cannot be [0]",
        ),
        ("{}", "/a/_search?scroll=2d", "must be less than (1d)"),
        ("{}", "/a/_search?scroll=soon", "[scroll]"),
        ("", "/a/_pit", "[keep_alive]"),
        ("{}", "/_search/scroll", "scrollId is missing"),
    ] {
        let (_, reason) = server.error("POST", path, body, 400);
        assert!(reason.contains(part), "{path}: {reason}");
    }
    let pit = server.json("POST", "/a/_pit?keep_alive=10ms", "", 200);
    std::thread::sleep(Duration::from_millis(50));
    server.json(
        "DELETE",
        "/_pit",
        &pit.to_string().replace("_shards", "id2"),
        400,
    );
    let id = json!({ "id": pit["id"] }).to_string();
    server.json("DELETE", "/_pit", &id, 404);
    // Of the four that may be open, one is left for others.
    server.json("PUT", "/d/_doc/1", r#"{"n":1}"#, 201);
    let kept: Vec<Value> = ["a", "b", "c"]
        .iter()
        .map(|name| server.json("POST", &format!("/{name}/_pit?keep_alive=1m"), "", 200))
        .collect();
    let (kind, reason) = server.error("POST", "/d/_pit?keep_alive=1m", "", 429);
    assert_eq!(kind, "es_rejected_execution_exception");
    assert!(reason.contains("--max-open"), "{reason}");
    assert_eq!(server.found("d", r#"{"match_all":{}}"#), ["1"]);
    // An index goes with what keeps it.
    server.json("DELETE", "/a", "", 200);
    server.json(
        "DELETE",
        "/_pit",
        &json!({ "id": kept[0]["id"] }).to_string(),
        404,
    );
    server.json("POST", "/d/_pit?keep_alive=1m", "", 200);
    let freed = server.json("DELETE", "/_search/scroll", r#"{"scroll_id":"_all"}"#, 200);
    assert_eq!(freed["num_freed"], 3);
}
