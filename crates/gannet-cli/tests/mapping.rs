//! Types that are declared: kept whatever comes first, and strict.

use crate::command::Place;

const MAPPING: &str = r#"{
    "price": "double",
    "count": {"type": "long", "ignore_malformed": true},
    "added": "date",
    "code": "keyword",
    "note": {"type": "text", "analyzer": "english", "column": true},
    "by": {"properties": {"name": "keyword"}}
}"#;

fn place(lines: &[&str]) -> Place {
    let place = Place::with_lines(lines);
    place.write("types.json", MAPPING);
    place
}

const INDEX: [&str; 5] = ["index", "index", "docs.jsonl", "--mapping", "types.json"];

#[test]
fn a_document_that_does_not_fit_its_types_is_rejected_with_field_value_and_type() {
    let place = place(&[
        r#"{"id":"1","price":"7","count":3,"added":"2023-05","code":12,"note":"Running late","by":{"name":"A B"}}"#,
        r#"{"id":"2","price":"cheap"}"#,
        r#"{"id":"3","added":"soon"}"#,
        r#"{"id":"4","price":1e999}"#,
        r#"{"id":"5","price":2.5,"count":"many","added":"2024-01-01","code":"x y"}"#,
    ]);
    let ran = place.run(&INDEX);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "docs.jsonl, line 2",
        "\"price\"",
        "\"cheap\"",
        "double",
        "docs.jsonl, line 3",
        "\"added\"",
        "\"soon\"",
        "date",
        "docs.jsonl, line 4",
        "beyond what JSON readers take",
    ] {
        assert!(ran.err.contains(part), "{part}: {ran:?}");
    }
    for (query, wanted) in [
        ("*:*", "15"),
        ("price:[2 TO 3]", "5"),
        ("price:>5", "1"),
        ("added:[2023-05-31 TO 2023-06]", ""),
        ("added:[2023 TO 2024]", "15"),
        ("added:>=2023-05-01", "15"),
        ("added:2023", "1"),
        ("code:12", "1"),
        ("code:x", ""),
        ("note:run", "1"),
        ("count:3", "1"),
    ] {
        assert_eq!(place.found_sorted(query).concat(), wanted, "{query}");
    }
    let answer = place.json(&[
        "search",
        "index",
        "*:*",
        "--facet",
        "by.name",
        "--facet",
        "note.keyword",
    ]);
    let facets = answer["facets"].to_string();
    assert!(
        facets.contains("A B") && facets.contains("Running late"),
        "{answer}"
    );
    // What was declared once need not be declared again.
    place.write("docs.jsonl", r#"{"id":"6","price":"dear"}"#);
    let ran = place.run(&["index", "index", "docs.jsonl"]);
    assert!(
        ran.code == 1 && ran.err.contains("declared as double"),
        "{ran:?}"
    );
}

#[test]
fn a_mapping_that_cannot_be_kept_is_rejected_before_any_document() {
    let lines = [r#"{"id":"1","price":"7"}"#];
    for (mapping, more, parts) in [
        ("{", &[][..], ["types.json", "not JSON"]),
        (
            r#"{"a": "integer"}"#,
            &[],
            ["\"a\"", "use text, keyword, long"],
        ),
        (
            r#"{"a": {"type": "long", "null_value": "none"}}"#,
            &[],
            ["null_value", "\"a\""],
        ),
        (
            r#"{"a": "date"}"#,
            &["--analyzer", "a=english"],
            ["a=english", "declares the field as date"],
        ),
    ] {
        let place = place(&lines);
        place.write("types.json", mapping);
        let ran = place.run(&[&INDEX[..], more].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{ran:?}");
        assert!(!place.path("index").exists());
    }
    let place = place(&lines);
    let ran = place.run(&["index", "index", "docs.jsonl", "--mapping", "none.json"]);
    assert!(ran.code == 1 && ran.err.contains("none.json"), "{ran:?}");
    // Of a field that is there another type is an error that says what to do.
    place.done(&["index", "index", "docs.jsonl"]);
    let ran = place.run(&INDEX);
    for part in [
        "\"price\"",
        "cannot become double",
        "index the documents again",
    ] {
        assert!(ran.code != 0 && ran.err.contains(part), "{ran:?}");
    }
}

#[test]
fn a_declared_field_that_no_document_has_is_told() {
    let place = place(&[r#"{"id":"1","prize":7}"#]);
    place.write("types.json", r#"{"price": "double"}"#);
    let ran = place.run(&INDEX);
    assert_eq!((ran.code, ran.err.lines().count()), (0, 1), "{ran:?}");
    for part in ["--mapping: \"price\" was not used", "prize"] {
        assert!(ran.err.contains(part), "{ran:?}");
    }
}

/// A field's values are taken in other ways too, and a null may count as one.
#[test]
fn multi_fields_and_nulls_are_declared() {
    let place = place(&[
        r#"{"id":"1","title":"Wet dogs","year":null}"#,
        r#"{"id":"2","title":["dry dogs in summer","wet"],"year":2001}"#,
    ]);
    place.write(
        "types.json",
        r#"{"title": {"type": "text", "fields": {
            "raw": {"type": "keyword", "ignore_above": 8}, "en": {"type": "text", "analyzer": "english"}}},
            "year": {"type": "long", "null_value": 1900}}"#,
    );
    place.done(&INDEX);
    for (query, wanted) in [
        (r#"title.raw:"Wet dogs""#, "1"),
        ("title.raw:=(wet dry)", "2"),
        ("title.raw:d*", ""),
        ("title.en:dog", "12"),
        ("year:[1890 TO 1910]", "1"),
        ("title.raw:*", "12"),
    ] {
        assert_eq!(place.found_sorted(query).concat(), wanted, "{query}");
    }
    let sorted = place.json(&[
        "search",
        "index",
        "*:*",
        "--sort",
        "title.raw",
        "--facet",
        "title.raw",
    ]);
    let ids: Vec<&str> = sorted["hits"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|hit| hit["id"].as_str())
        .collect();
    assert_eq!(ids, ["1", "2"], "{sorted}");
    assert!(
        sorted["facets"].to_string().contains("Wet dogs"),
        "{sorted}"
    );
}

/// A year in a cell is a date that is written so, and no count of milliseconds.
#[test]
fn cells_of_declared_dates_and_keywords_stay_strings() {
    let place = place(&[]);
    place.write(
        "types.json",
        r#"{"price": "double", "added": "date", "code": "keyword"}"#,
    );
    place.write(
        "docs.csv",
        "id,added,code,price\n1,2023,100,5\n2,2024,1e2,7.5\n",
    );
    let index = ["index", "index", "docs.csv"];
    place.done(&[&index[..], &["--mapping", "types.json"]].concat());
    // Later files follow what was declared.
    place.write("docs.csv", "id,added,code,price\n3,2023,0,1\n");
    place.done(&index);
    assert_eq!(place.found_sorted("added:[2023 TO 2023]").concat(), "13");
    assert_eq!(place.found_sorted("code:1e2").concat(), "2");
    assert_eq!(place.found_sorted("price:>=5").concat(), "12");
    let document = place.done(&["get", "index", "1"]);
    assert!(
        document.contains(r#""price":5"#) && document.contains(r#""added":"2023""#),
        "{document}"
    );
}
