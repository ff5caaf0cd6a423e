//! Operators, signs and nesting: how clauses are joined.

use super::{check, check_and, check_error, parse_with};
use crate::search::query::Operator;

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
