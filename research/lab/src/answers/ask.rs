//! Random queries of all kinds, made of what stands in the documents, so that most find something.

use gannet::{Operator, Query};

use crate::random::Random;

/// The kinds; each gets the same share.
pub const KINDS: [&str; 13] = [
    "term",
    "or",
    "and",
    "phrase",
    "sloppy",
    "bool",
    "minimum",
    "boost",
    "prefix",
    "wildcard",
    "fuzzy",
    "unfielded",
    "everywhere",
];

/// What clauses of a `bool` are, terms most often.
const CLAUSES: [&str; 10] = [
    "term", "term", "term", "term", "or", "and", "phrase", "sloppy", "prefix", "bool",
];

/// Fields that are asked.
pub const FIELDS: [&str; 2] = ["title", "body"];

/// How deep clauses are nested.
const DEPTH: usize = 2;

/// Where words come from: common ones from texts, rare ones from the list of all.
pub struct Words<'a> {
    /// The words of each document, in their order.
    pub texts: &'a [Vec<String>],
    /// Each word once.
    pub terms: &'a [String],
}

/// Makes queries.
pub struct Asking<'a> {
    words: Words<'a>,
    random: Random,
}

impl Asking<'_> {
    /// Makes the queries of a seed.
    pub fn new(words: Words<'_>, seed: u64) -> Asking<'_> {
        let random = Random::new(seed, "answers");
        Asking { words, random }
    }

    /// A query of one of [`KINDS`].
    pub fn query(&mut self, kind: &str) -> Query {
        self.nested(kind, DEPTH)
    }

    fn nested(&mut self, kind: &str, depth: usize) -> Query {
        let field = Some(FIELDS[usize::from(self.chance(85))].to_owned());
        match kind {
            "or" | "and" => self.text(kind, field),
            "phrase" | "sloppy" => self.phrase(kind, field),
            "bool" | "minimum" => self.bool(kind, depth),
            "boost" => Query::Boost {
                query: Box::new(self.clause(depth)),
                factor: [0.3, 1.0, 2.0, 7.5][self.random.below(4)],
            },
            "prefix" | "wildcard" | "fuzzy" => self.pattern(kind, field),
            "unfielded" => {
                let kind = ["term", "or", "and", "phrase"][self.random.below(4)];
                match kind {
                    "phrase" => self.phrase(kind, None),
                    _ => self.text(kind, None),
                }
            }
            "everywhere" => match self.random.below(3) {
                0 => Query::MatchAll,
                _ => Query::Exists {
                    field: FIELDS[self.random.below(2)].to_owned(),
                },
            },
            _ => self.text("term", field),
        }
    }

    fn text(&mut self, kind: &str, field: Option<String>) -> Query {
        let count = if kind == "term" {
            1
        } else {
            self.between(2, 5)
        };
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        Query::Text {
            field,
            text: words.join(" "),
            operator: match kind {
                "and" => Operator::And,
                _ => Operator::Or,
            },
        }
    }

    /// Words that follow each other; of a sloppy phrase one is left out and two may be swapped.
    fn phrase(&mut self, kind: &str, field: Option<String>) -> Query {
        let text = &self.words.texts[self.random.below(self.words.texts.len())];
        let length = self.between(2, 4).min(text.len());
        let start = self.random.below(text.len() - length + 1);
        let mut words = text[start..start + length].to_vec();
        let mut slop = 0;
        if kind == "sloppy" {
            slop = [1, 2, 3, 5, 20][self.random.below(5)];
            if words.len() > 2 {
                words.remove(1);
            }
            if self.chance(30) {
                words.reverse();
            }
        }
        Query::Phrase {
            field,
            text: words.join(" "),
            slop,
        }
    }

    fn bool(&mut self, kind: &str, depth: usize) -> Query {
        let should = match kind {
            "minimum" => self.clauses(&[2, 3, 4], depth),
            _ => self.clauses(&[0, 0, 1, 2, 3], depth),
        };
        let minimum = match kind {
            "minimum" => self.between(1, should.len()),
            _ => 0,
        };
        Query::Bool {
            must: self.clauses(&[0, 1, 1, 2], depth),
            should,
            must_not: self.clauses(&[0, 0, 1, 2], depth),
            filter: self.clauses(&[0, 0, 0, 1], depth),
            minimum_should_match: minimum as u32,
        }
    }

    fn clauses(&mut self, counts: &[usize], depth: usize) -> Vec<Query> {
        let count = counts[self.random.below(counts.len())];
        (0..count).map(|_| self.clause(depth)).collect()
    }

    fn clause(&mut self, depth: usize) -> Query {
        let kinds = if depth > 1 {
            CLAUSES.len()
        } else {
            CLAUSES.len() - 1
        };
        let kind = CLAUSES[self.random.below(kinds)];
        self.nested(kind, depth.saturating_sub(1))
    }

    fn pattern(&mut self, kind: &str, field: Option<String>) -> Query {
        let word = self.word();
        match kind {
            "prefix" => Query::Prefix {
                field,
                prefix: word.chars().take(self.between(2, 5)).collect(),
            },
            "wildcard" => Query::Wildcard {
                field,
                pattern: self.wildcard(&word),
            },
            _ => Query::Fuzzy {
                field,
                text: word,
                distance: [None, Some(1), Some(2)][self.random.below(3)],
            },
        }
    }

    /// A word with some characters replaced by `?`, or its end by `*`.
    fn wildcard(&mut self, word: &str) -> String {
        let kept = self.between(3, 8);
        let mut pattern = String::new();
        for (at, letter) in word.chars().enumerate() {
            match at {
                at if at == kept => pattern.push('*'),
                at if at > kept => break,
                _ if self.chance(15) => pattern.push('?'),
                _ => pattern.push(letter),
            }
        }
        pattern
    }

    fn word(&mut self) -> String {
        if self.chance(60) {
            let text = &self.words.texts[self.random.below(self.words.texts.len())];
            text[self.random.below(text.len())].clone()
        } else {
            self.words.terms[self.random.below(self.words.terms.len())].clone()
        }
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.random.below(high - low + 1)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }
}
