//! Text without any syntax: its words, whatever signs are in it.
//!
//! Any text within the limit of length is a query, which asks for nothing where there is no word.
//! Of very many words the first are asked for, and a note says so.

use super::parsed::{MAX_CLAUSES, Parsed, check_length};
use super::word::{bool_query, leaves, word};
use crate::analysis::Schema;
use crate::base::Result;
use crate::search::query::{Operator, Query};

/// The most characters that are taken as one word: a phrase has a limit.
const WORD_CHARACTERS: usize = 512;

/// The words of `text`, joined by `operator`.
pub fn parse_plain(text: &str, operator: Operator, schema: &Schema) -> Result<Parsed> {
    check_length(text)?;
    let mut clauses = Vec::new();
    let mut room = MAX_CLAUSES;
    for written in text.split_whitespace().flat_map(cut) {
        let clause = word(written.to_owned(), None, operator, schema).optional();
        let Some(left) = room.checked_sub(leaves(&clause)) else {
            let note = format!("only the first {} words are searched for", clauses.len());
            return Ok(parsed(clauses, operator, vec![note]));
        };
        room = left;
        clauses.push(clause);
    }
    Ok(parsed(clauses, operator, Vec::new()))
}

/// A word in pieces that are not too long.
fn cut(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(WORD_CHARACTERS);
        let (piece, left) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

fn parsed(mut clauses: Vec<Query>, operator: Operator, notes: Vec<String>) -> Parsed {
    let query = match clauses.len() {
        0 => Query::MatchNone,
        1 => clauses.remove(0),
        _ => bool_query(clauses, operator),
    };
    Parsed { query, notes }
}
