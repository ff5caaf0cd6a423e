//! CSV and TSV as other programs write them: line ends, delimiters, IDs under another name.

use serde_json::{Value, json};

use crate::command::Place;

/// All documents of an index, as JSON.
pub fn documents(place: &Place) -> Vec<Value> {
    let lines = place.done(&["export", "index"]);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Indexes a file into a new place; gives it with the first line of the summary.
fn indexed(name: &str, content: &str, more: &[&str]) -> (Place, String) {
    let place = Place::new();
    place.write(name, content);
    let said = place.done(&[&["index", "index", name], more].concat());
    (place, said.lines().next().unwrap().to_owned())
}

const TWO: [(&str, &str); 2] = [("1", "Alpha"), ("2", "Beta")];

fn expected() -> Vec<Value> {
    let each = TWO.iter();
    each.map(|(id, title)| json!({"id": id, "title": title}))
        .collect()
}

#[test]
fn lines_may_end_in_any_way() {
    for (name, content) in [
        ("a.csv", "id,title\r1,Alpha\r2,Beta\r"),
        ("a.csv", "id,title\r1,Alpha\r2,Beta"),
        ("a.csv", "\u{feff}id,title\r1,Alpha\r2,Beta\r"),
        ("a.csv", "id,title\r\n1,Alpha\r2,Beta\r\n"),
        (
            "a.csv",
            "\"id\",\"title\"\r\"1\",\"Alpha\"\r\"2\",\"Beta\"\r",
        ),
        ("a.tsv", "id\ttitle\r1\tAlpha\r2\tBeta\r"),
    ] {
        let (place, said) = indexed(name, content, &[]);
        assert_eq!(documents(&place), expected(), "{content:?}");
        assert!(
            said.starts_with("2 documents") && said.contains("(CR)"),
            "{said}"
        );
    }
    let (place, said) = indexed("a.csv", "id,title\r\n1,Alpha\r\n2,Beta\r\n", &[]);
    assert_eq!(documents(&place), expected());
    assert!(!said.contains("a.csv"), "{said}");
    // Within quotation marks a carriage return is text.
    let (place, _) = indexed("a.csv", "id,title\n1,\"Al\rpha\"\n", &[]);
    assert_eq!(documents(&place), [json!({"id": "1", "title": "Al\rpha"})]);
}

#[test]
fn lines_that_end_with_carriage_returns_are_counted() {
    let place = Place::new();
    place.write("a.csv", "id,title\r1,Alpha\r2\r3,\"two\rlines\"\r4\r");
    let ran = place.run(&["index", "index", "a.csv"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    assert!(
        told[0].contains("a.csv, line 3: expected 2 fields"),
        "{ran:?}"
    );
    assert!(
        told[1].contains("a.csv, line 6: expected 2 fields"),
        "{ran:?}"
    );
}

#[test]
fn documents_of_json_and_text_may_end_with_carriage_returns_too() {
    let (place, _) = indexed("a.jsonl", "{\"id\":\"1\"}\r{\"id\":\"2\"}\r", &[]);
    assert_eq!(documents(&place), [json!({"id": "1"}), json!({"id": "2"})]);
    let (place, _) = indexed("a.log", "one\rtwo\r", &["--text-lines"]);
    assert_eq!(
        documents(&place)[1],
        json!({"id": "a.log:2", "body": "two"})
    );
}

#[test]
fn the_delimiter_is_found_and_told() {
    for (name, content, sign) in [
        ("a.csv", "id;title\n1;Alpha\n2;Beta\n", "';'"),
        ("a.csv", "\u{feff}id;title\r\n1;Alpha\r\n2;Beta\r\n", "';'"),
        ("a.csv", "sep=;\nid;title\n1;Alpha\n2;Beta\n", "';'"),
        (
            "a.csv",
            "\u{feff}sep=;\r\nid;title\r\n1;Alpha\r\n2;Beta\r\n",
            "';'",
        ),
        ("a.csv", "id\ttitle\n1\tAlpha\n2\tBeta\n", "a tab"),
        ("a.csv", "id|title\n1|Alpha\n2|Beta\n", "'|'"),
        (
            "a.csv",
            "\"id\";\"title\"\n\"1\";\"Alpha\"\n2;Beta\n",
            "';'",
        ),
        ("a.tsv", "id,title\n1,Alpha\n2,Beta\n", "','"),
    ] {
        let (place, said) = indexed(name, content, &[]);
        assert_eq!(documents(&place), expected(), "{content:?}");
        let told = format!("{name}: {sign} separates the fields");
        assert!(said.contains(&told), "{said}");
    }
    let (place, said) = indexed("a.csv", "id;title\r1;Alpha\r2;Beta\r", &[]);
    assert_eq!(documents(&place), expected());
    assert!(said.contains("';'") && said.contains("(CR)"), "{said}");
    let notes = place.json(&["index", "index", "a.csv"])["notes"].clone();
    assert!(
        notes[0].as_str().unwrap().contains("a.csv: ';' separates"),
        "{notes}"
    );
}

#[test]
fn a_delimiter_in_texts_is_text() {
    let (place, said) = indexed("a.csv", "id,\"a;b;c\"\n1,x;y\n", &[]);
    assert_eq!(documents(&place), [json!({"id": "1", "a;b;c": "x;y"})]);
    assert!(!said.contains("a.csv"), "{said}");
    let (place, _) = indexed("a.csv", "title\nhello; world\n", &[]);
    assert_eq!(documents(&place)[0]["title"], "hello; world");
    let (place, _) = indexed("a.csv", "id;price\n1;5,30\n", &[]);
    assert_eq!(documents(&place), [json!({"id": "1", "price": "5,30"})]);
    let (place, _) = indexed("a.csv", "id;title\n", &[]);
    assert_eq!(place.json(&["stats", "index"])["documents"], 0);
}

#[test]
fn a_delimiter_may_be_given() {
    let given = ["--delimiter", ";"];
    let (place, said) = indexed("a.csv", "id;title\n1;Alpha\n2;Beta\n", &given);
    assert_eq!(documents(&place), expected());
    assert!(!said.contains("a.csv"), "{said}");
    let (place, _) = indexed("data", "id^title\n1^Alpha\n2^Beta\n", &["--delimiter", "^"]);
    assert_eq!(documents(&place), expected());
    let (place, _) = indexed(
        "a.csv",
        "id\ttitle\n1\tAlpha\n2\tBeta\n",
        &["--delimiter", "tab"],
    );
    assert_eq!(documents(&place), expected());
    let (_, said) = indexed(
        "a.csv",
        "id,title\n1,Alpha\n",
        &["--delimiter", ";", "--json"],
    );
    assert!(said.contains("all is one column"), "{said}");
    place.write("a.jsonl", "{}\n");
    for (arguments, parts) in [
        (
            &["index", "other", "a.jsonl", "--delimiter", ";"][..],
            ["--delimiter", "jsonl"],
        ),
        (
            &["index", "other", "a.csv", "--delimiter", ";;"],
            ["--delimiter", "one sign"],
        ),
        (
            &["index", "other", "a.csv", "--format", "text", "--id", "x"],
            ["--id", "text"],
        ),
    ] {
        place.run(arguments).rejected(1, &parts);
    }
}

#[test]
fn a_pipe_of_rows_tells_its_delimiter() {
    let place = Place::new();
    let index = ["index", "index", "-", "--format", "csv"];
    let ran = place.piped(&index, b"id;title\r1;Alpha\r2;Beta\r");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(documents(&place), expected());
}

#[test]
fn ids_have_the_name_that_is_given() {
    for (name, content) in [
        ("a.csv", "sku,title\n1,Alpha\n2,Beta\n"),
        (
            "a.jsonl",
            "{\"sku\":\"1\",\"title\":\"Alpha\"}\n{\"title\":\"Beta\",\"sku\":\"2\"}\n",
        ),
        (
            "a.json",
            "[{\"sku\":\"1\",\"title\":\"Alpha\"},\n{\"title\":\"Beta\",\n\"sku\":\"2\"}]\n",
        ),
    ] {
        let (place, said) = indexed(name, content, &["--id", "sku"]);
        assert_eq!(documents(&place), expected(), "{said}");
        let again = place.json(&["index", "index", name, "--id", "sku"]);
        assert_eq!(
            (&again["documents"], &again["replaced"]),
            (&json!(2), &json!(2))
        );
        assert_eq!(
            (&again["made_ids"], &again["notes"]),
            (&json!(0), &json!([]))
        );
    }
    let place = Place::new();
    for (name, content, reason) in [
        (
            "a.csv",
            "sku,title\n1,a\n,b\n",
            "a.csv, line 3: expected an ID",
        ),
        (
            "a.csv",
            "title,x\n1,a\n",
            "a.csv, line 1: there is no column \"sku\"",
        ),
        (
            "a.csv",
            "id,sku\n1,a\n",
            "a.csv, line 1: there is a column \"id\" beside",
        ),
        (
            "a.jsonl",
            "{\"title\":1}\n",
            "a.jsonl, line 1: expected an ID in the field \"sku\"",
        ),
        (
            "a.jsonl",
            "{\"sku\":1,\"id\":2}\n",
            "a.jsonl, line 1: the document has a field \"id\"",
        ),
        ("a.jsonl", "{\"sku\":1,}\n", "a.jsonl, line 1, column 10"),
    ] {
        place.write(name, content);
        let ran = place.run(&["index", "index", name, "--id", "sku"]);
        ran.rejected(1, &[reason]);
    }
}

/// Whoever indexes the same again has everything twice; that is told before it happens.
#[test]
fn ids_that_were_made_are_told() {
    for (name, content) in [
        ("a.csv", "sku,title\n1,Alpha\n2,Beta\n"),
        ("a.jsonl", "{\"sku\":1}\n{\"sku\":2}\n"),
    ] {
        let (place, said) = indexed(name, content, &[]);
        for part in ["2 documents brought no ID", "added again", "--id FIELD"] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(place.json(&["index", "index", name])["made_ids"], 2);
    }
}

#[test]
fn all_that_is_rejected_is_kept_where_that_is_asked_for() {
    let place = Place::new();
    let bad: String = (1..=25).map(|n| format!("{{bad {n}\n")).collect();
    place.write("a.jsonl", bad + "{\"id\":\"1\"}\n");
    let ran = place.run(&["index", "index", "a.jsonl", "--json"]);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let rejections = summary["rejections"].as_array().unwrap();
    assert_eq!(rejections.len(), 25);
    assert_eq!(
        (&rejections[24]["file"], &rejections[24]["line"]),
        (&json!("a.jsonl"), &json!(25))
    );
    assert!(
        rejections[24]["reason"]
            .as_str()
            .unwrap()
            .contains("column")
    );
    let ran = place.run(&["index", "index", "a.jsonl", "--rejected", "no.jsonl"]);
    assert!(ran.err.ends_with("rejected 5 more lines\n"), "{ran:?}");
    let kept = std::fs::read_to_string(place.path("no.jsonl")).unwrap();
    let kept: Vec<Value> = kept
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(&kept, rejections);
    let ran = place.run(&["index", "index", "a.jsonl"]);
    assert!(
        ran.err
            .ends_with("rejected 5 more lines: --rejected FILE keeps all\n"),
        "{ran:?}"
    );
    let ran = place.run(&["index", "other", "a.jsonl", "--rejected", "none/no.jsonl"]);
    ran.rejected(1, &["none/no.jsonl"]);
    assert!(!place.path("other").exists());
}
