//! Prints a query as the query language.
//!
//! Parsing what was printed (with OR as the operator, and all its fields known) gives the same
//! query. Exceptions are trees that the language has a shorter form for:
//! - a lone `should` clause is its query, and no clauses at all are no document;
//! - fewer `should` clauses than must match are an error;
//! - an empty text prints as an empty phrase;
//! - a pattern that every term fits prints as `*:*`, or `field:*`;
//! - a pattern that only ends in `*` prints as a prefix;
//! - a pattern at the end of quotes that only ends in `?` prints as text, and one without letters
//!   as what is an error;
//! - a pattern without letters and digits is text;
//! - of a tree that is too deep to be searched for only that is said.

use std::fmt::{self, Display, Formatter, Write};
use std::ops::Bound;

use super::parser::has_wildcard_in_quotes;
use super::words::is_single;
use super::{DEPTH_MAX, Operator, PatternPart, Query, pattern_parts};

impl Display for Query {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.check_depth() {
            Ok(()) => print(self, out),
            Err(_) => write!(out, "(a query nested more than {DEPTH_MAX} deep)"),
        }
    }
}

/// Prints a query that may stand alone.
fn print(query: &Query, out: &mut Formatter<'_>) -> fmt::Result {
    match query {
        Query::Bool {
            minimum_should_match: 0,
            ..
        } if query.children().next().is_some() => clauses(query, out),
        _ => operand(query, out),
    }
}

/// Prints a query in parentheses.
fn enclosed(query: &Query, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_char('(')?;
    print(query, out)?;
    out.write_char(')')
}

/// Prints `query` so that it is one operand, in parentheses where it needs them.
fn operand(query: &Query, out: &mut Formatter<'_>) -> fmt::Result {
    match query {
        Query::Bool {
            minimum_should_match,
            ..
        } => {
            out.write_char('(')?;
            clauses(query, out)?;
            out.write_char(')')?;
            match minimum_should_match {
                0 => Ok(()),
                minimum => write!(out, "~{minimum}"),
            }
        }
        Query::Boost { query, factor } => {
            match **query {
                Query::Boost { .. } => enclosed(query, out)?,
                _ => operand(query, out)?,
            }
            write!(out, "^{factor}")
        }
        leaf => print_leaf(leaf, out),
    }
}

fn clauses(query: &Query, out: &mut Formatter<'_>) -> fmt::Result {
    let Query::Bool {
        must,
        should,
        must_not,
        filter,
        ..
    } = query
    else {
        return Ok(());
    };
    let mut separator = "";
    for (sign, clauses) in [("+", must), ("#", filter), ("", should), ("-", must_not)] {
        for clause in clauses {
            write!(out, "{separator}{sign}")?;
            separator = " ";
            match (sign, clause) {
                // The sign of a filter is one only before a parenthesis.
                ("#", clause) if !matches!(clause, Query::Bool { .. }) => enclosed(clause, out)?,
                // At the end of a query a `?` behind other words would be a mark.
                (_, Query::Wildcard { pattern, .. }) if ends_with_one(pattern) => {
                    enclosed(clause, out)?
                }
                _ => operand(clause, out)?,
            }
        }
    }
    Ok(())
}

fn print_leaf(query: &Query, out: &mut Formatter<'_>) -> fmt::Result {
    match query {
        Query::MatchAll => out.write_str("*:*"),
        Query::Text {
            field,
            text,
            operator,
        } => {
            print_field(field, out)?;
            print_word(text, out)?;
            out.write_str(match operator {
                // Of a single word the parser makes a text.
                Operator::Or if is_single(text) => "",
                _ if text.is_empty() => "",
                Operator::Or => "~or",
                Operator::And => "~and",
            })
        }
        Query::Phrase { field, text, slop } => {
            print_field(field, out)?;
            print_quoted(text, out)?;
            print_slop(*slop, out)
        }
        Query::PhrasePattern {
            field,
            text,
            pattern,
            slop,
        } => {
            print_field(field, out)?;
            out.write_char('"')?;
            print_in_quotes(text, true, out)?;
            print_pattern_in_quotes(pattern, out)?;
            out.write_char('"')?;
            print_slop(*slop, out)
        }
        Query::Prefix { field, prefix } if prefix.is_empty() => print_all(field, out),
        Query::Wildcard { field, pattern } if pattern.chars().all(|one| one == '*') => {
            print_all(field, out)
        }
        Query::Prefix { field, prefix } => {
            print_field(field, out)?;
            escape(prefix, out)?;
            out.write_char('*')
        }
        Query::Wildcard { field, pattern } => {
            print_field(field, out)?;
            print_pattern(pattern, out)
        }
        Query::Fuzzy {
            field,
            text,
            distance,
        } => {
            print_field(field, out)?;
            print_word(text, out)?;
            out.write_char('~')?;
            distance.map_or(Ok(()), |distance| write!(out, "{distance}"))
        }
        Query::Range {
            field,
            lower,
            upper,
        } => {
            print_field(field, out)?;
            print_range(lower, upper, out)
        }
        Query::Exists { field } => {
            escape(field, out)?;
            out.write_str(":*")
        }
        // Trees were printed above; what is left is nothing.
        _ => out.write_str("()"),
    }
}

/// Prints a pattern that every term fits.
fn print_all(field: &Option<String>, out: &mut Formatter<'_>) -> fmt::Result {
    match field {
        None => out.write_str("*:*"),
        Some(name) => {
            escape(name, out)?;
            out.write_str(":*")
        }
    }
}

fn ends_with_one(pattern: &str) -> bool {
    pattern_parts(pattern).last() == Some(PatternPart::One)
}

fn print_field(field: &Option<String>, out: &mut Formatter<'_>) -> fmt::Result {
    match field {
        None => Ok(()),
        Some(name) => {
            escape(name, out)?;
            out.write_char(':')
        }
    }
}

fn print_word(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    match text {
        "" => return out.write_str("\"\""),
        "AND" | "OR" | "NOT" => out.write_char('\\')?,
        _ => {}
    }
    escape(text, out)
}

/// Prints `text` with a backslash before everything that could be read as anything but text.
fn escape(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if character.is_whitespace() || "\\+-&|!(){}[]^\"~*?:/<>=#“”„«»".contains(character)
        {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    Ok(())
}

fn print_pattern(pattern: &str, out: &mut Formatter<'_>) -> fmt::Result {
    for part in pattern_parts(pattern) {
        match part {
            PatternPart::Many => out.write_char('*')?,
            PatternPart::One => out.write_char('?')?,
            PatternPart::Literal(character) => escape(character.encode_utf8(&mut [0; 4]), out)?,
        }
    }
    Ok(())
}

fn print_slop(slop: u32, out: &mut Formatter<'_>) -> fmt::Result {
    match slop {
        0 => Ok(()),
        slop => write!(out, "~{slop}"),
    }
}

fn print_quoted(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    print_in_quotes(text, has_wildcard_in_quotes(text), out)?;
    out.write_char('"')
}

/// Prints text that stands in quotes. `?` has a backslash if it would be a wildcard.
fn print_in_quotes(text: &str, is_wildcard: bool, out: &mut Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '*') || character == '?' && is_wildcard {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    Ok(())
}

fn print_pattern_in_quotes(pattern: &str, out: &mut Formatter<'_>) -> fmt::Result {
    for part in pattern_parts(pattern) {
        match part {
            PatternPart::Many => out.write_char('*')?,
            PatternPart::One => out.write_char('?')?,
            PatternPart::Literal(one) => print_in_quotes(one.encode_utf8(&mut [0; 4]), true, out)?,
        }
    }
    Ok(())
}

fn print_range(
    lower: &Bound<String>,
    upper: &Bound<String>,
    out: &mut Formatter<'_>,
) -> fmt::Result {
    out.write_char(match lower {
        Bound::Excluded(_) => '{',
        _ => '[',
    })?;
    print_bound(lower, out)?;
    out.write_str(" TO ")?;
    print_bound(upper, out)?;
    out.write_char(match upper {
        Bound::Excluded(_) => '}',
        _ => ']',
    })
}

fn print_bound(bound: &Bound<String>, out: &mut Formatter<'_>) -> fmt::Result {
    match bound {
        Bound::Unbounded => out.write_char('*'),
        Bound::Included(value) | Bound::Excluded(value) => print_quoted(value, out),
    }
}
