//! JSON over several lines: arrays of documents, and objects as they are printed for people.

use serde_json::json;

use crate::command::Place;
use crate::rows::documents;

#[test]
fn an_array_of_documents_is_read() {
    for content in [
        "[{\"id\":\"1\",\"a\":\"x\"},{\"id\":\"2\"}]",
        "[\n  {\n    \"id\": \"1\",\n    \"a\": \"x\"\n  },\n  {\n    \"id\": \"2\"\n  }\n]\n",
        "\u{feff}[\r\n{\"id\":\"1\",\"a\":\"x\"},\r\n{\"id\":\"2\"}\r\n]",
        "{\n  \"id\": \"1\",\n  \"a\": \"x\"\n}\n{\n  \"id\": \"2\"\n}\n",
        "{ \"id\": \"1\",\n  \"a\": \"x\" }\n{\"id\":\"2\"}\n",
    ] {
        let place = Place::new();
        place.write("docs.json", content);
        place.done(&["index", "index", "docs.json"]);
        let expected = [json!({"id": "1", "a": "x"}), json!({"id": "2"})];
        assert_eq!(documents(&place), expected, "{content}");
        let ran = place.piped(&["index", "index", "-"], content.as_bytes());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_eq!(documents(&place), expected, "{content}");
    }
}

#[test]
fn what_is_wrong_in_an_array_is_told_with_its_place() {
    let place = Place::new();
    place.write(
        "docs.json",
        "[\n{\"id\":\"1\"},\n{\"id\":\"2\",\n \"a\": tru},\n7,\n{\"id\":\"3\"}\n{\"id\":\"4\"}\n] trailing\n",
    );
    let ran = place.run(&["index", "index", "docs.json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    let expected = [
        "document 2, line 4, column",
        "document 3, line 5, column 1",
        "document 5, line 7: expected ','",
        "document 7, line 8: expected nothing behind the ']'",
    ];
    assert_eq!(told.len(), expected.len(), "{}", ran.err);
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(&format!("docs.json, {expected}")), "{told}");
    }
    assert_eq!(place.found("id:1 id:3 id:4").len(), 3);
}

#[test]
fn an_array_that_ends_early_is_told_and_what_came_before_is_kept() {
    for (rest, line) in [("{\"id\":\"2\",\"a\":", 2), ("", 2), ("\n\n", 4)] {
        let place = Place::new();
        place.write("docs.json", format!("[{{\"id\":\"1\"}},\n{rest}"));
        let ran = place.run(&["index", "index", "docs.json"]);
        let at = format!("docs.json, line {line}: the array ends");
        ran.rejected(
            1,
            &[&at, "cut off", "the 1 document before it is in the index"],
        );
        assert_eq!(documents(&place), [json!({"id": "1"})]);
    }
}

#[test]
fn an_array_takes_no_more_memory_than_its_documents() {
    let place = Place::new();
    let huge = format!("{{\"id\":\"huge\",\"a\":\"{}\"}}", "x ".repeat(9 << 20));
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    place.write(
        "docs.json",
        format!("[{{\"id\":\"1\"}},{huge},{deep},{{\"id\":\"2\"}}]"),
    );
    let ran = place.run(&[
        "index",
        "index",
        "docs.json",
        "--memory",
        "16MiB",
        "--assert-memory",
    ]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(told.len(), 2, "{ran:?}");
    assert!(
        told[0].contains("document 2") && told[0].contains("longer than"),
        "{ran:?}"
    );
    assert!(told[1].contains("document 3"), "{ran:?}");
    assert_eq!(documents(&place), [json!({"id": "1"}), json!({"id": "2"})]);
}

#[test]
fn messages_about_lines_say_what_to_do() {
    let place = Place::with_lines(&[
        r#"{"id":"1","b":"cut \ud83d"}"#,
        r#"{"id":"2","b":"cut \ud83d and on"}"#,
        r#"{"id":"3","b":"x"},"#,
        r#"{"id":"4"} {"id":"5"}"#,
        r#"{"id":"6","n":NaN}"#,
        r#"{"id":"7","b":"\ud83d\ude00"}"#,
        r#"["no","object"]"#,
    ]);
    let ran = place.run(&["index", "index", "docs.jsonl"]);
    let told: Vec<&str> = ran.err.lines().collect();
    let expected = [
        ("line 1, column", "lone surrogate"),
        ("line 2, column", "lone surrogate"),
        ("line 3, column 19", "a comma: leave it out"),
        ("line 4, column 12", "another one"),
        ("line 6, column", "NaN"),
        ("line 7", "an array"),
    ];
    let expected = expected.map(|(at, what)| (at.replace("line 6", "line 5"), what));
    assert_eq!(told.len(), expected.len(), "{}", ran.err);
    for (told, (at, what)) in told.iter().zip(expected) {
        assert!(
            told.contains(&at) && told.contains(what),
            "{at} {what}: {told}"
        );
    }
    assert_eq!(documents(&place).len(), 1);
}
