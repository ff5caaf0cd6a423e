//! The query language that people write.
//!
//! ```text
//! query       = { disjunction }
//! disjunction = conjunction { ( "OR" | "||" ) conjunction }
//! conjunction = clause { ( "AND" | "&&" ) clause }
//! clause      = { "NOT" | "!" | "-" | "+" | "#" } primary
//! primary     = [ field ":" ] ( group | operand ) [ "^" boost ]
//! group       = "(" query ")" [ "~" minimum ]
//! operand     = words | pattern | fuzzy | quoted | range | all
//! words       = word [ "~and" | "~or" ]
//! pattern     = pref* | w?ldc*rd
//! fuzzy       = word "~" [ "0" | "1" | "2" ]
//! quoted      = '"' { word } [ pattern ] '"' [ "~" slop ]
//! range       = ( "[" | "{" ) low "TO" high ( "]" | "}" )
//!             | ( ">" | ">=" | "<" | "<=" | "=" ) value
//!             | "=(" value { value } ")"
//! all         = "*:*" | "*"
//! ```
//!
//! Clauses side by side bind loosest. `#` is a sign only before a parenthesis. `*` stands alone as
//! the whole query, for all documents, or as the whole value of a field, for all that have it.
//! `word~and` and `word~or` are the parts of a word, in any order.
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
//! A word that an analyzer cuts (`wi-fi`) is its parts in a row, as in quotes, in each field by its
//! analyzer; `word` has what ideographs and kana are. Typographic quotes are quotes.
//!
//! A name before a colon is a field, and an error if there is none; `chunk` has the exceptions.
//! A sign that nothing follows directly is text (`C++`, `a - b`). `id:17` is an external ID. A
//! backslash makes the next character ordinary, and stands for itself before a letter or digit. A
//! `?` that ends the query behind another word is punctuation, and a note says so.
//!
//! Anything without a meaning is an error, never text that is searched for instead. Such are AND,
//! OR or NOT with nothing on one side, a `*` that stands alone or beside a quote, and a range
//! without values. So is a boost that is no number above 0 or stands where nothing scores, and a
//! fuzzy distance above 2. Syntax of other languages that this one lacks, as `price>5` and
//! `/hel.*/`, is an error too (`mistakes`).
//!
//! The lexer cuts the text flatly. Limits, balance and fields are checked on the lexemes, and that
//! operators have something to act on. Only then the grammar recurses, at most [`MAX_DEPTH`] deep.

mod chunk;
mod grammar;
mod lexeme;
mod lexer;
mod mistakes;
mod parsed;
mod plain;
mod scan;
mod settle;
mod word;

pub(crate) use chunk::has_wildcard_in_quotes;
pub use parsed::Parsed;
pub use plain::parse_plain;

use self::lexeme::EXISTS;
use self::lexeme::Kind;
use self::lexeme::Lexeme;
use self::lexeme::invalid;
use self::lexer::Lexemes;
use self::parsed::{MAX_CLAUSES, MAX_DEPTH, check_length};
use super::fields::{is_known, proposal, shown};
use super::{Operator, Query};
use crate::analysis::Schema;
use crate::base::Result;

/// Parses a query.
///
/// `operator` joins clauses that nothing else joins, and the terms of one word; `schema` has the
/// fields. Errors say what is wrong, at which character (counted from 1), and what to do about it.
pub fn parse(text: &str, operator: Operator, schema: &Schema) -> Result<Query> {
    Ok(parse_noting(text, operator, schema)?.query)
}

/// The same with notes.
pub fn parse_noting(text: &str, operator: Operator, schema: &Schema) -> Result<Parsed> {
    check_length(text)?;
    let Lexemes { mut lexemes, notes } = lexer::lexemes(text, schema)?;
    settle::settle(text, &mut lexemes)?;
    check_nesting(text, &lexemes)?;
    check_clauses(text, &lexemes)?;
    check_fields(text, &lexemes, schema)?;
    let query = grammar::query(text, lexemes, operator, schema)?;
    Ok(Parsed { query, notes })
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
