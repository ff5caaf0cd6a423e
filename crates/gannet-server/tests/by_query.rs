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
        (
            "/books/_delete_by_query?wait_for_completion=false",
            ODD,
            "[wait_for_completion]",
        ),
        ("/books/_delete_by_query?conflicts=maybe", ODD, "[maybe]"),
        ("/books/_update_by_query", r#"{"script":{}}"#, "[script]"),
    ] {
        let (_, reason) = server.error("POST", path, body, 400);
        assert!(reason.contains(part), "{path}: {reason}");
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
