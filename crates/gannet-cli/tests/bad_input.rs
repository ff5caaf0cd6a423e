//! Mistakes of callers: each gives one clear sentence and the exit code 1, and the index stays
//! whole.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::command::{Place, Ran};

#[test]
fn malformed_lines_are_told_with_file_line_and_reason_and_the_others_are_indexed() {
    let place = Place::with_lines(&[
        r#"{"id":"a","body":"one"}"#,
        r#"{"id":"b","body":"#,
        "",
        r#"["no","object"]"#,
        r#"{"id":"c","body":"three"}"#,
    ]);
    let ran = place.run(&["index", "index", "docs.jsonl", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(told.len(), 2, "{ran:?}");
    assert!(
        told[0].starts_with("gannet: rejected docs.jsonl, line 2, column "),
        "{ran:?}"
    );
    assert!(
        told[1].starts_with("gannet: rejected docs.jsonl, line 4, column "),
        "{ran:?}"
    );
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&summary["documents"], &summary["rejected"]),
        (&2.into(), &2.into())
    );
    assert_eq!(place.found("body:(one three)").len(), 2);
    place.done(&["check", "index"]);
}

#[test]
fn only_the_first_rejected_lines_are_told() {
    let lines = vec!["no JSON"; 50];
    let ran = Place::with_lines(&lines).run(&["index", "index", "docs.jsonl"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.err.lines().count(), 21, "{}", ran.err);
    assert!(
        ran.err
            .ends_with("gannet: rejected 30 more lines: --rejected FILE keeps all\n"),
        "{}",
        ran.err
    );
}

#[test]
fn strict_stops_before_the_first_rejected_line() {
    let place = Place::with_lines(&[
        r#"{"id":"a","body":"one"}"#,
        "oops",
        r#"{"id":"b","body":"two"}"#,
    ]);
    let ran = place.run(&["index", "index", "docs.jsonl", "--strict"]);
    ran.rejected(
        1,
        &[
            "docs.jsonl, line 2, column",
            "the 1 document before it is in the index",
        ],
    );
    assert_eq!(place.found("body:(one two)"), ["a"]);
    place.done(&["check", "index"]);
}

#[test]
fn a_line_that_is_too_long_is_rejected_alone() {
    let long = format!("{{\"body\":\"{}\"}}", "x".repeat(17 << 20));
    let place = Place::with_lines(&[&long, r#"{"id":"a","body":"one"}"#]);
    let ran = place.run(&["index", "index", "docs.jsonl", "--memory", "64MiB"]);
    ran.rejected(
        1,
        &["docs.jsonl, line 1: the line is longer than 671088 bytes"],
    );
    assert_eq!(place.found("body:one"), ["a"]);
}

#[test]
fn wrong_paths_are_named() {
    let place = Place::with_lines(&[r#"{"body":"one"}"#]);
    place
        .run(&["index", "index", "missing.jsonl"])
        .rejected(1, &["missing.jsonl: No such file"]);
    assert!(
        !place.path("index").exists(),
        "nothing is made before the files are there"
    );
    place
        .run(&["index", "index", "."])
        .rejected(1, &[". is a folder without text files", ".md"]);
    place
        .run(&["index", "docs.jsonl", "docs.jsonl"])
        .rejected(1, &["docs.jsonl"]);
    place
        .run(&["index", "docs.jsonl/index", "docs.jsonl"])
        .rejected(1, &["docs.jsonl/index", "check the path"]);
    for command in ["stats", "check"] {
        place.run(&[command, "missing"]).rejected(1, &["missing"]);
        place
            .run(&[command, "docs.jsonl"])
            .rejected(1, &["docs.jsonl"]);
    }
    place
        .run(&["search", "missing", "one"])
        .rejected(1, &["missing"]);
    place.run(&["search", ".", "one"]).rejected(1, &["index"]);
    place
        .run(&["bench", "missing", "docs.jsonl", "--as", "or"])
        .rejected(1, &["missing"]);
}

#[test]
fn wrong_arguments_are_told_in_one_line() {
    let place = Place::with_lines(&[r#"{"body":"one"}"#]);
    let index = |more: &[&str]| place.run(&[&["index", "index", "docs.jsonl"], more].concat());
    index(&["--memory", "much"]).rejected(1, &["--memory", "\"much\"", "512MiB"]);
    index(&["--backend", "mmap"]).rejected(1, &["mmap", "uring", "pread"]);
    index(&["--commit-every", "0"]).rejected(1, &["--commit-every"]);
    index(&["--analyzer", "klingon"]).rejected(1, &["\"klingon\"", "standard"]);
    index(&["--analyzer", "body=klingon"]).rejected(1, &["\"klingon\""]);
    place.run(&["fly"]).rejected(1, &["fly"]);
    for none in [&[][..], &["inspect"]] {
        let ran = place.run(none);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("Commands:"), "{ran:?}");
    }
    assert!(!place.path("index").exists());
}

#[test]
fn too_little_memory_is_told_with_the_least() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    let ran = place.run(&["index", "index", "docs.jsonl", "--memory", "1MiB"]);
    ran.rejected(1, &["1.0 MiB of memory", "16 MiB"]);
    place.done(&["index", "index", "docs.jsonl", "--memory", "16MiB"]);
    place
        .run(&["search", "index", "one", "--memory", "64KiB"])
        .rejected(1, &["memory"]);
    place
        .run(&["search", "index", "one", "--memory", "9999TiB"])
        .rejected(1, &["--memory", "iB of memory of this "]);
    assert_eq!(place.found("one"), ["a"]);
}

#[test]
fn a_document_that_takes_more_memory_than_there_is_is_rejected_alone() {
    let words: String = (0..900_000).map(|n| format!("w{n} ")).collect();
    let large = format!("{{\"id\":\"large\",\"body\":\"{words}\"}}");
    let small = |id: &str| format!("{{\"id\":\"{id}\",\"body\":\"one\"}}");
    let place = Place::with_lines(&[&small("a"), &large, &small("b")]);
    let index = ["index", "index", "docs.jsonl", "--memory", "16MiB"];
    let ran = place.run(&index);
    ran.rejected(1, &["rejected docs.jsonl, line 2", "memory"]);
    assert_eq!(place.found("one"), ["a", "b"]);
    place.done(&["check", "index"]);
    let place = Place::with_lines(&[&small("a"), &large, &small("b")]);
    let ran = place.run(&[&index[..], &["--strict"]].concat());
    ran.rejected(
        1,
        &[
            "docs.jsonl, line 2",
            "the 1 document before it is in the index",
        ],
    );
    assert_eq!(place.found("one"), ["a"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_named_pipe_is_read_to_its_end() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo")
        .arg(place.path("pipe"))
        .status();
    assert!(made.unwrap().success());
    let pipe = place.path("pipe");
    let writer =
        std::thread::spawn(move || std::fs::write(pipe, "{\"id\":\"a\",\"body\":\"one\"}\n"));
    place.done(&["index", "index", "pipe"]);
    writer.join().unwrap().unwrap();
    assert_eq!(place.found("one"), ["a"]);
}

#[test]
fn a_deletion_that_names_no_field_deletes_nothing() {
    let place = Place::with_lines(&[
        r#"{"id":"a","title":"draft","body":"one"}"#,
        r#"{"id":"b","title":"final","body":"one draft"}"#,
    ]);
    place.done(&["index", "index", "docs.jsonl"]);
    for query in [
        "titel:draft",
        "titel:\"draft\"",
        "titel:(draft)",
        "_exists_:titel",
    ] {
        let ran = place.run(&["delete", "index", "--query", query]);
        ran.rejected(1, &["there is no field \"titel\"", "title"]);
    }
    let ran = place.run(&["delete", "index", "--query", "title:>a"]);
    ran.rejected(1, &["ranges are not possible"]);
    assert_eq!(place.found("one"), ["a", "b"]);
    place.done(&["delete", "index", "--query", "title:draft"]);
    assert_eq!(place.found("one"), ["b"]);
}

#[test]
fn an_analyzer_for_a_field_that_has_another_is_rejected() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"running"}"#]);
    let index =
        |analyzer: &str| place.run(&["index", "index", "docs.jsonl", "--analyzer", analyzer]);
    assert_eq!(index("body=standard").code, 0);
    index("body=english").rejected(1, &["\"body\"", "standard", "english"]);
    assert_eq!(index("body=standard").code, 0);
}

#[test]
fn a_copy_into_what_is_copied_is_rejected() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    for destination in ["index", "index/copy", "./index/a/b"] {
        let ran = place.run(&["backup", "index", destination]);
        ran.rejected(1, &["is inside index"]);
    }
    place.done(&["backup", "index", "copy"]);
    place
        .run(&["restore", "copy", "copy"])
        .rejected(1, &["is inside copy"]);
    assert!(!place.path("index/copy").exists());
}

#[test]
fn queries_that_cannot_be_read_are_told_with_the_place() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    let search = |query: &str| -> Ran { place.run(&["search", "index", query]) };
    search("(one").rejected(1, &["'(' is not closed"]);
    search("body:\"one").rejected(1, &["not closed"]);
    let parentheses = "(".repeat(100_000) + &")".repeat(100_000);
    search(&parentheses[..100_000]).rejected(1, &["the query has 100000 bytes"]);
    search(&"(".repeat(1_000)).rejected(1, &["too many nested parentheses"]);
    place
        .run(&["search", "index", "one", "-k", "1000000"])
        .rejected(1, &["10000"]);
    assert_eq!(place.found("one"), ["a"]);
}

#[test]
fn a_second_writer_is_told_who_has_the_index() {
    let place = Place::with_lines(&[r#"{"id":"b","body":"two"}"#]);
    let mut command = place.command(&["index", "index", "-", "--commit-every", "1"]);
    let mut first = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = first.stdin.take().unwrap();
    input
        .write_all(b"{\"id\":\"a\",\"body\":\"one\"}\n")
        .unwrap();
    wait_for_lock(&place);
    let ran = place.run(&["index", "index", "docs.jsonl"]);
    ran.rejected(1, &["index is in use by", &first.id().to_string()]);
    drop(input);
    assert!(first.wait().unwrap().success());
    assert_eq!(place.found("one two"), ["a"]);
    place.done(&["check", "index"]);
}

/// The lock names its holder only after it is taken.
fn wait_for_lock(place: &Place) {
    for _ in 0..2_000 {
        if std::fs::read(place.path("index/LOCK")).is_ok_and(|holder| !holder.is_empty()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("the first writer never took the lock");
}

#[test]
fn lines_of_queries_that_say_no_kind_are_told() {
    let place = Place::with_lines(&[r#"{"body":"one"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    place.write("queries.tsv", "term\tone\nwords alone\n");
    let ran = place.run(&["bench", "index", "queries.tsv"]);
    ran.rejected(1, &["queries.tsv, line 2", "--as"]);
    place
        .run(&[
            "bench",
            "index",
            "docs.jsonl",
            "--as",
            "or",
            "--seconds",
            "1e18",
        ])
        .rejected(1, &["no time to measure for"]);
    place.write("empty.tsv", "\n");
    place
        .run(&["bench", "index", "empty.tsv"])
        .rejected(1, &["no query"]);
}

#[test]
fn a_reader_that_wants_no_more_is_no_failure() {
    let lines: Vec<String> = (0..5_000)
        .map(|n| format!("{{\"id\":{n},\"body\":\"one two three\"}}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let place = Place::with_lines(&lines);
    place.done(&["index", "index", "docs.jsonl"]);
    let mut command = place.command(&["search", "index", "one", "-k", "5000"]);
    let mut process = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(process.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    let ended = process.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(0), 0));
    assert!(first.starts_with("  1. "), "{first}");
}

#[test]
fn nothing_is_made_in_a_folder_of_other_files() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    std::fs::create_dir(place.path("papers")).unwrap();
    place.write("papers/letter.txt", "dear");
    let index = |folder: &str| place.run(&["index", folder, "docs.jsonl"]);
    index("papers").rejected(1, &["papers", "\"letter.txt\"", "another path"]);
    index(".").rejected(1, &["\"docs.jsonl\"", "no part of an index"]);
    assert_eq!(std::fs::read_dir(place.path("papers")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(place.path(".")).unwrap().count(), 2);
    // A file that is put beside an index later does no harm.
    place.done(&["index", "index", "docs.jsonl"]);
    place.write("index/notes.txt", "mine");
    place.done(&["index", "index", "docs.jsonl"]);
}

#[test]
fn what_a_creation_that_was_cut_short_has_left_is_no_other_file() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    for (folder, left) in [
        ("locked", &["LOCK"][..]),
        ("begun", &["LOCK", "superblock"]),
        ("mount point", &["lost+found/"]),
    ] {
        std::fs::create_dir(place.path(folder)).unwrap();
        for name in left {
            let path = format!("{folder}/{name}");
            match path.strip_suffix('/') {
                Some(path) => std::fs::create_dir(place.path(path)).unwrap(),
                None => place.write(&path, ""),
            }
        }
        place.done(&["index", folder, "docs.jsonl"]);
        assert_eq!(place.json(&["search", folder, "one"])["total"], 1);
    }
}

#[test]
fn a_document_of_very_many_new_fields_is_rejected_alone_and_takes_none_from_the_others() {
    let fields = |from: u32, count: u32| -> String {
        let fields: Vec<String> = (from..from + count)
            .map(|n| format!("\"f{n}\":\"x\""))
            .collect();
        format!("{{{}}}", fields.join(","))
    };
    let place = Place::with_lines(&[
        &fields(0, 1_000),
        r#"{"id":"a","body":"one"}"#,
        &fields(1_000, 501),
        // Half of what is left.
        &fields(2_000, 499),
        r#"{"id":"b","new":"one"}"#,
        &fields(3_000, 300),
        r#"{"id":"c","newer":"one"}"#,
    ]);
    let ran = place.run(&["index", "index", "docs.jsonl", "--threads", "1"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(told.len(), 3, "{ran:?}");
    for (told, parts) in told.iter().zip([
        ["line 1:", "1000 fields", "may add 500"],
        ["line 3:", "501 fields", "may add 500"],
        ["line 6:", "300 fields", "may add 250"],
    ]) {
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    }
    assert_eq!(
        place.found("body:one OR new:one OR newer:one"),
        ["a", "b", "c"]
    );
    place.done(&["check", "index"]);
}
