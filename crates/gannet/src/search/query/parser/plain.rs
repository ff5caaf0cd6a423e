//! Text without any syntax: its words, whatever signs are in it.
//!
//! Any text is a query, which asks for nothing where there is no word. Of very many words the first
//! are asked for, and a note says so.

use super::parsed::{MAX_CLAUSES, Parsed};
use super::word::{bool_query, leaves, word};
use crate::analysis::{Analyzer, Schema, Scratch};
use crate::search::query::{LEAVES_MAX, Operator, Query};

/// The most characters that are taken as one word: a phrase has a limit.
const WORD_CHARACTERS: usize = 512;

/// The words of `text`, joined by `operator`.
pub fn parse_plain(text: &str, operator: Operator, schema: &Schema) -> Parsed {
    let mut room = WordsLeft::of(schema);
    let mut clauses = Vec::new();
    for written in text.split_whitespace().flat_map(cut) {
        let clause = word(written.to_owned(), None, operator, schema).optional();
        if !room.takes(&clause) {
            let note = format!("only the first {} words are searched for", clauses.len());
            return parsed(clauses, operator, vec![note]);
        }
        clauses.push(clause);
    }
    parsed(clauses, operator, Vec::new())
}

/// The clauses and terms that a query may still have.
struct WordsLeft {
    clauses: usize,
    /// Terms over all fields.
    terms: usize,
    /// The analyzers, each with the number of its fields.
    analyzers: Vec<(Analyzer, usize)>,
    scratch: Scratch,
}

impl WordsLeft {
    fn of(schema: &Schema) -> WordsLeft {
        let mut analyzers: Vec<(Analyzer, usize)> = Vec::new();
        for field in schema.asked_without_name() {
            match analyzers.iter_mut().find(|one| one.0 == field.analyzer) {
                Some((_, count)) => *count += 1,
                None => analyzers.push((field.analyzer, 1)),
            }
        }
        WordsLeft {
            clauses: MAX_CLAUSES,
            terms: LEAVES_MAX,
            analyzers,
            scratch: Scratch::default(),
        }
    }

    /// Takes the room that a clause needs, if it is there.
    fn takes(&mut self, clause: &Query) -> bool {
        let clauses = self.clauses.checked_sub(leaves(clause));
        let terms = self.terms.checked_sub(self.terms_of(clause));
        let (Some(clauses), Some(terms)) = (clauses, terms) else {
            return false;
        };
        (self.clauses, self.terms) = (clauses, terms);
        true
    }

    /// The terms that a query of words has over all fields.
    fn terms_of(&mut self, query: &Query) -> usize {
        let (Query::Text { text, .. } | Query::Phrase { text, .. }) = query else {
            return query.children().map(|child| self.terms_of(child)).sum();
        };
        let mut all = 0;
        for (analyzer, fields) in &self.analyzers {
            analyzer.analyze(text, &mut self.scratch, |_| all += fields);
        }
        all
    }
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
