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
fn versions_of_other_systems_are_kept_and_decide_which_write_counts() {
    let server = TestServer::new();
    let put = |query: &str, status: u16| {
        server.json(
            "PUT",
            &format!("/books/_doc/1?{query}"),
            r#"{"a":"x"}"#,
            status,
        )
    };
    let first = put("version=5&version_type=external", 201);
    assert_eq!(
        (&first["result"], &first["_version"]),
        (&json!("created"), &json!(5))
    );
    for (query, sentence) in [
        (
            "version=5&version_type=external",
            "higher or equal to the one provided [5]",
        ),
        (
            "version=4&version_type=external_gt",
            "higher or equal to the one provided [4]",
        ),
        (
            "version=4&version_type=external_gte",
            "higher than the one provided [4]",
        ),
    ] {
        let error = put(query, 409)["error"].clone();
        assert_eq!(error["type"], "version_conflict_engine_exception");
        let reason = format!("[1]: version conflict, current version [5] is {sentence}");
        assert_eq!(error["reason"], reason);
    }
    assert_eq!(
        put("version=5&version_type=external_gte", 200)["_version"],
        5
    );
    assert_eq!(
        put("version=9223372036854775807&version_type=external", 200)["result"],
        "updated"
    );
    let conflict = "/books/_doc/1?version=6&version_type=external";
    server.error("DELETE", conflict, "", 409);
    let (ended, folder) = server.end();
    assert_eq!(ended.left_open, 0);
    let server = TestServer::in_folder(folder, |_| ());
    let got = server.json("GET", "/books/_doc/1", "", 200);
    assert_eq!(got["_version"], 9_223_372_036_854_775_807_u64);
    // A write that counts here counts on.
    let counted = server.json("PUT", "/books/_doc/1", r#"{"a":"y"}"#, 200);
    assert_eq!(counted["_version"], 9_223_372_036_854_775_808_u64);
    server.json(
        "PUT",
        "/books/_doc/2?version=3&version_type=external",
        "{}",
        201,
    );
    assert_eq!(
        server.json("PUT", "/books/_doc/2", "{}", 200)["_version"],
        4
    );
    let gone = server.json(
        "DELETE",
        "/books/_doc/2?version=9&version_type=external",
        "",
        200,
    );
    assert_eq!(
        (&gone["result"], &gone["_version"]),
        (&json!("deleted"), &json!(9))
    );
    // What is not there is deleted with any version, also where there is no index.
    for path in ["/books/_doc/2", "/newer/_doc/2"] {
        let query = format!("{path}?version=7&version_type=external");
        let none = server.json("DELETE", &query, "", 404);
        assert_eq!(
            (&none["result"], &none["_version"]),
            (&json!("not_found"), &json!(7))
        );
    }
    server.json("GET", "/newer/_count", "", 200);
}

#[test]
fn versions_that_cannot_be_are_rejected_as_in_elasticsearch() {
    let server = TestServer::new();
    let first = server.json("PUT", "/books/_doc/1", r#"{"a":"x"}"#, 201);
    let sequence = format!("if_seq_no={}&if_primary_term=1", first["_seq_no"]);
    for (method, path, part) in [
        (
            "PUT",
            "_doc/1?version=2".to_owned(),
            "internal versioning can not be used",
        ),
        (
            "DELETE",
            "_doc/1?version=2".to_owned(),
            "internal versioning can not be used",
        ),
        (
            "PUT",
            "_doc/1?version_type=external".to_owned(),
            "illegal version value [-3]",
        ),
        (
            "PUT",
            "_doc/1?version=-1&version_type=external".to_owned(),
            "[EXTERNAL]",
        ),
        (
            "PUT",
            "_create/1?version=2&version_type=external".to_owned(),
            "create operations only",
        ),
        (
            "PUT",
            "_create/1?version=2".to_owned(),
            "do not support explicit versions",
        ),
        (
            "POST",
            "_doc?version=2&version_type=external".to_owned(),
            "an id must be provided",
        ),
        (
            "POST",
            "_update/1?version=2&version_type=external".to_owned(),
            "internal versioning",
        ),
        (
            "PUT",
            format!("_doc/1?version=2&version_type=external&{sequence}"),
            "compare and write operations can not use versioning",
        ),
    ] {
        let body = match method {
            "DELETE" => "",
            _ if path.starts_with("_update") => r#"{"doc":{}}"#,
            _ => r#"{"a":"y"}"#,
        };
        let (kind, reason) = server.error(method, &format!("/books/{path}"), body, 400);
        assert_eq!(kind, "action_request_validation_exception", "{path}");
        assert!(reason.contains(part), "{path}: {reason}");
    }
    for (query, part) in [
        ("version=x&version_type=external", "[x]"),
        ("version=2&version_type=force", "may no longer be used"),
        (
            "version=2&version_type=nosuch",
            "No version type match [nosuch]",
        ),
    ] {
        let (kind, reason) = server.error("PUT", &format!("/books/_doc/1?{query}"), "{}", 400);
        assert_eq!(kind, "illegal_argument_exception");
        assert!(reason.contains(part), "{reason}");
    }
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
