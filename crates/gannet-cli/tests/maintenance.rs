//! The two verbs of maintenance, and what became of the old ones.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::command::Place;

fn lines(ids: std::ops::Range<u32>) -> String {
    let line = |n| {
        format!(
            "{{\"id\":{n},\"body\":\"common word{n} and n{} more\"}}\n",
            n % 50
        )
    };
    ids.map(line).collect()
}

/// Bytes that an opening and a closing may write, which the next ones take back.
const OPENING: u64 = 4 * 4_096;

/// Bytes of all files of an index.
fn bytes(place: &Place) -> u64 {
    let files = fs::read_dir(place.path("index")).unwrap().flatten();
    files.map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn a_vacuum_of_a_healthy_index_does_not_make_it_larger() {
    for commit_every in ["100000", "700"] {
        let place = Place::new();
        place.write("docs.jsonl", lines(0..5_000));
        place.done(&[
            "index",
            "index",
            "docs.jsonl",
            "--commit-every",
            commit_every,
        ]);
        let fresh = bytes(&place);
        for _ in 0..4 {
            let done = place.json(&["vacuum", "index"]);
            let figure = |name: &str| done[name].as_u64().unwrap();
            assert!(figure("allocated") <= figure("allocated_before"), "{done}");
            let now = bytes(&place);
            assert!(now <= fresh + OPENING, "{now} of {fresh}: {done}");
        }
        assert_eq!(place.found("word77"), ["77"]);
        place.done(&["check", "index"]);
    }
}

/// Moving much to give back little would leave other pages dead.
#[test]
fn a_vacuum_of_a_healthy_index_writes_next_to_nothing() {
    let place = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample/sample.jsonl.zst");
    place.done(&["index", "index", sample]);
    place.done(&["vacuum", "index"]);
    let before = bytes(&place);
    for _ in 0..4 {
        let done = place.json(&["vacuum", "index"]);
        let figure = |name: &str| done[name].as_u64().unwrap();
        assert!(figure("free") * 15 <= figure("allocated"), "{done}");
        assert!(figure("bytes_written") < 100_000, "{done}");
        let now = bytes(&place);
        assert!(now <= before + OPENING, "{now} of {before}");
    }
    let said = place.done(&["vacuum", "index"]);
    assert!(said.starts_with("nothing to do: "), "{said}");
    place.done(&["check", "index"]);
}

#[test]
fn a_vacuum_purges_and_returns_space() {
    let place = Place::new();
    place.write("docs.jsonl", lines(0..5_000));
    place.done(&["index", "index", "docs.jsonl"]);
    let whole = bytes(&place);
    place.done(&["delete", "index", "--query", "n1 n2 n3 n4 n5 n6 n7 n8 n9"]);
    let said = place.done(&["vacuum", "index"]);
    assert!(said.starts_with("900 deleted documents purged; "), "{said}");
    assert!(bytes(&place) < whole, "{} of {whole}", bytes(&place));
    assert_eq!(place.json(&["stats", "index"])["dead_documents"], 0);
    place.done(&["delete", "index", "77"]);
    let said = place.done(&["rebuild", "index"]);
    assert!(said.starts_with("1 deleted document purged; "), "{said}");
    assert_eq!(
        place.json(&["stats", "index"])["documents"],
        Value::from(4_099)
    );
    place.done(&["check", "index"]);
}

/// An export that began before a change is of the index as it was then.
#[test]
fn maintenance_does_not_wait_for_an_export() {
    let place = Place::new();
    place.write("docs.jsonl", lines(0..20_000));
    place.done(&["index", "index", "docs.jsonl"]);
    let mut reader = place.command(&["export", "index"]);
    let mut reader = reader.stdout(Stdio::piped()).spawn().unwrap();
    // It waits with the index open, as nobody reads what it writes.
    let mut exported = vec![0];
    let mut pipe = reader.stdout.take().unwrap();
    pipe.read_exact(&mut exported).unwrap();
    for command in [
        &["delete", "index", "1", "2", "3"][..],
        &["vacuum", "index"],
        &["rebuild", "index"],
    ] {
        place.done(command);
    }
    pipe.read_to_end(&mut exported).unwrap();
    assert!(reader.wait().unwrap().success());
    let exported = String::from_utf8(exported).unwrap();
    assert_eq!(exported.lines().count(), 20_000);
    assert_eq!(place.json(&["stats", "index"])["documents"], 19_997);
    place.run(&["vacuum", "nothing"]).rejected(1, &["nothing"]);
    assert!(!place.path("nothing").exists());
}

#[test]
fn verbs_that_are_gone_name_the_new_ones() {
    let place = Place::with_lines(&[r#"{"id":"a"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    place
        .run(&["clean", "index"])
        .rejected(1, &["gannet vacuum"]);
    place
        .run(&["vacuum", "index", "--full"])
        .rejected(1, &["gannet rebuild"]);
    place
        .run(&["vacuum", "index", "--order", "kept"])
        .rejected(1, &["gannet rebuild"]);
}
