//! Random changes through `_bulk`, held against a map.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{Random, TestServer, text};

#[test]
fn random_changes_leave_what_a_map_has() {
    for seed in [1, 2, 3] {
        check(seed);
    }
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let mut server = TestServer::new();
    let mut model: BTreeMap<String, (Value, u64)> = BTreeMap::new();
    for round in 0..12 {
        let mut lines = String::new();
        let mut expected: Vec<(u16, Option<u64>)> = Vec::new();
        for _ in 0..random.below(60) + 1 {
            let id = format!("d{}", random.below(30));
            let word = format!("w{}", random.below(8));
            expected.push(change(random.below(5), &id, &word, &mut model, &mut lines));
        }
        let answered = server.bulk("/m/_bulk", &lines);
        let items = answered["items"].as_array().unwrap();
        assert_eq!(items.len(), expected.len());
        for (item, (status, version)) in items.iter().zip(&expected) {
            let members = item.as_object().unwrap().values().next().unwrap();
            assert_eq!(
                members["status"], *status,
                "seed {seed}, round {round}: {item}\n{lines}"
            );
            if let Some(version) = version {
                assert_eq!(
                    members["_version"], *version,
                    "seed {seed}, round {round}: {item}"
                );
            }
        }
        compare(&server, &model, seed, round);
        if round % 5 == 4 {
            let (ended, folder) = server.end();
            assert_eq!(ended.left_open, 0);
            server = TestServer::in_folder(folder, |_| ());
            compare(&server, &model, seed, round);
        }
    }
}

/// Adds the lines of a change, carries it out in the model, and gives the status that it should
/// have, with the version.
fn change(
    kind: u64,
    id: &str,
    word: &str,
    model: &mut BTreeMap<String, (Value, u64)>,
    lines: &mut String,
) -> (u16, Option<u64>) {
    let mut add = |action: &str, source: Option<Value>| {
        lines.push_str(&json!({ action: { "_id": id } }).to_string());
        lines.push('\n');
        if let Some(source) = source {
            lines.push_str(&source.to_string());
            lines.push('\n');
        }
    };
    let old = model.get(id).cloned();
    let next = old.as_ref().map_or(1, |(_, version)| version + 1);
    match kind {
        0 => {
            add("index", Some(json!({ "a": word })));
            model.insert(id.to_owned(), (json!({ "a": word }), next));
            (if old.is_some() { 200 } else { 201 }, Some(next))
        }
        1 => {
            add("create", Some(json!({ "a": word })));
            if old.is_some() {
                return (409, None);
            }
            model.insert(id.to_owned(), (json!({ "a": word }), 1));
            (201, Some(1))
        }
        2 => {
            add("delete", None);
            match model.remove(id) {
                Some(_) => (200, None),
                None => (404, None),
            }
        }
        3 => {
            add("update", Some(json!({ "doc": { "b": word } })));
            let Some((mut source, version)) = old else {
                return (404, None);
            };
            if source["b"] == word {
                return (200, Some(version));
            }
            source["b"] = json!(word);
            model.insert(id.to_owned(), (source, next));
            (200, Some(next))
        }
        _ => {
            add(
                "update",
                Some(json!({ "doc": { "b": word }, "doc_as_upsert": true })),
            );
            let (mut source, version) = old.clone().unwrap_or((json!({}), 0));
            if source["b"] == word {
                return (200, Some(version));
            }
            source["b"] = json!(word);
            model.insert(id.to_owned(), (source, next));
            (if old.is_some() { 200 } else { 201 }, Some(next))
        }
    }
}

fn compare(server: &TestServer, model: &BTreeMap<String, (Value, u64)>, seed: u64, round: u64) {
    let place = format!("seed {seed}, round {round}");
    let body = r#"{"size":1000}"#;
    let found = server.json("POST", "/m/_search", body, 200);
    let hits = found["hits"]["hits"].as_array().unwrap();
    let sources: BTreeMap<String, Value> = hits
        .iter()
        .map(|hit| (text(&hit["_id"]), hit["_source"].clone()))
        .collect();
    let expected: BTreeMap<String, Value> = model
        .iter()
        .map(|(id, (source, _))| (id.clone(), source.clone()))
        .collect();
    assert_eq!(sources, expected, "{place}");
    assert_eq!(found["hits"]["total"]["value"], model.len(), "{place}");
    for word in 0..8 {
        let word = format!("w{word}");
        let query = json!({ "match": { "b": word } }).to_string();
        let mut found = server.found("m", &query);
        found.sort();
        let with = model.iter().filter(|(_, (source, _))| source["b"] == word);
        let with: Vec<String> = with.map(|(id, _)| id.clone()).collect();
        assert_eq!(found, with, "{place}: {word}");
    }
}
