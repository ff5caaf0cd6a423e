//! `gannet fields`: what fields an index has.

use serde_json::json;

use crate::command::Place;

#[test]
fn fields_are_listed_with_counts_and_examples() {
    let place = Place::with_lines(&[
        r#"{"id":"1","title":"Moby-Dick","price":9.50,"by":{"name":"M"}}"#,
        r#"{"id":"2","title":"Gull","tags":["x","y"]}"#,
    ]);
    place.done(&["index", "index", "docs.jsonl", "--analyzer", "tags=keyword"]);
    let fields = json!([
        {"name": "title", "analyzer": "standard", "types": ["keyword"], "misfits": 0, "documents": 2,
            "example": "Moby-Dick"},
        {"name": "price", "analyzer": null, "types": ["double"], "misfits": 0, "documents": 1,
            "example": "9.50"},
        {"name": "by.name", "analyzer": "standard", "types": ["keyword"], "misfits": 0,
            "documents": 1, "example": "M"},
        {"name": "tags", "analyzer": "keyword", "types": ["keyword"], "misfits": 0, "documents": 1,
            "example": "[\"x\",\"y\"]"},
    ]);
    let found = place.json(&["fields", "index"]);
    assert_eq!(found, json!({"documents": 2, "fields": fields}));
    let text = place.done(&["fields", "index"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("field") && lines[0].ends_with("example"),
        "{text}"
    );
    assert!(lines[2].starts_with("price    exact"), "{text}");
    assert_eq!(lines[5], "4 fields of 2 documents");
    // What was deleted or replaced counts no more.
    place.write("more.jsonl", "{\"id\":\"1\",\"title\":\"new\"}\n");
    place.done(&["index", "index", "more.jsonl"]);
    place.done(&["delete", "index", "2"]);
    let found = place.json(&["fields", "index"]);
    let counts: Vec<u64> = found["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["documents"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [1, 0, 0, 0]);
    place
        .run(&["fields", "none"])
        .rejected(1, &["none does not exist"]);
}

#[test]
fn an_empty_index_has_no_fields() {
    let place = Place::with_lines(&[]);
    place.done(&["index", "index", "docs.jsonl"]);
    assert_eq!(
        place.json(&["fields", "index"]),
        json!({"documents": 0, "fields": []})
    );
}
