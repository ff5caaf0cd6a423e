//! Prints a query as the query language.
//!
//! Parsing what was printed (with OR as the operator, and all its fields known) gives the same
//! query. Exceptions are trees that the language has a shorter form for:
//! - a lone `should` clause is its query, and no clauses at all are no document;
//! - fewer `should` clauses than must match are an error;
//! - a regular expression prints between slashes, which the language does not read;
//! - a phrase whose last word stands for the first terms prints their number behind a bar;
//! - an empty text prints as an empty phrase;
//! - a pattern that every term fits prints as `*:*`, or `field:*`;
//! - a pattern that only ends in `*` prints as a prefix;
//! - a pattern at the end of quotes that only ends in `?` prints as text, and one without letters
//!   as what is an error;
//! - a pattern without letters and digits is text;
//! - of a tree that is too deep to be searched for only that is said.

use std::fmt::{self, Display, Formatter, Write};

use super::parser::has_wildcard_in_quotes;
use super::{DEPTH_MAX, PatternPart, Query, pattern_parts};

impl Display for Query {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.check_depth() {
            Ok(()) => print(self, out),
            Err(_) => write!(out, "(a query nested more than {DEPTH_MAX} deep)"),
        }
    }
}

/// The neighbour of a query that is printed as one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// `#` before it, which is a sign only before a parenthesis.
    FilterSign,
    /// Other clauses around it, or another sign before it.
    Clauses,
    /// `^` and a number behind it.
    Boost,
}

/// Prints a query that may stand alone.
fn print(query: &Query, out: &mut Formatter<'_>) -> fmt::Result {
    query.as_kind(|kind| kind.print_alone(out))
}

/// Prints `query` as one operand, in parentheses where it needs them.
pub(crate) fn print_beside(query: &Query, beside: Beside, out: &mut Formatter<'_>) -> fmt::Result {
    query.as_kind(|kind| {
        if !kind.is_enclosed(beside) {
            return kind.print(out);
        }
        out.write_char('(')?;
        kind.print_alone(out)?;
        out.write_char(')')
    })
}

/// Prints a pattern that every term fits.
pub(crate) fn print_all(field: Option<&str>, out: &mut Formatter<'_>) -> fmt::Result {
    match field {
        None => out.write_str("*:*"),
        Some(name) => {
            escape(name, out)?;
            out.write_str(":*")
        }
    }
}

pub(crate) fn print_field(field: Option<&str>, out: &mut Formatter<'_>) -> fmt::Result {
    match field {
        None => Ok(()),
        Some(name) => {
            escape(name, out)?;
            out.write_char(':')
        }
    }
}

pub(crate) fn print_word(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    match text {
        "" => return out.write_str("\"\""),
        "AND" | "OR" | "NOT" => out.write_char('\\')?,
        _ => {}
    }
    escape(text, out)
}

/// Prints `text` with a backslash before everything that could be read as anything but text.
pub(crate) fn escape(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if character.is_whitespace() || "\\+-&|!(){}[]^\"~*?:/<>=#“”„«»".contains(character)
        {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    Ok(())
}

pub(crate) fn print_pattern(pattern: &str, out: &mut Formatter<'_>) -> fmt::Result {
    for part in pattern_parts(pattern) {
        match part {
            PatternPart::Many => out.write_char('*')?,
            PatternPart::One => out.write_char('?')?,
            PatternPart::Literal(character) => escape(character.encode_utf8(&mut [0; 4]), out)?,
        }
    }
    Ok(())
}

pub(crate) fn print_slop(slop: u32, out: &mut Formatter<'_>) -> fmt::Result {
    match slop {
        0 => Ok(()),
        slop => write!(out, "~{slop}"),
    }
}

pub(crate) fn print_quoted(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    print_in_quotes(text, has_wildcard_in_quotes(text), out)?;
    out.write_char('"')
}

/// Prints text that stands in quotes. `?` has a backslash if it would be a wildcard.
pub(crate) fn print_in_quotes(
    text: &str,
    is_wildcard: bool,
    out: &mut Formatter<'_>,
) -> fmt::Result {
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '*') || character == '?' && is_wildcard {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    Ok(())
}

pub(crate) fn print_pattern_in_quotes(pattern: &str, out: &mut Formatter<'_>) -> fmt::Result {
    for part in pattern_parts(pattern) {
        match part {
            PatternPart::Many => out.write_char('*')?,
            PatternPart::One => out.write_char('?')?,
            PatternPart::Literal(one) => print_in_quotes(one.encode_utf8(&mut [0; 4]), true, out)?,
        }
    }
    Ok(())
}
