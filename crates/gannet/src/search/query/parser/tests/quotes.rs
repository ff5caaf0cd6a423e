//! Text in quotes, whose last word may be a pattern.

use super::{check, check_error, parse_with};
use crate::search::query::{Operator, Query};

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
    check(r#""http://x a\?b""#, r#""http://x a\?b""#);
    check(r#""a\?b http://x/a?b""#, r#""a?b http://x/a?b""#);
    check_error(r#"x "a *""#, &["only a wildcard", "character 3 "]);
    check_error(r#""a *?""#, &["only a wildcard", "character 1 "]);
}
