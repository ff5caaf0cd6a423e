//! Analyzers, backends, completions, help.

use crate::command::Place;

#[test]
fn analyzers_are_chosen_for_all_fields_or_for_one() {
    let place = Place::with_lines(&[r#"{"id":"a","title":"Running","body":"Running"}"#]);
    let chosen = ["--analyzer", "english", "--analyzer", "title=keyword"];
    place.done(&[&["index", "index", "docs.jsonl"][..], &chosen].concat());
    assert_eq!(place.found("body:runs"), ["a"]);
    assert_eq!(place.found("title:running"), Vec::<String>::new());
    assert_eq!(place.found("title:Running"), ["a"]);
}

#[test]
fn an_analyzer_for_a_field_that_no_document_has_is_told() {
    let place = Place::with_lines(&[r#"{"id":"a","title":"one","category":"x y"}"#]);
    let index = [
        "index",
        "index",
        "docs.jsonl",
        "--analyzer",
        "categroy=keyword",
    ];
    for _ in 0..2 {
        let ran = place.run(&index);
        assert_eq!((ran.code, ran.err.lines().count()), (0, 1), "{ran:?}");
        for part in ["note: --analyzer categroy=keyword was not used", "category"] {
            assert!(ran.err.contains(part), "{ran:?}");
        }
    }
    place.done(&[
        "index",
        "index",
        "docs.jsonl",
        "--analyzer",
        "title=standard",
    ]);
}

#[test]
fn tokens_are_shown_with_positions_and_offsets() {
    let place = Place::new();
    let shown = place.json(&["analyze", "--analyzer", "english", "The Dogs’ élan"]);
    let tokens = shown["tokens"].as_array().unwrap();
    assert_eq!(tokens[0]["token"], "dog");
    assert_eq!(
        (&tokens[0]["position"], &tokens[0]["start"]),
        (&1.into(), &4.into())
    );
    let text = place.done(&["analyze", "a b"]);
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn the_pread_backend_gives_the_same_answers() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    let summary = place.json(&[
        "index",
        "index",
        "docs.jsonl",
        "--backend",
        "pread",
        "--durability",
        "sync",
    ]);
    assert_eq!(summary["backend"], "pread");
    let answer = place.json(&["search", "index", "one", "--backend", "pread"]);
    assert_eq!(
        (&answer["backend"], &answer["hits"][0]["id"]),
        (&"pread".into(), &"a".into())
    );
}

#[test]
fn help_version_and_completions_come_from_one_table() {
    let place = Place::new();
    let help = place.done(&["--help"]);
    for command in [
        "index",
        "search",
        "get",
        "export",
        "vacuum",
        "rebuild",
        "bench",
        "stats",
        "check",
        "inspect",
        "analyze",
        "completions",
    ] {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command} in {help}"
        );
    }
    assert!(place.done(&["--version"]).starts_with("gannet "));
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            place
                .done(&["completions", shell])
                .contains("--commit-every")
                || shell == "fish"
        );
    }
}

#[test]
fn parts_can_be_looked_at() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one two two"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    let list = place.json(&["inspect", "index", "term", "body", "two"]);
    assert_eq!(
        (&list["document_frequency"], &list["total_frequency"]),
        (&1.into(), &2.into())
    );
    place
        .run(&["inspect", "index", "term", "body", "three"])
        .rejected(1, &["\"three\"", "body"]);
    place
        .run(&["inspect", "index", "term", "absent", "two"])
        .rejected(1, &["absent"]);
    let zones = place.json(&["inspect", "index", "zones"]);
    let zone = zones["zones"][0]["zone"].to_string();
    assert!(place.json(&["inspect", "index", "page", &zone, "0"])["payload"].is_string());
    place
        .run(&["inspect", "index", "page", &zone, "9999"])
        .rejected(1, &["pages"]);
    let trees = place.json(&["inspect", "index", "trees"]);
    assert_eq!(trees["ids"]["entries"], 1);
    let fill = trees["ids"]["fill"].as_f64().unwrap();
    assert!(fill > 0.0 && fill < 0.1, "{fill}");
    assert!(trees["long_lists"]["fill"].is_null());
}
