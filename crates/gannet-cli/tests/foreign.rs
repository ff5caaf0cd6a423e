//! Files that are no documents: each is named, with what to do about it.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::command::Place;
use crate::rows::documents;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn tar() -> Vec<u8> {
    let mut tar = vec![0; 1024];
    tar[..6].copy_from_slice(b"a.json");
    tar[257..262].copy_from_slice(b"ustar");
    tar
}

fn utf_16(text: &str) -> Vec<u8> {
    let units = [0xfeff].into_iter().chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn what_is_no_text_is_named_without_its_bytes() {
    let place = Place::new();
    for (name, content, parts) in [
        (
            "a.zip",
            b"PK\x03\x04\x14\0\x08\0".to_vec(),
            ["zip", "unzip"],
        ),
        (
            "a.bz2",
            b"BZh91AY&SY\xcc\x1b".to_vec(),
            ["bzip2", "bzip2 -dc"],
        ),
        (
            "a.jsonl",
            b"PAR1\x15\x04\x15".to_vec(),
            ["Parquet", "Python"],
        ),
        (
            "a.pdf",
            b"%PDF-1.7\n%\xe2\xe3\xcf\xd3".to_vec(),
            ["PDF", "pdftotext"],
        ),
        (
            "a.html",
            b"\n<!DOCTYPE html><html>".to_vec(),
            ["HTML", "--format text"],
        ),
        (
            "a.csv",
            b"<html><body>Log in".to_vec(),
            ["HTML", "--format text"],
        ),
        (
            "a.db",
            b"SQLite format 3\0\x10\0".to_vec(),
            ["SQLite", "sqlite3 -json"],
        ),
        ("a.tar.gz", gzip(&tar()), ["tar", "tar -xf"]),
        ("a.tgz", gzip(&tar()), ["tar", "tar -xf"]),
        ("a.csv", utf_16("id,title\r\n1,x\r\n"), ["UTF-16", "iconv"]),
        ("a.txt", utf_16("words"), ["UTF-16", "iconv"]),
        ("a.bin", vec![0, 1, 2, 3, 0xff], ["binary data", "--format"]),
    ] {
        place.write(name, &content);
        let ran = place.run(&["index", "index", name]);
        ran.rejected(1, &[name, parts[0], parts[1]]);
        let is_clean = ran
            .err
            .trim_end()
            .chars()
            .all(|c| !c.is_control() && c != '\u{fffd}');
        assert!(is_clean, "{:?}", ran.err);
        assert!(!place.path("index").exists(), "{name}");
        let format: &[&str] = if name.ends_with(".csv") {
            &["--format", "csv"]
        } else if name == "a.txt" {
            &["--format", "text"]
        } else {
            &[]
        };
        let ran = place.piped(&[&["index", "index", "-"], format].concat(), &content);
        ran.rejected(1, &[parts[0], parts[1]]);
    }
}

#[test]
fn files_that_xz_has_packed_are_read() {
    let pack = |text: &str| {
        let options = lzma_rust2::XzOptions::default();
        let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        writer.finish().unwrap()
    };
    let place = Place::new();
    let lines = ["{\"id\":\"1\"}\n", "{\"id\":\"2\"}\n"];
    place.write("a.jsonl.xz", [pack(lines[0]), pack(lines[1])].concat());
    place.write("b.csv.xz", pack("id;x\n3;y\n"));
    place.done(&["index", "index", "a.jsonl.xz", "b.csv.xz"]);
    assert_eq!(documents(&place).len(), 3);
    let long: String = (0..5_000)
        .map(|n| format!("{{\"id\":\"n{n}\"}}\n"))
        .collect();
    let packed = pack(&long);
    place.write("cut.jsonl.xz", &packed[..packed.len() / 2]);
    let ran = place.run(&["index", "index", "cut.jsonl.xz"]);
    ran.rejected(1, &["cut.jsonl.xz: the xz file", "in the index"]);
    place.write("bad.jsonl.xz", b"\xfd7zXZ\0 nothing");
    let ran = place.run(&["index", "index", "bad.jsonl.xz"]);
    ran.rejected(1, &["bad.jsonl.xz: the xz file"]);
}

#[test]
fn a_folder_says_what_it_passed_over_and_reads_what_is_named() {
    let place = Place::new();
    fs::create_dir_all(place.path("src/deep")).unwrap();
    for name in ["a.md", "b.py", "c.py", "deep/d.rs", "e", "f.log", ".hidden"] {
        place.write(&format!("src/{name}"), format!("words of {name}\nmore\n"));
    }
    let said = place.done(&["index", "index", "src"]);
    for part in [
        "1 document (",
        "6 entries were passed over",
        "2 .py",
        "1 .rs",
        "1 without an ending",
        "1 hidden",
        "--ext py",
    ] {
        assert!(said.contains(part), "no {part}: {said}");
    }
    place.done(&["index", "index", "src", "--ext", "py,.rs"]);
    let mut ids: Vec<String> = documents(&place)
        .iter()
        .map(|document| document["id"].to_string())
        .collect();
    ids.sort();
    assert_eq!(ids, ["\"a.md\"", "\"b.py\"", "\"c.py\"", "\"deep/d.rs\""]);
    place.done(&["index", "index", "src", "--ext", "log", "--text-lines"]);
    let line = place.done(&["get", "index", "f.log:2"]);
    assert_eq!(line, "{\"id\":\"f.log:2\",\"body\":\"more\"}\n");
    let ran = place.run(&["index", "index", "src", "--ext", "pdf"]);
    ran.rejected(
        1,
        &["src is a folder without text files (.pdf)", "passed over"],
    );
    place.write("x.jsonl", "{}\n");
    let ran = place.run(&["index", "index", "x.jsonl", "--ext", "py"]);
    ran.rejected(1, &["--ext", "no folder"]);
}

#[test]
fn each_line_of_a_text_may_be_a_document() {
    let place = Place::new();
    place.write("app.log", "first line\n\r\n \"third\" line\r\n\u{1F600}\n");
    let summary = place.json(&["index", "index", "app.log", "--text-lines"]);
    assert_eq!(summary["documents"], 3);
    assert_eq!(
        documents(&place),
        [
            json!({"id": "app.log:1", "body": "first line"}),
            json!({"id": "app.log:3", "body": " \"third\" line"}),
            json!({"id": "app.log:4", "body": "\u{1F600}"}),
        ]
    );
    assert_eq!(
        place.json(&["index", "index", "app.log", "--format", "text-lines"])["replaced"],
        3
    );
    place.write("latin.log", b"ok\ncaf\xe9\n");
    let ran = place.run(&["index", "index", "latin.log", "--text-lines"]);
    ran.rejected(1, &["latin.log, line 2, column 4: not UTF-8"]);
    let ran = place.piped(&["index", "index", "-", "--text-lines"], b"piped\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.found("piped").len(), 1);
    let ran = place.run(&["index", "other", "app.log"]);
    ran.rejected(1, &["--text-lines"]);
}
