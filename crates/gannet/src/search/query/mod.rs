//! The query tree: it can be built, taken apart and printed.
//!
//! A query knows nothing of an index: its texts are not analyzed, its fields are names. A search of
//! an index that has no field of a name is an error; `id` names the external ID unless it is a
//! field. It prints as the query language that the parser reads.

pub(crate) mod addresses;
pub(crate) mod fields;
pub(crate) mod parser;
pub(crate) mod pattern;
pub(crate) mod print;
pub(crate) mod ranges;
pub(crate) mod regexp;
mod regexp_syntax;
pub(crate) mod words;

use std::ops::Bound;

use crate::base::{Error, Result};

/// The deepest tree: most of what goes through a query goes down it by recursion.
pub(crate) const DEPTH_MAX: usize = 64;

/// The most words, patterns and other leaves of one query over all its fields.
pub(crate) const LEAVES_MAX: usize = 4096;

/// The most terms that the last word of a phrase stands for.
pub(crate) const ENDS_MAX: usize = 1024;

/// The way in which several terms, or clauses without a sign, are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// One of them is enough.
    #[default]
    Or,
    /// All of them are needed.
    And,
}

/// A query. Where `field` is `None`, all text fields are searched and the best one counts.
///
/// One that is nested more than 64 deep is an error where it is searched for. Queries are taken
/// apart by reference: the parts of a deep tree are dropped one by one.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Every document.
    MatchAll,
    /// No document.
    MatchNone,
    /// The terms that the field's analyzer makes of `text`.
    Text {
        /// The field to search.
        field: Option<String>,
        /// The text as it was written.
        text: String,
        /// The way in which several terms are joined.
        operator: Operator,
    },
    /// The terms of `text` in their order.
    Phrase {
        /// The field to search.
        field: Option<String>,
        /// The text as it was written.
        text: String,
        /// The number of positions that the terms may be moved in all.
        slop: u32,
    },
    /// The terms of `text` in their order, and behind them a term that `pattern` fits. Without a
    /// text, the terms that the pattern fits.
    PhrasePattern {
        /// The field to search.
        field: Option<String>,
        /// The text before the last word.
        text: String,
        /// The last word; see `pattern_parts`.
        pattern: String,
        /// The number of positions that the terms may be moved in all.
        slop: u32,
        /// The number of terms that the pattern stands for at most, up to 1,024: the first in the
        /// order of their bytes. As in Lucene, the idf of each counts then, and without a text the
        /// score of each. `None` are the most frequent, up to 1,024, which count as the most
        /// frequent of them. The query language has no form for a number: it prints behind a bar.
        first: Option<u32>,
    },
    /// Terms that begin with `prefix`.
    Prefix {
        /// The field to search.
        field: Option<String>,
        /// The beginning.
        prefix: String,
    },
    /// Terms that `pattern` fits; see `pattern_parts`.
    Wildcard {
        /// The field to search.
        field: Option<String>,
        /// The pattern.
        pattern: String,
    },
    /// Whole terms that fit a regular expression in Lucene's syntax, without intersections and
    /// complements. The query language has no form for it: it prints between slashes.
    Regexp {
        /// The field to search.
        field: String,
        /// The expression.
        pattern: String,
    },
    /// Terms that differ from `text` by few insertions, deletions, replacements or swaps of
    /// characters.
    Fuzzy {
        /// The field to search.
        field: Option<String>,
        /// The text as it was written.
        text: String,
        /// The most differences, 0 to 2; `None` leaves the number to `automatic_distance`.
        distance: Option<u8>,
    },
    /// Terms between two others in the order of their bytes. Only a field of strings that the
    /// analyzer `keyword` keeps whole can be asked; a search of any other, or of none, is an error.
    /// An end that is a date stands for all that it begins. Numbers must have one length.
    Range {
        /// The field to search.
        field: Option<String>,
        /// The least term.
        lower: Bound<String>,
        /// The greatest term.
        upper: Bound<String>,
    },
    /// Documents that have one of some values: numbers, dates and booleans as they are meant,
    /// strings as a whole. A day stands for all its times. A search is an error where the whole
    /// strings of a field are not kept.
    OneOf {
        /// The field.
        field: String,
        /// The values, at least one.
        values: Vec<String>,
    },
    /// Documents that have a value for `field`.
    Exists {
        /// The field.
        field: String,
    },
    /// Clauses together. With only `must_not`, it is every other document, as in Elasticsearch.
    Bool {
        /// All must match, and count for the score.
        must: Vec<Query>,
        /// Some may match, and count for the score; one must if there is neither `must` nor
        /// `filter`.
        should: Vec<Query>,
        /// None may match.
        must_not: Vec<Query>,
        /// All must match, without counting for the score.
        filter: Vec<Query>,
        /// The number of `should` that must match; 0 leaves it to the rule above.
        minimum_should_match: u32,
    },
    /// Any of some queries, of which the one with the best score counts, and the others by a part
    /// of theirs. The query language has no form for it: it prints as its queries side by side.
    Best {
        /// The queries, of which one must match.
        queries: Vec<Query>,
        /// The part of the scores of all others that is added to the best, 0 to 1.
        tie_breaker: f32,
    },
    /// A query whose scores are multiplied.
    Boost {
        /// The query.
        query: Box<Query>,
        /// By how much.
        factor: f32,
    },
}

impl Query {
    /// The query of which only those documents are found that all of `filters` match too. Filters
    /// do not count for the score.
    pub fn filtered(self, filters: Vec<Query>) -> Query {
        if filters.is_empty() {
            return self;
        }
        Query::Bool {
            must: vec![self],
            should: Vec::new(),
            must_not: Vec::new(),
            filter: filters,
            minimum_should_match: 0,
        }
    }

    /// The queries directly below this one.
    pub fn children(&self) -> impl Iterator<Item = &Query> {
        let lists = self.as_kind(|kind| kind.children());
        lists.into_iter().flatten()
    }

    /// Returns true if it finds every document, whatever they are. Of some queries that happen to
    /// find all, it returns false.
    pub fn takes_all(&self) -> bool {
        self.as_kind(|kind| kind.takes_all())
    }

    /// Fails if the tree is deeper than one that can be searched for.
    pub fn check_depth(&self) -> Result<()> {
        let mut open = vec![(self, 0)];
        while let Some((query, depth)) = open.pop() {
            if depth > DEPTH_MAX {
                return Err(Error::invalid(format!(
                    "the query is nested more than {DEPTH_MAX} deep: make it flatter"
                )));
            }
            open.extend(query.children().map(|child| (child, depth + 1)));
        }
        Ok(())
    }
}

/// The distance of a fuzzy query that names none: 0 below 3 characters, 1 up to 5, 2 above.
pub fn automatic_distance(text: &str) -> u8 {
    match text.chars().take(6).count() {
        0..3 => 0,
        3..6 => 1,
        _ => 2,
    }
}

/// A part of a wildcard pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternPart {
    /// `*`: any characters, or none.
    Many,
    /// `?`: any one character.
    One,
    /// This character.
    Literal(char),
}

/// The parts of a pattern, in which a backslash makes the next character a literal.
pub fn pattern_parts(pattern: &str) -> impl Iterator<Item = PatternPart> {
    let mut characters = pattern.chars();
    std::iter::from_fn(move || {
        Some(match characters.next()? {
            '*' => PatternPart::Many,
            '?' => PatternPart::One,
            '\\' => PatternPart::Literal(characters.next().unwrap_or('\\')),
            other => PatternPart::Literal(other),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many negations of a word, or as many boosts.
    fn nested(depth: usize, negated: bool) -> Query {
        let word = Query::Text {
            field: None,
            text: "whale".to_owned(),
            operator: Operator::Or,
        };
        (0..depth).fold(word, |query, _| {
            if negated {
                Query::Bool {
                    must: Vec::new(),
                    should: Vec::new(),
                    must_not: vec![query],
                    filter: Vec::new(),
                    minimum_should_match: 0,
                }
            } else {
                Query::Boost {
                    query: Box::new(query),
                    factor: 2.0,
                }
            }
        })
    }

    #[test]
    fn deep_trees_are_rejected_and_printed() {
        for negated in [true, false] {
            assert!(nested(DEPTH_MAX, negated).check_depth().is_ok());
            assert!(nested(DEPTH_MAX, negated).to_string().contains("whale"));
            let deep = nested(1_000, negated);
            let error = deep.check_depth().expect_err("too deep").to_string();
            assert!(error.contains("more than 64 deep"), "{error}");
            assert!(deep.to_string().contains("more than 64 deep"));
        }
    }
}
