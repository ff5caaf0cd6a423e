//! `gannet update`: fields of documents that are there.

use serde_json::json;

use crate::command::Place;
use crate::rows::documents;

fn tickets() -> Place {
    let place = Place::with_lines(&[
        r#"{"id":"T1","priority":"low","body":"a whale","by":{"name":"M","born":1819}}"#,
        r#"{"id":"T2","priority":"low"}"#,
    ]);
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

#[test]
fn only_the_fields_that_are_given_change() {
    let place = tickets();
    let ran = place.piped(
        &["update", "index", "-", "--json"],
        b"{\"id\":\"T1\",\"priority\":\"urgent\",\"by\":{\"born\":1820}}\n",
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&summary["documents"], &summary["updated"]),
        (&json!(1), &json!(1))
    );
    let line = place.done(&["get", "index", "T1"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&line).unwrap(),
        json!({"id": "T1", "priority": "urgent", "body": "a whale", "by": {"name": "M", "born": 1820}})
    );
    assert_eq!(place.found("priority:urgent AND whale"), ["T1"]);
    assert_eq!(place.found("priority:low"), ["T2"]);
    place.done(&["check", "index"]);
}

#[test]
fn ids_that_are_not_there_are_rejected_or_added() {
    let place = tickets();
    place.write(
        "u.jsonl",
        "{\"id\":\"T9\",\"n\":1}\n{\"n\":2}\n{\"id\":\"T2\",\"n\":3}\n{\"id\":\n",
    );
    let ran = place.run(&["update", "index", "u.jsonl"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(told.len(), 3, "{ran:?}");
    assert!(
        told[0].contains("u.jsonl, line 1: there is no document \"T9\"")
            && told[0].contains("--upsert")
    );
    assert!(
        told[1].contains("u.jsonl, line 2: expected the ID"),
        "{ran:?}"
    );
    assert!(told[2].contains("u.jsonl, line 4, column"), "{ran:?}");
    assert!(ran.out.contains("1 document updated"), "{ran:?}");
    place.run(&["update", "index", "u.jsonl", "--upsert"]);
    assert_eq!(documents(&place).len(), 3);
    let ran = place.run(&["update", "none", "u.jsonl"]);
    ran.rejected(1, &["none does not exist", "gannet index none FILE"]);
    assert!(!place.path("none").exists());
    let ran = place.run(&["update", "file:///none", "u.jsonl"]);
    ran.rejected(1, &["is a URL"]);
}

#[test]
fn rows_update_documents_too() {
    let place = tickets();
    place.write("u.csv", "ticket;priority\nT1;high\nT2;\n");
    place.done(&["update", "index", "u.csv", "--id", "ticket"]);
    assert_eq!(place.found("priority:high"), ["T1"]);
    assert_eq!(place.found("priority:low"), ["T2"]);
}

/// Put into such a document, a member `id` would be a field, which hides the IDs of all others.
#[test]
fn documents_whose_ids_were_made_are_updated_too() {
    let place = Place::with_lines(&[r#"{"body":"whale"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    let id = place.found("whale").remove(0);
    place.write("u.jsonl", format!("{{\"id\":\"{id}\",\"n\":1}}\n"));
    place.done(&["update", "index", "u.jsonl"]);
    assert_eq!(place.found(&format!("id:{id}")), std::slice::from_ref(&id));
    let bulk =
        format!("{{\"update\":{{\"_id\":\"{id}\"}}}}\n{{\"doc\":{{\"id\":\"{id}\",\"n\":2}}}}\n");
    place.write("b.ndjson", bulk);
    place.done(&["index", "index", "b.ndjson"]);
    let expected = json!({"id": id, "body": "whale", "n": 2});
    assert_eq!(documents(&place), [expected]);
    assert_eq!(
        place.json(&["fields", "index"])["fields"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}
