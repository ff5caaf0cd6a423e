//! Single documents.

use serde_json::json;

use crate::client::TestServer;

#[test]
fn a_document_is_written_read_changed_and_deleted() {
    let server = TestServer::new();
    let source = r#"{"title":"Moby  Dick","n":1.50,"id":"own"}"#;
    let written = server.json("PUT", "/books/_doc/1", source, 201);
    assert_eq!(written["result"], "created");
    assert_eq!(
        (&written["_version"], &written["_primary_term"]),
        (&json!(1), &json!(1))
    );
    let got = server.ask("GET", "/books/_doc/1", "").text();
    assert!(
        got.contains(&format!(r#""found":true,"_source":{source}"#)),
        "{got}"
    );
    let again = server.json("PUT", "/books/_doc/1?refresh=wait_for", source, 200);
    assert_eq!(
        (&again["result"], &again["_version"]),
        (&json!("updated"), &json!(2))
    );
    assert_eq!(server.ask("HEAD", "/books/_doc/1", "").status, 200);
    assert_eq!(server.ask("HEAD", "/books/_doc/2", "").status, 404);
    let deleted = server.json("DELETE", "/books/_doc/1", "", 200);
    assert_eq!(deleted["result"], "deleted");
    assert_eq!(
        server.json("DELETE", "/books/_doc/1", "", 404)["result"],
        "not_found"
    );
    assert_eq!(server.json("GET", "/books/_doc/1", "", 404)["found"], false);
    let (kind, _) = server.error("GET", "/books/_source/1", "", 404);
    assert_eq!(kind, "resource_not_found_exception");
    let made = server.json("POST", "/books/_doc", source, 201);
    let id = made["_id"].as_str().unwrap();
    assert_eq!(
        server.json("GET", &format!("/books/_doc/{id}"), "", 200)["_id"],
        id
    );
}

#[test]
fn ids_with_any_signs_are_read_from_the_path() {
    let server = TestServer::new();
    for (path, id) in [
        ("a%2Fb", "a/b"),
        ("%C3%A9%20%25", "é %"),
        ("_x", "_x"),
        ("a:b,c", "a:b,c"),
    ] {
        server.json("PUT", &format!("/books/_doc/{path}"), r#"{"a":"x"}"#, 201);
        let got = server.json("GET", &format!("/books/_doc/{path}"), "", 200);
        assert_eq!(got["_id"], id);
    }
    let long = "x".repeat(513);
    let (kind, reason) = server.error("PUT", &format!("/books/_doc/{long}"), r#"{"a":1}"#, 400);
    assert_eq!(kind, "document_parsing_exception");
    assert!(reason.contains("512"), "{reason}");
}

#[test]
fn writes_that_expect_another_state_are_conflicts() {
    let server = TestServer::new();
    let first = server.json("PUT", "/books/_create/1", r#"{"a":"x"}"#, 201);
    for path in ["/books/_create/1", "/books/_doc/1?op_type=create"] {
        let (kind, reason) = server.error("PUT", path, r#"{"a":"y"}"#, 409);
        assert_eq!(kind, "version_conflict_engine_exception");
        assert!(
            reason.contains("document already exists (current version [1])"),
            "{reason}"
        );
    }
    let sequence = first["_seq_no"].as_u64().unwrap();
    let right = format!("/books/_doc/1?if_seq_no={sequence}&if_primary_term=1");
    server.json("PUT", &right, r#"{"a":"y"}"#, 200);
    let (_, reason) = server.error("PUT", &right, r#"{"a":"z"}"#, 409);
    assert!(
        reason.contains(&format!("required seqNo [{sequence}]")),
        "{reason}"
    );
    server.error("DELETE", &right, "", 409);
    server.error("PUT", "/books/_doc/1?if_seq_no=1", r#"{"a":"z"}"#, 400);
    assert_eq!(
        server.json("GET", "/books/_source/1", "", 200),
        json!({ "a": "y" })
    );
}

#[test]
fn updates_change_members_and_keep_the_others() {
    let server = TestServer::new();
    server.json(
        "PUT",
        "/books/_doc/1",
        r#"{"a":1.50,"b":{"c":"x","d":"y"}}"#,
        201,
    );
    let update = |id: &str, body: &str, status| {
        server.json("POST", &format!("/books/_update/{id}"), body, status)
    };
    assert_eq!(
        update("1", r#"{"doc":{"b":{"c":"z"}}}"#, 200)["result"],
        "updated"
    );
    let source = server.ask("GET", "/books/_source/1", "").text();
    assert_eq!(source, r#"{"a":1.50,"b":{"c":"z","d":"y"}}"#);
    let same = update("1", r#"{"doc":{"b":{"c":"z"}}}"#, 200);
    assert_eq!(
        (&same["result"], &same["_version"]),
        (&json!("noop"), &json!(2))
    );
    let forced = update("1", r#"{"doc":{"b":{"c":"z"}},"detect_noop":false}"#, 200);
    assert_eq!(forced["_version"], 3);
    let (kind, reason) = server.error("POST", "/books/_update/2", r#"{"doc":{"a":1}}"#, 404);
    assert_eq!(
        (kind.as_str(), reason.as_str()),
        ("document_missing_exception", "[2]: document missing")
    );
    update("2", r#"{"doc":{"a":1},"upsert":{"a":7}}"#, 201);
    update("3", r#"{"doc":{"a":9},"doc_as_upsert":true}"#, 201);
    assert_eq!(server.json("GET", "/books/_source/2", "", 200)["a"], 7);
    assert_eq!(server.json("GET", "/books/_source/3", "", 200)["a"], 9);
    for (body, part) in [
        (r#"{"script":"ctx"}"#, "[script]"),
        (r#"{"dco":{}}"#, "did you mean [doc]?"),
        (r#"{}"#, "script or doc is missing"),
    ] {
        let (_, reason) = server.error("POST", "/books/_update/1", body, 400);
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn several_documents_are_read_at_once() {
    let server = TestServer::new();
    for id in 1..4 {
        server.json(
            "PUT",
            &format!("/books/_doc/{id}"),
            r#"{"a":"x","b":"y"}"#,
            201,
        );
    }
    let got = server.json(
        "POST",
        "/books/_mget?_source=a",
        r#"{"ids":["3","x",1]}"#,
        200,
    );
    let docs = got["docs"].as_array().unwrap();
    let shown: Vec<_> = docs
        .iter()
        .map(|doc| (doc["_id"].clone(), doc["found"].clone()))
        .collect();
    assert_eq!(
        shown,
        [
            (json!("3"), json!(true)),
            (json!("x"), json!(false)),
            (json!("1"), json!(true))
        ]
    );
    assert_eq!(docs[0]["_source"], json!({ "a": "x" }));
    let body =
        r#"{"docs":[{"_index":"books","_id":"1","_source":false},{"_index":"none","_id":"1"}]}"#;
    let got = server.json("POST", "/_mget", body, 200);
    assert_eq!(got["docs"][0].get("_source"), None);
    assert_eq!(got["docs"][1]["error"]["type"], "index_not_found_exception");
    server.error("POST", "/_mget", r#"{"docs":[{"_id":"1"}]}"#, 400);
}
