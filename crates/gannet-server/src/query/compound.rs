//! Queries that join others, and those that ask for everything or nothing.

use gannet::Query;
use serde_json::Value;

use super::minimum::minimum_should_match;
use super::{Translator, all_of, any_of, boosted, boosted_by};
use crate::fault::{Fault, Outcome};
use crate::json::{Members, kind_of};

/// `match_all`.
pub fn match_all(value: &Value, _: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("match_all", value)?;
    members.check(&["boost"], &["_name"])?;
    boosted(Query::MatchAll, &members)
}

/// `match_none`.
pub fn match_none(value: &Value, _: &Translator<'_>) -> Outcome<Query> {
    Members::of("match_none", value)?.check(&["boost"], &["_name"])?;
    Ok(Query::MatchNone)
}

/// `constant_score`.
pub fn constant_score(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("constant_score", value)?;
    members.check(&["filter", "boost"], &["_name"])?;
    let filter = members
        .get("filter")
        .ok_or_else(|| Fault::parsing("[constant_score] requires a 'filter' element"))?;
    let filter = translator.filter().query(filter)?;
    boosted(all_of(vec![Query::MatchAll], vec![filter]), &members)
}

/// `boosting`: documents that match one query, of which those that match another score less.
pub fn boosting(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("boosting", value)?;
    members.check(
        &["positive", "negative", "negative_boost", "boost"],
        &["_name"],
    )?;
    let part = |name: &str| {
        members.get(name).ok_or_else(|| {
            Fault::parsing(format!(
                "[boosting] query requires '{name}' query to be set"
            ))
        })
    };
    let positive = translator.below().query(part("positive")?)?;
    let negative = translator.filter().query(part("negative")?)?;
    let factor = members.number("negative_boost")?;
    let Some(factor) = factor.filter(|factor| *factor >= 0.0) else {
        return Err(Fault::parsing(
            "[boosting] query requires 'negative_boost' to be set to be a positive value",
        ));
    };
    if !translator.is_scored {
        return Ok(positive);
    }
    // A document matches one of the two, and so has the score of that one.
    let without = Query::Bool {
        must: vec![positive.clone()],
        should: Vec::new(),
        must_not: vec![negative.clone()],
        filter: Vec::new(),
        minimum_should_match: 0,
    };
    let with = boosted_by(all_of(vec![positive], vec![negative]), factor)?;
    boosted(any_of(vec![without, with], 1), &members)
}

/// `dis_max`.
pub fn dis_max(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("dis_max", value)?;
    members.check(&["queries", "tie_breaker", "boost"], &["_name"])?;
    let queries = clauses(&members, "queries", &translator.below())?;
    if queries.is_empty() {
        return Err(Fault::parsing(
            "[dis_max] requires 'queries' field with at least one clause",
        ));
    }
    boosted(best_of(queries, tie_breaker(&members)?), &members)
}

/// Reads `tie_breaker`, a number from 0 to 1.
pub fn tie_breaker(members: &Members<'_>) -> Outcome<f32> {
    let tie = members.number("tie_breaker")?.unwrap_or(0.0);
    if (0.0..=1.0).contains(&tie) {
        return Ok(tie);
    }
    Err(Fault::query_not_there(&format!(
        "a [tie_breaker] of [{tie}], which is not between 0 and 1,"
    )))
}

/// The best of some queries, and a part of the others.
pub fn best_of(mut queries: Vec<Query>, tie_breaker: f32) -> Query {
    match queries.len() {
        1 => queries.remove(0),
        _ => Query::Best {
            queries,
            tie_breaker,
        },
    }
}

/// `bool`.
pub fn bool(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("bool", value)?;
    let known = [
        "must",
        "should",
        "must_not",
        "filter",
        "minimum_should_match",
        "boost",
        "adjust_pure_negative",
    ];
    check_bool(&members, &known)?;
    let scored = translator.below();
    let must = clauses(&members, "must", &scored)?;
    let should = clauses(&members, "should", &scored)?;
    let must_not = clauses(&members, "must_not", &translator.filter())?;
    let filter = clauses(&members, "filter", &translator.filter())?;
    let lists = [&must, &should, &must_not, &filter];
    if lists.iter().all(|list| list.is_empty()) {
        return boosted(Query::MatchAll, &members);
    }
    let are_negative = [&must, &should, &filter].iter().all(|list| list.is_empty());
    if are_negative && members.flag("adjust_pure_negative")? == Some(false) {
        return Ok(Query::MatchNone);
    }
    let minimum = match members.get("minimum_should_match") {
        None => 0,
        Some(written) => minimum_should_match(written, should.len())?,
    };
    if minimum as usize > should.len() {
        return Ok(Query::MatchNone);
    }
    let query = Query::Bool {
        must,
        should,
        must_not,
        filter,
        minimum_should_match: minimum,
    };
    boosted(query, &members)
}

/// Fails at members that a `bool` does not have, and at clauses that are no queries.
fn check_bool(members: &Members<'_>, known: &[&str]) -> Outcome<()> {
    members
        .check(known, &["_name"])
        .map_err(Fault::as_content)?;
    for (name, value) in members.iter().filter(|(name, _)| known[..4].contains(name)) {
        let is_query = value.is_object() || value.is_array() || value.is_null();
        if !is_query {
            return Err(Fault::content(format!(
                "[bool] {name} doesn't support values of this type: {}",
                kind_of(value)
            )));
        }
    }
    Ok(())
}

/// The queries of one member: a query, or a list of some.
fn clauses(members: &Members<'_>, name: &str, translator: &Translator<'_>) -> Outcome<Vec<Query>> {
    match members.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(|one| translator.query(one)).collect(),
        Some(one) => Ok(vec![translator.query(one)?]),
    }
}
