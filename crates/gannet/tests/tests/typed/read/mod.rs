//! Reads a text of the query language, by the documented grammar and with code of its own.
//!
//! It only says what a text means or that it has no meaning. `find` tells which documents the words
//! of a text find. A text becomes pieces, tokens and a tree, in this order.

mod grammar;
mod joining;
mod pieces;
mod tokens;
mod words;

use gannet::Operator;

use grammar::Reader;
pub use pieces::{Piece, text_of};
use tokens::{Token, Tokenizer, settled};

/// The meaning of a text.
#[derive(Clone, Debug)]
pub enum Node {
    Everything,
    Nothing,
    Exists(String),
    Leaf {
        field: Option<String>,
        leaf: Leaf,
    },
    Bool {
        must: Vec<Node>,
        should: Vec<Node>,
        must_not: Vec<Node>,
        minimum: usize,
    },
}

/// A query by itself, but for its field.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// A written word, of which `all` says whether all parts of a long run of CJK must match.
    Word {
        text: String,
        all: bool,
    },
    /// The parts of a word in any order: all of them, or any.
    Parts {
        text: String,
        all: bool,
    },
    Phrase {
        text: String,
        slop: u32,
    },
    /// A pattern, in quotes or not, of which only the last word may have wildcards.
    Pattern {
        pieces: Vec<Piece>,
        slop: u32,
        quoted: bool,
    },
    Fuzzy {
        text: String,
        distance: Option<u8>,
    },
}

/// The reason for which a text has no meaning.
pub type Wrong = &'static str;

/// Reads a text; `operator` joins what nothing else joins.
pub fn read(text: &str, operator: Operator, fields: &[&str]) -> Result<Node, Wrong> {
    let tokens = settled(Tokenizer::new(text, fields).tokens()?)?;
    let is_known = |name: &str| fields.contains(&name) || name == "_exists_";
    let mut names = tokens.iter().filter_map(|token| match token {
        Token::Field { name, .. } => Some(name),
        _ => None,
    });
    if names.any(|name| !is_known(name)) {
        return Err("a field that does not exist");
    }
    Reader::new(tokens, operator, fields).read()
}
