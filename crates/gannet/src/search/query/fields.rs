//! Checks the fields that a query names, and the kinds of queries that each can answer.
//!
//! A query that cannot be answered rightly is an error, never an answer without hits: a field that
//! does not exist, a range where terms have no order that anyone means, a pattern over external
//! IDs. In an index without fields no document has any, so that there every name will do.
//!
//! `id` names the external ID, unless the index has a field of that name. So does `_id`.

use std::ops::Bound;

use super::{Query, addresses};
use crate::analysis::{Analyzer, Field, FieldKind, Schema};
use crate::base::{Error, Result};

/// The name of the external ID in queries.
pub const ID: &str = "id";

/// The most names that an error proposes.
const NAMES_SHOWN: usize = 3;

/// An index with no more fields has all of them shown.
const FEW_FIELDS: usize = 5;

/// The most edits by which a name that is proposed differs.
const EDITS_MAX: usize = 3;

/// The most characters of a name that an error shows.
const NAME_CHARACTERS: usize = 40;

/// The same in indexes whose documents have a field `id`, as Elasticsearch calls it.
const ID_BESIDE_FIELD: &str = "_id";

/// Returns true if `name` means the external ID.
pub fn is_id(name: &str, schema: &Schema) -> bool {
    [ID, ID_BESIDE_FIELD].contains(&name) && schema.named(name).is_none()
}

/// Returns true if a query may name a field so.
pub fn is_known(name: &str, schema: &Schema) -> bool {
    schema.fields().is_empty() || name == ID || is_id(name, schema) || schema.named(name).is_some()
}

/// Checks a whole query, whether it was parsed or built. `elsewhere` tells of names that may be
/// used though the index has no such field.
pub fn check(query: &Query, schema: &Schema, elsewhere: &dyn Fn(&str) -> bool) -> Result<()> {
    all(query).try_for_each(|query| check_one(query, schema, elsewhere))
}

/// The fields that a query names, some maybe twice.
pub fn names(query: &Query) -> impl Iterator<Item = &str> {
    all(query).filter_map(name_of)
}

/// Returns true if a range or a value of the query is relative to now.
pub fn is_relative_to_now(query: &Query) -> bool {
    let is_now = |end: &Bound<String>| match end {
        Bound::Included(text) | Bound::Excluded(text) => text.starts_with("now"),
        Bound::Unbounded => false,
    };
    all(query).any(|query| match query {
        Query::Range { lower, upper, .. } => is_now(lower) || is_now(upper),
        Query::OneOf { values, .. } => values.iter().any(|value| value.starts_with("now")),
        _ => false,
    })
}

/// A query and all below it, not by recursion: how deep it is was not checked yet.
fn all(query: &Query) -> impl Iterator<Item = &Query> {
    let mut open = vec![query];
    std::iter::from_fn(move || {
        let query = open.pop()?;
        open.extend(query.children());
        Some(query)
    })
}

/// The field that one query names.
fn name_of(query: &Query) -> Option<&str> {
    query.as_kind(|kind| kind.field())
}

/// Checks that a field exists, of which snippets are to be made.
pub fn check_name(name: &str, schema: &Schema) -> Result<()> {
    let exists = schema.fields().is_empty() || schema.named(name).is_some();
    if exists {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "there is no field {}: {}",
            shown(name),
            proposal(name, schema)
        )))
    }
}

fn check_one(query: &Query, schema: &Schema, elsewhere: &dyn Fn(&str) -> bool) -> Result<()> {
    let Some(name) = name_of(query) else {
        return query.as_kind(|kind| kind.check_field(None));
    };
    if is_id(name, schema) {
        return check_id(query);
    }
    let field = schema.named(name);
    if field.is_none() && elsewhere(name) {
        return Ok(());
    }
    check_name(name, schema)?;
    let asks_column = matches!(query, Query::Range { .. } | Query::OneOf { .. });
    if let Some(field) = field.filter(|field| field.rules.without_terms && !asks_column) {
        return Err(without_terms(field));
    }
    if let Some(field) = field.filter(|field| addresses::has_addresses(field)) {
        addresses::check(query, field)?;
    }
    field.map_or(Ok(()), |field| {
        query.as_kind(|kind| kind.check_field(Some(field)))
    })
}

/// The error where terms are asked for of a field that was declared without any.
pub fn without_terms(field: &Field) -> Error {
    let name = &field.name;
    Error::invalid(format!(
        "the field {name:?} has no terms, as \"terms\": false in its mapping says: ask for whole values, as {name}:=5, and \
         of numbers and dates for ranges, or declare it with terms, and index the documents again"
    ))
}

fn check_id(query: &Query) -> Result<()> {
    if query.as_kind(|kind| kind.finds_ids()) {
        Ok(())
    } else {
        Err(Error::invalid(
            "external IDs are only found whole, not by a range, a pattern or a part: write id:17, \
             or id:\"a*\" if such a character is in the ID",
        ))
    }
}

/// Returns true if the terms of a field are whole values, in the order of their bytes.
pub fn has_order(field: &Field) -> bool {
    field.kind == FieldKind::Text && field.analyzer == Analyzer::KEYWORD
}

/// A name in quotes, not longer than an error may be.
pub fn shown(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARACTERS) {
        None => format!("{name:?}"),
        Some((end, _)) => format!("\"{}...\"", name[..end].escape_debug()),
    }
}

/// Advice in place of a name that is no field.
pub fn proposal(name: &str, schema: &Schema) -> String {
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name.as_str()).collect();
    if names.len() <= FEW_FIELDS {
        return match names.as_slice() {
            [only] => format!("the only one is {only}"),
            _ => format!("the fields are {}", list(&names, "and")),
        };
    }
    match nearest(name, &names).as_slice() {
        [] => format!("none of the {} fields has a name like it", names.len()),
        near => format!("did you mean {}", list(near, "or")),
    }
}

fn list(names: &[&str], last: &str) -> String {
    match names {
        [some @ .., end] if !some.is_empty() => format!("{} {last} {end}", some.join(", ")),
        _ => names.concat(),
    }
}

/// The names that are written most like `name`, the nearest first.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Vec<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let most = (wanted.len() / 2).clamp(1, EDITS_MAX);
    let near = names.iter().filter_map(|other| {
        let distance = distance_to_name(&wanted, other);
        // A name of which nothing stays is not like it.
        (distance <= most && distance < wanted.len()).then_some((distance, *other))
    });
    let mut near: Vec<(usize, &str)> = near.collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(NAMES_SHOWN);
    near.into_iter().map(|(_, other)| other).collect()
}

/// The distance to a name, or to what stands behind its last dot.
fn distance_to_name(wanted: &[char], name: &str) -> usize {
    let lower = name.to_lowercase();
    let whole: Vec<char> = lower.chars().collect();
    let distance = edit_distance(wanted, &whole);
    match lower.rsplit_once('.') {
        None => distance,
        Some((_, last)) => {
            let last: Vec<char> = last.chars().collect();
            distance.min(edit_distance(wanted, &last) + 1)
        }
    }
}

/// Insertions, deletions and replacements that make `b` of `a` (Levenshtein), where a length alone
/// does not tell that they are many.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let apart = a.len().abs_diff(b.len());
    if apart > EDITS_MAX {
        return apart;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, one) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(one != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::FieldKind;

    fn schema(names: &[&str]) -> Schema {
        let mut schema = Schema::default();
        for name in names {
            let analyzer = Analyzer::default();
            schema.add(name, FieldKind::Text, analyzer).unwrap();
        }
        schema
    }

    #[test]
    fn the_nearest_names_are_proposed_or_all_of_few() {
        let few = schema(&["title", "body"]);
        assert_eq!(proposal("x", &few), "the fields are title and body");
        assert_eq!(proposal("x", &schema(&["body"])), "the only one is body");
        let many = schema(&["title", "titles", "tile", "body", "meta.source", "n"]);
        for (name, expected) in [
            ("Title", "did you mean title, titles or tile"),
            ("titel", "did you mean title, titles or tile"),
            ("source", "did you mean meta.source"),
            ("bod", "did you mean body"),
            ("publisher", "none of the 6 fields has a name like it"),
            ("x", "none of the 6 fields has a name like it"),
        ] {
            assert_eq!(proposal(name, &many), expected, "{name}");
        }
    }

    #[test]
    fn a_long_name_makes_no_long_error() {
        let error = check_name(&"é".repeat(60_000), &schema(&["body"])).unwrap_err();
        assert!(error.to_string().len() < 250, "{error}");
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        for (a, b, expected) in [("", "", 0), ("kitten", "sitting", 3), ("body", "bdoy", 2)] {
            assert_eq!(edit_distance(&chars(a), &chars(b)), expected, "{a} {b}");
        }
    }
}
