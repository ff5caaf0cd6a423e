//! First commands of a newcomer to `gannet search`, and their misspellings.

use serde_json::{Value, json};

use crate::command::Place;

/// Thirty documents with the word "star", of which fewer and fewer have "neutron" more and more
/// often.
fn stars() -> Place {
    let line = |n: usize| {
        let neutrons = "neutron ".repeat(n);
        format!(r#"{{"id":"{n}","title":"Star {n}","body":"star {neutrons}"}}"#)
    };
    let lines: Vec<String> = (0..30).map(line).collect();
    let place = Place::with_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

/// The IDs of the hits, one a line of JSON.
fn ids(place: &Place, arguments: &[&str]) -> Vec<String> {
    let out = place.done(&[&["search", "index", "--json"], arguments].concat());
    let answer: Value = serde_json::from_str(&out).unwrap();
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn several_words_are_one_query() {
    let place = stars();
    let quoted = ids(&place, &["body:neutron star", "-k", "5"]);
    assert_eq!(ids(&place, &["body:neutron", "star", "-k", "5"]), quoted);
    assert_eq!(ids(&place, &["-k", "5", "body:neutron", "star"]), quoted);
    assert_eq!(quoted.len(), 5);
    let others = ids(&place, &["--", "-neutron", "star"]);
    assert_eq!(others, ["0"]);
    place
        .run(&["search", "index", "-neutron star"])
        .rejected(1, &["comes after '--'", "-- '-neutron star'"]);
    place
        .run(&["search", "index", "--", "-neutron", "--count"])
        .rejected(1, &["--count comes after --", "before --"]);
    place.run(&["search", "index"]).rejected(1, &["<QUERY>"]);
}

#[test]
fn pages_follow_each_other() {
    let place = stars();
    let all = ids(&place, &["neutron", "--limit", "100"]);
    assert_eq!(all.len(), 29);
    for (offset, limit) in [(0, 10), (10, 10), (20, 10), (28, 3), (7, 1)] {
        let [offset_text, limit_text] = [offset, limit].map(|number: usize| number.to_string());
        let page = ids(
            &place,
            &["neutron", "--offset", &offset_text, "-k", &limit_text],
        );
        let end = (offset + limit).min(all.len());
        assert_eq!(page, all[offset..end], "{offset} {limit}");
    }
    let text = place.done(&["search", "index", "neutron", "--offset", "20"]);
    assert!(text.starts_with(" 21. "), "{text}");
    assert!(text.contains("29 documents found") && text.contains("numbers 21 to 29 shown"));
}

#[test]
fn a_page_behind_the_last_hit_says_so() {
    let place = stars();
    let beyond = ["search", "index", "neutron", "--offset", "40"];
    let answer = place.json(&beyond);
    assert_eq!(
        (&answer["total"], &answer["hits"]),
        (&json!(29), &json!([]))
    );
    let text = place.done(&beyond);
    assert!(text.contains("29 documents found") && text.contains("none from number 41 on"));
}

#[test]
fn pages_beyond_what_is_ranked_name_the_export() {
    let place = stars();
    for more in [
        &["-k", "10001"][..],
        &["--offset", "9995"],
        &[
            "--offset",
            "18446744073709551615",
            "-k",
            "18446744073709551615",
        ],
    ] {
        let search = [&["search", "index", "star"], more].concat();
        place.run(&search).rejected(1, &["10000", "gannet export"]);
    }
    let last = place.json(&["search", "index", "star", "--offset", "9990"]);
    assert_eq!(last["total"], 30);
}

#[test]
fn a_count_is_exact_and_reads_no_documents() {
    let place = stars();
    let count = ["search", "index", "neutron", "star", "--count"];
    assert_eq!(place.done(&count), "30\n");
    let answer = place.json(&count);
    assert_eq!(
        (&answer["total"], &answer["total_is_exact"]),
        (&json!(30), &json!(true))
    );
    assert!(answer.get("hits").is_none(), "{answer}");
    assert_eq!(place.done(&["search", "index", "quasar", "--count"]), "0\n");
    for more in [&["-k", "3"][..], &["--offset", "3"], &["--fields", "id"]] {
        let search = [&count[..], more].concat();
        place
            .run(&search)
            .rejected(1, &["--count", "cannot be used with"]);
    }
}

#[test]
fn no_hits_are_told() {
    let place = stars();
    let search = ["search", "index", "quasar"];
    let text = place.done(&search);
    assert!(text.starts_with("no documents found in "), "{text}");
    assert_eq!(place.json(&search)["total"], 0);
}

#[test]
fn one_is_singular_and_two_are_plural() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    let said = place.done(&["index", "index", "docs.jsonl"]);
    assert!(said.starts_with("1 document ("), "{said}");
    let said = place.done(&["check", "index"]);
    assert!(said.contains("1 document and 1 term looked at"), "{said}");
    let said = place.done(&["backup", "index", "copy"]);
    assert!(said.contains("1 document, "), "{said}");
    let said = place.done(&["inspect", "index", "term", "body", "one"]);
    assert!(
        said.contains("in 1 document, 1 time;") && said.contains("1 posting in"),
        "{said}"
    );
    place.write(
        "more.jsonl",
        "oops\n{\"id\":\"b\",\"body\":\"two one\"}\n{\"id\":\"c\"}\n",
    );
    let ran = place.run(&["index", "index", "more.jsonl"]);
    assert!(ran.out.starts_with("2 documents (") && ran.out.contains("\n1 document rejected\n"));
    let said = place.done(&["inspect", "index", "term", "body", "one"]);
    assert!(said.contains("in 2 documents, 2 times;"), "{said}");
    let said = place.done(&["delete", "index", "a"]);
    assert_eq!(said, "1 document deleted\n");
    let said = place.done(&["delete", "index", "b", "c"]);
    assert_eq!(said, "2 documents deleted\n");
}

#[test]
fn what_is_misspelt_is_answered_with_what_is_near() {
    let place = stars();
    place
        .run(&["serch", "index", "star"])
        .rejected(1, &["'serch'", "'search'"]);
    place.run(&["exprot", "index"]).rejected(1, &["'export'"]);
    place
        .run(&["search", "index", "star", "--ofset", "1"])
        .rejected(1, &["'--ofset'", "'--offset'"]);
    place
        .run(&["search", "index", "titel:star"])
        .rejected(1, &["\"titel\"", "title"]);
}
