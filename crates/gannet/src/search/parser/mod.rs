//! The query language that people write.
//!
//! What can be written is told at [`Snapshot::parse`](crate::index::Snapshot::parse).
//!
//! The lexer cuts the text flatly, operators that cannot be any become text, limits and balance are checked on
//! the lexemes, and only then the grammar recurses, at most [`MAX_DEPTH`] deep. The grammar cannot fail: all errors are raised before it.

mod chunk;
mod grammar;
mod lexer;

use super::query::{Operator, Query};
use crate::base::{Error, Result};
use lexer::{Kind, Lexeme};

/// The longest query in bytes.
pub const MAX_QUERY_BYTES: usize = 64 << 10;

/// The most parentheses that can be open at once.
pub const MAX_DEPTH: usize = 32;

/// The most words, phrases, ranges and parentheses in one query.
pub const MAX_CLAUSES: usize = 1024;

/// Parses a query.
///
/// `operator` joins clauses that nothing else joins, and the terms of one word; `is_field` says whether a field
/// is called so. Errors say what is wrong, at which character (counted from 1), and what to do about it.
pub fn parse(text: &str, operator: Operator, is_field: &dyn Fn(&str) -> bool) -> Result<Query> {
    if text.len() > MAX_QUERY_BYTES {
        return Err(Error::invalid(format!(
            "the query has {} bytes, the limit is {MAX_QUERY_BYTES}: ask for less, or in several queries",
            text.len()
        )));
    }
    let mut lexemes = lexer::lexemes(text, is_field)?;
    grammar::settle(text, &mut lexemes);
    check_nesting(text, &lexemes)?;
    check_clauses(text, &lexemes)?;
    Ok(grammar::query(lexemes, operator))
}

fn check_nesting(text: &str, lexemes: &[Lexeme]) -> Result<()> {
    let mut open = Vec::new();
    for lexeme in lexemes {
        match lexeme.kind {
            Kind::Open if open.len() == MAX_DEPTH => {
                let advice = format!("write the query with at most {MAX_DEPTH}");
                return Err(invalid(
                    "too many nested parentheses",
                    text,
                    lexeme.start,
                    &advice,
                ));
            }
            Kind::Open => open.push(lexeme.start),
            Kind::Close { .. } if open.pop().is_none() => {
                return Err(invalid(
                    "nothing for ')' to close",
                    text,
                    lexeme.start,
                    "remove it or write \\)",
                ));
            }
            _ => {}
        }
    }
    match open.pop() {
        Some(at) => Err(invalid(
            "'(' is not closed",
            text,
            at,
            "add ')' or write \\(",
        )),
        None => Ok(()),
    }
}

fn check_clauses(text: &str, lexemes: &[Lexeme]) -> Result<()> {
    let mut clauses = lexemes.iter().filter(|lexeme| lexeme.is_clause());
    match clauses.nth(MAX_CLAUSES) {
        Some(lexeme) => {
            let advice =
                format!("ask for at most {MAX_CLAUSES} words, phrases, ranges and parentheses");
            Err(invalid("too many clauses", text, lexeme.start, &advice))
        }
        None => Ok(()),
    }
}

/// The error that `what` is wrong at byte `at`.
fn invalid(what: &str, text: &str, at: usize, advice: &str) -> Error {
    let character = text[..at].chars().count() + 1;
    Error::invalid(format!(
        "{what} at character {character} of the query: {advice}"
    ))
}

#[cfg(test)]
mod tests;
