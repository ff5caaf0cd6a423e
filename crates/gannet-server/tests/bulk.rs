//! Bulks.

use serde_json::{Value, json};

use crate::client::TestServer;

#[test]
fn each_action_has_a_result_of_its_own() {
    let server = TestServer::new();
    server.json("PUT", "/books/_doc/old", r#"{"a":"x"}"#, 201);
    let lines = r#"{"index":{"_index":"books","_id":"1"}}
{"a":"first"}
{"create":{"_index":"books","_id":"old"}}
{"a":"conflict"}
{"update":{"_index":"books","_id":"old"}}
{"doc":{"b":"y"}}
{"update":{"_index":"books","_id":"none"}}
{"doc":{"b":"y"}}
{"delete":{"_index":"books","_id":"none"}}
{"index":{"_index":"books","_id":"2"}}
{"a":
{"index":{"_index":"Books","_id":"3"}}
{"a":"x"}
{"index":{"_index":"books","_id":"1"}}
{"a":"second"}
{"index":{"_index":"other"}}
{"a":"no id"}
{"delete":{"_index":"missing","_id":"1"}}
"#;
    let answered = server.bulk("/_bulk", lines);
    assert_eq!(answered["errors"], true);
    let items = answered["items"].as_array().unwrap();
    let shown: Vec<(String, u64)> = items
        .iter()
        .map(|item| {
            let (name, members) = item.as_object().unwrap().iter().next().unwrap();
            let what = members.get("result").unwrap_or(&members["error"]["type"]);
            (
                format!("{name} {}", what.as_str().unwrap()),
                members["status"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("index created", 201),
        ("create version_conflict_engine_exception", 409),
        ("update updated", 200),
        ("update document_missing_exception", 404),
        ("delete not_found", 404),
        ("index document_parsing_exception", 400),
        ("index invalid_index_name_exception", 400),
        ("index updated", 200),
        ("index created", 201),
        ("delete index_not_found_exception", 404),
    ];
    let expected = expected.map(|(what, status)| (what.to_owned(), status));
    assert_eq!(shown, expected);
    assert_eq!(
        server.json("GET", "/books/_source/1", "", 200),
        json!({ "a": "second" })
    );
    assert_eq!(
        server.json("GET", "/books/_source/old", "", 200),
        json!({ "a": "x", "b": "y" })
    );
    assert_eq!(server.json("GET", "/other/_count", "", 200)["count"], 1);
}

#[test]
fn the_answer_begins_as_fluent_bit_wants_it() {
    let server = TestServer::new();
    let headers = [("Content-Type", "application/x-ndjson")];
    let lines = b"{\"create\":{\"_index\":\"logs\"}}\n{\"m\":\"x\"}\n";
    let text = server.send("POST", "/_bulk", &headers, lines).text();
    assert!(text.contains(r#","errors":false,"items":["#), "{text}");
    let text = server
        .send(
            "POST",
            "/_bulk?filter_path=errors,items.*.error",
            &headers,
            lines,
        )
        .text();
    assert_eq!(text, r#"{"errors":false}"#);
}

#[test]
fn a_malformed_line_changes_nothing() {
    let server = TestServer::new();
    let headers = [("Content-Type", "application/x-ndjson")];
    for (lines, part) in [
        (
            "{\"index\":{\"_id\":\"1\"}}\n{\"a\":1}\n{\"indx\":{}}\n{}\n",
            "line [3]",
        ),
        (
            "{\"index\":{\"_id\":\"1\"}}\n{\"a\":1}\n{\"index\":{}}\n",
            "line [3]",
        ),
        ("{\"index\":{\"_id\":\"1\"}}\n{\"a\":1}", "newline"),
    ] {
        let answered = server.send("POST", "/books/_bulk", &headers, lines.as_bytes());
        assert_eq!(answered.status, 400);
        let reason = answered.json()["error"]["reason"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(server.ask("HEAD", "/books", "").status, 404);
}

#[test]
fn thousands_of_documents_are_taken_in_one_bulk() {
    let server = TestServer::new();
    let mut lines = String::new();
    for id in 0..5_000 {
        lines.push_str(&format!(
            "{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"body\":\"word{} common\"}}\n",
            id % 10
        ));
    }
    let answered = server.bulk("/books/_bulk", &lines);
    assert_eq!(answered["errors"], false);
    let sequences: Vec<&Value> = answered["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["index"]["_seq_no"])
        .collect();
    assert_eq!(sequences.len(), 5_000);
    let body = r#"{"query":{"match":{"body":"word7"}}}"#;
    assert_eq!(
        server.json("POST", "/books/_count", body, 200)["count"],
        500
    );
}

#[test]
fn bulks_of_several_clients_at_once_lose_nothing() {
    let server = TestServer::new();
    std::thread::scope(|scope| {
        for client in 0..6 {
            let server = &server;
            scope.spawn(move || {
                for round in 0..5 {
                    let lines: String = (0..20)
                        .map(|n| format!("{{\"index\":{{\"_id\":\"{client}-{round}-{n}\"}}}}\n{{\"c\":\"c{client}\"}}\n"))
                        .collect();
                    assert_eq!(server.bulk("/books/_bulk", &lines)["errors"], false);
                }
            });
        }
    });
    assert_eq!(server.json("GET", "/books/_count", "", 200)["count"], 600);
    let body = r#"{"query":{"match":{"c":"c3"}}}"#;
    assert_eq!(
        server.json("POST", "/books/_count", body, 200)["count"],
        100
    );
}

/// A bulk writes to more indexes than may be open, each whole, and an item of a name that cannot be
/// fails alone.
#[test]
fn a_bulk_may_be_about_more_indexes_than_are_open() {
    let server = TestServer::with(|settings| settings.max_open = 2);
    let lines: String = (0..60)
        .map(|n| {
            let name = if n == 30 {
                "Wrong".to_owned()
            } else {
                format!("x{}", n % 7)
            };
            format!("{{\"index\":{{\"_index\":\"{name}\",\"_id\":\"{n}\"}}}}\n{{\"n\":{n}}}\n")
        })
        .collect();
    let done = server.bulk("/_bulk", &lines);
    let items = done["items"].as_array().unwrap();
    for (n, item) in items.iter().enumerate() {
        let expected = if n == 30 { 400 } else { 201 };
        assert_eq!(item["index"]["status"], expected, "{item}");
    }
    assert_eq!(server.json("GET", "/x*/_count", "", 200)["count"], 59);
}

#[test]
fn actions_bring_versions_of_other_systems() {
    let server = TestServer::new();
    let external = |version: &str, kind: &str, action: &str| {
        let id = r#""_id":"1""#;
        format!("{{\"{action}\":{{{id},\"version\":{version},\"version_type\":\"{kind}\"}}}}\n")
    };
    let mut lines = String::new();
    for (version, kind, action) in [
        ("5", "external", "index"),
        ("\"7\"", "external", "index"),
        ("7", "external", "index"),
        ("7", "external_gte", "index"),
        ("6", "external", "delete"),
        ("8", "external", "delete"),
        ("2", "external", "index"),
    ] {
        lines.push_str(&external(version, kind, action));
        if action == "index" {
            lines.push_str("{\"a\":1}\n");
        }
    }
    let told = server.bulk("/b/_bulk", &lines);
    let shown: Vec<(u64, u64)> = told["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let members = item.as_object().unwrap().values().next().unwrap();
            let version = members.get("_version").and_then(|version| version.as_u64());
            (
                members["status"].as_u64().unwrap(),
                version.unwrap_or_default(),
            )
        })
        .collect();
    let expected = [
        (201, 5),
        (200, 7),
        (409, 0),
        (200, 7),
        (409, 0),
        (200, 8),
        (201, 2),
    ];
    assert_eq!(shown, expected);
    for (line, kind) in [
        (
            "{\"update\":{\"_id\":\"1\",\"version\":2}}",
            "illegal_argument_exception",
        ),
        (
            "{\"create\":{\"_id\":\"1\",\"version\":2,\"version_type\":\"external\"}}",
            "action_request_validation_exception",
        ),
        (
            "{\"index\":{\"_id\":\"1\",\"version\":2}}",
            "action_request_validation_exception",
        ),
    ] {
        let headers = [("Content-Type", "application/x-ndjson")];
        let body = format!("{line}\n{{\"doc\":{{}}}}\n");
        let answered = server.send("POST", "/b/_bulk", &headers, body.as_bytes());
        assert_eq!(answered.status, 400, "{line}");
        assert_eq!(answered.json()["error"]["type"], kind, "{line}");
    }
}
