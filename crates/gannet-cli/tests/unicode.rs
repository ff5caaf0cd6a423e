//! The same text in another form of Unicode is the same text.

use crate::command::Place;

const NFC: &str = "résumé.txt";
const NFD: &str = "re\u{301}sume\u{301}.txt";

#[test]
fn words_fields_and_patterns_are_found_in_each_form() {
    let lines = [
        r#"{"id":"nfc","b":"café","prénom":"Zoé","tag":"été"}"#,
        r#"{"id":"nfd","b":"cafe\u0301","pre\u0301nom":"Zoe\u0301","tag":"e\u0301te\u0301"}"#,
    ];
    let place = Place::indexed(&lines, &["tag=keyword"]);
    for query in [
        "café",
        "cafe\u{301}",
        "\"café\"",
        "caf\u{e9}*",
        "cafe\u{301}*",
        "c?f?",
        "cafe\u{301}~1",
        "prénom:zoé",
        "pre\u{301}nom:zoé",
        "pre\u{301}nom:*",
        "tag:été",
        "tag:e\u{301}te\u{301}",
        "tag:[été TO été]",
    ] {
        assert_eq!(place.found(query).len(), 2, "{query}");
    }
    for id in ["nfc", "nfd"] {
        let query = format!("cafe\u{301} id:{id}^9");
        let search = ["search", "index", "--highlight", "b", &query];
        let answer = place.json(&search);
        assert!(
            answer["hits"][0]["snippets"]["b"][0]
                .as_str()
                .unwrap()
                .starts_with("<em>caf"),
            "{answer}"
        );
    }
}

#[test]
fn apostrophes_and_emoji_are_found_as_people_type_them() {
    let lines = [
        r#"{"id":"1","fr":"l\u2019avion","en":"doesn\u2019t 🚀","name":"O\u2019Neil"}"#,
        r#"{"id":"2","fr":"l'avion","en":"doesn't ❤️ 👩‍👩‍👧","name":"O'Neil"}"#,
    ];
    let place = Place::indexed(&lines, &["fr=french", "en=english", "name=keyword"]);
    for query in [
        "fr:avion",
        "fr:l’avion",
        "en:doesn't",
        "en:doesn’t",
        "name:O’Neil",
        "name:\"O'Neil\"",
    ] {
        assert_eq!(place.found(query).len(), 2, "{query}");
    }
    for (query, id) in [("🚀", "1"), ("❤️", "2"), ("❤", "2"), ("👩‍👩‍👧", "2")] {
        assert_eq!(place.found(query), [id], "{query}");
    }
    assert!(place.found("👩").is_empty());
}

#[test]
fn an_id_is_its_bytes_and_its_other_form_is_tried_and_named() {
    let lines = [
        format!("{{\"id\":\"{NFD}\",\"b\":\"x\"}}"),
        format!("{{\"id\":\"{NFC}\",\"b\":\"y\"}}"),
    ];
    let place = Place::indexed(&[&lines[0]], &[]);
    let ran = place.run(&["get", "index", NFC]);
    assert!(ran.code == 0 && ran.out.contains(NFD), "{ran:?}");
    assert!(ran.err.contains("another form of Unicode (NFD"), "{ran:?}");
    let dry = place.json(&["delete", "index", NFC, "--dry-run"]);
    assert_eq!(
        (&dry["would_delete"], &dry["missing"]),
        (&1.into(), &0.into())
    );
    // Where both are there, each is itself.
    place.write("more.jsonl", &lines[1]);
    place.done(&["index", "index", "more.jsonl"]);
    assert!(place.done(&["get", "index", NFC]).contains("\"y\""));
    assert!(place.done(&["get", "index", NFD]).contains("\"x\""));
    let deleted = place.json(&["delete", "index", NFC]);
    assert_eq!(
        (&deleted["deleted"], &deleted["notes"]),
        (&1.into(), &serde_json::json!([]))
    );
    let deleted = place.json(&["delete", "index", NFC, "nobody"]);
    assert_eq!(
        (&deleted["deleted"], &deleted["missing_ids"]),
        (&1.into(), &serde_json::json!(["nobody"]))
    );
    assert!(
        deleted["notes"][0].as_str().unwrap().contains("NFD"),
        "{deleted}"
    );
}

#[test]
fn text_in_a_field_of_numbers_is_noted_with_its_line() {
    let lines = [
        r#"{"id":"1","comment":0,"ok":true,"n":1}"#,
        r#"{"id":"2","comment":7,"n":"2"}"#,
        r#"{"id":"3","comment":"the whale was white","ok":"maybe so"}"#,
        r#"{"id":"4","comment":"again"}"#,
    ];
    let place = Place::with_lines(&lines);
    let summary = place.json(&["index", "index", "docs.jsonl"]);
    let notes = summary["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 2, "{summary}");
    for (note, field) in notes.iter().zip(["comment", "ok"]) {
        let note = note.as_str().unwrap();
        assert!(
            note.contains("docs.jsonl, line 3") && note.contains(&format!("\"{field}\"")),
            "{note}"
        );
    }
    place.write("more.jsonl", r#"{"id":"5","comment":"and again"}"#);
    let told = place.run(&["index", "index", "more.jsonl"]).err;
    let note = "note: more.jsonl, line 1: field \"comment\"";
    assert!(told.contains(note), "{told}");
}

#[test]
fn short_words_are_found_within_their_edits() {
    let place = Place::indexed(&[r#"{"id":"1","b":"ab"}"#, r#"{"id":"2","b":"abc"}"#], &[]);
    for (query, expected) in [("a~1", 1), ("ac~1", 2), ("a~2", 2), ("x~1", 0), ("xy~2", 1)] {
        assert_eq!(place.found(query).len(), expected, "{query}");
    }
}
