//! `get`, `export`, `delete --dry-run`, and the fields that are shown.

use serde_json::{Value, json};

use crate::command::Place;

const BOOKS: [&str; 4] = [
    r#"{"id":"a","title":"Moby-Dick; or, \"The Whale\"","body":"a sea","price":9.50,"by":{"name":"Melville","born":1819}}"#,
    r#"{"id":"b","title":"Gull","body":"sea and\nland","tags":["x","y"],"parts":[{"n":"p"},{"n":"q","m":1}]}"#,
    r#"{"id":"c d","title":"","body":"land"}"#,
    r#"{"title":"nameless","body":"sea"}"#,
];

fn books() -> Place {
    let place = Place::with_lines(&BOOKS);
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

/// So many small documents, and an index of them.
fn many(count: usize) -> Place {
    let line = |n: usize| {
        let word = if n.is_multiple_of(3) {
            "third"
        } else {
            "other"
        };
        format!(r#"{{"id":"{n}","body":"all {word} w{n}"}}"#)
    };
    let lines: Vec<String> = (0..count).map(line).collect();
    let place = Place::with_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    place.done(&["index", "index", "docs.jsonl", "--commit-every", "4000"]);
    place
}

#[test]
fn documents_are_got_as_they_came() {
    let place = books();
    let lines = place.done(&["get", "index", "b", "a"]);
    assert_eq!(lines, format!("{}\n{}\n", BOOKS[1], BOOKS[0]));
    let line = place.done(&["get", "index", "a", "--fields", "price,id"]);
    assert_eq!(line, "{\"id\":\"a\",\"price\":9.50}\n");
    let ran = place.run(&["get", "index", "nobody", "c d", "noone"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(ran.out, format!("{}\n", BOOKS[2]));
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        told,
        [
            "gannet: there is no document with the ID \"nobody\"",
            "gannet: there is no document with the ID \"noone\""
        ]
    );
    place.run(&["get", "index"]).rejected(1, &["<ID>"]);
    place
        .run(&["get", "nothing", "a"])
        .rejected(1, &["nothing"]);
}

#[test]
fn fields_that_are_named_are_shown_in_search_get_and_export() {
    let place = books();
    let named = ["--fields", "id,by.name,parts.n"];
    let whale = json!({"id": "a", "by": {"name": "Melville"}});
    let got = place.done(&[&["get", "index", "a"], &named[..]].concat());
    assert_eq!(serde_json::from_str::<Value>(&got).unwrap(), whale);
    let found = place.json(&[&["search", "index", "whale"], &named[..]].concat());
    assert_eq!(found["hits"][0]["source"], whale);
    let found = place.json(&[&["search", "index", "gull"], &named[..]].concat());
    let parts = &found["hits"][0]["source"]["parts"];
    assert_eq!(*parts, json!([{"n": "p"}, {"n": "q"}]));
    let text = place.done(&[&["search", "index", "whale"], &named[..]].concat());
    assert!(text.contains("by.name: Melville"), "{text}");
    let out = place.done(&[&["export", "index", "whale"], &named[..]].concat());
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), whale);
    for command in [
        &["search", "index", "whale"][..],
        &["get", "index", "a"],
        &["export", "index"],
    ] {
        place
            .run(&[command, &["--fields", "id,titel"]].concat())
            .rejected(1, &["there is no field \"titel\"", "title"]);
    }
}

#[test]
fn an_export_has_all_documents_and_can_be_indexed_again() {
    let place = books();
    let out = place.done(&["export", "index"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..3], BOOKS[..3]);
    // The ID that was made is told.
    let last: Value = serde_json::from_str(lines[3]).unwrap();
    assert!(
        last["id"].is_string() && last["title"] == "nameless",
        "{last}"
    );
    place.write("again.jsonl", &out);
    place.done(&["index", "again", "again.jsonl"]);
    assert_eq!(place.done(&["export", "again"]), out);
    let found = place.done(&["export", "index", "body:sea", "body:land", "--fields", "id"]);
    assert_eq!(found.lines().count(), 4);
    assert_eq!(
        place.done(&["export", "index", "--", "-sea"]),
        format!("{}\n", BOOKS[2])
    );
    let ran = place.run(&["export", "index", "quasar"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(ran.err, "gannet: note: no documents found\n");
}

#[test]
fn an_export_as_csv_quotes_what_needs_it() {
    let place = books();
    let named = ["--fields", "id,title,body,price,tags,by.name"];
    let out = place.done(
        &[
            &["export", "index", "--format", "csv", "id:(a b)"],
            &named[..],
        ]
        .concat(),
    );
    let expected = concat!(
        "id,title,body,price,tags,by.name\n",
        "a,\"Moby-Dick; or, \"\"The Whale\"\"\",a sea,9.50,,Melville\n",
        "b,Gull,\"sea and\nland\",,\"[\"\"x\"\",\"\"y\"\"]\",\n",
    );
    assert_eq!(out, expected);
    // All fields that the index has.
    let out = place.done(&["export", "index", "--format", "csv", "id:a"]);
    let header = out.lines().next().unwrap();
    assert!(
        header.starts_with("id,title,body,price,by.name,by.born"),
        "{header}"
    );
    let out = place.done(&["export", "index", "--format", "csv", "--fields", "tags"]);
    assert_eq!(out, "tags\n\"\"\n\"[\"\"x\"\",\"\"y\"\"]\"\n\"\"\n\"\"\n");
}

#[test]
fn an_export_has_no_cap_and_keeps_to_its_memory() {
    let place = many(12_345);
    let deleted: Vec<String> = (0..12_345).step_by(1_000).map(|n| n.to_string()).collect();
    let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
    place.done(&[&["delete", "index"], &deleted[..]].concat());
    let little = ["--memory", "16MiB", "--assert-memory", "--fields", "id"];
    for (query, expected) in [
        (
            &[][..],
            (0..12_345).filter(|n| n % 1_000 != 0).collect::<Vec<_>>(),
        ),
        (
            &["third"],
            (0..12_345)
                .filter(|n| n % 1_000 != 0 && n % 3 == 0)
                .collect(),
        ),
        (
            &["+all", "-third", "NOT w7"],
            (0..12_345)
                .filter(|n| n % 1_000 != 0 && n % 3 != 0 && *n != 7)
                .collect(),
        ),
    ] {
        let out = place.done(&[&["export", "index"], &little[..], &["--"], query].concat());
        let expected: String = expected
            .iter()
            .map(|n: &usize| format!("{{\"id\":\"{n}\"}}\n"))
            .collect();
        assert!(out == expected, "{query:?}: {} lines", out.lines().count());
    }
}

/// Together they do not fit the memory, each of them does.
#[test]
fn large_documents_are_exported_one_after_the_other() {
    let mut state = 7_u64;
    let mut noise = |bytes: usize| -> String {
        let next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b"abcdefghijklmnopqrstuvwxyzABCDEF"[(state >> 59) as usize])
        };
        std::iter::repeat_with(next).take(bytes).collect()
    };
    let mut lines: Vec<String> = (0..40)
        .map(|n| format!(r#"{{"id":"{n}","body":"{}"}}"#, noise(250 << 10)))
        .collect();
    lines.insert(
        20,
        format!(r#"{{"id":"huge","body":"{}"}}"#, noise(8 << 20)),
    );
    let place = Place::with_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    place.done(&["index", "index", "docs.jsonl", "--memory", "1GiB"]);
    let ran = place.run(&["export", "index", "--memory", "16MiB", "--assert-memory"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("document huge needs"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    lines.remove(20);
    assert!(
        ran.out == lines.join("\n") + "\n",
        "{} lines",
        ran.out.lines().count()
    );
}

#[test]
fn a_dry_run_tells_what_would_be_deleted_and_changes_nothing() {
    let place = books();
    let before = place.done(&["export", "index"]);
    let delete = ["delete", "index", "b", "nobody", "b", "c d", "--dry-run"];
    let said = "b\nc d\n2 documents would be deleted; nothing was changed; \
                1 ID is not in the index: nobody\n";
    assert_eq!(place.done(&delete), said);
    assert_eq!(
        place.json(&delete),
        json!({
            "deleted": 0,
            "ids": ["b", "c d"],
            "would_delete": 2,
            "missing": 1,
            "missing_ids": ["nobody"],
            "notes": []
        })
    );
    let by_query = place.done(&["delete", "index", "--query", "land", "--dry-run"]);
    assert!(by_query.contains("would be deleted"), "{by_query}");
    assert_eq!(place.done(&["export", "index"]), before);
    let none = place.done(&["delete", "index", "--dry-run", "--query", "quasar"]);
    assert_eq!(none, "0 documents would be deleted; nothing was changed\n");
    let one = place.done(&["delete", "index", "--dry-run", "a"]);
    assert_eq!(one, "a\n1 document would be deleted; nothing was changed\n");
    // A writer may have the index meanwhile; what is said is what is done.
    assert_eq!(place.json(&delete[..6])["deleted"], 2);
}

#[test]
fn a_deletion_names_the_ids_that_are_not_there() {
    let place = books();
    let said = place.done(&["delete", "index", "b", "x", "b", "c d", "x"]);
    assert_eq!(said, "2 documents deleted; 1 ID is not in the index: x\n");
    let ids: Vec<String> = (0..12).map(|n| format!("x{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let said = place.done(&[&["delete", "index", "b"], &ids[..]].concat());
    let expected = "0 documents deleted; 13 IDs are not in the index: b, x0, x1, ";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.ends_with("x8 and 3 more\n"), "{said}");
    assert_eq!(
        place.json(&["delete", "index", "a", "b", "c d"]),
        json!({"deleted": 1, "missing": 2, "missing_ids": ["b", "c d"], "notes": []})
    );
}

#[test]
fn a_query_without_quotation_marks_deletes_nothing() {
    let place = Place::with_lines(&[r#"{"id":1,"body":"a b"}"#, r#"{"id":2,"body":"a"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    let ran = place.run(&["delete", "index", "--query", "body:a", "AND", "body:b"]);
    ran.rejected(1, &["quotation marks"]);
    assert_eq!(place.json(&["stats", "index"])["documents"], 2);
}
