//! Sources of documents: files, compressed files, standard input, several of them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::command::Place;

fn lines(ids: std::ops::Range<u32>) -> Vec<u8> {
    let lines = ids.map(|id| format!("{{\"id\":{id},\"body\":\"number n{id}\"}}\n"));
    lines.collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn all_kinds_of_sources_give_their_documents() {
    let place = Place::new();
    place.write("a.jsonl", lines(0..10));
    place.write(
        "b.jsonl.gz",
        [gzip(&lines(10..20)), gzip(&lines(20..30))].concat(),
    );
    place.write(
        "c.jsonl.zst",
        zstd::encode_all(&lines(30..40)[..], 3).unwrap(),
    );
    let files = [
        "index",
        "index",
        "a.jsonl",
        "b.jsonl.gz",
        "-",
        "c.jsonl.zst",
        "--json",
    ];
    let ran = place.piped(&files, &lines(40..50));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(summary["documents"], 50);
    for id in [0, 15, 25, 35, 45] {
        assert_eq!(place.found(&format!("body:n{id}")), [id.to_string()]);
    }
}

/// Standard input has no name, and a file may have one that says nothing.
#[test]
fn compression_is_told_by_the_first_bytes_where_no_name_tells_it() {
    let place = Place::new();
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    for (input, id) in [
        (gzip(&lines(0..10)), "7"),
        (zstd(&lines(10..20)), "17"),
        (lines(20..30), "27"),
    ] {
        let ran = place.piped(&["index", "index", "-"], &input);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_eq!(place.found(&format!("body:n{id}")), [id]);
    }
    place.write("dump", zstd(&lines(30..40)));
    place.done(&["index", "index", "dump"]);
    let ran = place.piped(
        &["index", "index", "-", "--format", "csv"],
        &zstd(b"id,body\n50,n50\n"),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    for id in ["37", "50"] {
        assert_eq!(place.found(&format!("body:n{id}")), [id]);
    }
    // Less than what tells a compression.
    for short in [&b""[..], b"{}", b"\n", b"{}\n"] {
        let ran = place.piped(&["index", "index", "-"], short);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn a_truncated_file_gives_what_was_readable() {
    let place = Place::new();
    let whole = zstd::encode_all(&lines(0..200_000)[..], 1).unwrap();
    place.write("cut.jsonl.zst", &whole[..whole.len() / 2]);
    place
        .run(&["index", "index", "cut.jsonl.zst"])
        .rejected(1, &["cut.jsonl.zst: ", "are in the index"]);
    place.write("no.jsonl.gz", "this is no gzip");
    place
        .run(&["index", "index", "no.jsonl.gz"])
        .rejected(1, &["no.jsonl.gz: "]);
    assert_eq!(place.found("body:n7"), ["7"]);
    place.done(&["check", "index"]);
}

#[test]
fn queries_may_be_compressed_or_piped() {
    let place = Place::new();
    place.write("a.jsonl", lines(0..10));
    place.done(&["index", "index", "a.jsonl"]);
    place.write(
        "q.tsv.gz",
        gzip(b"term\tn1\nand\tnumber n2\nphrase\tnumber n3\nor\tn4 n5\n"),
    );
    let figures = place.json(&["bench", "index", "q.tsv.gz", "--dump", "dump.jsonl"]);
    assert_eq!(figures["queries"], 4);
    let dump = std::fs::read_to_string(place.path("dump.jsonl")).unwrap();
    let ids = dump.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let hits = line["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["1", "2", "3", "4 5"]);
    let ran = place.piped(
        &["bench", "index", "-", "--as", "or", "--json"],
        b"n1\n17\tn2 n3\n",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
}
