//! Indexes and their mappings.

use serde_json::json;

use crate::client::TestServer;

#[test]
fn an_index_is_made_looked_at_and_deleted() {
    let server = TestServer::new();
    let body = json!({
        "settings": { "number_of_shards": 1, "index": { "number_of_replicas": 0 } },
        "mappings": { "properties": {
            "title": { "type": "text", "analyzer": "english" },
            "tag": { "type": "keyword" },
            "year": { "type": "integer" },
        }},
    });
    let made = server.json("PUT", "/books", &body.to_string(), 200);
    assert_eq!(made["acknowledged"], true);
    assert_eq!(made["index"], "books");
    let (kind, reason) = server.error("PUT", "/books", "", 400);
    assert_eq!(kind, "resource_already_exists_exception");
    assert!(
        reason.starts_with("index [books/") && reason.ends_with("] already exists"),
        "{reason}"
    );
    assert_eq!(server.ask("HEAD", "/books", "").status, 200);
    assert_eq!(server.ask("HEAD", "/other", "").status, 404);
    let shown = server.json("GET", "/books", "", 200);
    assert_eq!(shown["books"]["mappings"], body["mappings"].clone());
    assert_eq!(shown["books"]["settings"]["index"]["number_of_shards"], "1");
    server.json("PUT", "/books/_doc/1", r#"{"title":"Moby Dick"}"#, 201);
    assert_eq!(
        server.json("DELETE", "/books", "", 200)["acknowledged"],
        true
    );
    assert_eq!(server.ask("HEAD", "/books", "").status, 404);
    assert!(!server.folder.path().join("books").exists());
    let (kind, _) = server.error("DELETE", "/books", "", 404);
    assert_eq!(kind, "index_not_found_exception");
    let (_, reason) = server.error("DELETE", "/b*", "", 400);
    assert!(reason.contains("not allowed"), "{reason}");
}

#[test]
fn a_mapping_grows_by_request_and_by_documents() {
    let server = TestServer::new();
    server.json("PUT", "/books", "", 200);
    let more = r#"{"properties":{"zip":{"type":"keyword"}}}"#;
    server.json("PUT", "/books/_mapping", more, 200);
    let document = r#"{"zip":12345,"title":"Moby","n":1,"deep":{"flag":true}}"#;
    server.json("PUT", "/books/_doc/1", document, 201);
    server.json("PUT", "/books/_doc/2", r#"{"n":1.5}"#, 201);
    let mapping = server.json("GET", "/books/_mapping", "", 200);
    assert_eq!(
        mapping["books"]["mappings"]["properties"],
        json!({
            "deep": { "properties": { "flag": { "type": "boolean" } } },
            "n": { "type": "float" },
            "title": { "type": "text", "fields": {
                "keyword": { "type": "keyword", "ignore_above": 256 },
            } },
            "zip": { "type": "keyword" },
        })
    );
    assert_eq!(server.found("books", r#"{"term":{"zip":"12345"}}"#), ["1"]);
    assert_eq!(server.found("books", r#"{"prefix":{"zip":"123"}}"#), ["1"]);
    let (_, reason) = server.error(
        "PUT",
        "/books/_mapping",
        r#"{"properties":{"zip":{"type":"text"}}}"#,
        400,
    );
    assert!(
        reason.contains("mapper [zip] cannot be changed from type [keyword] to [text]"),
        "{reason}"
    );
}

#[test]
fn what_a_mapping_cannot_have_is_rejected_by_name() {
    let server = TestServer::new();
    for (body, part) in [
        (
            json!({ "mappings": { "properties": { "d": { "type": "date_nanos" } } } }),
            "[date_nanos]",
        ),
        (
            json!({ "mappings": { "properties": { "v": { "type": "dense_vector", "dims": 3 } } } }),
            "[dense_vector]",
        ),
        (json!({ "mappings": { "dynamic": false } }), "[dynamic]"),
        (json!({ "mapings": {} }), "did you mean [mappings]?"),
        (
            json!({ "settings": { "analysis": { "analyzer": { "a": { "type": "custom" } } } } }),
            "an analyzer",
        ),
        (
            json!({ "settings": { "number_of_shard": 1 } }),
            "did you mean [index.number_of_shards]?",
        ),
        (
            json!({ "aliases": { "a": { "routing": "1" } } }),
            "[routing]",
        ),
    ] {
        let (_, reason) = server.error("PUT", "/books", &body.to_string(), 400);
        assert!(reason.contains(part), "{body}: {reason}");
        assert_eq!(server.ask("HEAD", "/books", "").status, 404);
    }
}

#[test]
fn documents_that_do_not_fit_are_rejected() {
    let server = TestServer::new();
    let body = r#"{"mappings":{"dynamic":"strict","properties":{"n":{"type":"byte"}}}}"#;
    server.json("PUT", "/books", body, 200);
    server.json("PUT", "/books/_doc/1", r#"{"n":-128}"#, 201);
    for (document, kind, part) in [
        (
            r#"{"n":128}"#,
            "document_parsing_exception",
            "failed to parse field [n] of type [byte]",
        ),
        (
            r#"{"n":"five"}"#,
            "document_parsing_exception",
            "Preview of field's value: 'five'",
        ),
        (r#"{"m":1}"#, "strict_dynamic_mapping_exception", "[m]"),
        (r#"{"n":1"#, "document_parsing_exception", "failed to parse"),
        (
            r#"{"_id":"2"}"#,
            "document_parsing_exception",
            "metadata field",
        ),
    ] {
        let (found, reason) = server.error("PUT", "/books/_doc/2", document, 400);
        assert_eq!(found, kind, "{reason}");
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(server.found("books", r#"{"match_all":{}}"#), ["1"]);
}

#[test]
fn tokens_are_shown_as_a_field_makes_them() {
    let server = TestServer::new();
    let body = r#"{"mappings":{"properties":{"t":{"type":"text","analyzer":"english"}}}}"#;
    server.json("PUT", "/books", body, 200);
    let asked = r#"{"field":"t","text":"The 🐋 whales"}"#;
    let tokens = server.json("POST", "/books/_analyze", asked, 200)["tokens"].clone();
    let whale = &tokens[1];
    assert_eq!(whale["token"], "whale");
    // Offsets count UTF-16 units.
    assert_eq!(
        (&whale["start_offset"], &whale["end_offset"]),
        (&json!(7), &json!(13))
    );
    let (_, reason) = server.error("POST", "/_analyze", r#"{"analyzer":"x","text":"a"}"#, 400);
    assert!(
        reason.contains("failed to find global analyzer [x]"),
        "{reason}"
    );
}

/// Settings that change nothing may change, and are told; others are rejected by name.
#[test]
fn settings_change_and_what_was_deleted_is_taken_out() {
    let server = TestServer::new();
    let lines: String = (0..2_000)
        .map(|id| format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"a\":\"word {id}\"}}\n"))
        .collect();
    server.bulk("/books/_bulk", &lines);
    let body = r#"{"index":{"refresh_interval":"30s","number_of_replicas":0}}"#;
    server.json("PUT", "/boo*/_settings", body, 200);
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    let told = server.json("GET", "/books/_settings", "", 200);
    assert_eq!(
        told["books"]["settings"]["index"]["refresh_interval"],
        "30s"
    );
    for (body, part) in [
        (r#"{"number_of_shards":2}"#, "[[index.number_of_shards]]"),
        (r#"{"refresh_interval":null}"#, "[null]"),
        (
            r#"{"refresh_intervall":"1s"}"#,
            "did you mean [index.refresh_interval]",
        ),
    ] {
        let (_, reason) = server.error("PUT", "/books/_settings", body, 400);
        assert!(reason.contains(part), "{reason}");
    }
    let lines: String = (0..1_500)
        .map(|id| format!("{{\"delete\":{{\"_id\":\"{id}\"}}}}\n"))
        .collect();
    server.bulk("/books/_bulk", &lines);
    server.json("POST", "/books/_flush", "", 200);
    let merged = server.json("POST", "/books/_forcemerge?max_num_segments=1", "", 200);
    assert_eq!(merged["_shards"]["successful"], 1);
    let stats = server.json("GET", "/books/_stats", "", 200);
    let docs = &stats["_all"]["primaries"]["docs"];
    assert_eq!(
        (&docs["count"], &docs["deleted"]),
        (&json!(500), &json!(0)),
        "{docs}"
    );
    assert_eq!(
        server.found("books", r#"{"match":{"a":"word"}}"#).len(),
        500
    );
}
