//! Stars and question marks: wildcards, all documents, punctuation.

use super::{check, check_error, schema};
use crate::search::query::Operator;
use crate::search::query::parser::parse_noting;

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
        ("\\OR*(a)", 4),
        ("\\OR”*(a)", 5),
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
