//! Queries as `pickle` keeps them: JSON.

use std::ops::Bound as End;

use gannet::{Operator, Query};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::invalid;

/// A query as JSON.
pub fn query_state(query: &Query) -> PyResult<String> {
    Ok(value_of(query).to_string())
}

/// The query of what [`query_state`] has given.
pub fn query_of(json: &str) -> PyResult<Query> {
    let value = serde_json::from_str(json).ok();
    let query = value.as_ref().and_then(read);
    query.ok_or_else(|| invalid("expected a query that was pickled by this version of Gannet"))
}

fn value_of(query: &Query) -> Value {
    let all = |queries: &[Query]| queries.iter().map(value_of).collect::<Vec<Value>>();
    match query {
        Query::MatchAll => json!(["all"]),
        Query::MatchNone => json!(["none"]),
        Query::Text {
            field,
            text,
            operator,
        } => json!(["text", field, text, *operator == Operator::And]),
        Query::Phrase { field, text, slop } => json!(["phrase", field, text, slop]),
        Query::PhrasePattern {
            field,
            text,
            pattern,
            slop,
            first,
        } => json!(["phrase_pattern", field, text, pattern, slop, first]),
        Query::Prefix { field, prefix } => json!(["prefix", field, prefix]),
        Query::Wildcard { field, pattern } => json!(["wildcard", field, pattern]),
        Query::Regexp { field, pattern } => json!(["regexp", field, pattern]),
        Query::Fuzzy {
            field,
            text,
            distance,
        } => json!(["fuzzy", field, text, distance]),
        Query::Range {
            field,
            lower,
            upper,
        } => json!(["range", field, end_value(lower), end_value(upper)]),
        Query::OneOf { field, values } => json!(["one_of", field, values]),
        Query::Exists { field } => json!(["exists", field]),
        Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match,
        } => json!([
            "bool",
            all(must),
            all(should),
            all(must_not),
            all(filter),
            minimum_should_match
        ]),
        Query::Best {
            queries,
            tie_breaker,
        } => json!(["best", all(queries), tie_breaker.to_bits()]),
        // As bits: JSON has no infinity.
        Query::Boost { query, factor } => json!(["boost", value_of(query), factor.to_bits()]),
    }
}

fn end_value(end: &End<String>) -> Value {
    match end {
        End::Included(value) => json!([true, value]),
        End::Excluded(value) => json!([false, value]),
        End::Unbounded => Value::Null,
    }
}

fn read(value: &Value) -> Option<Query> {
    let (kind, parts) = value.as_array()?.split_first()?;
    let text = |at: usize| Some(parts.get(at)?.as_str()?.to_owned());
    let number = |at: usize| parts.get(at)?.as_u64()?.try_into().ok();
    let field = || text(0);
    Some(match kind.as_str()? {
        "all" => Query::MatchAll,
        "none" => Query::MatchNone,
        "text" => Query::Text {
            field: field(),
            text: text(1)?,
            operator: if parts.get(2)?.as_bool()? {
                Operator::And
            } else {
                Operator::Or
            },
        },
        "phrase" => Query::Phrase {
            field: field(),
            text: text(1)?,
            slop: number(2)?,
        },
        "phrase_pattern" => Query::PhrasePattern {
            field: field(),
            text: text(1)?,
            pattern: text(2)?,
            slop: number(3)?,
            first: number(4),
        },
        "prefix" => Query::Prefix {
            field: field(),
            prefix: text(1)?,
        },
        "wildcard" => Query::Wildcard {
            field: field(),
            pattern: text(1)?,
        },
        "regexp" => Query::Regexp {
            field: text(0)?,
            pattern: text(1)?,
        },
        "fuzzy" => Query::Fuzzy {
            field: field(),
            text: text(1)?,
            distance: number(2).and_then(|distance| distance.try_into().ok()),
        },
        "range" => Query::Range {
            field: field(),
            lower: read_end(parts.get(1)?)?,
            upper: read_end(parts.get(2)?)?,
        },
        "one_of" => Query::OneOf {
            field: text(0)?,
            values: parts
                .get(1)?
                .as_array()?
                .iter()
                .map(own)
                .collect::<Option<_>>()?,
        },
        "exists" => Query::Exists { field: text(0)? },
        "bool" => Query::Bool {
            must: read_all(parts.first()?)?,
            should: read_all(parts.get(1)?)?,
            must_not: read_all(parts.get(2)?)?,
            filter: read_all(parts.get(3)?)?,
            minimum_should_match: number(4)?,
        },
        "best" => Query::Best {
            queries: read_all(parts.first()?)?,
            tie_breaker: f32::from_bits(number(1)?),
        },
        "boost" => Query::Boost {
            query: Box::new(read(parts.first()?)?),
            factor: f32::from_bits(number(1)?),
        },
        _ => return None,
    })
}

fn own(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn read_all(value: &Value) -> Option<Vec<Query>> {
    value.as_array()?.iter().map(read).collect()
}

fn read_end(value: &Value) -> Option<End<String>> {
    let Some(parts) = value.as_array() else {
        return value.is_null().then_some(End::Unbounded);
    };
    let text = parts.get(1)?.as_str()?.to_owned();
    if parts.first()?.as_bool()? {
        Some(End::Included(text))
    } else {
        Some(End::Excluded(text))
    }
}
