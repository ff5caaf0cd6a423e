//! `multi_match`: a text in several fields, of which the best counts or all do.

use gannet::Query;
use serde_json::Value;

use super::compound::{best_of, tie_breaker};
use super::field::Target;
use super::text::{WORD_MEMBERS, WordOptions, phrase, slop_of, words};
use super::{Translator, boosted, boosted_by};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The most fields of one query.
const FIELDS_MAX: usize = 1_000;

/// The query of each field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Words,
    Phrase,
}

/// `multi_match`.
pub fn multi_match(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("multi_match", value)?;
    let known = [
        &WORD_MEMBERS[..],
        &["query", "fields", "type", "tie_breaker", "slop"],
    ]
    .concat();
    members.check(
        &known,
        &["_name", "analyzer", "cutoff_frequency", "fuzzy_rewrite"],
    )?;
    let text = members
        .text("query")?
        .ok_or_else(|| Fault::parsing("No text specified for multi_match query"))?;
    let options = WordOptions::of(&members)?;
    let (joined, tie) = joined(&members)?;
    let targets = targets(&members, translator)?;
    let each = targets.iter().map(|(target, boost)| {
        let query = in_field(text, target, joined, &members, &options, translator);
        let query = options.lenient(query)?;
        boosted_by(query, *boost)
    });
    let each = each.collect::<Outcome<Vec<Query>>>()?;
    let query = match each.len() {
        0 => Query::MatchNone,
        _ => best_of(each, tie),
    };
    boosted(query, &members)
}

/// The way in which fields are joined, and the part of all but the best that counts.
fn joined(members: &Members<'_>) -> Outcome<(Joined, f32)> {
    let tie = tie_breaker(members)?;
    let is_given = members.get("tie_breaker").is_some();
    match members.text("type")? {
        None | Some("best_fields") => Ok((Joined::Words, tie)),
        Some("most_fields") => Ok((Joined::Words, if is_given { tie } else { 1.0 })),
        Some("phrase") => Ok((Joined::Phrase, tie)),
        Some(other @ ("cross_fields" | "phrase_prefix" | "bool_prefix")) => Err(
            Fault::query_not_there(&format!("[multi_match] of type [{other}]")),
        ),
        Some(other) => Err(Fault::new(
            400,
            "parse_exception",
            format!("failed to parse [multi_match] query type [{other}]. unknown type."),
        )),
    }
}

/// The fields that are asked for, each once, with their boosts.
fn targets<'a>(
    members: &Members<'a>,
    translator: &Translator<'a>,
) -> Outcome<Vec<(Target<'a>, f32)>> {
    let written = members.texts("fields")?.unwrap_or_else(|| vec!["*"]);
    let mut targets: Vec<(Target<'a>, f32)> = Vec::new();
    for written in written {
        let (pattern, boost) = match written.split_once('^') {
            None => (written, 1.0),
            Some((pattern, boost)) => {
                let boost = boost.parse::<f32>().map_err(|_| {
                    Fault::illegal(format!(
                        "[multi_match] the boost of [{written}] is no number"
                    ))
                })?;
                (pattern, boost)
            }
        };
        let names = if pattern.contains('*') {
            translator.fields.strings_like(pattern)
        } else {
            vec![pattern]
        };
        for name in names {
            let Some(target) = translator.fields.target(name)? else {
                continue;
            };
            let is_known = |other: &Target<'_>| {
                other.name == target.name && other.is_column == target.is_column
            };
            match targets.iter_mut().find(|(other, _)| is_known(other)) {
                Some((_, other)) => *other *= boost,
                None => targets.push((target, boost)),
            }
        }
    }
    if targets.len() > FIELDS_MAX {
        return Err(Fault::illegal(format!(
            "[multi_match] asks for {} fields, at most {FIELDS_MAX} can be asked for at once",
            targets.len()
        )));
    }
    targets.retain(|(target, _)| target.is_there);
    Ok(targets)
}

fn in_field(
    text: &str,
    target: &Target<'_>,
    joined: Joined,
    members: &Members<'_>,
    options: &WordOptions<'_>,
    translator: &Translator<'_>,
) -> Outcome<Query> {
    match joined {
        Joined::Phrase => phrase(text, target, slop(members)?, translator),
        Joined::Words => words(text, target, options, translator),
    }
}

fn slop(members: &Members<'_>) -> Outcome<u32> {
    let slop = slop_of(members)?;
    u32::try_from(slop).map_err(|_| Fault::illegal("the [slop] is too large"))
}
