//! A reader that closes the pipe: no panic, and the exit code that the command has anyway.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::command::Place;

/// The exit code and standard error of a command whose standard output is closed before it starts.
fn closed(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ran = place
        .command(arguments)
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
}

fn many() -> Place {
    let line = |n| format!("{{\"id\":{n},\"body\":\"one {}\"}}", "x ".repeat(60));
    let lines: Vec<String> = (0..8_000).map(line).collect();
    let place = Place::with_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

#[test]
fn a_command_that_succeeds_ends_well() {
    let place = many();
    for arguments in [
        &["search", "index", "one", "-k", "5000"][..],
        &["search", "index", "one", "--json"],
        &["search", "index", "one", "--count"],
        &["export", "index"],
        &["get", "index", "1"],
        &["stats", "index"],
        &["completions", "bash"],
        &["--help"],
    ] {
        assert_eq!(
            closed(&place, arguments),
            (Some(0), String::new()),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_command_that_fails_keeps_its_code() {
    let place = many();
    place.write("bad.jsonl", "oops\n");
    for form in ["--json", "--strict"] {
        let (code, said) = closed(&place, &["index", "index", "bad.jsonl", form]);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains("bad.jsonl, line 1") && said.lines().count() == 1,
            "{said}"
        );
    }
    let (code, said) = closed(&place, &["get", "index", "1", "nobody"]);
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    let (code, said) = closed(&place, &["search", "index", "titel:one"]);
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    // A damaged page.
    let zones = std::fs::read_dir(place.path("index")).unwrap().flatten();
    let zone = zones
        .map(|entry| entry.path())
        .max_by_key(|path| std::fs::metadata(path).unwrap().len());
    let zone = zone.unwrap();
    let mut bytes = std::fs::read(&zone).unwrap();
    bytes[4_096 + 77] ^= 8;
    std::fs::write(&zone, bytes).unwrap();
    let (code, said) = closed(&place, &["check", "index"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("damaged"), "{said}");
}

#[test]
fn an_export_ends_with_its_reader() {
    let place = many();
    let mut command = place.command(&["export", "index"]);
    let mut process = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut reader = BufReader::new(process.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    drop(reader);
    let ended = process.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(0), 0));
    assert!(first.starts_with("{\"id\":0,"), "{first}");
}
