//! A query is answered as it was meant, or not at all.

use serde_json::{Value, json};

use crate::command::Place;

const BOOKS: [&str; 4] = [
    r#"{"id":"a","title":"whale","body":"a sea of flash","price":9,"date":"2019-12-31"}"#,
    r#"{"id":"b","title":"gull","body":"sea and x","price":15,"date":"2020-06-01"}"#,
    r#"{"id":"c d","title":"whale gull","body":"land","price":5.5,"date":"2021-01-01"}"#,
    r#"{"id":"17","title":"auk","body":"ice","price":100,"date":"2020-01-01"}"#,
];

fn books() -> Place {
    Place::indexed(&BOOKS, &["date=keyword"])
}

#[test]
fn ranges_compare_numbers_and_those_of_words_are_rejected() {
    let place = books();
    for (query, found) in [
        ("price:[5 TO 15]", &["a", "b", "c d"][..]),
        ("price:{5.5 TO 15}", &["a"]),
        ("price:>15", &["17"]),
        ("price:<=9", &["a", "c d"]),
        ("sea -price:<9.5", &["b"]),
    ] {
        assert_eq!(place.found_sorted(query), found, "{query}");
    }
    let ran = place.run(&["search", "index", "price:[15 TO cheap]"]);
    ran.rejected(1, &["\"price\"", "numbers", "\"cheap\" is none"]);
    let ran = place.run(&["search", "index", "price:[15 TO 5]"]);
    ran.rejected(1, &["a range without values"]);
    let ran = place.run(&["search", "index", "title:[a TO z]"]);
    ran.rejected(1, &["field \"title\"", "analyzer standard", "keyword"]);
    let ran = place.run(&["search", "index", "[a TO z]"]);
    ran.rejected(1, &["a range needs a field"]);
    let ran = place.run(&["search", "index", "date:[2020 2021]"]);
    ran.rejected(1, &["incomplete range", "character 6"]);
}

#[test]
fn ranges_compare_the_bytes_of_strings_that_are_kept_whole() {
    let place = books();
    assert_eq!(place.found_sorted("date:>2020"), ["c d"]);
    assert_eq!(place.found_sorted("date:>=2020"), ["17", "b", "c d"]);
    assert_eq!(
        place.found_sorted("date:[2019-12-31 TO 2020-01-01]"),
        ["17", "a"]
    );
    assert_eq!(
        place.found_sorted("date:{2019-12-31 TO 2020-06-01}"),
        ["17"]
    );
    assert_eq!(
        place.found_sorted("date:<2020 OR date:>=2021"),
        ["a", "c d"]
    );
}

#[test]
fn a_field_that_does_not_exist_is_an_error_everywhere() {
    let place = books();
    place.write("queries.tsv", "term\twhale\n");
    for arguments in [
        &["search", "index", "titel:whale"][..],
        &["search", "index", "sea -titel:whale"],
        &["search", "index", "whale", "--highlight", "titel"],
        &["bench", "index", "queries.tsv", "--field", "titel"],
        &["delete", "index", "--query", "titel:whale"],
    ] {
        place
            .run(arguments)
            .rejected(1, &["there is no field \"titel\"", "title"]);
    }
    let ran = place.run(&["search", "index", "titel:whale"]);
    ran.rejected(1, &["character 1", "\\:", "quotes"]);
    let nothing = Vec::<String>::new();
    assert_eq!(place.found_sorted("http://whale/ 12:30"), nothing);
    assert_eq!(place.found_sorted("http\\://whale/~or 12:30"), ["a", "c d"]);
    assert_eq!(place.found_sorted("\"titel:whale\""), Vec::<String>::new());
}

#[test]
fn documents_are_found_by_their_ids() {
    let place = books();
    assert_eq!(place.found_sorted("id:17"), ["17"]);
    assert_eq!(place.found_sorted("id:\"c d\""), ["c d"]);
    assert_eq!(place.found_sorted("id:(a b nobody)"), ["a", "b"]);
    assert_eq!(place.found_sorted("id:a AND body:sea"), ["a"]);
    assert_eq!(
        place.found_sorted("id:17 AND body:sea"),
        Vec::<String>::new()
    );
    assert_eq!(place.found_sorted("NOT id:a"), ["17", "b", "c d"]);
    assert_eq!(place.found_sorted("id:*").len(), 4);
    let answer = place.json(&["search", "index", "id:17^3"]);
    assert_eq!(answer["hits"][0]["score"], json!(3.0));
    let ran = place.run(&["search", "index", "id:1*"]);
    ran.rejected(1, &["external IDs", "whole"]);
    place.done(&["delete", "index", "--query", "id:a"]);
    assert_eq!(place.found_sorted("id:(a b)"), ["b"]);
    place.write("more.jsonl", r#"{"id":"b","body":"new"}"#);
    place.done(&["index", "index", "more.jsonl"]);
    let answer = place.json(&["search", "index", "id:b"]);
    assert_eq!(answer["hits"][0]["source"]["body"], "new");
}

#[test]
fn and_or_not_are_boolean_logic() {
    let place = books();
    for (query, ids) in [
        ("title:whale OR NOT body:sea", &["17", "a", "c d"][..]),
        ("title:whale NOT body:sea", &["c d"]),
        ("title:whale -body:sea", &["c d"]),
        ("NOT NOT title:whale", &["a", "c d"]),
        ("title:auk OR title:whale AND body:sea", &["17", "a"]),
        ("NOT (title:whale OR body:sea)", &["17"]),
        ("NOT title:whale AND NOT body:sea", &["17"]),
        ("NOT (title:whale AND body:sea)", &["17", "b", "c d"]),
        ("NOT title:whale OR NOT body:sea", &["17", "b", "c d"]),
        ("+title:whale body:sea", &["a", "c d"]),
    ] {
        assert_eq!(place.found_sorted(query), ids, "{query}");
    }
    let ran = place.run(&["search", "index", "title:whale NOT body:sea OR title:auk"]);
    ran.rejected(1, &["unclear", "character 13", "parentheses"]);
}

#[test]
fn a_question_mark_is_one_character() {
    let place = books();
    assert_eq!(place.found_sorted("body:?"), ["a", "b"]);
    assert_eq!(place.found_sorted("body:??"), ["a"]);
    assert_eq!(place.found_sorted("body:?*?"), ["17", "a", "b", "c d"]);
    assert_eq!(place.found_sorted("title:?u?"), ["17"]);
}

#[test]
fn words_that_a_fuzzy_word_leaves_out_are_told() {
    let letters = || ('a'..='z').map(String::from);
    let words = letters().flat_map(|one| letters().map(move |two| format!("flash{one}{two}")));
    let line = |(at, word)| format!("{{\"id\":{at},\"body\":\"{word}\"}}");
    let lines: Vec<String> = words.take(60).enumerate().map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let place = Place::indexed(&lines, &[]);
    let answer = place.json(&["search", "index", "body:flash~2"]);
    assert_eq!(answer["total_is_exact"], false);
    let cut = json!([{"field": "body", "pattern": "body:flash~2", "searched": 50}]);
    assert_eq!(answer["cut_expansions"], cut);
    let ran = place.run(&["search", "index", "body:flash~2"]);
    let (text, notes) = (ran.out, ran.err);
    assert!(
        notes.contains("note: body:flash~2 stands for more terms of the field body than the 50"),
        "{text}"
    );
    assert!(text.contains("about 50 documents found"), "{text}");
    let ran = place.run(&["search", "index", "body:flash~2", "--count"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.starts_with("gannet: note: body:flash~2"), "{ran:?}");
    let answer = place.json(&["search", "index", "body:flashaa~1"]);
    let whole = (&answer["total_is_exact"], &answer["cut_expansions"]);
    assert_eq!(whole, (&json!(true), &json!([])));
}

#[test]
fn long_integers_are_different_and_come_back_as_written() {
    let lines = [
        r#"{"id":"a","n":123456789012345678901234567890,"m":1.50}"#,
        r#"{"id":"b","n":123456789012345678901234567891}"#,
    ];
    let place = Place::indexed(&lines, &[]);
    assert_eq!(
        place.found_sorted("n:123456789012345678901234567890"),
        ["a"]
    );
    assert_eq!(
        place.found_sorted("n:123456789012345678901234567891"),
        ["b"]
    );
    let query = ["search", "index", "n:123456789012345678901234567890"];
    let out = place.done(&[&query[..], &["--json"]].concat());
    assert!(out.contains(&format!("\"source\":{}", lines[0])), "{out}");
}

#[test]
fn an_index_without_documents_says_so() {
    let place = Place::indexed(&[""], &[]);
    for query in ["whale", "title:whale", "id:7"] {
        let answer = place.json(&["search", "index", query]);
        assert_eq!(answer["total"], Value::from(0), "{query}");
        let text = place.run(&["search", "index", query]).err;
        assert!(text.contains("the index has no documents"), "{text}");
    }
}

#[test]
fn a_clause_of_stop_words_is_as_if_it_were_not_there() {
    let place = Place::indexed(
        &[
            r#"{"id":"a","body":"the whale"}"#,
            r#"{"id":"b","body":"the sea"}"#,
        ],
        &["body=english"],
    );
    for query in [
        "the AND whale",
        "whale AND the",
        "+the +whale",
        "+the whale",
        "(the) AND whale",
        "(the of) AND whale",
        "\"the\" AND whale",
        "whale NOT the",
        "whale AND NOT the",
        "#the +whale",
        "(the whale)~2",
        "body:(the AND whale)",
    ] {
        assert_eq!(place.found_sorted(query), ["a"], "{query}");
    }
    assert_eq!(place.found_sorted("the NOT whale"), ["b"]);
    assert_eq!(place.found_sorted("whale OR NOT sea OR the"), ["a"]);
    let note = "the query holds no searchable terms after analysis";
    for query in [
        "the",
        "NOT the",
        "(-the)",
        "\"the\"",
        "the AND of",
        "(the)^2",
        "...",
    ] {
        let answer = place.json(&["search", "index", query]);
        let said = (&answer["total"], &answer["has_no_terms"]);
        assert_eq!(said, (&json!(0), &json!(true)), "{query}");
        let text = place.run(&["search", "index", query]).err;
        assert!(text.contains(&format!("note: {note}")), "{query}: {text}");
    }
    let answer = place.json(&["search", "index", "nobody"]);
    assert_eq!(answer["has_no_terms"], false);
}

#[test]
fn a_word_that_only_some_fields_drop_is_not_required() {
    let place = Place::indexed(
        &[
            r#"{"id":"a","title":"Moby Dick","body":"the whale"}"#,
            r#"{"id":"b","title":"The sea","body":"water"}"#,
        ],
        &["body=english"],
    );
    for query in [
        "the AND whale",
        "+the +whale",
        "(the of) AND whale",
        "+the whale",
    ] {
        assert_eq!(place.found_sorted(query), ["a"], "{query}");
    }
    assert_eq!(place.found_sorted("the AND sea"), ["b"]);
    assert_eq!(place.found_sorted("the"), ["b"]);
    assert_eq!(place.found_sorted("+the"), ["b"]);
}

#[test]
fn how_a_pattern_is_asked_is_told() {
    let line = r#"{"id":"1","b":"running houses national flies Wi-Fi 2020-12-31"}"#;
    let place = Place::indexed(&[line], &["b=english"]);
    for query in [
        "house*",
        "running*",
        "flies~1",
        "wi-f*",
        "2020-12*",
        "\"wi f*\"",
    ] {
        assert_eq!(place.found_sorted(query), ["1"], "{query}");
    }
    let note = "house* is asked as hous* in b, which stems";
    let ran = place.run(&["search", "index", "house*", "--count"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "1"));
    assert!(ran.err.contains(&format!("note: {note}")), "{ran:?}");
    let answer = place.json(&["search", "index", "house*"]);
    assert_eq!(answer["notes"], json!([note]));
    for command in [
        &["export", "index", "house*"][..],
        &["delete", "index", "--query", "house*", "--dry-run"],
    ] {
        let ran = place.run(command);
        assert!(ran.code == 0 && ran.err.contains(note), "{ran:?}");
    }
    let ran = place.run(&["search", "index", "*-fi"]);
    ran.rejected(1, &["*-fi", "a wildcard stands before the last"]);
}

/// Filters decide which documents are found, and scores stay those of the query.
#[test]
fn filters_find_fewer_documents_and_keep_scores() {
    let place = Place::new();
    place.write(
        "docs.jsonl",
        concat!(
            r#"{"id":"a","body":"white whale","kind":"note"}"#,
            "\n",
            r#"{"id":"b","body":"whale","kind":"note"}"#,
            "\n",
            r#"{"id":"c","body":"whale whale","kind":"letter"}"#,
            "\n"
        ),
    );
    place.done(&["index", "index", "docs.jsonl"]);
    let all = place.json(&["search", "index", "body:whale"]);
    let found = place.json(&["search", "index", "body:whale", "--filter", "kind:note"]);
    assert_eq!(found["total"], 2);
    let score = |answer: &Value, id: &str| {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.clone()
            .find(|hit| hit["id"] == id)
            .map(|hit| hit["score"].clone())
    };
    for id in ["a", "b"] {
        assert!(score(&all, id).is_some());
        assert_eq!(score(&all, id), score(&found, id), "{id}");
    }
    let both = [
        "search",
        "index",
        "--filter",
        "kind:note",
        "--filter",
        "white",
    ];
    assert_eq!(place.json(&both)["hits"][0]["id"], "a");
    let wrong = ["search", "index", "whale", "--filter", "kin:note"];
    place
        .run(&wrong)
        .rejected(1, &["--filter kin:note: ", "kind"]);
    let empty = ["search", "index", "whale", "--filter", " "];
    place.run(&empty).rejected(1, &["--filter is empty"]);
}

/// Orders, the hits behind another, facets and aggregations of a file, as text and as JSON.
#[test]
fn hits_are_ordered_and_values_are_counted() {
    let place = books();
    let sorted = ["search", "index", "*:*", "--sort=-price", "-k", "2"];
    let found = place.json(&sorted);
    assert_eq!(found["hits"][0]["id"], "17");
    assert_eq!(found["hits"][1]["sort"], json!([15.0]));
    assert_eq!(found["hits"][1]["score"], Value::Null);
    let behind = [&sorted[..], &["--after", "[15]"]].concat();
    assert_eq!(place.json(&behind)["hits"][0]["id"], "a");
    let text = place.done(&sorted);
    assert!(text.starts_with("  1. 100.0  17  auk"), "{text}");

    let by_id = ["search", "index", "*:*", "--sort=-_id", "-k", "2"];
    let found = place.json(&by_id);
    let ids = |found: &Value| -> Vec<String> {
        let hits = found["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut all = ids(&place.json(&["search", "index", "*:*"]));
    all.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(ids(&found), all[..2]);
    let last = found["hits"][1]["sort"].to_string();
    let behind = place.json(&[&by_id[..], &["--after", &last]].concat());
    assert_eq!(ids(&behind), all[2..4]);

    let columns = [
        "search",
        "index",
        "*:*",
        "--sort=-price",
        "-k",
        "1",
        "--columns",
        "price,date",
    ];
    let hit = &place.json(&columns)["hits"][0];
    assert_eq!(hit["columns"]["price"], 100.0);
    assert_eq!((&hit["source"], &hit["id"]), (&Value::Null, &json!("17")));
    let text = place.done(&columns);
    assert!(text.contains("     price: 100.0\n"), "{text}");
    let exported = place.done(&[
        "export",
        "index",
        "price:>9",
        "--columns",
        "id,price",
        "--format",
        "csv",
    ]);
    assert_eq!(exported, "id,price\nb,15.0\n17,100.0\n");
    let lines = place.done(&["export", "index", "price:>9", "--columns", "price"]);
    assert_eq!(lines, "{\"price\":15.0}\n{\"price\":100.0}\n");
    let each = [
        "search",
        "index",
        "*:*",
        "--collapse",
        "price",
        "--sort",
        "price",
    ];
    let found = place.json(&each);
    assert_eq!(found["hits"][0]["group"], found["hits"][0]["sort"][0]);
    assert_eq!(found["total"], 4);

    place.write("aggs.json", r#"{"mean":{"avg":{"field":"price"}}}"#);
    let counted = [
        "search",
        "index",
        "*:*",
        "-k",
        "0",
        "--facet",
        "title:1",
        "--aggregate",
        "aggs.json",
    ];
    let found = place.json(&counted);
    let facet = json!({"values": [{"value": "auk", "count": 1}], "others": 3});
    assert_eq!(found["facets"]["title"], facet);
    assert_eq!(found["aggregations"]["mean"]["value"], 32.375);
    let text = place.done(&counted);
    assert!(
        text.contains("1  auk\n") && text.contains("of other values"),
        "{text}"
    );

    for (option, parts) in [
        ("--sort=prize", &["no field", "price"][..]),
        ("--collapse=prize", &["no field", "price"]),
        ("--facet=title:none", &["--facet title:none", "category:20"]),
        ("--aggregate=none.json", &["--aggregate none.json"]),
    ] {
        let ran = place.run(&["search", "index", "sea", option]);
        ran.rejected(1, parts);
    }
    let after = ["search", "index", "sea", "--sort", "price", "--after", "5"];
    place.run(&after).rejected(1, &["--after 5", "JSON array"]);
}
