//! The query language by examples, and a property: what is printed parses back.

use std::ops::Bound;

use proptest::prelude::*;

use super::*;
use crate::analysis::{Analyzer, FieldKind};

const FIELDS: [&str; 5] = ["title", "body", "a.b", "odd name:x", "price"];

/// All fields have whole values, so that a range is possible in each.
fn schema() -> Schema {
    let mut schema = Schema::default();
    for name in FIELDS {
        let added = schema.add(name, FieldKind::Text, Analyzer::KEYWORD);
        added.unwrap();
    }
    schema
}

fn parse_with(text: &str, operator: Operator) -> Result<Query> {
    parse(text, operator, &schema())
}

/// Checks `text` against the canonical print of the expected query.
fn check(text: &str, expected: &str) {
    let query = parse_with(text, Operator::Or).unwrap();
    assert_eq!(query.to_string(), expected, "{text:?} is {query:?}");
}

fn check_and(text: &str, expected: &str) {
    let query = parse_with(text, Operator::And).unwrap();
    let printed = query.to_string().replace("~and", "");
    assert_eq!(printed, expected, "{text:?} is {query:?}");
}

fn check_error(text: &str, parts: &[&str]) {
    let error = parse_with(text, Operator::Or).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "{error:?} has no {part:?}");
    }
    assert!(error.len() < 200 && error.lines().count() == 1, "{error}");
}

#[test]
fn clauses_side_by_side_take_signs() {
    check("", "()");
    check("()", "()");
    check("a", "a");
    check("a b", "a b");
    check("+a b", "+a b");
    check("+a -b c", "+a c -b");
    check("-b a", "a -b");
    check("a NOT b", "a -b");
    check("a b NOT c", "a b -c");
    check("NOT a NOT b", "-a -b");
    check("NOT a", "-a");
    check("((a))", "a");
    check("(+a) b", "(+a) b");
    check("(a b) AND c", "+(a b) +c");
    check_and("a b", "+a +b");
    check_and("a -b", "+a -b");
    check_and("a", "a");
}

#[test]
fn and_or_not_are_boolean_logic() {
    check("a AND b", "+a +b");
    check("a AND b OR c", "(+a +b) c");
    check("a OR b AND c", "a (+b +c)");
    check("a && !b || c", "(+a -b) c");
    check("a OR NOT b", "a (-b)");
    check("NOT a OR b", "(-a) b");
    check("NOT a OR NOT b", "(-a) (-b)");
    check("NOT (a OR b)", "-(a b)");
    check("NOT a AND NOT b", "-a -b");
    check("NOT (a AND b)", "-(+a +b)");
    check("-a AND b", "+b -a");
    check("+a AND b", "+a +b");
    check("#(a b) AND c", "+c #(a b)");
    check("NOT NOT a", "a");
    check("NOT NOT NOT a b", "b -a");
    check("+NOT a b", "b -a");
    check("a OR NOT NOT b", "a b");
    check_and("a OR b", "a b");
    check_and("a AND b OR c", "(+a +b) c");
}

#[test]
fn clauses_side_by_side_are_the_loosest() {
    check("a b AND c", "a (+b +c)");
    check("a AND b c", "(+a +b) c");
    check("a OR b c", "a b c");
    check("a OR b -c", "a b -c");
    check("a OR b NOT c", "a b -c");
    check("a AND b NOT c", "(+a +b) -c");
    check("(a OR b OR c)~2", "(a b c)~2");
    check("c a OR NOT b", "c a (-b)");
    check_and("a b OR c", "+a +(b c)");
    check_and("a OR b c", "+(a b) +c");
    check_and("a AND b c", "+a +b +c");
    check_and("(a b c)~2", "(a b c)~2");
}

#[test]
fn what_could_be_read_in_two_ways_needs_parentheses() {
    for text in [
        "a NOT b OR c",
        "a -b OR c",
        "a -b AND c",
        "+a AND b c",
        "c NOT a AND b",
    ] {
        check_error(text, &["unclear", "parentheses", "character"]);
    }
    for text in [
        "+a OR b",
        "a OR +b",
        "a OR #(b)",
        "a AND +b OR c",
        "c a AND +b",
    ] {
        check_error(text, &["+ or #", "character"]);
    }
    check("(a NOT b) OR c", "(a -b) c");
    check("(+a) OR b", "(+a) b");
    check_error("(a b)~3", &["at least 3 of 2", "character 5"]);
    check_error("(a AND b)~1", &["at least 1 of 0"]);
}

#[test]
fn operands() {
    check("\"flash storage\"", "\"flash storage\"");
    check("\"a \\\" b\"~3^2", "\"a \\\" b\"~3^2");
    check("stor*", "stor*");
    check("s?or*e", "s?or*e");
    check("s\\*o?", "s\\*o?");
    check("wi-fi", "\"wi-fi\"");
    check("roam~ roam~1 roam~2", "roam~ roam~1 roam~2");
    check("a^2.5 (b c)^0.1 a^.5", "a^2.5 (b c)^0.1 a^0.5");
    check(
        "title:[a TO b] body:{a TO \"b c\"} price:[* TO b}",
        "title:[\"a\" TO \"b\"] body:{\"a\" TO \"b c\"} price:[* TO \"b\"}",
    );
    check(
        "title:>=x title:<y^2",
        "title:[\"x\" TO *] title:[* TO \"y\"}^2",
    );
    check("*", "*:*");
    check("*:* a", "*:* a");
    check("(a b c)~2", "(a b c)~2");
    check("#(a b) c", "#(a b) c");
    check("wi-fi~and wi-fi~or", "wi\\-fi~and wi\\-fi~or");
    check("title:? ?? a*? b", "(title:?) (??) (a*?) b");
}

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
fn a_range_needs_a_field_and_must_be_complete() {
    check_error("[a TO b]", &["range needs a field"]);
    check_error("a title:[a b]", &["incomplete range", "character 9"]);
    check_error("title:[a TO b", &["incomplete range", "character 7"]);
    check_error("price:> 5", &["incomplete range", "character 7"]);
    check("title:\\[a", "title:\"[a\"");
}

#[test]
fn ordinary_text() {
    check("don't", "\"don't\"");
    check("C++ C#", "\"C++\" \"C#\"");
    check("a - b + c ! d", "a \"-\" b \"+\" c \"!\" d");
    check("e-mail me@example.org", "\"e-mail\" \"me@example.org\"");
    check("http://x.org/?q=*~a^2", "\"http://x.org/?q=\\*~a^2\"");
    check("(http://x.org/a_(b)?c=1)", "\"http://x.org/a_(b)?c=1\"");
    check("http://x.org/?q=(a b", "\"http://x.org/?q=(a\" b");
    check("x.org/y?q=1&z=2#top", "\"x.org/y?q=1&z=2#top\"");
    check("-- ++x", "\"--\" \"++x\"");
    check("[citation needed]", "\"[citation\" \"needed]\"");
    check("x\\^y ~/home a~b \\^2", "\"x^y\" \"~/home\" \"a~b\" \"^2\"");
    check("a&&b", "\"a&&b\"");
    check("\\(a\\) \\AND b\\", "\"(a)\" \\AND \"b\\\\\"");
    check("東京 мир", "\"東京\" мир");
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    check_error(
        "flash é \"storage",
        &["quote", "character 9", "add a quote"],
    );
    check_error("(a b", &["not closed", "character 1"]);
    check_error("a) b", &["close", "character 2"]);
    check_error("roam~3", &["distance", "character 1", "~2"]);
    check_error(&"(".repeat(60_000), &["nested", "character 33", "32"]);
    check_error(&"(".repeat(100_000), &["100000 bytes", "65536"]);
    check_error(&"a ".repeat(1025), &["clauses", "character 2049", "1024"]);
    check_error(&"() ".repeat(1025), &["clauses", "character 3073"]);
    check_error(&"a AND ".repeat(1025), &["AND has nothing after it"]);
    check_error(&"a".repeat(65_537), &["65537 bytes"]);
    let deepest = format!("{}a b{}", "(".repeat(32), ")".repeat(32));
    check(&deepest, "a b");
}

#[test]
fn operators_and_signs_need_something_to_act_on() {
    for (text, what, at, advice) in [
        (
            "AND",
            "AND has nothing before it",
            1,
            "write a AND b, or \"AND\"",
        ),
        ("a AND", "AND has nothing after it", 3, "a AND b"),
        ("OR a", "OR has nothing before it", 1, "a OR b"),
        ("a OR", "OR has nothing after it", 3, "a OR b"),
        ("a AND OR b", "AND has nothing after it", 3, "a AND b"),
        ("a && || b", "&& has nothing after it", 3, "a && b"),
        ("(a AND) b", "AND has nothing after it", 4, "a AND b"),
        ("a (OR b)", "OR has nothing before it", 4, "a OR b"),
        ("NOT", "NOT has nothing after it", 1, "NOT a"),
        ("a NOT", "NOT has nothing after it", 3, "NOT a"),
        ("a AND NOT", "NOT has nothing after it", 7, "NOT a"),
        ("a -OR b", "- has nothing after it", 3, "write -a"),
        ("title:a AND", "AND has nothing after it", 9, "a AND b"),
    ] {
        let place = format!("{what} at character {at} of");
        check_error(text, &[&place, advice]);
    }
    check("\"AND\" \\OR a", "\"AND\" \\OR a");
    check("rock and roll or not", "rock and roll or not");
}

#[test]
fn boosts_are_numbers_above_0_where_something_scores() {
    for text in [
        "ab^0", "ab^-1", "ab^x", "ab^", "ab^nan", "ab^inf", "ab^1e3", "ab^2^3", "ab ^2", "x^y",
    ] {
        let at = if text == "ab ^2" { 4 } else { 1 };
        let place = format!("no number above 0 at character {at} of");
        check_error(text, &[&place, "whale^2", "\\^"]);
    }
    check_error("\"a b\"^0", &["no number above 0 at character 6"]);
    check_error("(a b)^-1", &["no number above 0 at character 6"]);
    check_error("title:[a TO b]^x", &["no number above 0 at character 15"]);
    check_error("title:>a^0", &["no number above 0 at character 7"]);
    check_error("title:>\"a\"^0", &["no number above 0 at character 11"]);
    for text in [
        "NOT a^2",
        "-a^2",
        "b -\"a c\"^2",
        "#(a b)^2",
        "b AND NOT (a c)^2",
    ] {
        check_error(text, &["a boost behind -, NOT, ! or #", "leave the ^ out"]);
    }
    check("NOT NOT a^2", "a^2");
}

#[test]
fn numbers_behind_a_tilde_are_whole_and_end_there() {
    for text in ["whale~3", "whale~1.5", "whale~10"] {
        check_error(
            text,
            &["fuzzy distance", "character 1", "whale~2", "\"a b\"~3"],
        );
    }
    check_error(
        "\"a b\"~x",
        &["a ~ that no whole number follows", "character 6"],
    );
    check_error(
        "\"a b\" ~2",
        &["a ~ behind a space at character 7", "\"a b\"~2"],
    );
    check("costs ~2", "costs \"~2\"");
    check_error(
        "(a b)~",
        &["a ~ that no whole number follows", "character 6"],
    );
    check_error("title:[a TO b]~2", &["a ~ that no whole", "character 15"]);
    check_error("\"a b\"~1.5", &["directly behind", "character 8", "space"]);
    check_error("\"a b\"^2x", &["directly behind", "character 8", "space"]);
    check("(\"a b\"~3)", "\"a b\"~3");
    check("\"a\"b", "\"a\" b");
}

#[test]
fn a_range_has_values() {
    for text in ["x title:[b TO a]", "x title:{a TO a}", "x title:{a TO a]"] {
        check_error(
            text,
            &["a range without values at character 3", "lower end"],
        );
    }
    check("title:[a TO a]", "title:[\"a\" TO \"a\"]");
}

#[test]
fn errors_of_fields_say_where() {
    check_error("x -id:a*", &["external IDs", "at character 4 of the query"]);
    check_error("x [a TO b]", &["a range needs a field", "at character 3"]);
    check_error("x _exists_:titel", &["no field", "at character 3"]);
}

/// Checks the notes of a query, and the query that is left.
fn check_notes(text: &str, notes: &[&str], expected: &str) {
    let parsed = parse_noting(text, Operator::Or, &schema()).unwrap();
    assert_eq!(parsed.notes, notes, "{text}");
    assert_eq!(parsed.query.to_string(), expected, "{text}");
}

#[test]
fn a_star_is_everything_only_as_the_whole_query_or_value() {
    check("*", "*:*");
    check(" * ", "*:*");
    check("*:* -a", "*:* -a");
    check("title:* (*:*)^2", "title:* *:*^2");
    check("a*b *b a** ?*", "a*b *b a** ?*");
    check("5 \\* 3 \\*", "5 \"\\*\" 3 \"\\*\"");
    for (text, at) in [
        ("\"draft\"*", 8),
        ("\"draft\"*s", 8),
        ("(draft)*", 8),
        ("title:[a TO b]*", 15),
        ("dra*\"ft\"", 4),
        ("*(draft)", 1),
        ("a?(b)", 2),
        ("\"a\"?b c", 4),
    ] {
        let place = format!("directly beside a quote, a parenthesis or a range at character {at} ");
        check_error(text, &[&place, "draft*", "\\*"]);
    }
    for (text, at) in [
        ("title:draft *", 13),
        ("draft **", 7),
        ("5 * 3", 3),
        ("**", 1),
        ("(*)", 2),
        ("#(*)", 3),
        ("+*", 2),
        ("-*", 2),
        ("NOT *", 5),
        ("!*", 2),
        ("* AND a", 1),
        ("a OR *", 6),
        ("*^2", 1),
        ("* *", 1),
        ("title:(*)", 8),
        ("title:**", 7),
        ("title:draft* *", 14),
        ("*:* *", 5),
        ("\"draft\" *", 9),
    ] {
        let place = format!("a * that stands alone at character {at} of");
        check_error(text, &[&place, "*:*", "title:*", "\\*"]);
    }
}

#[test]
fn values_of_ranges_have_no_star() {
    for text in [
        "title:[2020* TO b]",
        "title:{a TO 2021*}",
        "title:>2020*",
        "title:<=*",
        "title:>a*^2",
    ] {
        let place = "a * in a value of a range at character 7 of";
        check_error(text, &[place, "[a TO *]", "\\*"]);
    }
    check(
        "title:[\"a*\" TO a\\*b] title:>a\\*",
        "title:[\"a\\*\" TO \"a\\*b\"] title:{\"a\\*\" TO *]",
    );
}

#[test]
fn a_star_in_quotes_stands_at_their_end() {
    for (text, at) in [
        ("\"hel* world\"", 5),
        ("a \"5 * 3\"", 6),
        ("“hel* world”", 5),
        ("title:\"a* b* c\"", 9),
    ] {
        let place = format!("a * in quotes before their last word at character {at} of");
        check_error(text, &[&place, "black for*", "\\*"]);
    }
    check("\"hel\\* world\"", "\"hel\\* world\"");
    check(
        "id:\"a* b\" \"what is it?\"",
        "id:\"a\\* b\" \"what is it?\"",
    );
}

#[test]
fn patterns_have_no_distance_and_distances_are_not_negative() {
    for text in ["hel*~1", "h?l~2", "hel*~", "hel*~auto", "hel~1*", "hel~1?"] {
        check_error(
            text,
            &["a pattern with a fuzzy distance at character 1", "whale~1"],
        );
    }
    for text in [
        "hello~-1",
        "hello~3",
        "hello~0.8",
        "hello~AUTO",
        "wi-fi~+1",
        "hello~.5",
    ] {
        check_error(
            text,
            &["fuzzy distance other than 0, 1 and 2 at character 1"],
        );
    }
}

#[test]
fn regular_expressions_are_errors_and_paths_are_text() {
    for text in [
        "/hel.*/",
        "a /h[ae]l/",
        "title:/hel+/",
        "(/hel.*/)",
        "/hel(lo)?/",
        "/\\d{3}/",
        "/hel.*/i",
    ] {
        check_error(text, &["a regular expression", "hel*", "quotes"]);
    }
    check("/usr/bin/ /hello/", "\"/usr/bin/\" \"/hello/\"");
    check("a/b/c", "\"a/b/c\"");
}

#[test]
fn comparisons_without_a_colon_are_errors() {
    for (text, right) in [
        ("price>50", "price:>50"),
        ("a price > 50", "price:>50"),
        ("price >50", "price:>50"),
        ("(price>= 50)", "price:>=50"),
        ("+price<50", "price:<50"),
        ("price=50", "price:50"),
        ("price == \"5 0\" b", "price:\"5 0\""),
        ("price != 5", "-price:5"),
        ("price≥5", "price:>=5"),
        ("a.b=x", "a.b:x"),
        ("price:=5", "price:5"),
        ("price:==5", "price:5"),
        ("price:=>5", "price:>=5"),
        ("price:<>5", "-price:5"),
        ("id=17", "id:17"),
    ] {
        let advice = format!("write {right}, or the text in quotes");
        check_error(text, &["a comparison that is not in the language", &advice]);
    }
    check("x=y a > b price", "\"x=y\" a \">\" b price");
    check("price\\>5 \"price=5\"", "\"price>5\" \"price=5\"");
    check("http://x.org/?price=5", "\"http://x.org/?price=5\"");
}

#[test]
fn typographic_quotes_are_quotes() {
    for text in [
        "“a b”",
        "„a b“",
        "”a b”",
        "«a b»",
        "»a b«",
        "“a b\"",
        "„a b\"",
    ] {
        check(text, "\"a b\"");
    }
    check("title:“a b”~2^3", "title:\"a b\"~2^3");
    check("x“a b”y", "x \"a b\" y");
    check("“the \\“big\\” one”", "\"the “big” one\"");
    check("title:[“a” TO b] ‘a’", "title:[\"a\" TO \"b\"] \"‘a’\"");
    check_error(
        "a “b c",
        &["a quote is not closed at character 3", "”", "\\“"],
    );
    check_error("“a b”*", &["directly beside"]);
}

#[test]
fn a_question_mark_that_ends_a_question_is_punctuation() {
    let note = |marks: &str, word: &str| match word {
        "" => format!("the {marks} at the end is taken as punctuation"),
        _ => format!(
            "the {marks} at the end is taken as punctuation; for words with one more character write ({word}?)"
        ),
    };
    for (text, marks, word, expected) in [
        ("what is a whale?", "?", "whale", "what is a whale"),
        ("a whale??  ", "??", "whale", "a whale"),
        ("a whale?!", "?!", "whale", "a whale"),
        ("whale?!", "?!", "whale", "whale"),
        ("(what is a whale?)", "?", "whale", "what is a whale"),
        ("a title:whale?", "?", "whale", "a title:whale"),
        ("a whale ?", "?", "", "a whale"),
        ("\"a whale\"?", "?", "", "\"a whale\""),
        ("\"a whale\"~2?", "?", "", "\"a whale\"~2"),
        ("(a b)?", "?", "", "a b"),
        ("(a b) c?", "?", "c", "(a b) c"),
        ("a b\\??", "?", "b?", "a \"b?\""),
    ] {
        check_notes(text, &[&note(marks, word)], expected);
    }
    for (text, expected) in [
        ("whale?", "whale?"),
        ("(whale?)", "whale?"),
        ("-whale?", "-(whale?)"),
        ("a (whale?)", "a (whale?)"),
        ("a title:(whale?)", "a (title:whale?)"),
        ("whale? a", "(whale?) a"),
        ("title:?", "title:?"),
        ("a title:?", "a (title:?)"),
        ("a whale\\?", "a \"whale?\""),
        ("a whale?^2", "a whale?^2"),
        ("? ??", "(?) (??)"),
        ("see http://x.org/?", "see \"http://x.org/?\""),
        ("a \"whale?\"", "a \"whale?\""),
    ] {
        check_notes(text, &[], expected);
    }
}

#[test]
fn backslashes_before_letters_are_text() {
    check("\"C:\\Users\\anna\"", "\"C:\\\\Users\\\\anna\"");
    check("C:\\Users\\anna", "\"C:\\\\Users\\\\anna\"");
    check("C:/Users", "\"C:/Users\"");
    check("\\\\server\\share_1", "\"\\\\server\\\\share_1\"");
    check("\\AND~1 \\ORB", "\\AND~1 \"\\\\ORB\"");
}

/// Fields that the analyzers `standard` and `keyword` cut.
fn mixed_schema() -> Schema {
    let mut schema = Schema::default();
    for (name, analyzer) in [("body", Analyzer::default()), ("tag", Analyzer::KEYWORD)] {
        schema.add(name, FieldKind::Text, analyzer).unwrap();
    }
    schema
}

#[test]
fn long_runs_of_ideographs_are_pairs_joined_like_words() {
    let whole = "body:\"東京都庁\"";
    let pairs = format!("body:\"東京\" body:\"京都\" body:\"都庁\" {whole}");
    let all = format!("{whole} (+body:\"東京\" +body:\"京都\" +body:\"都庁\")");
    for (text, expected) in [
        ("body:東京都", "body:\"東京都\""),
        ("body:iPhone手机", "body:\"iPhone手机\""),
        ("body:東京都庁", &pairs),
        ("body:\"東京都庁\"", "body:\"東京都庁\""),
        ("tag:東京都庁", "tag:\"東京都庁\""),
        ("id:東京都庁", "id:\"東京都庁\""),
        ("+body:東京都庁", &format!("+({all})")),
        ("-body:東京都庁", &format!("-({all})")),
        ("a AND body:東京都庁", &format!("+a +({all})")),
        ("a body:東京都庁^2", &format!("a ({pairs})^2")),
        ("(a b body:東京都庁)~2", &format!("(a b ({pairs}))~2")),
        (
            "body:iPhone手机价格",
            "body:\"iPhone\" body:\"手机\" body:\"机价\" body:\"价格\" body:\"iPhone手机价格\"",
        ),
        (
            "+東京都庁",
            "+(\"東京都庁\" (+\"東京\" +\"京都\" +\"都庁\"))",
        ),
    ] {
        let query = parse(text, Operator::Or, &mixed_schema()).unwrap();
        let printed = query.to_string();
        assert_eq!(printed, expected, "{text}");
        let again = parse(&printed, Operator::Or, &mixed_schema()).unwrap();
        assert_eq!(again, query, "{text}");
    }
    let query = parse("東京都庁", Operator::And, &mixed_schema()).unwrap();
    let expected = "\"東京都庁\" (+\"東京\" +\"京都\" +\"都庁\")";
    assert_eq!(query.to_string(), expected);
    let error = parse(&"東".repeat(2000), Operator::Or, &mixed_schema()).unwrap_err();
    assert!(
        error.to_string().contains("1024 pairs of characters"),
        "{error}"
    );
}

#[test]
fn plain_text_has_words_and_no_syntax() {
    let plain = |text: &str, operator| {
        let parsed = parse_plain(text, operator, &mixed_schema());
        (parsed.query.to_string(), parsed.notes)
    };
    for (text, expected) in [
        ("", "()"),
        (" \t ", "()"),
        ("whale", "whale"),
        ("+a -b \"c", "\"+a\" \"-b\" \"\\\"c\""),
        ("a AND (b* OR ?", "a \\AND \"(b\\*\" \\OR \"?\""),
        (
            "titel:x price>5 /a.*/ x~9 y^z",
            "\"titel:x\" \"price>5\" \"/a.\\*/\" \"x~9\" \"y^z\"",
        ),
    ] {
        assert_eq!(
            plain(text, Operator::Or),
            (expected.to_owned(), vec![]),
            "{text}"
        );
    }
    assert_eq!(plain("a wi-fi", Operator::And).0, "+a~and +\"wi-fi\"");
    let note = vec!["only the first 1024 words are searched for".to_owned()];
    assert_eq!(
        plain(&"a ".repeat(1024), Operator::Or).1,
        Vec::<String>::new()
    );
    assert_eq!(plain(&"a ".repeat(1025), Operator::Or).1, note);
    for long in [
        "東".repeat(20_000),
        "a-".repeat(30_000),
        "a".repeat(100_000),
    ] {
        let parsed = parse_plain(&long, Operator::And, &mixed_schema());
        assert!(parsed.query != Query::MatchNone);
    }
}

#[test]
fn every_nesting_is_parsed_fast() {
    let started = std::time::Instant::now();
    let nests = [
        ("(", ")"),
        ("(a ", ")"),
        ("NOT (", ")"),
        ("(NOT ", ")"),
        ("-(", ")"),
        ("!(", ")"),
        ("+(", ")"),
        ("#(", ")"),
        ("title:(", ")"),
        ("(a b ", ")~2"),
        ("(a b ", ")^2"),
        ("(a AND NOT (", "))"),
        ("(a OR NOT (", "))"),
        ("(+a -(", "))"),
        ("(*:* NOT (", "))"),
        ("NOT title:(#(", " b)~1)"),
    ];
    for (open, close) in nests {
        let depth = 32 / open.matches('(').count();
        let nested =
            |open: &str, close: &str| format!("{}b{}", open.repeat(depth), close.repeat(depth));
        for text in [
            nested(open, close),
            nested(&format!("NOT NOT {open}"), close),
        ] {
            for operator in [Operator::Or, Operator::And] {
                match parse_with(&text, operator) {
                    Ok(query) => drop(query.to_string()),
                    // A group without optional clauses has none to count.
                    Err(error) => {
                        assert!(error.to_string().contains("at least"), "{text}: {error}")
                    }
                }
            }
        }
    }
    let signs = "NOT ".repeat(16_000) + "a";
    assert!(parse_with(&signs, Operator::Or).is_ok());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zé東'.]{1,6}",
        "[a-c \\\\+!(){}\\[\\]^\"~*?:/&|<>=#-]{1,8}",
        Just("AND".to_string()),
        Just("http://a".to_string()),
    ]
}

fn field() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(name())
}

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(&FIELDS).prop_map(str::to_string)
}

fn operator() -> impl Strategy<Value = Operator> {
    prop_oneof![Just(Operator::Or), Just(Operator::And)]
}

#[test]
fn the_last_word_of_quotes_may_be_a_pattern() {
    let words = |text: &str| {
        let query = parse_with(text, Operator::Or).unwrap();
        match query {
            Query::PhrasePattern { text, pattern, .. } => format!("{text}|{pattern}"),
            Query::Phrase { text, .. } => text,
            other => format!("{other:?}"),
        }
    };
    for (text, expected) in [
        (r#""black for*""#, "black |for*"),
        (r#""black for* ""#, "black |for*"),
        (r#""for*""#, "|for*"),
        (r#""a b?c""#, "a |b?c"),
        (r#""a b*?""#, "a |b*?"),
        (r#""a b\*c*""#, r"a |b\*c*"),
        (r#""black for\*""#, "black for*"),
        (r#""who is it?""#, "who is it?"),
        (r#""who is it??""#, "who is it??"),
    ] {
        assert_eq!(words(text), expected.replace(r"\\", r"\"), "{text}");
    }
    check(r#"title:"a b*"~2^3"#, r#"title:"a b*"~2^3"#);
    check(r#"+"a b*" -"c d*""#, r#"+"a b*" -"c d*""#);
    check(r#""a\*b c*""#, r#""a\*b c*""#);
    check(r#"id:"a*""#, r#"id:"a\*""#);
    check_error(r#"x "a *""#, &["only a wildcard", "character 3 "]);
    check_error(r#""a *?""#, &["only a wildcard", "character 1 "]);
}

fn bound() -> impl Strategy<Value = Bound<String>> {
    prop_oneof![
        Just(Bound::Unbounded),
        text().prop_map(Bound::Included),
        text().prop_map(Bound::Excluded),
    ]
}

fn leaf() -> impl Strategy<Value = Query> {
    prop_oneof![
        Just(Query::MatchAll),
        Just(Query::MatchNone),
        (field(), text(), operator()).prop_map(|(field, text, operator)| Query::Text {
            field,
            text,
            operator
        }),
        (field(), text(), 0..3u32).prop_map(|(field, text, slop)| Query::Phrase {
            field,
            text,
            slop
        }),
        (
            field(),
            text(),
            "[a-c]([a-c%/\"]|\\\\\\\\|\\\\\\*|\\?){0,2}(\\*|\\?x)",
            0..3u32
        )
            .prop_map(|(field, text, pattern, slop)| Query::PhrasePattern {
                field,
                text: text + " ",
                pattern,
                slop
            }),
        (field(), text()).prop_map(|(field, prefix)| Query::Prefix { field, prefix }),
        (
            field(),
            "[a-c]([a-c%/]|\\\\\\\\|\\\\\\*|\\*|\\?){0,3}\\?(x|\\*)?"
        )
            .prop_map(|(field, pattern)| Query::Wildcard { field, pattern }),
        (field(), text(), proptest::option::of(0..3u8)).prop_map(|(field, text, distance)| {
            Query::Fuzzy {
                field,
                text,
                distance,
            }
        }),
        (name(), bound(), bound()).prop_map(range),
        name().prop_map(|field| Query::Exists { field }),
    ]
}

/// A range with values, of any two ends.
fn range((field, lower, upper): (String, Bound<String>, Bound<String>)) -> Query {
    let value = |bound: &Bound<String>| match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value.clone()),
        Bound::Unbounded => None,
    };
    let upper = match (value(&lower), value(&upper)) {
        (Some(least), Some(most)) if least >= most => Bound::Unbounded,
        _ => upper,
    };
    Query::Range {
        field: Some(field),
        lower,
        upper,
    }
}

fn tree() -> impl Strategy<Value = Query> {
    let some = |inner: BoxedStrategy<Query>| proptest::collection::vec(inner, 0..3);
    leaf().prop_recursive(4, 24, 6, move |inner| {
        let inner = inner.boxed();
        let lists = (
            some(inner.clone()),
            some(inner.clone()),
            some(inner.clone()),
            some(inner.clone()),
        );
        let clauses =
            (lists, 0..3u32).prop_map(|((must, should, must_not, filter), minimum)| Query::Bool {
                minimum_should_match: minimum.min(should.len() as u32),
                must,
                should,
                must_not: must_not.iter().map(unboosted).collect(),
                filter: filter.iter().map(unboosted).collect(),
            });
        let boost = (inner, 0.1..9.0f32).prop_map(|(query, factor)| Query::Boost {
            query: Box::new(query),
            factor,
        });
        prop_oneof![clauses, boost]
    })
}

/// A query that does not score as the parser has it.
fn unboosted(query: &Query) -> Query {
    match query {
        Query::Boost { query, .. } => unboosted(query),
        other => other.clone(),
    }
}

/// The shape in which the parser gives what has a shorter form.
fn shortest(query: &Query) -> Query {
    match query {
        Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match,
        } => {
            let all = |list: &[Query]| list.iter().map(shortest).collect::<Vec<_>>();
            let (must, mut should) = (all(must), all(should));
            // What stands for its lone clause may be boosted again.
            let unscored = |list| all(list).iter().map(unboosted).collect::<Vec<_>>();
            let (must_not, filter) = (unscored(must_not), unscored(filter));
            let others = must.len() + must_not.len() + filter.len();
            match (others, should.len(), minimum_should_match) {
                (0, 0, _) => Query::MatchNone,
                (0, 1, 0) => should.remove(0),
                _ => Query::Bool {
                    must,
                    should,
                    must_not,
                    filter,
                    minimum_should_match: *minimum_should_match,
                },
            }
        }
        Query::Boost { query, factor } => Query::Boost {
            query: Box::new(shortest(query)),
            factor: *factor,
        },
        leaf => leaf.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]
    #[test]
    fn what_is_printed_parses_back(query in tree()) {
        let query = shortest(&query);
        let printed = query.to_string();
        prop_assert_eq!(parse_with(&printed, Operator::Or).unwrap(), query, "{}", printed);
    }

    #[test]
    fn any_text_gives_a_query_or_an_error(text in "([a-c東 ]|AND|OR|NOT|title:|~or|[“”«»]|[\\\\+!(){}\\[\\]^\"~*?:/&|<>=#-]|2| TO |é){0,30}") {
        if let Ok(query) = parse_with(&text, Operator::Or) {
            let printed = query.to_string();
            let again = parse_with(&printed, Operator::Or).unwrap();
            prop_assert_eq!(&again, &query, "{:?} printed {}", text, printed);
        }
        let _ = parse_with(&text, Operator::And);
    }
}
