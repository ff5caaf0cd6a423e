//! Tests of the JSON door: each line with what becomes of it.

use super::super::flatten::ID_BYTES_MAX;
use super::super::flatten::{DEPTH_MAX, FIELDS_MAX, NAME_BYTES_MAX, VALUES_MAX};
use super::*;
use proptest::prelude::*;

/// A document as one line: the ID, then each field; text in quotes, terms bare.
fn show(document: &Document) -> String {
    let mut shown = document.id.clone().unwrap_or("-".to_owned());
    for (name, value) in &document.fields {
        match value {
            Value::Text(text) => shown += &format!(" {name}={text:?}"),
            Value::Exact(term) => shown += &format!(" {name}={term}"),
        }
    }
    shown
}

fn parsed(line: &str) -> String {
    match Document::parse(line.as_bytes()) {
        Ok(document) => show(&document),
        Err(error) => format!("! {error}"),
    }
}

#[test]
fn lines_become_documents_or_errors_with_column_and_reason() {
    for (line, expected) in [
        (
            r#"{"id":"a","title":"T","body":"B"}"#,
            r#"a title="T" body="B""#,
        ),
        (r#"{"id":42,"n":-7}"#, "42 n=-7"),
        (r#"{"id":-1}"#, "-1"),
        (r#"{"t":"x"}"#, r#"- t="x""#),
        (r#" {"t":""} "#, r#"- t="""#),
        (r#"{"t":"\u00e9\n\"\ud83d\ude00"}"#, "- t=\"é\\n\\\"😀\""),
        (
            r#"{"a":null,"b":[null,true,"x",1.50]}"#,
            r#"- b=true b="x" b=1.5"#,
        ),
        (r#"{"a":{"b":{"c":"x"}},"a.b":2}"#, r#"- a.b.c="x" a.b=2"#),
        (
            r#"{"a":[{"b":1,"c":"x"},{"b":2}]}"#,
            r#"- a.b=1 a.c="x" a.b=2"#,
        ),
        (r#"{"a":[[1,[2]],3],"o":{},"e":[]}"#, "- a=1 a=2 a=3"),
        (r#"{"a":{"id":"x"}}"#, r#"- a.id="x""#),
        (
            r#"{"a":1.0,"b":1e3,"c":-0,"d":1e300}"#,
            "- a=1 b=1000 c=0 d=1e300",
        ),
        (r#"{"a":18446744073709551615}"#, "- a=18446744073709551615"),
        (
            r#"{"id":1.5}"#,
            "! column 9: invalid type: floating point `1.5`, expected a string or an integer of at most 64 bits as the external ID",
        ),
        (
            r#"{"id":null}"#,
            "! column 10: invalid type: null, expected a string or an integer of at most 64 bits as the external ID",
        ),
        (r#"{"id":""}"#, "! column 8: the external ID is empty"),
        (
            r#"{"a":1,"a":2}"#,
            "! column 10: the key \"a\" occurs twice",
        ),
        (
            r#"{"a":1,"\u0061":2}"#,
            "! column 15: the key \"a\" occurs twice",
        ),
        (r#"{"":1}"#, "! column 3: a field name is empty"),
        (
            r#"{"a\u0007":1}"#,
            "! column 10: the field name \"a\\u{7}\" has control characters",
        ),
        (
            "[1]",
            "! column 1: invalid type: sequence, expected a JSON object",
        ),
        ("", "! column 1: EOF while parsing a value"),
        (
            r#"{"a":1} x"#,
            "! column 9: expected nothing behind the object: leave out what follows it",
        ),
        (
            r#"{"a":1},"#,
            "! column 8: expected nothing behind the object, found a comma: leave it out, or put all objects between [ and ]",
        ),
        (
            r#"{"a":NaN}"#,
            "! column 6: expected a value of JSON, which has neither NaN nor infinity, and null, true and false in lower case",
        ),
        (r#"  {"a":01}"#, "! column 9: invalid number"),
        ("{\"a\":1,\n\"b\":}", "! line 2, column 5: expected value"),
        (
            r#"{"a":1e999}"#,
            "! column 10: a number beyond what JSON readers take: write it as a string",
        ),
        (
            r#"{"a":"\ud800"}"#,
            "! column 13: half of a character, a lone surrogate such as \\ud83d, as a text has that was cut within an emoji: \
             leave it out",
        ),
    ] {
        assert_eq!(parsed(line), expected, "{line}");
    }
}

#[test]
fn integers_beyond_64_bits_are_different_terms_and_floats_stay_what_they_were() {
    for (line, expected) in [
        (
            r#"{"id":1,"s":"\\\"2","a":[18446744073709551616,18446744073709551617],"b":{"c":-9223372036854775809}}"#,
            r#"1 s="\\\"2" a=18446744073709551616 a=18446744073709551617 b.c=-9223372036854775809"#,
        ),
        (
            r#"{"3":4,"a":1.5e300,"b":123456789012345678901234567890,"c":18446744073709552000}"#,
            "- 3=4 a=1.5e300 b=123456789012345678901234567890 c=18446744073709552000",
        ),
        (
            r#"{"a":1e30,"b":1000000000000000000000000000000,"c":1000000000000000000000000000001}"#,
            "- a=1e30 b=1e30 c=1000000000000000000000000000001",
        ),
    ] {
        assert_eq!(parsed(line), expected, "{line}");
    }
}

#[test]
fn bytes_that_are_no_text_are_rejected_where_they_stand() {
    let error = Document::parse(b" {\"a\":\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "column 8: not UTF-8");
}

#[test]
fn limits_admit_what_is_just_within_and_reject_what_is_beyond() {
    let nested = |depth: usize| {
        format!(
            "{{\"a\":{}{}}}",
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        )
    };
    let fields = |count: usize| {
        let members: Vec<_> = (0..count).map(|n| format!("\"f{n}\":{n}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let objects = |count: usize| {
        let objects = vec![r#"{"a":1,"b":2}"#; count];
        format!("{{\"o\":[{}]}}", objects.join(","))
    };
    let name = |length: usize| format!("{{\"a\":{{\"{}\":1}}}}", "n".repeat(length - 2));
    let id = |length: usize| format!("{{\"id\":\"{}\"}}", "n".repeat(length));
    let long = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    for (within, beyond, reason) in [
        (nested(DEPTH_MAX), nested(DEPTH_MAX + 1), "nested deeper"),
        (fields(FIELDS_MAX), fields(FIELDS_MAX + 1), "fields"),
        (
            objects(VALUES_MAX / 2),
            objects(VALUES_MAX / 2 + 1),
            "values",
        ),
        (name(NAME_BYTES_MAX), name(NAME_BYTES_MAX + 1), "name"),
        (id(ID_BYTES_MAX), id(ID_BYTES_MAX + 1), "external ID"),
        (
            long(DOCUMENT_BYTES_MAX),
            long(DOCUMENT_BYTES_MAX + 1),
            "document",
        ),
    ] {
        Document::parse(within.as_bytes()).unwrap_or_else(|error| panic!("{reason}: {error}"));
        let error = Document::parse(beyond.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn a_known_id_leaves_the_member_id_to_the_fields() {
    let document = Document::parse_as(Some("k".to_owned()), br#"{"id":{"x":1}}"#).unwrap();
    assert_eq!(show(&document), "k id.x=1");
    assert!(Document::parse_as(Some(String::new()), b"{}").is_err());
    assert_eq!(Document::parse_as(None, b"{}").unwrap().id, None);
}

#[test]
fn built_documents_have_a_source_that_reads_as_the_same() {
    let fields = [
        ("title", Value::from("say \"hi\"\n")),
        ("year", Value::from(2026)),
        ("title", Value::from("again")),
        ("share", Value::from(0.25)),
        ("open", Value::from(true)),
    ];
    let document = Document::new("7", fields).unwrap();
    let source =
        r#"{"id":"7","title":["say \"hi\"\n","again"],"year":2026,"share":0.25,"open":true}"#;
    assert_eq!(document.source, source.as_bytes());
    assert_eq!(document.fields.len(), 5);
    assert!(Document::new("7", [("id", "x")]).is_err());
    assert!(Document::new("", [("a", "x")]).is_err());
    assert!(Document::new("7", [("a", Value::Exact("1,2".to_owned()))]).is_err());
    assert!(Document::new("7", [("a", f64::NAN)]).is_err());
}

#[test]
fn a_number_has_one_spelling() {
    for (text, spelled) in [
        ("1.0", Some("1")),
        ("-0.0", Some("0")),
        ("100e-2", Some("1")),
        ("0.10", Some("0.1")),
        ("1e19", Some("10000000000000000000")),
        ("1e400", None),
        ("abc", None),
        (" 1", None),
        ("true", None),
        ("1 ", None),
        ("", None),
    ] {
        assert_eq!(exact_number(text).as_deref(), spelled, "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_a_document_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Document::parse(&bytes);
    }

    #[test]
    fn any_text_comes_back_from_a_built_document(name in "[a-z.]{1,20}", text in any::<String>()) {
        prop_assume!(name != "id");
        let document = Document::new("1", [(name.clone(), text.clone())]).unwrap();
        prop_assert_eq!(document.fields, vec![(name, Value::Text(text))]);
    }
}
