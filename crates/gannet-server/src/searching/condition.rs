//! The conditions that keep a further search to the documents of one bucket, or of one group.

use std::ops::Bound;

use gannet::Query;
use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::indexes::FieldType;
use crate::query::{Fields, Target, Translator, any_of, dates_between};

/// A condition that documents meet.
#[derive(Clone, Debug)]
pub enum Condition {
    /// They have this value of a field, as the key of a bucket tells it: dates are milliseconds,
    /// and booleans may be 0 and 1.
    Value {
        /// The field.
        field: String,
        /// The value.
        value: Value,
    },
    /// They have a number or an address in a range.
    Numbers {
        /// The field.
        field: String,
        /// The least number.
        lower: Bound<Value>,
        /// The greatest number.
        upper: Bound<Value>,
    },
    /// They have a date of these milliseconds on, and before those.
    Dates {
        /// The field.
        field: String,
        /// The first millisecond.
        from: Option<i64>,
        /// The millisecond behind the last.
        to: Option<i64>,
    },
    /// They have no value of a field.
    Missing {
        /// The field.
        field: String,
    },
    /// They match a query of Elasticsearch.
    Matching(Value),
    /// They match none of some queries.
    MatchingNone(Vec<Value>),
    /// They meet one of two.
    Either(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// The query of the condition in an index.
    pub fn query(&self, translator: &Translator<'_>) -> Outcome<Query> {
        let fields = translator.fields;
        match self {
            Condition::Value { field, value } => {
                let target = there(fields, field)?;
                target.map_or(Ok(Query::MatchNone), |target| of_value(&target, value))
            }
            Condition::Numbers {
                field,
                lower,
                upper,
            } => {
                let text = |value: &Value| match value {
                    Value::String(address) => address.clone(),
                    number => number.to_string(),
                };
                let is_open = matches!((lower, upper), (Bound::Unbounded, Bound::Unbounded));
                Ok(match there(fields, field)? {
                    None => Query::MatchNone,
                    Some(target) if is_open => Query::Exists {
                        field: target.name.to_owned(),
                    },
                    Some(target) => Query::Range {
                        field: Some(target.name.to_owned()),
                        lower: lower.as_ref().map(text),
                        upper: upper.as_ref().map(text),
                    },
                })
            }
            Condition::Dates { field, from, to } => {
                let target = there(fields, field)?;
                Ok(target.map_or(Query::MatchNone, |target| between(&target, *from, *to)))
            }
            Condition::Missing { field } => {
                let Some(target) = there(fields, field)? else {
                    return Ok(Query::MatchAll);
                };
                if target.is_column {
                    return Err(Fault::query_not_there(&format!(
                        "the documents without a whole string in [{field}], whose mapping was found: map the field with \
                         [fields], and index the documents again; the hits of them"
                    )));
                }
                if !target.is_indexed {
                    target.check_terms("exists")?;
                }
                Ok(none_of(vec![Query::Exists {
                    field: target.name.to_owned(),
                }]))
            }
            Condition::Matching(query) => translator.query(query),
            Condition::MatchingNone(queries) => {
                let queries = queries.iter().map(|query| translator.query(query));
                Ok(none_of(queries.collect::<Outcome<Vec<Query>>>()?))
            }
            Condition::Either(one, other) => {
                let both = vec![one.query(translator)?, other.query(translator)?];
                Ok(any_of(both, 1))
            }
        }
    }
}

/// The field of a name, if documents of the index have it.
fn there<'a>(fields: &'a Fields<'_>, name: &'a str) -> Outcome<Option<Target<'a>>> {
    Ok(fields.target(name)?.filter(|target| target.is_there))
}

fn none_of(must_not: Vec<Query>) -> Query {
    Query::Bool {
        must: Vec::new(),
        should: Vec::new(),
        must_not,
        filter: Vec::new(),
        minimum_should_match: 0,
    }
}

/// Documents that have a value of a field.
fn of_value(target: &Target<'_>, value: &Value) -> Outcome<Query> {
    let is_date = match target.kind {
        FieldType::Date => true,
        // A text whose strings are dates is counted by them.
        FieldType::Text => value.is_number(),
        _ => false,
    };
    if is_date {
        let ms = value.as_i64().or_else(|| Some(value.as_f64()? as i64));
        let ms = ms.ok_or_else(|| Fault::internal(format!("the key {value} is no date")))?;
        return Ok(between(target, Some(ms), ms.checked_add(1)));
    }
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if target.kind == FieldType::Boolean => {
            (number.as_i64() == Some(1)).to_string()
        }
        other => other.to_string(),
    };
    Ok(Query::OneOf {
        field: target.name.to_owned(),
        values: vec![text],
    })
}

/// Documents with a date from one millisecond on and before another.
fn between(target: &Target<'_>, from: Option<i64>, to: Option<i64>) -> Query {
    let last = to.map_or(i64::MAX, |to| to.saturating_sub(1));
    dates_between(target, from.unwrap_or(i64::MIN)..=last)
}
