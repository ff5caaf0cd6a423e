//! The query that a written word is.
//!
//! A word that an analyzer cuts is its parts in a row, as in quotes. Of ideographs and kana in a
//! long row the pairs are asked for, joined like words: one is enough, unless the word itself is
//! required. The whole row beside them counts for the score, and is what a field has that keeps it
//! whole. But for a field that is named, the query does not depend on the index: shards understand
//! it alike.

use crate::analysis::Schema;
use crate::search::query::fields::is_id;
use crate::search::query::words::{is_kept_whole, is_single, unspaced_parts};
use crate::search::query::{Operator, Query};

/// The query of a word, or of anything in its place.
pub(crate) struct WordQuery {
    /// The query if it may match.
    optional: Query,
    /// The query if it must match, or must not, where that is another one.
    required: Option<Query>,
}

impl WordQuery {
    /// The query where it may match.
    pub fn optional(self) -> Query {
        self.optional
    }

    /// The query where it must match or must not.
    pub fn required(self) -> Query {
        self.required.unwrap_or(self.optional)
    }

    pub fn as_optional(&self) -> &Query {
        &self.optional
    }

    /// The same with its scores multiplied.
    pub fn boosted(self, boost: Option<f32>) -> WordQuery {
        let Some(factor) = boost else {
            return self;
        };
        let boosted = |query| Query::Boost {
            query: Box::new(query),
            factor,
        };
        WordQuery {
            optional: boosted(self.optional),
            required: self.required.map(boosted),
        }
    }
}

impl From<Query> for WordQuery {
    fn from(query: Query) -> WordQuery {
        WordQuery {
            optional: query,
            required: None,
        }
    }
}

/// The query for a word in `field`, or in all text fields.
pub(crate) fn word(
    text: String,
    field: Option<&str>,
    operator: Operator,
    schema: &Schema,
) -> WordQuery {
    let name = field.map(str::to_owned);
    if is_single(&text) {
        return WordQuery::from(Query::Text {
            field: name,
            text,
            operator,
        });
    }
    let whole = in_a_row(&text, field);
    match unspaced_parts(&text) {
        Some(parts) if !is_whole(&text, field, schema) => {
            let parts = parts.into_iter().map(|part| in_a_row(part, field));
            unspaced(parts.collect(), whole, operator)
        }
        _ => WordQuery::from(whole),
    }
}

/// The parts, and the whole word.
fn unspaced(mut parts: Vec<Query>, whole: Query, operator: Operator) -> WordQuery {
    let all = bool_query(parts.clone(), Operator::And);
    let required = bool_query(vec![whole.clone(), all], Operator::Or);
    match operator {
        Operator::And => WordQuery::from(required),
        Operator::Or => {
            parts.push(whole);
            WordQuery {
                optional: bool_query(parts, Operator::Or),
                required: Some(required),
            }
        }
    }
}

fn in_a_row(text: &str, field: Option<&str>) -> Query {
    Query::Phrase {
        field: field.map(str::to_owned),
        text: text.to_owned(),
        slop: 0,
    }
}

/// Counts the words, phrases and the like of a query.
pub(crate) fn leaves(query: &Query) -> usize {
    query.children().map(leaves).sum::<usize>().max(1)
}

/// Clauses joined by `operator`.
pub(crate) fn bool_query(clauses: Vec<Query>, operator: Operator) -> Query {
    let (must, should) = match operator {
        Operator::And => (clauses, Vec::new()),
        Operator::Or => (Vec::new(), clauses),
    };
    Query::Bool {
        must,
        should,
        must_not: Vec::new(),
        filter: Vec::new(),
        minimum_should_match: 0,
    }
}

/// Returns true if a named field keeps such a text whole.
fn is_whole(text: &str, field: Option<&str>, schema: &Schema) -> bool {
    let Some(name) = field else {
        return false;
    };
    let field = schema.named(name);
    is_id(name, schema) || field.is_some_and(|field| is_kept_whole(text, &field.analyzer))
}
