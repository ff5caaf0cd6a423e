//! Folders of notes, CSV and TSV: what documents are made of them, and what is wrong with them.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::command::Place;

/// The document with this ID.
fn document(place: &Place, id: &str) -> Value {
    let line = place.done(&["get", "index", "--", id]);
    serde_json::from_str(&line).unwrap()
}

/// The IDs of all documents.
fn ids(place: &Place) -> Vec<String> {
    let lines = place.done(&["export", "index", "--fields", "id"]);
    let ids = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone());
    let mut ids: Vec<String> = ids.map(|id| id.as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn notes() -> Place {
    let place = Place::new();
    for folder in [
        "notes/deep/deeper",
        "notes/.git",
        "notes/empty",
        "elsewhere",
    ] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write(
        "notes/a.md",
        "Some words\n\n# On whales #\n\nThey \"sing\".\n",
    );
    place.write("notes/b.TXT", "\u{feff}# no heading\nplain words");
    place.write("notes/deep/deeper/é c.markdown", "no heading, but words");
    place.write("notes/.hidden.md", "hidden words");
    place.write("notes/.git/d.md", "hidden words");
    place.write("notes/e.pdf", "no text words");
    place.write("notes/f.jsonl", "{\"id\":\"f\",\"body\":\"words\"}\n");
    place.write("elsewhere/g.md", "words elsewhere");
    place
}

#[test]
#[cfg(unix)]
fn a_folder_of_notes_is_indexed() {
    let place = notes();
    std::os::unix::fs::symlink("../elsewhere", place.path("notes/linked")).unwrap();
    std::os::unix::fs::symlink("../elsewhere/g.md", place.path("notes/g.md")).unwrap();
    for folder in ["notes", "notes/"] {
        let summary = place.json(&["index", "index", folder]);
        assert_eq!(
            (&summary["documents"], &summary["rejected"]),
            (&json!(3), &json!(0))
        );
        assert_eq!(ids(&place), ["a.md", "b.TXT", "deep/deeper/é c.markdown"]);
    }
    assert_eq!(
        document(&place, "a.md"),
        json!({"id": "a.md", "title": "On whales", "body": "Some words\n\n# On whales #\n\nThey \"sing\".\n"})
    );
    assert_eq!(
        document(&place, "b.TXT"),
        json!({"id": "b.TXT", "title": "b", "body": "# no heading\nplain words"})
    );
    assert_eq!(document(&place, "deep/deeper/é c.markdown")["title"], "é c");
    assert_eq!(place.found("title:whales"), ["a.md"]);
    // A link that is named is meant.
    std::os::unix::fs::symlink("notes", place.path("link")).unwrap();
    place.done(&["index", "other", "link"]);
    place.done(&["check", "index"]);
}

/// Two folders may have files of the same name.
#[test]
fn files_of_the_same_name_in_several_folders_are_all_kept() {
    let place = Place::new();
    for folder in ["one/deep", "two"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("one/a.md", "first");
    place.write("one/deep/b.md", "second");
    place.write("two/a.md", "third");
    place.write("a.md", "fourth");
    let summary = place.json(&["index", "index", "one/", "./two", "a.md"]);
    assert_eq!(
        (&summary["documents"], &summary["replaced"]),
        (&json!(4), &json!(0))
    );
    assert_eq!(
        ids(&place),
        ["a.md", "one/a.md", "one/deep/b.md", "two/a.md"]
    );
    // Named one by one, a folder has the IDs that it has alone; what is replaced is told.
    place.done(&["index", "other", "one"]);
    let said = place.done(&["index", "other", "two"]);
    assert!(
        said.contains("\n1 document replaced an earlier one with the same ID\n"),
        "{said}"
    );
    let summary = place.json(&["index", "other", "one"]);
    assert_eq!(
        (&summary["documents"], &summary["replaced"]),
        (&json!(2), &json!(2))
    );
}

#[test]
fn a_file_that_is_no_text_is_rejected_alone_with_its_path() {
    let place = notes();
    place.write("notes/deep/latin.txt", b"caf\xe9 words");
    place.write("notes/long.md", "words ".repeat(100_000));
    let ran = place.run(&["index", "index", "notes", "--memory", "16MiB"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(told.len(), 2, "{ran:?}");
    assert!(
        told[0].contains("notes/deep/latin.txt: expected UTF-8"),
        "{ran:?}"
    );
    assert!(
        told[0].contains("byte 3") && told[0].contains("iconv"),
        "{ran:?}"
    );
    assert!(
        told[1].contains("notes/long.md: the file is longer than"),
        "{ran:?}"
    );
    assert!(ran.out.contains("3 documents (") && ran.out.contains("2 documents rejected"));
    let ran = place.run(&["index", "strict", "notes", "--strict"]);
    ran.rejected(1, &["notes/deep/latin.txt", "in the index"]);
}

#[test]
fn a_folder_without_texts_says_what_is_read() {
    let place = notes();
    place
        .run(&["index", "index", "notes/empty"])
        .rejected(1, &["notes/empty", ".txt, .md, .markdown"]);
    place
        .run(&["index", "index", "notes", "--format", "csv"])
        .rejected(1, &["notes is a folder", "csv", "one by one"]);
    assert!(!place.path("index").exists());
}

#[test]
fn a_text_file_is_one_document() {
    let place = notes();
    place.write("elsewhere/h.txt.gz", gzip(b"packed words"));
    let files = ["./notes/a.md", "elsewhere/h.txt.gz", "notes/e.pdf"];
    place.done(&["index", "index", files[0], files[1]]);
    assert_eq!(ids(&place), ["elsewhere/h.txt.gz", "notes/a.md"]);
    assert_eq!(document(&place, "elsewhere/h.txt.gz")["title"], "h");
    place.done(&["index", "index", files[2], "--format", "text"]);
    assert_eq!(document(&place, "notes/e.pdf")["body"], "no text words");
    let ran = place.piped(
        &["index", "index", "-", "--format", "text"],
        b"piped\nwords",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.found("piped").len(), 1);
    place.write("bad.txt", b"\xff");
    place
        .run(&["index", "index", "bad.txt"])
        .rejected(1, &["bad.txt: expected UTF-8"]);
}

/// Each line of it would be rejected, or worse, some would be documents.
#[test]
fn what_no_name_and_no_brace_tells_to_be_json_asks_for_a_format() {
    let place = Place::new();
    place.write("server.log", "GET /index.html 200\n");
    place.write("table", gzip(b"id,title\n1,one\n"));
    for (file, found) in [("server.log", "GET /index.html 200"), ("table", "id,title")] {
        let ran = place.run(&["index", "index", file]);
        let found = format!("found {found:?}");
        ran.rejected(1, &[file, "expected JSON lines", &found, "give --format"]);
    }
    assert!(!place.path("index").exists());
    let ran = place.piped(&["index", "index", "-"], b"id,title\n1,one\n");
    ran.rejected(1, &["standard input: ", "\"id,title\"", "give --format"]);
    // What begins so is read so, and an ending that is known is believed.
    place.write("dump", "\u{feff}\n {\"id\":\"a\"}\noops\n");
    let ran = place.run(&["index", "index", "dump"]);
    ran.rejected(1, &["rejected dump, line 3"]);
    place.done(&["index", "index", "table", "--format", "csv"]);
    place.write("odd.ndjson", "oops\n{\"id\":\"b\"}\n");
    let ran = place.run(&["index", "index", "odd.ndjson"]);
    ran.rejected(1, &["rejected odd.ndjson, line 1"]);
    assert_eq!(ids(&place), ["1", "a", "b"]);
}

const ROWS: &str = "\u{feff}id,title, price ,by.name\r\n\
    1,\"Moby-Dick; or, \"\"The Whale\"\"\",9.50,Melville\r\n\
    \r\n\
    2,\"two\nlines\",,\r\n\
    ,,,\r\n\
    3,short\r\n\
    4,\u{e9}lan,1,Müller\r\n";

#[test]
fn rows_of_csv_are_documents_and_errors_name_their_lines() {
    let place = Place::new();
    place.write("books.csv", ROWS);
    place.write("more.csv.gz", gzip(b"id,title\n5,packed\n"));
    let ran = place.run(&["index", "index", "books.csv", "more.csv.gz", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err
            .contains("books.csv, line 7: expected 4 fields as in the header, found 2"),
        "{ran:?}"
    );
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    assert_eq!(ids(&place), ["1", "2", "4", "5"]);
    assert_eq!(
        document(&place, "1"),
        json!({"id": "1", "title": "Moby-Dick; or, \"The Whale\"", "price": 9.5, "by.name": "Melville"})
    );
    assert_eq!(
        document(&place, "2"),
        json!({"id": "2", "title": "two\nlines"})
    );
    assert_eq!(place.found("by.name:müller"), ["4"]);
    // What is exported can be indexed again.
    let out = place.done(&["export", "index", "--format", "csv"]);
    place.write("again.csv", &out);
    place.done(&["index", "again", "again.csv"]);
    assert_eq!(place.done(&["export", "again", "--format", "csv"]), out);
}

#[test]
fn rows_of_tsv_have_no_quotation_marks() {
    let place = Place::new();
    place.write("a.tsv", "id\ttitle\n1\t\"a, b\n2\t\"c\"\n");
    place.done(&["index", "index", "a.tsv"]);
    assert_eq!(document(&place, "1")["title"], "\"a, b");
    assert_eq!(document(&place, "2")["title"], "\"c\"");
    let ran = place.piped(
        &["index", "index", "-", "--format", "tsv"],
        b"id\tx\n3\ty\n",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(document(&place, "3"), json!({"id": "3", "x": "y"}));
}

#[test]
fn a_header_that_names_no_fields_is_told() {
    let place = Place::new();
    for (content, parts) in [
        (&b"id,title,id\n1,2,3\n"[..], ["\"id\"", "two columns"]),
        (b"id,,b\n1,2,3\n", ["column 2", "no name"]),
        (b"", ["expected a header", "nothing"]),
        (b"id,\xff\n", ["column 2", "UTF-8"]),
    ] {
        place.write("bad.csv", content);
        let ran = place.run(&["index", "index", "bad.csv"]);
        ran.rejected(1, &["bad.csv, line 1: ", parts[0], parts[1]]);
    }
    place.write("blank.csv", "id,x\n\n\n1,y\n2\n\n\n3\n4,\"a\nb\",5");
    let ran = place.run(&["index", "blank", "blank.csv"]);
    let lines: Vec<&str> = ran
        .err
        .lines()
        .filter_map(|line| line.split([',', ':']).nth(2))
        .collect();
    assert_eq!(lines, [" line 5", " line 8", " line 9"], "{ran:?}");
    place.write("latin.csv", b"id,title\n1,caf\xe9\n2,tea\n");
    let ran = place.run(&["index", "index", "latin.csv"]);
    ran.rejected(1, &["latin.csv, line 2: the field \"title\" is not UTF-8"]);
    assert_eq!(ids(&place), ["2"]);
}

/// Without its other, a quotation mark would make one record of the whole file.
#[test]
fn an_open_quotation_mark_takes_no_memory() {
    let place = Place::new();
    let rows = "3,another row of some length without any mark\n".repeat(1_000_000);
    place.write("open.csv", format!("id,title\n1,one\n2,\"open\n{rows}"));
    let index = [
        "index",
        "index",
        "open.csv",
        "--memory",
        "16MiB",
        "--assert-memory",
    ];
    let ran = place.run(&index);
    ran.rejected(1, &["open.csv, line 3: ", "quotation mark", "--memory"]);
    assert_eq!(ids(&place), ["1"]);
}

#[test]
fn an_open_quotation_mark_is_told_with_its_line() {
    let place = Place::new();
    for rows in ["2,\"open\n3,x\n4,y\n", "2,\"open", "2,\"open\n3,x,more\n"] {
        place.write("rows.csv", format!("id,name\n1,ok\n{rows}"));
        let ran = place.run(&["index", "index", "rows.csv"]);
        ran.rejected(
            1,
            &["rows.csv, line 3:", "not closed", "1 document before it"],
        );
        assert_eq!(ids(&place), ["1"], "{rows}");
    }
    // What ends in a closed one is a row like any other, with and without an end of the line.
    for end in ["", "\n", "\r\n", "\n\n"] {
        place.write("rows.csv", format!("id,name\n1,\"a \"\"b\"\"\nc\"{end}"));
        let done = place.json(&["index", "index", "rows.csv"]);
        assert_eq!(
            (&done["documents"], &done["rejected"]),
            (&json!(1), &json!(0))
        );
    }
}
