//! If no threads can be started, the first does all of the work, or a sentence says what is
//! missing.

use serde_json::Value;

use crate::command::{Place, Ran};

/// Lines of documents with words of their own, some of them in several.
fn lines(count: usize) -> Vec<String> {
    let text = |n: usize| {
        let words = (0..60).map(|word| format!("w{} ", n * 7_919 % (41 * (word + 1))));
        words.collect::<String>()
    };
    let line = |n| format!("{{\"id\":{n},\"body\":\"common own{n} {}\"}}", text(n));
    (0..count).map(line).collect()
}

fn place(count: usize) -> Place {
    let lines = lines(count);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    Place::with_lines(&lines)
}

/// It succeeded and said nothing on standard error.
#[track_caller]
fn output(ran: Ran) -> String {
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    ran.out
}

#[test]
fn an_index_is_written_searched_and_checked_without_threads() {
    let place = place(3_000);
    let alone = |arguments: &[&str]| output(place.run_without_threads(arguments));
    let small = ["--memory", "16MiB"];
    let index = ["index", "index", "docs.jsonl", "--json"];
    let written: Value = serde_json::from_str(&alone(&[&index[..], &small].concat())).unwrap();
    assert_eq!(written["documents"], 3_000, "{written}");
    let again: Value = serde_json::from_str(&alone(&[&index[..], &small].concat())).unwrap();
    assert_eq!(again["replaced"], 3_000, "{again}");
    alone(&["delete", "index", "1", "2", "3"]);
    alone(&["vacuum", "index"]);
    assert!(alone(&["check", "index"]).contains("OK: "));
    let asked = ["search", "index", "common AND own17", "--count"];
    assert_eq!(alone(&asked), place.done(&asked));
    assert_eq!(
        alone(&["get", "index", "17"]),
        place.done(&["get", "index", "17"])
    );
    alone(&["backup", "index", "copy"]);
    assert!(place.done(&["check", "copy"]).contains("OK: "));
    assert!(place.done(&["check", "index"]).contains("OK: "));
}

#[test]
fn rejected_lines_are_told_without_threads() {
    let place = Place::with_lines(&["{\"id\":1}", "{bad", "{\"id\":2}"]);
    for arguments in [
        ["index", "index", "docs.jsonl"].as_slice(),
        ["index", "strict", "docs.jsonl", "--strict"].as_slice(),
    ] {
        let (with, without) = (place.run(arguments), place.run_without_threads(arguments));
        assert_eq!(without.code, with.code, "{without:?}");
        assert!(without.err.contains("line 2"), "{without:?}");
    }
}

#[test]
fn fewer_threads_that_measure_are_told() {
    let place = place(100);
    place.done(&["index", "index", "docs.jsonl"]);
    place.write("queries.tsv", "or\tcommon own17\nand\tcommon own18\n");
    let bench = ["bench", "index", "queries.tsv", "--threads", "3", "--json"];
    let ran = place.run_without_threads(&bench);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("note: 1 of 3 threads"), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["settings"]["threads"], 1, "{report}");
}

#[cfg(feature = "remote")]
#[test]
fn a_url_cannot_be_read_without_threads() {
    let place = place(100);
    place.done(&["index", "index", "docs.jsonl"]);
    let url = format!("file://{}", place.path("published").display());
    place.done(&["publish", "index", &url]);
    let ran = place.run_without_threads(&["search", &url, "common"]);
    ran.rejected(2, &["threads", "allow this process more threads"]);
}
