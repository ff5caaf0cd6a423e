//! A corpus as numbers: every document a row of term numbers, and the document frequency of each
//! term.
//!
//! Words are those of the analyzer `standard`, so a term here is a term of the index. A query may
//! only hold words of ASCII letters and digits: no two engines differ about those. Memory: four
//! bytes a token and the vocabulary.

use std::collections::HashMap;
use std::io::BufRead;

use gannet::{Analyzer, Scratch};

use crate::Outcome;

/// A term, by the order of its first occurrence.
pub type TermNumber = u32;

/// The words of one field of all documents.
pub struct Corpus {
    texts: Vec<Box<str>>,
    frequencies: Vec<u32>,
    tokens: Vec<TermNumber>,
    /// Where each document ends in `tokens`.
    ends: Vec<usize>,
}

impl Corpus {
    /// Reads JSON lines; documents without the field count as empty.
    pub fn read(lines: impl BufRead, field: &str) -> Outcome<Corpus> {
        let mut reader = Reader::default();
        for line in lines.lines() {
            let document: serde_json::Value = serde_json::from_str(&line?)?;
            reader.add(document[field].as_str().unwrap_or(""));
        }
        Ok(reader.corpus)
    }

    /// How many documents there are.
    pub fn documents(&self) -> usize {
        self.ends.len()
    }

    /// The tokens of one document.
    pub fn document(&self, number: usize) -> &[TermNumber] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.tokens[start..self.ends[number]]
    }

    /// How many terms there are.
    pub fn terms(&self) -> usize {
        self.texts.len()
    }

    /// The documents that a term is in.
    pub fn frequency(&self, term: TermNumber) -> u32 {
        self.frequencies[term as usize]
    }

    /// A term's letters.
    pub fn text(&self, term: TermNumber) -> &str {
        &self.texts[term as usize]
    }

    /// Whether the word may stand in a query for several engines.
    pub fn is_plain(&self, term: TermNumber) -> bool {
        self.text(term).bytes().all(|b| b.is_ascii_alphanumeric())
    }
}

/// Takes documents in.
struct Reader {
    corpus: Corpus,
    numbers: HashMap<Box<str>, TermNumber>,
    /// For each term, one more than the document it was last seen in.
    seen: Vec<usize>,
    analyzer: Analyzer,
    scratch: Scratch,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader {
            corpus: Corpus {
                texts: Vec::new(),
                frequencies: Vec::new(),
                tokens: Vec::new(),
                ends: Vec::new(),
            },
            numbers: HashMap::new(),
            seen: Vec::new(),
            analyzer: Analyzer::default(),
            scratch: Scratch::default(),
        }
    }
}

impl Reader {
    fn add(&mut self, text: &str) {
        let Reader {
            corpus,
            numbers,
            seen,
            analyzer,
            scratch,
        } = self;
        let mark = corpus.ends.len() + 1;
        analyzer.analyze(text, scratch, |token| {
            let term = numbers.get(token.text).copied().unwrap_or_else(|| {
                let number = corpus.texts.len() as TermNumber;
                corpus.texts.push(token.text.into());
                corpus.frequencies.push(0);
                seen.push(0);
                numbers.insert(token.text.into(), number);
                number
            });
            if seen[term as usize] != mark {
                seen[term as usize] = mark;
                corpus.frequencies[term as usize] += 1;
            }
            corpus.tokens.push(term);
        });
        corpus.ends.push(corpus.tokens.len());
    }
}
