//! Lexemes: the parts that the lexer makes of a query string, and its errors.

use std::ops::Bound;

use crate::base::Error;
use crate::search::query::Operator;

/// One lexeme and its bytes in the query.
#[derive(Debug)]
pub(crate) struct Lexeme {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
}

/// The kind of a lexeme. Operators and signs are so only as far as the lexer can see.
#[derive(Debug)]
pub(crate) enum Kind {
    /// `(`
    Open,
    /// `)` and what follows it directly: `~2`, `^3`.
    Close { minimum: u32, boost: Option<f32> },
    /// `+`
    Require,
    /// `-`
    Prohibit,
    /// `NOT` or `!`
    Not,
    /// `#` before a parenthesis.
    Filter,
    /// `AND` or `&&`
    And,
    /// `OR` or `||`
    Or,
    /// The name of a field and its colon.
    Field(String),
    /// A word, phrase or range, and its boost.
    Operand(Operand, Option<f32>),
}

/// A query by itself, but for its field.
#[derive(Debug, PartialEq)]
pub(crate) enum Operand {
    /// `*:*`
    Everything,
    /// `*`
    Anything,
    Word(String),
    /// The parts of a word, joined by `~and` or `~or`.
    Parts {
        text: String,
        operator: Operator,
    },
    Phrase {
        text: String,
        slop: u32,
    },
    /// A phrase whose last word is a pattern.
    PhrasePattern {
        text: String,
        pattern: String,
        slop: u32,
    },
    Prefix(String),
    Wildcard(String),
    Fuzzy {
        text: String,
        distance: Option<u8>,
    },
    Range(Bound<String>, Bound<String>),
    /// The values behind `:=`.
    OneOf(Vec<String>),
}

impl Lexeme {
    /// Returns true if it counts towards the limit of clauses.
    pub fn is_clause(&self) -> bool {
        matches!(self.kind, Kind::Operand(..) | Kind::Open)
    }
}

/// The pretended field of `_exists_:name`.
pub(crate) const EXISTS: &str = "_exists_";

/// The error that `what` is wrong at byte `at`.
pub(crate) fn invalid(what: &str, text: &str, at: usize, advice: &str) -> Error {
    let character = character(text, at);
    Error::invalid(format!(
        "{what} at character {character} of the query: {advice}"
    ))
}

/// The number of the character at byte `at`, counted from 1.
pub(crate) fn character(text: &str, at: usize) -> usize {
    let before = text.char_indices().take_while(|(begin, _)| *begin < at);
    before.count() + 1
}
