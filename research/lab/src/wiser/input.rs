//! The tokens of a corpus, sorted by term: what lists are made of.

use std::collections::HashMap;
use std::io::BufRead;
use std::ops::Range;

use gannet::{Analyzer, Scratch};

use crate::Outcome;

/// The field of the words.
const FIELD: &str = "body";

/// A term, by the order of its first occurrence.
pub type TermNumber = u32;

/// One occurrence of a term.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The term.
    pub term: TermNumber,
    /// The document, by the order of lines.
    pub doc: u32,
    /// The ordinal in the document. Punctuation takes one too, so that no phrase goes over it.
    pub position: u32,
    /// Where it starts in the text, in bytes.
    pub start: u32,
    /// Its bytes in the text.
    pub length: u16,
}

/// All tokens of a corpus.
#[derive(Default)]
pub struct Collection {
    /// The letters of each term.
    pub terms: Vec<Box<str>>,
    /// The tokens in the order of the text.
    pub tokens: Vec<Token>,
    /// Tokens of each document.
    pub lengths: Vec<u32>,
    /// The numbers of the tokens, sorted by term.
    order: Vec<u32>,
    /// Where each term ends in `order`.
    ends: Vec<usize>,
}

impl Collection {
    /// Reads JSON lines and gives each text to `store`.
    pub fn read(
        lines: impl BufRead,
        mut store: impl FnMut(&str) -> Outcome,
    ) -> Outcome<Collection> {
        let mut collection = Collection::default();
        let mut numbers = HashMap::new();
        for line in lines.lines() {
            let document: serde_json::Value = serde_json::from_str(&line?)?;
            let text = document[FIELD].as_str().unwrap_or("");
            store(text)?;
            collection.add(text, &mut numbers);
        }
        collection.sort();
        Ok(collection)
    }

    fn add(&mut self, text: &str, numbers: &mut HashMap<Box<str>, TermNumber>) {
        let (doc, before) = (self.lengths.len() as u32, self.tokens.len());
        let (mut position, mut end) = (0, 0);
        Analyzer::default().analyze(text, &mut Scratch::default(), |token| {
            let term = numbers.get(token.text).copied().unwrap_or_else(|| {
                let number = self.terms.len() as TermNumber;
                self.terms.push(token.text.into());
                numbers.insert(token.text.into(), number);
                number
            });
            let is_apart = text[end..token.start]
                .chars()
                .any(|letter| !letter.is_whitespace());
            position += 1 + u32::from(is_apart);
            end = token.end;
            self.tokens.push(Token {
                term,
                doc,
                position,
                start: token.start as u32,
                length: (token.end - token.start) as u16,
            });
        });
        self.lengths.push((self.tokens.len() - before) as u32);
    }

    /// Sorts by counting.
    fn sort(&mut self) {
        let mut starts = vec![0; self.terms.len() + 1];
        for token in &self.tokens {
            starts[token.term as usize + 1] += 1;
        }
        for term in 0..self.terms.len() {
            starts[term + 1] += starts[term];
        }
        self.order = vec![0; self.tokens.len()];
        self.ends = starts.clone();
        for (number, token) in (0..).zip(&self.tokens) {
            let place = &mut self.ends[token.term as usize];
            self.order[*place] = number;
            *place += 1;
        }
    }

    /// The numbers of the tokens of a term, document by document.
    pub fn postings(&self, term: TermNumber) -> impl Iterator<Item = &[u32]> {
        let end = self.ends[term as usize];
        let start = term
            .checked_sub(1)
            .map_or(0, |before| self.ends[before as usize]);
        let doc = |number: &u32| self.tokens[*number as usize].doc;
        self.order[start..end].chunk_by(move |one, other| doc(one) == doc(other))
    }

    /// The term that stands right before or behind a token, if any does.
    pub fn neighbour(&self, number: u32, is_behind: bool) -> Option<TermNumber> {
        let number = number as usize;
        let Range { start, end } = if is_behind {
            number..number + 1
        } else {
            number.checked_sub(1)?..number
        };
        let (one, other) = (self.tokens.get(start)?, self.tokens.get(end)?);
        let follows = one.doc == other.doc && one.position + 1 == other.position;
        follows.then_some(if is_behind { other.term } else { one.term })
    }
}
