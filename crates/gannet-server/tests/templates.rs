//! Templates of indexes.

use serde_json::json;

use crate::client::{TestServer, text};

#[test]
fn an_index_is_made_by_the_template_that_fits_best() {
    let server = TestServer::new();
    let component = r#"{"template":{"mappings":{"properties":{"level":{"type":"keyword"},"n":{"type":"long"}}}}}"#;
    server.json("PUT", "/_component_template/common", component, 200);
    let template = r#"{"index_patterns":["logs-*"],"priority":10,"composed_of":["common"],"template":{
        "settings":{"number_of_shards":2},"mappings":{"properties":{"n":{"type":"double"}}},
        "aliases":{"logs":{}}}}"#;
    server.json("PUT", "/_index_template/logs", template, 200);
    let other = r#"{"index_patterns":"*","template":{"mappings":{"dynamic":"strict"}}}"#;
    server.json("PUT", "/_index_template/all", other, 200);
    // A document makes it, a request makes it, and what the request says counts more.
    server.json("PUT", "/logs-1/_doc/1", r#"{"level":"a b","n":1.5}"#, 201);
    let own = r#"{"mappings":{"properties":{"level":{"type":"text"}}},"aliases":{"own":{}}}"#;
    server.json("PUT", "/logs-2", own, 200);
    let told = server.json("GET", "/logs-*", "", 200);
    let types =
        |name: &str, field: &str| text(&told[name]["mappings"]["properties"][field]["type"]);
    assert_eq!(
        (types("logs-1", "level"), types("logs-1", "n")),
        ("keyword".into(), "double".into())
    );
    assert_eq!(
        (types("logs-2", "level"), types("logs-2", "n")),
        ("text".into(), "double".into())
    );
    assert_eq!(told["logs-1"]["aliases"], json!({ "logs": {} }));
    assert_eq!(told["logs-2"]["aliases"], json!({ "logs": {}, "own": {} }));
    let (kind, _) = server.error("PUT", "/x/_doc/1", r#"{"a":1}"#, 400);
    assert_eq!(kind, "strict_dynamic_mapping_exception");
    let simulated = server.json("POST", "/_index_template/_simulate_index/logs-9", "", 200);
    assert_eq!(
        simulated["template"]["mappings"]["properties"]["n"]["type"],
        "double"
    );
    // They are kept, and given back as they came.
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    let kept = server.json("GET", "/_index_template/lo*", "", 200);
    assert_eq!(kept["index_templates"][0]["name"], "logs");
    let given: serde_json::Value = serde_json::from_str(template).unwrap();
    assert_eq!(kept["index_templates"][0]["index_template"], given);
    assert_eq!(server.ask("HEAD", "/_index_template/logs", "").status, 200);
    assert_eq!(server.ask("HEAD", "/_index_template/none", "").status, 404);
    let (_, reason) = server.error("DELETE", "/_component_template/common", "", 400);
    assert!(
        reason.contains("in use by index templates [logs]"),
        "{reason}"
    );
    server.json("DELETE", "/_index_template/logs", "", 200);
    server.json("DELETE", "/_component_template/common", "", 200);
    server.json("GET", "/_index_template/logs", "", 404);
}

#[test]
fn templates_that_cannot_be_are_rejected() {
    let server = TestServer::new();
    server.json(
        "PUT",
        "/_index_template/a",
        r#"{"index_patterns":["a*"]}"#,
        200,
    );
    for (body, part) in [
        (r#"{"index_patterns":["ab*"]}"#, "different priority"),
        (r#"{"template":{}}"#, "[index_patterns]"),
        (
            r#"{"index_patterns":["x"],"composed_of":["none"]}"#,
            "component template [none]",
        ),
        (
            r#"{"index_patterns":["x"],"template":{"mappings":{"properties":{"a":{"type":"nested"}}}}}"#,
            "[nested]",
        ),
        (
            r#"{"index_patterns":["x"],"template":{"lifecycle":{}}}"#,
            "[lifecycle]",
        ),
        (r#"{"index_patterns":["x"],"priority":-1}"#, "[priority]"),
        (
            r#"{"index_pattern":["x"]}"#,
            "did you mean [index_patterns]",
        ),
    ] {
        let (_, reason) = server.error("PUT", "/_index_template/b", body, 400);
        assert!(reason.contains(part), "{body}: {reason}");
    }
    server.json(
        "PUT",
        "/_index_template/a?create=true",
        r#"{"index_patterns":["a*"]}"#,
        400,
    );
    let (kind, _) = server.error("GET", "/_index_template/b", "", 404);
    assert_eq!(kind, "resource_not_found_exception");
}

#[test]
fn legacy_templates_are_merged_by_their_order() {
    let server = TestServer::new();
    let base = r#"{"index_patterns":["log-*"],"order":0,"version":7,"settings":{"number_of_shards":1,"index":{"refresh_interval":"5s"}},
        "mappings":{"_doc":{"properties":{"level":{"type":"keyword"},"n":{"type":"long"}}}},"aliases":{"logs":{}}}"#;
    assert_eq!(server.ask("HEAD", "/_template/base", "").status, 404);
    assert_eq!(server.json("GET", "/_template/base", "", 404), json!({}));
    assert_eq!(server.json("GET", "/_template", "", 200), json!({}));
    server.json("PUT", "/_template/base", base, 200);
    server.json("PUT", "/_template/base?create=true", base, 400);
    // As fluentd and older Beats write it.
    let over = r#"{"template":"log-app-*","mappings":{"properties":{"n":{"type":"double"}}}}"#;
    server.json("POST", "/_template/app?order=3", over, 200);
    assert_eq!(server.ask("HEAD", "/_template/base", "").status, 200);
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    let told = server.json("GET", "/_template/base,app", "", 200);
    assert_eq!(
        told["base"],
        json!({
            "order": 0, "version": 7, "index_patterns": ["log-*"],
            "settings": { "index": { "number_of_shards": "1", "refresh_interval": "5s" } },
            "mappings": { "properties": { "level": { "type": "keyword" }, "n": { "type": "long" } } },
            "aliases": { "logs": {} },
        })
    );
    assert_eq!(
        (&told["app"]["order"], &told["app"]["settings"]),
        (&json!(3), &json!({}))
    );
    let flat = server.json("GET", "/_template/base?flat_settings=true", "", 200);
    assert_eq!(flat["base"]["settings"]["index.number_of_shards"], "1");
    server.json(
        "PUT",
        "/log-app-1/_doc/1",
        r#"{"level":"a b","n":1.5}"#,
        201,
    );
    server.json(
        "PUT",
        "/log-other-1/_doc/1",
        r#"{"level":"a b","n":1}"#,
        201,
    );
    let made = server.json("GET", "/log-*", "", 200);
    let field =
        |name: &str, field: &str| text(&made[name]["mappings"]["properties"][field]["type"]);
    assert_eq!(
        (field("log-app-1", "level"), field("log-app-1", "n")),
        ("keyword".into(), "double".into())
    );
    assert_eq!(field("log-other-1", "n"), "long");
    assert_eq!(made["log-app-1"]["aliases"], json!({ "logs": {} }));
    // A template of the newer kind rules them out.
    let newer =
        r#"{"index_patterns":["log-app-*"],"template":{"settings":{"number_of_shards":1}}}"#;
    server.json("PUT", "/_index_template/newer", newer, 200);
    server.json("PUT", "/log-app-2/_doc/1", r#"{"level":"a b"}"#, 201);
    let made = server.json("GET", "/log-app-2", "", 200);
    assert_eq!(
        made["log-app-2"]["mappings"]["properties"]["level"]["type"],
        "text"
    );
    assert_eq!(made["log-app-2"]["aliases"], json!({}));
    server.json("DELETE", "/_template/ba*", "", 200);
    assert_eq!(
        server.json("GET", "/_template/*", "", 200)["app"]["order"],
        3
    );
    let (kind, reason) = server.error("DELETE", "/_template/base", "", 404);
    assert_eq!(kind, "index_template_missing_exception");
    assert_eq!(reason, "index_template [base] missing");
}

#[test]
fn legacy_templates_that_cannot_be_are_rejected() {
    let server = TestServer::new();
    for (body, part) in [
        (r#"{"settings":{}}"#, "index patterns are missing"),
        (
            r#"{"index_patterns":[],"settings":{}}"#,
            "index patterns are missing",
        ),
        (
            r#"{"index_patterns":["a"],"lifecycle":{}}"#,
            "unknown key [lifecycle]",
        ),
        (r#"{"index_patterns":["a"],"order":"x"}"#, "[order]"),
        (r#"{"index_patterns":["a"],"version":"x"}"#, "[version]"),
        (
            r#"{"index_patterns":["a"],"mappings":{"properties":{"a":{"type":"nested"}}}}"#,
            "[nested]",
        ),
    ] {
        let (_, reason) = server.error("PUT", "/_template/a", body, 400);
        assert!(reason.contains(part), "{body}: {reason}");
    }
    server.error("PUT", "/_template/a,b", r#"{"index_patterns":["a"]}"#, 400);
}

/// Fields that documents bring are mapped as the first dynamic template says that fits.
#[test]
fn dynamic_templates_map_what_documents_bring() {
    let server = TestServer::new();
    let mapping = r#"{"mappings":{"dynamic_templates":[
        {"keywords":{"match_mapping_type":"string","match":"*_tag","mapping":{"type":"keyword"}}},
        {"english":{"match_mapping_type":"string","path_match":"text.*","mapping":{"type":"text","analyzer":"english"}}},
        {"numbers":{"match_mapping_type":"long","mapping":{"type":"double"}}}
    ]}}"#;
    server.json("PUT", "/a", mapping, 200);
    let document = r#"{"a_tag":"Moby Dick","text":{"body":"whales"},"other":"whales","n":1}"#;
    server.json("PUT", "/a/_doc/1", document, 201);
    server.json("PUT", "/a/_doc/2", r#"{"n":1.5}"#, 201);
    let told = server.json("GET", "/a/_mapping", "", 200);
    let properties = &told["a"]["mappings"]["properties"];
    assert_eq!(properties["a_tag"]["type"], "keyword");
    assert_eq!(
        properties["text"]["properties"]["body"]["analyzer"],
        "english"
    );
    assert_eq!(properties["other"]["type"], "text");
    assert_eq!(properties["n"]["type"], "double");
    for (query, expected) in [
        (r#"{"term":{"a_tag":"Moby Dick"}}"#, 1),
        (r#"{"match":{"a_tag":"moby"}}"#, 0),
        (r#"{"match":{"text.body":"whale"}}"#, 1),
        (r#"{"match":{"other":"whale"}}"#, 0),
    ] {
        assert_eq!(server.found("a", query).len(), expected, "{query}");
    }
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    server.json("PUT", "/a/_doc/3", r#"{"b_tag":"Moby Dick"}"#, 201);
    assert_eq!(
        server.found("a", r#"{"term":{"b_tag":"Moby Dick"}}"#),
        ["3"]
    );
}
