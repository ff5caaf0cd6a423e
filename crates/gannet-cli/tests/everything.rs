//! Deletions of every document, and the words in which the command speaks of paths.

use serde_json::json;

use crate::command::Place;

fn three() -> Place {
    let place = Place::with_lines(&[
        r#"{"id":"a","title":"draft"}"#,
        r#"{"id":"b","title":"draft"}"#,
        r#"{"id":"c","title":"final"}"#,
    ]);
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

#[test]
fn a_query_that_takes_everything_wants_consent() {
    let place = three();
    for query in ["*:*", "(*:*)", "+*:*", "#(*:*)", "*:* title:draft"] {
        let ran = place.run(&["delete", "index", "--query", query]);
        ran.rejected(
            1,
            &[
                "every document",
                "3 documents in index",
                "--all",
                "nothing was deleted",
            ],
        );
        let ran = place.run(&["delete", "index", "--query", query, "--dry-run"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert_eq!(place.json(&["stats", "index"])["documents"], 3);
    place.done(&["delete", "index", "--query", "title:draft"]);
    place.done(&["delete", "index", "--query", "*:*", "--all"]);
    assert_eq!(place.json(&["stats", "index"])["documents"], 0);
    place.done(&["delete", "index", "--query", "*:*"]);
}

#[test]
fn a_dry_run_names_ten_documents_unless_all_are_wanted() {
    let lines: Vec<String> = (0..25)
        .map(|n| format!("{{\"id\":\"d{n}\",\"a\":\"x\"}}"))
        .collect();
    let place = Place::with_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    place.done(&["index", "index", "docs.jsonl"]);
    let dry = ["delete", "index", "--query", "a:x", "--dry-run"];
    let said = place.done(&dry);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 12, "{said}");
    assert_eq!(lines[10], "and 15 more documents: --ids names all");
    assert_eq!(
        lines[11],
        "25 documents would be deleted; nothing was changed"
    );
    assert_eq!(place.json(&dry)["ids"].as_array().unwrap().len(), 10);
    let all = [&dry[..], &["--ids"]].concat();
    assert_eq!(place.done(&all).lines().count(), 26);
    let all = place.json(&all);
    assert_eq!(
        (all["ids"].as_array().unwrap().len(), &all["would_delete"]),
        (25, &json!(25))
    );
}

#[test]
fn an_index_that_is_not_there_is_told_in_the_words_of_the_command() {
    let place = Place::with_lines(&[r#"{"id":"a"}"#]);
    for command in [
        &["export", "none"][..],
        &["search", "none", "x"],
        &["get", "none", "x"],
        &["stats", "none"],
        &["check", "none"],
        &["delete", "none", "x"],
        &["vacuum", "none"],
    ] {
        let ran = place.run(command);
        ran.rejected(
            1,
            &[
                "none does not exist",
                "check the path",
                "gannet index none FILE",
            ],
        );
        assert!(!ran.err.contains("open it"), "{ran:?}");
    }
}

#[test]
fn a_folder_above_an_index_that_had_to_be_made_is_told() {
    let place = Place::with_lines(&[r#"{"id":"a"}"#]);
    let said = place.done(&["index", "dta/deep/wiki.gnt", "docs.jsonl"]);
    assert!(
        said.contains("the folder dta did not exist and was made"),
        "{said}"
    );
    let said = place.done(&["index", "dta/deep/other.gnt", "docs.jsonl"]);
    assert!(!said.contains("dta"), "{said}");
    let ran = place.run(&["index", "docs.jsonl/a/wiki.gnt", "docs.jsonl"]);
    ran.rejected(
        1,
        &[
            "no index can be made at docs.jsonl/a/wiki.gnt",
            "check the path",
        ],
    );
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_url_says_which_command_builds_what_reads_it() {
    let place = three();
    let ran = place.run(&["publish", "index", "file:///tmp/p"]);
    ran.rejected(1, &["cargo build --release --package gannet-cli"]);
    let ran = place.run(&["publish", "index", "pub"]);
    ran.rejected(1, &["pub is no URL"]);
}
