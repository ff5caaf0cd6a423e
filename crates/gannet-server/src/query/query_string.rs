//! `query_string`, where Gannet's parser and Lucene's read a text alike.
//!
//! They do for words, quotes, `*` and `?` in words, `~`, `^`, fields before a colon, parentheses,
//! and one kind of joining in each pair of them: all `AND`, all `OR`, or clauses side by side with
//! `+`, `-` and `NOT`. Anything else is an error that says what.

use gannet::{Operator, Query};
use serde_json::Value;

use super::agreement::{check_agreement, disagrees, is_plain_name};
use super::text::operator;
use super::{Translator, boosted};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The most bytes of a text.
const BYTES_MAX: usize = 16 << 10;

/// `query_string`.
pub fn query_string(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("query_string", value)?;
    let known = [
        "query",
        "default_field",
        "fields",
        "default_operator",
        "lenient",
        "boost",
    ];
    let not_there = [
        "_name",
        "allow_leading_wildcard",
        "analyze_wildcard",
        "analyzer",
        "auto_generate_synonyms_phrase_query",
        "fuzziness",
        "fuzzy_max_expansions",
        "fuzzy_prefix_length",
        "minimum_should_match",
        "phrase_slop",
        "quote_field_suffix",
        "tie_breaker",
        "type",
        "time_zone",
    ];
    members.check(&known, &not_there)?;
    let text = members
        .text("query")?
        .ok_or_else(|| Fault::parsing("[query_string] must be provided with a [query]"))?;
    let query = parse(
        text,
        default_field(&members)?,
        operator(&members, "default_operator")?,
        translator,
    )?;
    boosted(query, &members)
}

/// The query of the parameter `q` of a URL.
pub fn of_parameter(
    text: &str,
    field: Option<&str>,
    operator: Operator,
    translator: &Translator<'_>,
) -> Outcome<Query> {
    parse(text, field, operator, translator)
}

fn default_field<'a>(members: &Members<'a>) -> Outcome<Option<&'a str>> {
    let field = members.text("default_field")?.filter(|field| *field != "*");
    match members.texts("fields")?.as_deref() {
        None | Some([] | ["*"]) => Ok(field),
        Some([one]) if !one.contains(['^', '*']) => Ok(Some(one)),
        Some(_) => Err(Fault::query_not_there(
            "[query_string] over several [fields]",
        )),
    }
}

fn parse(
    text: &str,
    field: Option<&str>,
    operator: Operator,
    translator: &Translator<'_>,
) -> Outcome<Query> {
    if text.len() > BYTES_MAX {
        return Err(Fault::illegal(format!(
            "[query_string] has {} bytes, at most {BYTES_MAX} are read",
            text.len()
        )));
    }
    if text.trim() == "*" || text.trim() == "*:*" {
        return Ok(Query::MatchAll);
    }
    if text.trim().is_empty() {
        return Ok(Query::MatchNone);
    }
    let schema = translator.fields.schema;
    if schema.fields().is_empty() {
        return Ok(Query::MatchNone);
    }
    check_agreement(text, translator)?;
    let text = match field {
        None => text.to_owned(),
        Some(field) => {
            let target = translator.fields.target(field)?;
            let Some(target) = target.filter(|target| target.is_there) else {
                return Ok(Query::MatchNone);
            };
            target.check_terms("query_string")?;
            if !field.chars().all(is_plain_name) {
                return Err(disagrees(&format!(
                    "the field [{field}] as the default one"
                )));
            }
            format!("{field}:({text})")
        }
    };
    (translator.fields.parser)(&text, operator).map_err(|error| {
        Fault::new(
            400,
            "query_shard_exception",
            format!("Failed to parse query [{text}]: {error}"),
        )
    })
}
