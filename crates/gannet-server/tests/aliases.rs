//! Aliases: names for one index or several, that are changed together.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{Random, TestServer, text};

fn actions(server: &TestServer, actions: &str, status: u16) -> serde_json::Value {
    server.json(
        "POST",
        "/_aliases",
        &format!(r#"{{"actions":[{actions}]}}"#),
        status,
    )
}

#[test]
fn an_alias_is_read_and_written_as_its_index() {
    let server = TestServer::new();
    server.json("PUT", "/books-1", r#"{"aliases":{"books":{}}}"#, 200);
    let written = server.json("PUT", "/books/_doc/1", r#"{"t":"whale"}"#, 201);
    assert_eq!(written["_index"], "books-1");
    let bulk = "{\"create\":{\"_index\":\"books\",\"_id\":\"2\"}}\n{\"t\":\"ship\"}\n\
        {\"update\":{\"_index\":\"books\",\"_id\":\"1\"}}\n{\"doc\":{\"n\":1}}\n\
        {\"delete\":{\"_index\":\"books-1\",\"_id\":\"2\"}}\n";
    let done = server.bulk("/_bulk?require_alias=false", bulk);
    assert_eq!(done["errors"], false, "{done}");
    assert_eq!(done["items"][0]["create"]["_index"], "books-1");
    let got = server.json("GET", "/books/_doc/1", "", 200);
    assert_eq!(
        (&got["_index"], &got["_source"]["n"]),
        (&json!("books-1"), &json!(1))
    );
    assert_eq!(server.found("books", r#"{"match":{"t":"whale"}}"#), ["1"]);
    let got = server.json("POST", "/books/_mget", r#"{"ids":["1","9"]}"#, 200);
    assert_eq!(got["docs"][0]["found"], true);
    server.json("POST", "/books/_update/1", r#"{"doc":{"n":2}}"#, 200);
    assert_eq!(server.json("GET", "/books/_source/1", "", 200)["n"], 2);
    server.json("DELETE", "/books/_doc/1", "", 200);
    let told = server.json("GET", "/books", "", 200);
    assert_eq!(told["books-1"]["aliases"], json!({ "books": {} }));
    // An index has no name of an alias, and the other way round.
    let (kind, reason) = server.error("PUT", "/books", "{}", 400);
    assert_eq!(kind, "invalid_index_name_exception");
    assert!(reason.contains("already exists as alias"), "{reason}");
    server.json("PUT", "/other", "", 200);
    let (kind, _) = server.error("PUT", "/other/_alias/books-1", "", 400);
    assert_eq!(kind, "invalid_alias_name_exception");
    let (_, reason) = server.error("DELETE", "/books", "", 400);
    assert!(reason.contains("matches an alias"), "{reason}");
}

#[test]
fn an_alias_of_several_has_one_index_to_write_to() {
    let server = TestServer::new();
    for name in ["logs-1", "logs-2"] {
        server.json("PUT", &format!("/{name}"), "", 200);
    }
    actions(
        &server,
        r#"{"add":{"indices":["logs-*"],"alias":"logs"}}"#,
        200,
    );
    let (_, reason) = server.error("PUT", "/logs/_doc/1", r#"{"a":1}"#, 400);
    assert!(
        reason.contains("no write index is defined for alias [logs]"),
        "{reason}"
    );
    let (_, reason) = server.error("GET", "/logs/_doc/1", "", 400);
    assert!(reason.contains("[logs-1, logs-2]"), "{reason}");
    actions(
        &server,
        r#"{"add":{"index":"logs-2","alias":"logs","is_write_index":true}}"#,
        200,
    );
    let written = server.json("PUT", "/logs/_doc/1", r#"{"a":1}"#, 201);
    assert_eq!(written["_index"], "logs-2");
    server.json("PUT", "/logs-1/_doc/0", r#"{"a":1}"#, 201);
    assert_eq!(server.found("logs", r#"{"match_all":{}}"#).len(), 2);
    let error = actions(
        &server,
        r#"{"add":{"index":"logs-1","alias":"logs","is_write_index":true}}"#,
        400,
    );
    assert!(text(&error["error"]["reason"]).contains("more than one write index"));
    let rows = server.json("GET", "/_cat/aliases/lo*?format=json", "", 200);
    let shown: Vec<_> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["is_write_index"])
        .collect();
    assert_eq!(shown, ["-", "true"]);
}

/// All actions of a request happen, or none: also where an index goes and its name becomes an
/// alias.
#[test]
fn actions_happen_together() {
    let server = TestServer::new();
    server.json("PUT", "/books/_doc/1", r#"{"t":"old"}"#, 201);
    server.json("PUT", "/books-2/_doc/1", r#"{"t":"new"}"#, 201);
    actions(&server, r#"{"add":{"index":"books","alias":"all"}}"#, 200);
    let failing =
        r#"{"add":{"index":"books-2","alias":"x"}},{"remove":{"index":"books","alias":"none"}}"#;
    let error = actions(&server, failing, 404);
    assert_eq!(error["error"]["type"], "aliases_not_found_exception");
    assert_eq!(server.ask("HEAD", "/_alias/x", "").status, 404);
    actions(
        &server,
        r#"{"remove_index":{"index":"books"}},{"add":{"index":"books-2","alias":"books"}}"#,
        200,
    );
    assert_eq!(server.json("GET", "/books/_source/1", "", 200)["t"], "new");
    let aliases = server.json("GET", "/_alias", "", 200);
    assert_eq!(
        aliases,
        json!({ "books-2": { "aliases": { "books": {} } } })
    );
    // They are there after a restart, and those of an index go with it.
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    assert_eq!(server.json("GET", "/_alias", "", 200), aliases);
    server.json("DELETE", "/books-2", "", 200);
    server.json("PUT", "/books-2", "", 200);
    assert_eq!(
        server.json("GET", "/_alias", "", 200),
        json!({ "books-2": { "aliases": {} } })
    );
    server.json("PUT", "/books", "", 200);
}

#[test]
fn aliases_are_listed_and_removed() {
    let server = TestServer::new();
    for name in ["a", "b"] {
        server.json("PUT", &format!("/{name}"), "", 200);
        server.json("PUT", &format!("/{name}/_alias/both"), "", 200);
    }
    server.json("PUT", "/a/_alias/only", "{}", 200);
    for (path, expected) in [
        (
            "/_alias/only",
            json!({ "a": { "aliases": { "only": {} } } }),
        ),
        ("/b/_alias", json!({ "b": { "aliases": { "both": {} } } })),
        (
            "/*/_alias/on*",
            json!({ "a": { "aliases": { "only": {} } } }),
        ),
        ("/_alias/none*", json!({})),
    ] {
        assert_eq!(server.json("GET", path, "", 200), expected, "{path}");
    }
    let absent = server.json("GET", "/_alias/only,none", "", 404);
    assert_eq!(absent["error"], "alias [none] missing");
    assert_eq!(absent["a"]["aliases"], json!({ "only": {} }));
    assert_eq!(server.ask("HEAD", "/_alias/both", "").status, 200);
    assert_eq!(server.ask("HEAD", "/a/_alias/none", "").status, 404);
    let resolved = server.json("GET", "/_resolve/index/*", "", 200);
    assert_eq!(
        resolved["aliases"][0],
        json!({ "name": "both", "indices": ["a", "b"] })
    );
    server.json("DELETE", "/*/_alias/both", "", 200);
    assert_eq!(server.ask("HEAD", "/_alias/both", "").status, 404);
    let (kind, _) = server.error("DELETE", "/a/_alias/both", "", 404);
    assert_eq!(kind, "aliases_not_found_exception");
    for (action, part) in [
        (
            r#"{"add":{"index":"a","alias":"f","filter":{"term":{"a":1},"ids":{}}}}"#,
            "[filter]",
        ),
        (
            r#"{"add":{"index":"a","alias":"f","routing":"x"}}"#,
            "[routing]",
        ),
        (r#"{"add":{"index":"a","alias":"F x"}}"#, "alias name"),
        (r#"{"add":{"alias":"f"}}"#, "[index] or [indices]"),
        (r#"{"ad":{"alias":"f"}}"#, "[ad]"),
        (r#"{"add":{"index":"none","alias":"f"}}"#, "no such index"),
    ] {
        let body = format!(r#"{{"actions":[{action}]}}"#);
        let json = server.ask("POST", "/_aliases", &body).json();
        assert!(text(&json["error"]["reason"]).contains(part), "{json}");
    }
    let lines = "{\"index\":{\"_id\":\"1\"}}\n{\"a\":1}\n";
    let done = server.bulk("/none/_bulk?require_alias=true", lines);
    assert_eq!(done["items"][0]["index"]["status"], 404);
    assert_eq!(server.ask("HEAD", "/none", "").status, 404);
}

/// A deletion that a crash cut is ended at the next start.
#[test]
fn a_deletion_that_was_cut_is_ended_at_the_next_start() {
    let server = TestServer::new();
    server.json("PUT", "/old/_doc/1", r#"{"a":1}"#, 201);
    server.json("PUT", "/new/_doc/1", r#"{"a":1}"#, 201);
    let (_, folder) = server.end();
    let catalog = json!({
        "aliases": { "current": { "new": {} } }, "templates": {}, "components": {}, "deleting": ["old"],
    });
    std::fs::write(folder.path().join("_server/_catalog"), catalog.to_string()).unwrap();
    let server = TestServer::in_folder(folder, |_| ());
    assert_eq!(server.ask("HEAD", "/old", "").status, 404);
    assert_eq!(server.ask("HEAD", "/current", "").status, 200);
    let kept = std::fs::read_to_string(server.folder.path().join("_server/_catalog")).unwrap();
    assert!(kept.contains(r#""deleting":[]"#), "{kept}");
}

type Model = BTreeMap<String, BTreeMap<String, Option<bool>>>;

/// Carries one action out on a model; returns false if it is an error.
fn act(model: &mut Model, action: &Value) -> bool {
    let (kind, members) = action.as_object().unwrap().iter().next().unwrap();
    let (alias, index) = (text(&members["alias"]), text(&members["index"]));
    if kind == "add" {
        let write = members.get("is_write_index").and_then(Value::as_bool);
        model.entry(alias).or_default().insert(index, write);
        return true;
    }
    let was_there = model
        .get_mut(&alias)
        .is_some_and(|indexes| indexes.remove(&index).is_some());
    model.retain(|_, indexes| !indexes.is_empty());
    was_there || members["must_exist"] == false
}

/// Where a document goes that is written to a name.
fn target(model: &Model, alias: &str) -> Option<String> {
    let indexes = model.get(alias)?;
    let chosen = indexes.iter().find(|(_, write)| **write == Some(true));
    match chosen {
        Some((index, _)) => Some(index.clone()),
        None if indexes.len() == 1 => {
            let (index, write) = indexes.iter().next()?;
            write.is_none().then(|| index.clone())
        }
        None => None,
    }
}

/// Random requests of several actions leave what a map has on which each happened whole or not at
/// all, also behind restarts.
#[test]
fn random_actions_leave_what_a_map_has() {
    let mut server = TestServer::new();
    let indexes = ["i0", "i1", "i2"];
    for index in indexes {
        server.json("PUT", &format!("/{index}"), "", 200);
    }
    let mut random = Random(11);
    let mut model = Model::new();
    for round in 0..300 {
        let actions: Vec<Value> = (0..1 + random.below(3))
            .map(|_| {
                let (alias, index) = (*random.pick(&["a", "b", "c"]), *random.pick(&indexes));
                let mut members = json!({ "alias": alias, "index": index });
                if random.below(3) > 0 {
                    if random.below(3) == 0 {
                        members["is_write_index"] = json!(random.below(2) == 0);
                    }
                    return json!({ "add": members });
                }
                members["must_exist"] = json!(random.below(2) == 0);
                json!({ "remove": members })
            })
            .collect();
        let mut after = model.clone();
        let is_done = actions.iter().all(|action| act(&mut after, action));
        let writes = |indexes: &BTreeMap<String, Option<bool>>| {
            indexes
                .values()
                .filter(|write| **write == Some(true))
                .count()
        };
        let is_done = is_done && after.values().all(|indexes| writes(indexes) < 2);
        let body = json!({ "actions": actions }).to_string();
        let answered = server.ask("POST", "/_aliases", &body);
        assert_eq!(
            answered.status == 200,
            is_done,
            "{body}: {}",
            answered.text()
        );
        if is_done {
            model = after;
        }
        let told = server.json("GET", "/_alias", "", 200);
        for index in indexes {
            let own = model
                .iter()
                .filter(|(_, indexes)| indexes.contains_key(index));
            let own: Vec<&String> = own.map(|(alias, _)| alias).collect();
            let shown = told[index]["aliases"].as_object().unwrap();
            assert_eq!(shown.keys().collect::<Vec<_>>(), own, "{body}");
        }
        for alias in ["a", "b", "c"] {
            if model.contains_key(alias) {
                let answered = server.ask("PUT", &format!("/{alias}/_doc/1"), "{}");
                let index = answered.json()["_index"].as_str().map(str::to_owned);
                assert_eq!(index, target(&model, alias), "{}", answered.text());
            }
        }
        if round % 100 == 99 {
            let (_, folder) = server.end();
            server = TestServer::in_folder(folder, |_| ());
        }
    }
}

/// Searches by an alias with a filter find what it lets through, by whatever route.
#[test]
fn filters_of_aliases_limit_what_is_found() {
    let server = TestServer::new();
    let lines: String = (0..30)
        .map(|n| {
            let kind = ["red", "blue", "green"][n % 3];
            format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"t\":\"whale {kind}\",\"n\":{n}}}\n")
        })
        .collect();
    server.bulk("/a/_bulk", &lines);
    server.bulk("/b/_bulk", &lines);
    let red = r#""filter":{"match":{"t":"red"}}"#;
    let blue = r#""filter":{"match":{"t":"blue"}}"#;
    actions(
        &server,
        &format!(
            r#"{{"add":{{"index":"a","alias":"red",{red}}}}},{{"add":{{"index":"a","alias":"blue",{blue}}}}},
            {{"add":{{"index":"b","alias":"some",{red}}}}},{{"add":{{"index":"a","alias":"some"}}}}"#
        ),
        200,
    );
    let kept = server.json("GET", "/_alias/red", "", 200);
    assert_eq!(kept["a"]["aliases"]["red"]["filter"]["match"]["t"], "red");
    for (names, count) in [
        ("red", 10),
        ("blue", 10),
        ("red,blue", 20),
        ("red,a", 30),
        ("re*", 10),
        ("some", 40),
        ("some,b", 60),
        ("*", 60),
        ("_all", 60),
    ] {
        let counted = server.json("GET", &format!("/{names}/_count"), "", 200);
        assert_eq!(counted["count"], count, "{names}");
        let body = r#"{"size":100,"aggs":{"n":{"value_count":{"field":"n"}}}}"#;
        let found = server.json("POST", &format!("/{names}/_search"), body, 200);
        assert_eq!(found["hits"]["total"]["value"], count, "{names}");
        assert_eq!(found["aggregations"]["n"]["value"], count, "{names}");
    }
    let found = server.json(
        "POST",
        "/v1/indexes/red/search",
        r#"{"query":"whale"}"#,
        200,
    );
    assert_eq!(found["total"], 10);
    let multi = r#"{"searches":[{"index":"blue","query":"red"}]}"#;
    let found = server.json("POST", "/v1/multi", multi, 200);
    assert_eq!(found["answers"][0]["total"], 0);
    let global = r#"{"aggs":{"x":{"global":{}}}}"#;
    server.error("POST", "/red/_search", global, 400);
    let pit = server.json("POST", "/red/_pit?keep_alive=1m", "", 200);
    let body = format!(r#"{{"pit":{{"id":{}}}}}"#, pit["id"]);
    let found = server.json("POST", "/_search", &body, 200);
    assert_eq!(found["hits"]["total"]["value"], 10);
    let query = r#"{"query":{"match":{"t":"whale"}}}"#;
    let told = server.json("POST", "/red/_explain/1", query, 200);
    assert_eq!(told["matched"], false);
    let copied = r#"{"source":{"index":"red"},"dest":{"index":"copy"}}"#;
    assert_eq!(server.json("POST", "/_reindex", copied, 200)["created"], 10);
    let gone = server.json("POST", "/red/_delete_by_query", query, 200);
    assert_eq!(gone["deleted"], 10);
    // A restart keeps filters.
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    assert_eq!(server.json("GET", "/blue/_count", "", 200)["count"], 10);
    assert_eq!(server.json("GET", "/a/_count", "", 200)["count"], 20);
}
