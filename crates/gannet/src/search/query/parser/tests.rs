//! The query language by examples, and a property: what is printed parses back.

mod fields;
mod marks;
mod mistakes;
mod operands;
mod operators;
mod plain;
mod printing;
mod quotes;
mod ranges;

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
