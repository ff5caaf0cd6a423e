//! Limits of time and memory, seen from outside: exit codes, and what goes on.

use serde_json::Value;

use crate::command::Place;

/// An index in which words are dense, so that long phrases with slop take long.
fn dense() -> Place {
    let line = |id| format!(r#"{{"id":"{id}","body":"{}"}}"#, "the of ".repeat(3_000));
    let lines: Vec<String> = (0..20).map(line).collect();
    let place = Place::with_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

/// A query that takes seconds.
fn slow() -> String {
    format!("\"{}\"~2000", "the of ".repeat(400))
}

#[test]
fn a_query_that_takes_too_long_ends_with_code_3_and_no_answer() {
    let place = dense();
    let slow = slow();
    let ran = place.run(&["search", "index", &slow, "--timeout", "50ms"]);
    ran.rejected(3, &["stopped", "matching", "50ms", "more time"]);
    assert_eq!(ran.out, "");
    let deleting = ["delete", "index", "--query", &slow, "--timeout", "50ms"];
    place.run(&deleting).rejected(3, &["0 being deleted"]);
    place.write(
        "queries.tsv",
        format!("phrase\t{}\n", "the of ".repeat(400)),
    );
    let bench = [
        "bench",
        "index",
        "queries.tsv",
        "--count",
        "--timeout",
        "0.001ms",
    ];
    place.run(&bench).rejected(3, &["stopped"]);
    // In time, or without a limit, there is an answer.
    for limit in ["1m", "none"] {
        let found = place.json(&["search", "index", "\"the of\"", "--timeout", limit]);
        assert_eq!(found["hits"].as_array().unwrap().len(), 10);
    }
}

#[test]
fn a_time_limit_that_cannot_be_read_is_answered_with_examples() {
    let ran = Place::new().run(&["search", "index", "x", "--timeout", "soon"]);
    ran.rejected(1, &["soon", "500ms", "none"]);
}

#[test]
fn limits_stand_in_the_long_help() {
    let help = Place::new().done(&["search", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for limit in [
        "1,024 words",
        "255",
        "1,020 bytes",
        "64 KiB",
        "4,096",
        "--timeout",
    ] {
        assert!(help.contains(limit), "{limit}: {help}");
    }
    assert!(
        Place::new()
            .done(&["--help"])
            .contains("3 a query that took longer")
    );
}

/// The sample has more than a thousand words that begin with s.
#[test]
fn a_prefix_of_any_number_of_terms_is_answered_listed_and_deleted() {
    let place = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample/sample.jsonl.zst");
    place.done(&["index", "index", sample]);
    let count = |query: &str| {
        let answer = place.json(&["search", "index", "--count", query]);
        assert_eq!(answer["total_is_exact"], true, "{query}");
        answer["total"].as_u64().unwrap()
    };
    let (found, others) = (count("body:s*"), count("*:* -body:s*"));
    assert!(found > 5_000, "{found}");
    assert_eq!(found + others, count("*:*"));

    let search = ["search", "index", "body:s*", "--explain"];
    let answer = place.json(&search);
    let pattern = &answer["plan"]["patterns"][0];
    assert!(pattern["terms"].as_u64() > Some(1_024), "{pattern}");
    assert_eq!(pattern["documents"], found);
    let said = place.done(&search);
    assert!(said.contains("pattern body:s* in body: "), "{said}");

    let listed = place.done(&["export", "index", "body:s*", "--fields", "id"]);
    assert_eq!(listed.lines().count() as u64, found);
    let deleted = place.json(&["delete", "index", "--query", "body:s*"]);
    assert_eq!(deleted["deleted"], found);
    assert_eq!((count("body:s*"), count("*:*")), (0, others));
}

#[test]
fn what_is_longer_than_any_term_is_rejected_or_found_nowhere() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    for (query, limit) in [
        (format!("{}~", "a".repeat(60_000)), "255"),
        (format!("\"{}\"", "the of ".repeat(1_000)), "1024"),
        (format!("a*{}", "b".repeat(2_000)), "1024"),
    ] {
        place
            .run(&["search", "index", &query])
            .rejected(1, &[limit]);
    }
    let ran = place.run(&["search", "index", &"a".repeat(60_000)]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.contains("no documents found"), "{ran:?}");
}

#[test]
fn sources_are_passed_on_in_one_line() {
    let place = Place::new();
    place.write(
        "docs.json",
        r#"{"id": "a", "body":  "one \\\" { two\\\\" , "n": [1.50, {"x" : "\u00e9"}]}"#,
    );
    place.done(&["index", "index", "docs.json"]);
    let source = r#"{"id":"a","body":"one \\\" { two\\\\","n":[1.50,{"x":"\u00e9"}]}"#;
    let lines = place.done(&["search", "index", "one", "--json"]);
    assert!(
        lines.contains(source) && lines.lines().count() == 1,
        "{lines}"
    );
    let answer = place.json(&["search", "index", "one", "--explain"]);
    assert_eq!(answer["hits"][0]["source"]["n"][1]["x"], "é");
    assert!(answer["plan"].is_object() && answer["io"].is_object() && answer["total"] == 1);
}

#[test]
fn a_document_beyond_the_budget_costs_only_its_own_hit() {
    // Letters that do not shrink much.
    let mut state = 7u64;
    let noise: String = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b"abcdefghijklmnopqrstuvwxyzABCDEF"[(state >> 59) as usize])
    })
    .take(8 << 20)
    .collect();
    let large = format!(r#"{{"id":"large","title":"sea","body":"{noise}"}}"#);
    let place = Place::with_lines(&[&large, r#"{"id":"small","title":"sea stone"}"#]);
    place.done(&["index", "index", "docs.jsonl", "--memory", "1GiB"]);
    let ran = place.run(&[
        "search",
        "index",
        "title:sea",
        "--memory",
        "16MiB",
        "--json",
    ]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("document large needs") && ran.err.contains("more memory"));
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let [large, small] = [&answer["hits"][0], &answer["hits"][1]];
    assert_eq!(
        (&large["id"], &large["source"]),
        (&"large".into(), &Value::Null)
    );
    assert!(large["score"].as_f64() > Some(0.0));
    assert!(large["error"].as_str().unwrap().contains("large"));
    assert_eq!(small["source"]["id"], "small");
    assert!(small.get("error").is_none());
    let text = place.run(&["search", "index", "title:sea", "--memory", "16MiB"]);
    assert!(text.code == 1 && text.out.contains("needs") && text.out.contains("small"));
    // Its ID is known without its source.
    place.done(&[
        "delete",
        "index",
        "--query",
        "title:sea",
        "--memory",
        "16MiB",
    ]);
}

/// The budget does not cover what a thread holds besides its documents.
#[test]
fn little_memory_has_few_threads_prepare_documents() {
    let place = Place::with_lines(&[r#"{"id":1,"body":"x"}"#]);
    for (memory, threads) in [("16MiB", 4), ("30MiB", 7), ("512MiB", 100)] {
        let index = ["index", "index", "docs.jsonl", "--threads", "100"];
        let done = place.json(&[&index[..], &["--memory", memory]].concat());
        assert_eq!(done["settings"]["threads"], threads, "{memory}");
    }
}

#[test]
fn long_documents_are_shown_one_after_the_other_and_checked_in_little_memory() {
    // All of them together are more than the budget leaves to a search.
    let line = |id| format!(r#"{{"id":"{id}","body":"{}"}}"#, "aa ".repeat(43_000));
    let lines: Vec<String> = (0..20).map(line).collect();
    let place = Place::with_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    place.done(&["index", "index", "docs.jsonl", "--memory", "16MiB"]);
    let answer = place.json(&["search", "index", "aa", "-k", "20", "--memory", "16MiB"]);
    let hits = answer["hits"].as_array().unwrap();
    let whole = |hit: &&Value| hit["source"].is_object() && hit.get("error").is_none();
    assert_eq!(hits.iter().filter(whole).count(), 20);
    let text = place.done(&[
        "search", "index", "aa", "--memory", "16MiB", "--offset", "1",
    ]);
    assert!(text.contains("numbers 2 to 11 shown"), "{text}");
    assert!(text.contains("[aa]"), "{text}");
    let said = place.done(&["check", "index", "--memory", "16MiB"]);
    assert!(
        said.contains("OK: ") && said.contains("20 documents"),
        "{said}"
    );
}
