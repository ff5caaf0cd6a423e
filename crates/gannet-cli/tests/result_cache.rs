//! The result cache and `search --queries`, from outside.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::command::Place;

fn place() -> Place {
    let place = Place::new();
    let lines = (0..500).map(|id| {
        format!(
            "{{\"id\":\"{id}\",\"body\":\"w{} w{}\"}}\n",
            id % 7,
            id % 11
        )
    });
    place.write("docs.jsonl", lines.collect::<String>());
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

fn answers(out: &str) -> Vec<Value> {
    let lines = out.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

const CACHE: [&str; 2] = ["--result-cache", "1MiB"];

#[test]
fn the_queries_of_a_file_are_answered_line_by_line_and_those_that_come_again_say_so() {
    let place = place();
    place.write("queries.txt", "w1\n\nw2 w3\nw1\n+w4 +w5\nw2 w3\n");
    let search = ["search", "index", "--queries", "queries.txt"];
    let plain = answers(&place.done(&[&search[..], &["--json"]].concat()));
    let cached = answers(&place.done(&[&search[..], &CACHE, &["--json"]].concat()));
    let alone = ["w1", "w2 w3", "w1", "+w4 +w5", "w2 w3"];
    let reused = [false, false, true, false, true];
    assert_eq!((plain.len(), cached.len()), (5, 5));
    for (at, query) in alone.iter().enumerate() {
        let alone = place.json(&["search", "index", query]);
        for answer in [&plain[at], &cached[at]] {
            assert_eq!(answer["hits"], alone["hits"]);
            assert_eq!(answer["total"], alone["total"]);
        }
        assert_eq!(plain[at]["reused"], Value::Null);
        assert_eq!(cached[at]["reused"].is_object(), reused[at], "{query}");
    }
    assert_eq!(cached[2]["reused"]["is_older"], false);
    assert_eq!(cached[2]["io"]["frames_hit"], 0);
    assert_eq!(cached[2]["result_cache"]["reused"], 1);
    assert_eq!(plain[2]["result_cache"], Value::Null);
    let text = place.done(&[&search[..], &CACHE].concat());
    assert_eq!(text.matches(", reused after 0.0 s;").count(), 2, "{text}");
    assert!(
        text.contains("result cache: 2 of 5 answers reused; it holds 3 answers in"),
        "{text}"
    );
    let counts = place.done(&[&search[..], &CACHE, &["--count"]].concat());
    assert_eq!(counts.lines().count(), 5, "{counts}");
    let explained = place.done(&[&search[..], &CACHE, &["--explain"]].concat());
    let all = explained.matches("result cache: ");
    assert_eq!(all.count(), 6, "{explained}");
    assert!(
        explained.contains("result cache: 1 of 3 answers reused"),
        "{explained}"
    );
}

#[test]
fn a_program_that_asks_line_by_line_sees_what_is_written_unless_it_takes_older_answers() {
    let place = place();
    for (ttl, sees) in [(&[][..], true), (&["--result-ttl", "1h"], false)] {
        let search = ["search", "index", "--queries", "-", "--json"];
        let mut process = place
            .command(&[&search[..], &CACHE, ttl].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut ask = || -> Value {
            input.write_all(b"w1\n").unwrap();
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        };
        let first = ask();
        let id = if sees { "one more" } else { "another" };
        place.write(
            "more.jsonl",
            format!("{{\"id\":\"{id}\",\"body\":\"w1\"}}\n"),
        );
        place.done(&["index", "index", "more.jsonl"]);
        std::thread::sleep(Duration::from_millis(1_100));
        let second = ask();
        let more = second["total"].as_u64().unwrap() - first["total"].as_u64().unwrap();
        assert_eq!(more, u64::from(sees));
        assert_eq!(
            second["reused"]["is_older"],
            if sees { Value::Null } else { true.into() }
        );
        drop(input);
        assert!(process.wait().unwrap().success());
    }
}

#[test]
fn a_benchmark_says_how_many_answers_were_reused() {
    let place = place();
    place.write("queries.tsv", "term\tw1\nand\tw1 w2\nterm\tw1\nterm\tw1\n");
    let bench = ["bench", "index", "queries.tsv"];
    let figures = place.json(&[&bench[..], &CACHE].concat());
    assert_eq!(figures["result_cache"]["reused"], 2, "{figures}");
    assert_eq!(figures["result_cache"]["computed"], 2, "{figures}");
    assert_eq!(figures["settings"]["result_cache"], 1 << 20);
    let text = place.done(&[&bench[..], &CACHE].concat());
    assert!(
        text.contains("result cache: 2 of 4 answers reused; it holds 2 answers in"),
        "{text}"
    );
    assert_eq!(place.json(&bench)["result_cache"], Value::Null);
}

#[test]
fn what_cannot_be_is_the_callers_fault_and_names_the_line() {
    let place = place();
    for (given, said) in [
        (&["--queries", "-", "--result-cache", "1KiB"][..], "64KiB"),
        (&["--queries", "-", "--result-cache", "1GiB"], "at most"),
        (&["w1", "--result-cache", "1MiB"], "--queries"),
        (&["w1", "--result-ttl", "10s"], "--result-cache"),
        (&["w1", "--queries", "queries.txt"], "cannot be used with"),
        (&["--queries", "missing.txt"], "missing.txt"),
    ] {
        let ran = place.run(&[&["search", "index"], given].concat());
        assert_eq!(ran.code, 1, "{given:?}: {ran:?}");
        assert!(ran.err.contains(said), "{given:?}: {ran:?}");
    }
    let ran = place.piped(
        &["search", "index", "--queries", "-"],
        b"w1\n\nnowhere:w2\n",
    );
    ran.rejected(1, &["standard input, line 3: ", "nowhere"]);
    let ran = place.piped(&["search", "index", "--queries", "-"], b"w1\n\xff\n");
    ran.rejected(1, &["line 2: the line is no UTF-8"]);
}
