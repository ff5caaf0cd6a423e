//! Files of Elasticsearch's bulk API: actions are carried out, and what cannot be is rejected.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::command::{Place, Ran};
use crate::rows::documents;

fn index(place: &Place, lines: &[&str]) -> Ran {
    place.write("b.ndjson", lines.join("\n") + "\n");
    place.run(&["index", "index", "b.ndjson"])
}

#[test]
fn every_action_is_carried_out_in_its_turn() {
    let place = Place::new();
    let ran = index(
        &place,
        &[
            r#"{"index":{"_index":"x","_type":"_doc","_id":"a","routing":"r"}}"#,
            r#"{"title":"one","n":{"x":1,"y":2}}"#,
            r#"{"create":{"_index":"x","_id":"b"}}"#,
            r#"{"title":"two"}"#,
            r#"{"update":{"_id":"a","_index":"x","retry_on_conflict":3}}"#,
            r#"{"doc":{"n":{"y":3}},"detect_noop":true}"#,
            r#"{"update":{"_id":"c"}}"#,
            r#"{"doc":{"title":"no"},"upsert":{"title":"three"}}"#,
            r#"{"update":{"_id":"d"}}"#,
            r#"{"doc":{"title":"four"},"doc_as_upsert":true}"#,
            r#"{"index":{"_id":5}}"#,
            r#"{"id":"5","title":"five"}"#,
            r#"{"delete":{"_id":"b"}}"#,
            r#"{"delete":{"_id":"nobody"}}"#,
        ],
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(
        ran.out.contains("6 documents (") && ran.out.contains("bulk API"),
        "{ran:?}"
    );
    assert!(ran.out.contains("\n1 document deleted\n"), "{ran:?}");
    assert!(
        ran.out
            .contains("\n1 document to be deleted but not in the index\n"),
        "{ran:?}"
    );
    let mut found = documents(&place);
    found.sort_by_key(|document| document["id"].to_string());
    assert_eq!(
        found,
        [
            json!({"id": "5", "title": "five"}),
            json!({"title": "one", "n": {"x": 1, "y": 3}, "id": "a"}),
            json!({"title": "three", "id": "c"}),
            json!({"title": "four", "id": "d"}),
        ]
    );
    assert_eq!(place.found("title:three"), ["c"]);
    place.done(&["check", "index"]);
}

#[test]
fn what_cannot_be_done_is_rejected_with_its_line() {
    let place = Place::new();
    let ran = index(
        &place,
        &[
            r#"{"index":{"_id":"a"}}"#,
            r#"{"title":"one"}"#,
            r#"{"create":{"_id":"a"}}"#,
            r#"{"title":"other"}"#,
            r#"{"update":{"_id":"a"}}"#,
            r#"{"script":{"source":"ctx._source.n++"}}"#,
            r#"{"update":{"_id":"nobody"}}"#,
            r#"{"doc":{"title":"x"}}"#,
            r#"{"update":{}}"#,
            r#"{"doc":{"title":"x"}}"#,
            r#"{"index":{"_id":"p","pipeline":"clean"}}"#,
            r#"{"title":"x"}"#,
            r#"{"index":{"_id":"b","if_seq_no":1,"if_primary_term":1}}"#,
            r#"{"title":"x"}"#,
            r#"{"index":{"_id":"c"}}"#,
            r#"{"title":"#,
            r#"{"index":{"_id":"d"}}"#,
            r#"{"id":"other","title":"x"}"#,
            r#"{"fetch":{"_id":"e"}}"#,
            r#"no JSON"#,
            r#"{"index":{"_id":"f"}}"#,
            r#"{"index":{"_id":"g"}}"#,
            r#"{"title":"two"}"#,
            r#"{"delete":{}}"#,
            r#"{"index":{"_id":"h"}}"#,
        ],
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    let expected = [
        "line 3: there is a document \"a\" already, which create does not replace",
        "line 6: script is not supported",
        "line 7: there is no document \"nobody\" to change",
        "line 9: expected an _id",
        "line 11: pipeline is not supported",
        "line 13: if_seq_no is not supported",
        "line 16, column 9",
        "line 18: the action has the _id \"d\" and the document another id, other",
        "line 19: expected an action, which is index, create, update or delete, found \"fetch\"",
        "line 20, column",
        "line 21: expected a line with the document behind the action index, but another action follows",
        "line 24: expected an _id",
        "line 25: expected a line with the document behind the action index, but the file ends",
    ];
    assert_eq!(told.len(), expected.len(), "{}", ran.err);
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(&format!("b.ndjson, {expected}")), "{told}");
    }
    assert_eq!(place.found("title:one title:two"), ["a", "g"]);
}

#[test]
fn strict_stops_at_the_first_action_that_is_rejected() {
    let place = Place::with_lines(&[
        r#"{"create":{"_id":"a"}}"#,
        r#"{"title":"one"}"#,
        r#"{"create":{"_id":"a"}}"#,
        r#"{"title":"two"}"#,
        r#"{"create":{"_id":"b"}}"#,
        r#"{"title":"three"}"#,
    ]);
    let ran = place.run(&["index", "index", "docs.jsonl", "--strict"]);
    ran.rejected(
        1,
        &[
            "docs.jsonl, line 3: ",
            "the 1 document before it is in the index",
        ],
    );
    assert_eq!(documents(&place), [json!({"title": "one", "id": "a"})]);
}

#[test]
fn bulk_files_may_be_packed_or_piped() {
    let lines = b"{\"index\":{\"_id\":\"a\"}}\n{\"body\":\"whale\"}\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(lines).unwrap();
    let zstd = zstd::encode_all(&lines[..], 3).unwrap();
    let lzma = lzma_rust2::XzOptions::default();
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma).unwrap();
    xz.write_all(lines).unwrap();
    for input in [
        lines.to_vec(),
        gzip.finish().unwrap(),
        zstd,
        xz.finish().unwrap(),
    ] {
        let place = Place::new();
        let ran = place.piped(&["index", "index", "-"], &input);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_eq!(place.found("whale"), ["a"]);
        assert_eq!(place.json(&["stats", "index"])["documents"], 1);
    }
}

#[test]
fn documents_that_look_like_actions_are_documents() {
    let place = Place::with_lines(&[
        r#"{"index":{"fund":"msci"}}"#,
        r#"{"index":"x","delete":1}"#,
    ]);
    place.done(&["index", "index", "docs.jsonl"]);
    assert_eq!(place.json(&["stats", "index"])["documents"], 2);
}

#[test]
fn several_indexes_in_one_file_are_told() {
    let place = Place::new();
    let ran = index(
        &place,
        &[
            r#"{"index":{"_index":"x","_id":"a"}}"#,
            r#"{"title":"one"}"#,
            r#"{"index":{"_index":"y","_id":"b"}}"#,
            r#"{"title":"two"}"#,
        ],
    );
    assert!(
        ran.out.contains("several indexes, such as \"x\" and \"y\""),
        "{ran:?}"
    );
    let ran = place.run(&["index", "index", "b.ndjson", "--id", "sku"]);
    ran.rejected(1, &["--id", "bulk"]);
    let ran = place.run(&["update", "index", "b.ndjson"]);
    ran.rejected(1, &["bulk", "gannet index"]);
}

#[test]
fn many_actions_keep_their_order() {
    let place = Place::new();
    let mut lines = String::new();
    for n in 0..2_000 {
        let id = n % 50;
        lines += &match n % 4 {
            0 => format!("{{\"index\":{{\"_id\":{id}}}}}\n{{\"n\":{n}}}\n"),
            1 => format!("{{\"delete\":{{\"_id\":\"{id}\"}}}}\n"),
            _ => format!(
                "{{\"update\":{{\"_id\":{id}}}}}\n{{\"doc\":{{\"m\":{n}}},\"doc_as_upsert\":true}}\n"
            ),
        };
    }
    place.write("b.ndjson", lines);
    let summary: Value = place.json(&["index", "index", "b.ndjson", "--threads", "4"]);
    assert_eq!(summary["rejected"], 0);
    let mut model = std::collections::BTreeMap::new();
    for n in 0..2_000_u32 {
        let id = (n % 50).to_string();
        match n % 4 {
            0 => drop(model.insert(id, (Some(n), None))),
            1 => drop(model.remove(&id)),
            _ => model.entry(id).or_insert((None, None)).1 = Some(n),
        }
    }
    let found = documents(&place).into_iter().map(|document| {
        let number = |name: &str| document[name].as_u64().map(|n| n as u32);
        let id = document["id"].as_str().unwrap().to_owned();
        (id, (number("n"), number("m")))
    });
    assert_eq!(found.collect::<std::collections::BTreeMap<_, _>>(), model);
}
