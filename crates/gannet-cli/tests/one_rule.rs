//! One rule for all commands: text, or one line of JSON with `--json`; the same thing has the same
//! name everywhere, and sizes the same units.

use serde_json::Value;

use crate::command::Place;

fn place() -> Place {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#, r#"{"id":"b","body":"one"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

#[test]
fn a_pipe_gets_text_unless_json_is_asked_for() {
    let place = place();
    for command in [
        &["search", "index", "one"][..],
        &["search", "index", "one", "--explain"],
        &["stats", "index"],
        &["check", "index"],
        &["vacuum", "index"],
        &["analyze", "one two"],
        &["inspect", "index", "zones"],
        &["inspect", "index", "trees"],
        &["inspect", "index", "lists"],
        &["inspect", "index", "term", "body", "one"],
        &["delete", "index", "a", "--dry-run"],
    ] {
        let text = place.done(command);
        assert!(serde_json::from_str::<Value>(&text).is_err(), "{text}");
        assert!(!text.contains(['{', '\x1b']), "{text}");
        let json = place.done(&[command, &["--json"]].concat());
        assert_eq!(json.lines().count(), 1, "{json}");
        assert!(serde_json::from_str::<Value>(&json).unwrap().is_object());
    }
    // What these print are documents.
    for command in [&["get", "index", "a"][..], &["export", "index", "id:a"]] {
        let line = "{\"id\":\"a\",\"body\":\"one\"}\n";
        assert_eq!(place.done(command), line);
        assert_eq!(place.done(&[command, &["--json"]].concat()), line);
    }
    let ran = place.run(&["stats", "index", "--text"]);
    ran.rejected(1, &["--text is gone", "without --json"]);
}

#[test]
fn the_same_thing_has_the_same_name() {
    let place = place();
    let again = place.json(&["index", "other", "docs.jsonl"]);
    let stats = place.json(&["stats", "index"]);
    let check = place.json(&["check", "index"]);
    let backup = place.json(&["backup", "index", "copy"]);
    for answer in [&again, &stats, &check, &backup] {
        assert_eq!(answer["documents"], 2, "{answer}");
    }
    for answer in [&again, &place.json(&["vacuum", "index"])] {
        assert!(answer["bytes_written"].is_u64(), "{answer}");
    }
    assert!(again["bytes_written_for"]["log"].is_u64(), "{again}");
    // What another thing is called otherwise.
    assert!(stats["bytes_written"].is_null() && stats["bytes_written_in_life"].is_u64());
}

#[test]
fn sizes_have_the_units_of_the_memory_option() {
    let place = place();
    for command in [
        &["stats", "index"][..],
        &["search", "index", "one"],
        &["index", "other", "docs.jsonl"],
        &["backup", "index", "copy"],
        &["vacuum", "index"],
    ] {
        let text = place.done(command);
        assert!(text.contains(" KiB") || text.contains(" MiB"), "{text}");
        assert!(!text.contains(" kB") && !text.contains(" MB"), "{text}");
    }
    let stats = place.done(&["stats", "index", "--memory", "64MiB"]);
    assert!(stats.contains(" of 64.0 MiB"), "{stats}");
}
