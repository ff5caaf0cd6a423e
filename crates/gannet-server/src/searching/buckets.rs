//! The conditions that the documents of a bucket meet, by the aggregation that made it.

use std::ops::Bound;

use gannet::aggregations::{Aggregations, Histogram, Interval, Kind, Source, SourceKind};
use gannet::values::{double_of_key, key_of_double};
use serde_json::{Map, Value, json};

use super::condition::Condition;
use crate::fault::{Fault, Outcome};

/// An aggregation of buckets, as far as its buckets are told apart.
#[derive(Clone, Debug)]
pub enum BucketKind {
    /// A bucket for each value, and the value of documents without one.
    Terms {
        /// The field.
        field: String,
        /// The value that documents without one are given.
        missing: Option<Value>,
    },
    /// Ranges of numbers or of addresses, by the ends in their buckets.
    Range(String),
    /// Ranges of dates.
    DateRange(String),
    /// Intervals of numbers.
    Histogram(Histogram),
    /// Intervals of time.
    Dates {
        /// The field.
        field: String,
        /// The interval.
        interval: Interval,
        /// The date before which none counts.
        least: Option<i64>,
    },
    /// The documents of a query.
    Filter(Value),
    /// Queries by the names of their buckets, and the name of the bucket of all others.
    Filters(Vec<(String, Value)>, Option<String>),
    /// The documents without a value.
    Missing(String),
    /// All documents.
    Global,
    /// Combinations of values.
    Composite(Vec<Source>),
}

impl BucketKind {
    /// Reads an aggregation of a name.
    pub fn parse(name: &str, kind: &str, parameters: &Value) -> Outcome<BucketKind> {
        let no_missing = || match parameters.get("missing") {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(Fault::query_not_there(&format!(
                "[top_hits] below [{name}] of type [{kind}] with [missing]"
            ))),
        };
        match kind {
            "filter" => return Ok(BucketKind::Filter(parameters.clone())),
            "filters" => return Ok(filters(parameters)),
            "missing" | "range" | "ip_range" | "date_range" | "histogram" | "date_histogram" => {
                no_missing()?
            }
            "terms" | "rare_terms" | "composite" | "global" => {}
            other => {
                return Err(Fault::new(
                    400,
                    "aggregation_initialization_exception",
                    format!("Aggregator [{name}] of type [{other}] cannot accept sub-aggregations"),
                ));
            }
        }
        let tree = json!({ name: { kind: parameters } });
        // Queries have been read above, and none of these kinds has any.
        let tree = Aggregations::from_json(&tree, 0, &mut |_| Ok(0));
        let tree = tree.map_err(|error| Fault::illegal(error.to_string()))?;
        let read = tree.list.into_iter().next().map(|own| own.kind);
        let read = read.ok_or_else(|| Fault::internal("an aggregation was not read"))?;
        Ok(match read {
            Kind::Terms(terms) => BucketKind::Terms {
                field: terms.field,
                missing: parameters.get("missing").cloned(),
            },
            Kind::Range(own) => BucketKind::Range(own.field),
            Kind::IpRange(own) => BucketKind::Range(own.field),
            Kind::DateRange(own) => BucketKind::DateRange(own.ranges.field),
            Kind::Histogram(own) => BucketKind::Histogram(own),
            Kind::DateHistogram(own) => {
                let hard = own.common.hard_bounds.unwrap_or_default();
                BucketKind::Dates {
                    field: own.field,
                    interval: own.interval,
                    least: hard.min,
                }
            }
            Kind::Missing(field) => BucketKind::Missing(field),
            Kind::Composite(own) => {
                check_sources(name, &own.sources)?;
                BucketKind::Composite(own.sources)
            }
            _ => BucketKind::Global,
        })
    }

    /// The conditions that the documents of a bucket meet, which has a name among the others or a
    /// number.
    pub fn conditions(&self, name: &str, bucket: &Map<String, Value>) -> Outcome<Vec<Condition>> {
        let key = || {
            let key = bucket.get("key");
            key.ok_or_else(|| Fault::internal("a bucket has no key"))
        };
        let one = match self {
            BucketKind::Terms { field, missing } => terms(field, missing.as_ref(), key()?, bucket)?,
            BucketKind::Range(field) => Condition::Numbers {
                field: field.clone(),
                lower: bucket
                    .get("from")
                    .map_or(Bound::Unbounded, |end| Bound::Included(end.clone())),
                upper: bucket
                    .get("to")
                    .map_or(Bound::Unbounded, |end| Bound::Excluded(end.clone())),
            },
            BucketKind::DateRange(field) => {
                let end = |name: &str| bucket.get(name)?.as_f64().map(|ms| ms as i64);
                Condition::Dates {
                    field: field.clone(),
                    from: end("from"),
                    to: end("to"),
                }
            }
            BucketKind::Histogram(own) => {
                let key = key()?.as_f64();
                interval(
                    own,
                    key.ok_or_else(|| Fault::internal("a key is no number"))?,
                )
            }
            BucketKind::Dates {
                field,
                interval,
                least,
            } => {
                let key = key()?.as_i64();
                let begin = key.ok_or_else(|| Fault::internal("a key is no date"))?;
                dates(field, interval, begin, *least)
            }
            BucketKind::Filter(query) => Condition::Matching(query.clone()),
            BucketKind::Filters(queries, other) => {
                let mut named = queries.iter().filter(|(own, _)| own == name);
                match named.next() {
                    Some((_, query)) => Condition::Matching(query.clone()),
                    None if other.is_some() => {
                        let queries = queries.iter().map(|(_, query)| query.clone());
                        Condition::MatchingNone(queries.collect())
                    }
                    None => return Err(Fault::internal("a bucket of no filter")),
                }
            }
            BucketKind::Missing(field) => Condition::Missing {
                field: field.clone(),
            },
            BucketKind::Global => return Ok(Vec::new()),
            BucketKind::Composite(sources) => {
                let keys = key()?;
                let each = sources.iter().map(|source| combined(source, keys));
                return each.collect();
            }
        };
        Ok(vec![one])
    }
}

fn filters(parameters: &Value) -> BucketKind {
    let list: Vec<(String, Value)> = match parameters.get("filters") {
        Some(Value::Object(named)) => {
            let named = named.iter();
            named
                .map(|(name, query)| (name.clone(), query.clone()))
                .collect()
        }
        Some(Value::Array(list)) => {
            let numbered = list.iter().enumerate();
            numbered
                .map(|(at, query)| (at.to_string(), query.clone()))
                .collect()
        }
        // What else it is, is told where it is read as an aggregation.
        _ => Vec::new(),
    };
    let name = parameters.get("other_bucket_key").and_then(Value::as_str);
    let has_other = parameters.get("other_bucket") == Some(&Value::Bool(true));
    let other = name.map(str::to_owned);
    BucketKind::Filters(
        list,
        other.or_else(|| has_other.then(|| "_other_".to_owned())),
    )
}

/// Fails at keys of a composite that cannot be read back.
fn check_sources(name: &str, sources: &[Source]) -> Outcome<()> {
    let is_printed = |source: &Source| {
        matches!(
            &source.kind,
            SourceKind::DateHistogram {
                format: Some(_),
                ..
            }
        )
    };
    if sources.iter().any(is_printed) {
        return Err(Fault::query_not_there(&format!(
            "[top_hits] below [{name}] of type [composite] with a [format]"
        )));
    }
    Ok(())
}

/// The condition of a bucket of terms.
fn terms(
    field: &str,
    missing: Option<&Value>,
    key: &Value,
    bucket: &Map<String, Value>,
) -> Outcome<Condition> {
    let own = Condition::Value {
        field: field.to_owned(),
        value: key.clone(),
    };
    let Some(missing) = missing else {
        return Ok(own);
    };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let shown = bucket.get("key_as_string");
    let is_date = shown.is_some_and(|shown| !matches!(shown.as_str(), Some("true" | "false")));
    if is_date {
        return Err(Fault::query_not_there(&format!(
            "[top_hits] below [terms] of the dates of [{field}] with [missing]"
        )));
    }
    let numbers = key.as_f64().zip(text(missing).parse::<f64>().ok());
    let is_missing = match (shown, numbers) {
        (Some(shown), _) => text(shown) == text(missing) || text(key) == text(missing),
        (None, Some((key, missing))) => key == missing,
        (None, None) => text(key) == text(missing),
    };
    Ok(if is_missing {
        let none = Condition::Missing {
            field: field.to_owned(),
        };
        Condition::Either(Box::new(own), Box::new(none))
    } else {
        own
    })
}

/// The condition of a bucket of a histogram: its ends are found among all doubles, as the number of
/// the interval of a value decides, which rounding may move by some of them.
fn interval(own: &Histogram, key: f64) -> Condition {
    let number = ((key - own.offset) / own.interval).round();
    let number_of = |value: f64| ((value - own.offset) / own.interval).floor();
    let mut lower = least(|value| number_of(value) >= number).map_or(Bound::Unbounded, included);
    if let Some(least) = own.common.hard_bounds.and_then(|hard| hard.min)
        && key < least
    {
        lower = included(least);
    }
    let upper = least(|value| number_of(value) > number);
    Condition::Numbers {
        field: own.field.clone(),
        lower,
        upper: upper.map_or(Bound::Unbounded, |end| Bound::Excluded(json!(end))),
    }
}

fn included(end: f64) -> Bound<Value> {
    Bound::Included(json!(end))
}

/// The least finite double from which on a condition holds; none if it holds for none.
fn least(holds: impl Fn(f64) -> bool) -> Option<f64> {
    let mut first = key_of_double(f64::MIN)?;
    let mut end = key_of_double(f64::MAX)?;
    if !holds(f64::MAX) {
        return None;
    }
    while first < end {
        let middle = first + (end - first) / 2;
        if holds(double_of_key(middle)) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    Some(double_of_key(end))
}

/// The condition of a bucket of time.
fn dates(field: &str, interval: &Interval, begin: i64, least: Option<i64>) -> Condition {
    let least = least.filter(|least| begin < *least);
    Condition::Dates {
        field: field.to_owned(),
        from: Some(least.unwrap_or(begin)),
        to: Some(interval.next(begin)),
    }
}

/// The condition of one value of a combination.
fn combined(source: &Source, keys: &Value) -> Outcome<Condition> {
    let key = keys.get(&source.name);
    let key = key.ok_or_else(|| Fault::internal("a combination lacks a value"))?;
    let field = source.field.clone();
    if key.is_null() {
        return Ok(Condition::Missing { field });
    }
    let no_number = || Fault::internal("a key of a combination is no number");
    Ok(match &source.kind {
        SourceKind::Terms => Condition::Value {
            field,
            value: key.clone(),
        },
        SourceKind::Histogram { interval: width } => {
            let own = Histogram {
                field,
                interval: *width,
                offset: 0.0,
                common: Default::default(),
            };
            interval(&own, key.as_f64().ok_or_else(no_number)?)
        }
        SourceKind::DateHistogram { interval, .. } => {
            dates(&field, interval, key.as_i64().ok_or_else(no_number)?, None)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_intervals_are_those_that_count() {
        for (interval, offset) in [(0.1, 0.0), (0.3, 0.05), (7.0, 2.0), (1e-3, 0.0)] {
            let own = Histogram {
                field: "n".to_owned(),
                interval,
                offset,
                common: Default::default(),
            };
            for number in [-1000.0, -3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 12.0, 999.0] {
                let key = number * interval + offset;
                let Condition::Numbers { lower, upper, .. } = super::interval(&own, key) else {
                    panic!("no range");
                };
                let (Bound::Included(lower), Bound::Excluded(upper)) = (lower, upper) else {
                    panic!("an open end");
                };
                let (lower, upper) = (lower.as_f64().unwrap(), upper.as_f64().unwrap());
                let of = |value: f64| ((value - offset) / interval).floor();
                assert_eq!(of(lower), number);
                assert_eq!(of(lower.next_down()), number - 1.0);
                assert_eq!(of(upper), number + 1.0);
                assert_eq!(of(upper.next_down()), number);
            }
        }
    }
}
