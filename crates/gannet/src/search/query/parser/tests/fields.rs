//! Fields before a colon, and external IDs.

use super::{check, check_error, schema};
use crate::analysis::{Analyzer, FieldKind, Schema};
use crate::search::query::Operator;
use crate::search::query::parser::parse;

#[test]
fn fields() {
    check("title:a b", "title:a b");
    check("title:(a b \"c d\")", "title:a title:b title:\"c d\"");
    check("title:(a body:b)", "title:a body:b");
    check("title:* _exists_:body", "title:* body:*");
    check("a.b:x", "a.b:x");
    check("odd\\ name\\:x:y", "odd\\ name\\:x:y");
    check("title:a:b", "title:\"a:b\"");
    check("title:-5", "title:\"-5\"");
    check("-title:\"x y\"", "-title:\"x y\"");
    check("x\\:y \"x:y\"", "\"x:y\" \"x:y\"");
    check("id:17 id:\"a b\" id:(1 2)", "id:17 id:\"a b\" (id:1 id:2)");
    check("id:*", "id:*");
    check("_exists_:\"odd name:x\"", "odd\\ name\\:x:*");
    check("title:", "\"title:\"");
    check("title:OR", "title:\\OR");
    check("todo:", "\"todo:\"");
    check("(todo:) a", "\"todo:\" a");
}

#[test]
fn a_field_that_does_not_exist_is_an_error() {
    for (text, at) in [
        ("titel:a", 1),
        ("b titel:\"a b\"", 3),
        ("-titel:(a b)", 2),
        ("titel:>5", 1),
        ("titel:[a TO b]", 1),
        ("titel: a", 1),
        ("titel:http://x", 1),
        ("titel:a:b:c", 1),
        ("body:(a titel:b)", 9),
    ] {
        let place = format!("there is no field \"titel\" at character {at} of");
        check_error(text, &[&place, "title", "\\:", "quotes"]);
    }
    check_error("_exists_:titel", &["\"titel\"", "title"]);
    check_error("*:a", &["no field \"*\""]);
    check_error("tit*:a", &["no field \"tit*\""]);
    check_error(&format!("{}:a", "x".repeat(60_000)), &["no field"]);
}

#[test]
fn colons_where_nobody_means_a_field_are_text() {
    check("http://x.org", "\"http://x.org\"");
    check("std::vec", "\"std::vec\"");
    check("12:30", "\"12:30\"");
    check(":-\\) ::1", "\":-)\" \"::1\"");
    check("body:http://x.org", "body:\"http://x.org\"");
    let mut numbered = schema();
    let added = numbered.add("2019", FieldKind::Text, Analyzer::KEYWORD);
    added.unwrap();
    let error = parse("2018:a", Operator::Or, &numbered).unwrap_err();
    assert!(error.to_string().contains("2019"), "{error}");
}

#[test]
fn an_index_without_fields_accepts_every_name() {
    let query = parse("titel:a", Operator::Or, &Schema::default()).unwrap();
    assert_eq!(query.to_string(), "titel:a");
}

#[test]
fn external_ids_are_found_whole() {
    for text in [
        "id:a*",
        "id:a?b",
        "id:a~",
        "id:[a TO b]",
        "id:>a",
        "id:\"a b\"~2",
    ] {
        check_error(text, &["external IDs", "id:17"]);
    }
}

#[test]
fn errors_of_fields_say_where() {
    check_error("x -id:a*", &["external IDs", "at character 4 of the query"]);
    check_error("x [a TO b]", &["a range needs a field", "at character 3"]);
    check_error("x _exists_:titel", &["no field", "at character 3"]);
}
