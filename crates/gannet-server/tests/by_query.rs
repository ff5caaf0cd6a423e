//! Changes of all documents that a query finds.

use serde_json::{Value, json};

use crate::client::{TestServer, text};

fn server() -> TestServer {
    let server = TestServer::new();
    let lines: String = (0..450)
        .map(|id| {
            let kind = ["odd", "even"][usize::from(id % 2 == 0)];
            format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"kind\":\"{kind}\",\"n\":{id}}}\n")
        })
        .collect();
    server.bulk("/books/_bulk", &lines);
    server
}

fn counted(server: &TestServer, index: &str, query: &str) -> Value {
    let body = format!(r#"{{"query":{query}}}"#);
    server.json("POST", &format!("/{index}/_count"), &body, 200)["count"].clone()
}

const ODD: &str = r#"{"match":{"kind":"odd"}}"#;
const ALL: &str = r#"{"match_all":{}}"#;

#[test]
fn what_a_query_finds_is_deleted() {
    let server = server();
    let body = format!(r#"{{"query":{ODD}}}"#);
    let done = server.json("POST", "/books/_delete_by_query?refresh=true", &body, 200);
    assert_eq!(
        (&done["deleted"], &done["total"]),
        (&json!(225), &json!(225))
    );
    assert_eq!(done["failures"], json!([]));
    assert_eq!(counted(&server, "books", ALL), 225);
    assert_eq!(counted(&server, "books", ODD), 0);
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    assert_eq!(counted(&server, "books", ALL), 225);
    for (path, body, part) in [
        ("/books/_delete_by_query", "{}", "query is missing"),
        ("/books/_delete_by_query?conflicts=maybe", ODD, "[maybe]"),
        ("/books/_update_by_query", r#"{"script":{}}"#, "[script]"),
    ] {
        let (_, reason) = server.error("POST", path, body, 400);
        assert!(reason.contains(part), "{path}: {reason}");
    }
}

/// The end of a task, with what it answered.
fn ended(server: &TestServer, begun: &Value) -> Value {
    let name = text(&begun["task"]);
    let path = format!("/_tasks/{name}?wait_for_completion=true&timeout=20s");
    let told = server.json("GET", &path, "", 200);
    assert_eq!(told["completed"], true, "{told}");
    assert!(
        told["task"]["running_time_in_nanos"].as_u64() > Some(0),
        "{told}"
    );
    told
}

/// Changes by query go on behind their requests, and tell what they did once they have ended.
#[test]
fn changes_go_on_as_tasks() {
    let server = server();
    let body = format!(r#"{{"query":{ODD}}}"#);
    let path = "/books/_update_by_query?wait_for_completion=false";
    let begun = server.json("POST", path, &body, 200);
    let told = ended(&server, &begun);
    assert_eq!(told["task"]["action"], "indices:data/write/update/byquery");
    assert_eq!(told["task"]["status"]["updated"], 225, "{told}");
    assert_eq!(told["response"]["updated"], 225, "{told}");
    let got = server.json("GET", "/books/_doc/1", "", 200);
    assert_eq!(got["_version"], 2);
    let path = "/books/_delete_by_query?wait_for_completion=false";
    let told = ended(&server, &server.json("POST", path, &body, 200));
    assert_eq!(
        (&told["response"]["deleted"], &told["response"]["failures"]),
        (&json!(225), &json!([]))
    );
    assert_eq!(counted(&server, "books", ALL), 225);
    let copy = r#"{"source":{"index":"books"},"dest":{"index":"copies"}}"#;
    let told = ended(
        &server,
        &server.json("POST", "/_reindex?wait_for_completion=false", copy, 200),
    );
    assert_eq!(told["response"]["created"], 225, "{told}");
    assert_eq!(counted(&server, "copies", ALL), 225);

    // What runs is listed and ends early once it is cancelled; what ended is neither.
    let begun = server.json(
        "POST",
        "/copies/_update_by_query?wait_for_completion=false",
        "",
        200,
    );
    let name = text(&begun["task"]);
    let cancelled = server.json("POST", &format!("/_tasks/{name}/_cancel"), "", 200);
    let told = ended(&server, &begun);
    if !cancelled["nodes"].as_object().unwrap().is_empty() {
        assert_eq!(told["task"]["cancelled"], true, "{told}");
        assert_eq!(told["response"]["canceled"], "by user request", "{told}");
    }
    assert_eq!(server.json("GET", "/_tasks", "", 200)["nodes"], json!({}));
    assert_eq!(
        server.json("POST", "/_tasks/_cancel", "", 200)["nodes"],
        json!({})
    );
    // A task that fails has the error.
    let wrong = r#"{"query":{"range":{"kind":{"gte":"a"}}}}"#;
    let path = "/books/_delete_by_query?wait_for_completion=false";
    let told = ended(&server, &server.json("POST", path, wrong, 200));
    assert!(
        told["error"]["reason"].is_string() && told.get("response").is_none(),
        "{told}"
    );
    for (name, status, part) in [
        ("none", 400, "malformed task id"),
        ("node:1", 404, "hasn't stored its results"),
    ] {
        let (_, reason) = server.error("GET", &format!("/_tasks/{name}"), "", status);
        assert!(reason.contains(part), "{reason}");
    }
}

/// Documents that are written anew have the same sources, and versions of their own.
#[test]
fn documents_are_written_anew_once() {
    let server = server();
    let body = format!(r#"{{"query":{ODD}}}"#);
    let done = server.json("POST", "/books/_update_by_query", &body, 200);
    assert_eq!(
        (&done["updated"], &done["batches"]),
        (&json!(225), &json!(3)),
        "{done}"
    );
    assert_eq!(counted(&server, "books", ALL), 450);
    for (id, version) in [(1, 2), (2, 1), (449, 2)] {
        let got = server.json("GET", &format!("/books/_doc/{id}"), "", 200);
        assert_eq!(got["_version"], version, "{got}");
        assert_eq!(got["_source"]["n"], id);
    }
    let done = server.json("POST", "/books/_update_by_query", "", 200);
    assert_eq!(done["total"], 450);
}

#[test]
fn documents_are_copied_to_another_index() {
    let server = server();
    let copy = |source: Value, dest: Value, more: Value| {
        let mut body = json!({ "source": source, "dest": dest });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        body.to_string()
    };
    let query: Value = serde_json::from_str(ODD).unwrap();
    let body = copy(
        json!({ "index": "books", "query": query, "_source": ["n"] }),
        json!({ "index": "odd" }),
        json!({}),
    );
    let done = server.json("POST", "/_reindex", &body, 200);
    assert_eq!(
        (&done["created"], &done["total"]),
        (&json!(225), &json!(225)),
        "{done}"
    );
    assert_eq!(
        server.json("GET", "/odd/_source/7", "", 200),
        json!({ "n": 7 })
    );
    // Again they are replaced, or are conflicts.
    assert_eq!(server.json("POST", "/_reindex", &body, 200)["updated"], 225);
    let dest = json!({ "index": "odd", "op_type": "create" });
    let body = copy(
        json!({ "index": "b*" }),
        dest.clone(),
        json!({ "conflicts": "proceed" }),
    );
    let done = server.json("POST", "/_reindex", &body, 200);
    assert_eq!(
        (&done["created"], &done["version_conflicts"]),
        (&json!(225), &json!(225))
    );
    let body = copy(json!({ "index": "books" }), dest, json!({}));
    let done = server.json("POST", "/_reindex", &body, 409);
    assert_eq!(
        text(&done["failures"][0]["cause"]["type"]),
        "version_conflict_engine_exception"
    );
    let body = copy(
        json!({ "index": "books" }),
        json!({ "index": "few" }),
        json!({ "max_docs": 210 }),
    );
    assert_eq!(server.json("POST", "/_reindex", &body, 200)["created"], 210);
    assert_eq!(counted(&server, "few", ALL), 210);
    for (body, part) in [
        (
            copy(
                json!({ "index": "books" }),
                json!({ "index": "books" }),
                json!({}),
            ),
            "its reading from",
        ),
        (
            copy(
                json!({ "index": "books", "remote": {} }),
                json!({ "index": "x" }),
                json!({}),
            ),
            "[remote]",
        ),
        (
            copy(json!({}), json!({ "index": "x" }), json!({})),
            "source.index",
        ),
        (
            copy(
                json!({ "index": "books" }),
                json!({ "index": "x" }),
                json!({ "script": {} }),
            ),
            "[script]",
        ),
    ] {
        let (_, reason) = server.error("POST", "/_reindex", &body, 400);
        assert!(reason.contains(part), "{body}: {reason}");
    }
}
