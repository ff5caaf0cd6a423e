//! The query language that people write.
//!
//! ```text
//! query       = { disjunction }                      side by side, the loosest
//! disjunction = conjunction { ( "OR" | "||" ) conjunction }
//! conjunction = clause { ( "AND" | "&&" ) clause }
//! clause      = { "NOT" | "!" | "-" | "+" | "#" } primary    "#" only before a parenthesis
//! primary     = [ field ":" ] ( operand | "(" query ")" [ "~" number ] ) [ "^" boost ]
//! operand     = word | prefix* | w?ldc*rd | word~[0|1|2] | word~and | "phrase" [ "~" slop ]
//!             | "[" a "TO" b "]" | "{" a "TO" b "}" | ( ">" | ">=" | "<" | "<=" ) a | "*" | "*:*"
//! ```
//!
//! AND, OR and NOT are Boolean logic: NOT binds tightest, then AND, then OR. Clauses side by side
//! are joined by the operator of the call, and the signs hold for all of them: `+a` must match,
//! `-a` and `NOT a` must not, `#(a)` must match without a score, all others are optional where one
//! of them must match. So `a NOT b` is "a without b", and `a OR NOT b` is "a, or whatever has no
//! b". `NOT NOT a` is `a`, `NOT a` alone is all others.
//!
//! Lucene's classic parser knows only signs, and reads `a OR NOT b` as "a without b". Where the two
//! readings can be confused, parentheses are asked for: `a NOT b OR c` and `+a OR b` are errors.
//!
//! A name before a colon is a field, and an error if there is none; `chunk` has the exceptions.
//! A sign that nothing follows directly is text (`C++`, `a - b`). `id:17` is an external ID.
//!
//! What has no meaning is an error, never text that is searched for instead. Such are AND, OR or
//! NOT with nothing on one side, and a range without values. So is a boost that is no number above
//! 0 or stands where nothing scores, and a fuzzy distance above 2.
//!
//! The lexer cuts the text flatly. Limits, balance and fields are checked on the lexemes, and that
//! operators have something to act on. Only then the grammar recurses, at most [`MAX_DEPTH`] deep.

mod chunk;
mod grammar;
mod lexeme;
mod lexer;
mod settle;

use self::lexeme::EXISTS;
use self::lexeme::Kind;
use self::lexeme::Lexeme;
use self::lexeme::invalid;
use super::fields::{is_known, proposal, shown};
use super::{Operator, Query};
use crate::analysis::Schema;
use crate::base::{Error, Result};

/// The longest query in bytes.
pub const MAX_QUERY_BYTES: usize = 64 << 10;

/// The most parentheses that can be open at once.
pub const MAX_DEPTH: usize = 32;

/// The most words, phrases, ranges and parentheses in one query.
pub const MAX_CLAUSES: usize = 1024;

/// Parses a query.
///
/// `operator` joins clauses that nothing else joins, and the terms of one word; `schema` has the
/// fields. Errors say what is wrong, at which character (counted from 1), and what to do about it.
pub fn parse(text: &str, operator: Operator, schema: &Schema) -> Result<Query> {
    if text.len() > MAX_QUERY_BYTES {
        return Err(Error::invalid(format!(
            "the query has {} bytes, the limit is {MAX_QUERY_BYTES}: ask for less, or in several queries",
            text.len()
        )));
    }
    let mut lexemes = lexer::lexemes(text, schema)?;
    settle::settle(text, &mut lexemes)?;
    check_nesting(text, &lexemes)?;
    check_clauses(text, &lexemes)?;
    check_fields(text, &lexemes, schema)?;
    grammar::query(text, lexemes, operator, schema)
}

fn check_fields(text: &str, lexemes: &[Lexeme], schema: &Schema) -> Result<()> {
    let unknown = lexemes.iter().find_map(|lexeme| match &lexeme.kind {
        Kind::Field(name) if name != EXISTS && !is_known(name, schema) => Some((lexeme, name)),
        _ => None,
    });
    let Some((lexeme, name)) = unknown else {
        return Ok(());
    };
    let what = format!("there is no field {}", shown(name));
    let proposal = proposal(name, schema);
    let advice = format!("{proposal}; a colon that is text is written \\: or in quotes");
    Err(invalid(&what, text, lexeme.start, &advice))
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

#[cfg(test)]
mod tests;
