//! `multi_match`: a text in several fields.
//!
//! The engine knows the best of all text fields, and the sum of any. The best of some, and
//! `tie_breaker` between 0 and 1, join once it has `dis_max`.

use gannet::{FieldKind, Query};
use serde_json::Value;

use super::field::Target;
use super::text::{WORD_MEMBERS, WordOptions, phrase, words};
use super::{Translator, any_of, boosted, boosted_by};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The most fields of one query.
const FIELDS_MAX: usize = 1_000;

/// The ways in which fields are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Best,
    Most,
    BestPhrase,
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
    let joined = joined(&members)?;
    let targets = targets(&members, translator)?;
    let query = match targets.as_slice() {
        [] => Query::MatchNone,
        [(target, boost)] => boosted_by(
            in_field(text, target, joined, &members, &options, translator)?,
            *boost,
        )?,
        several if joined == Joined::Most => {
            let each = several.iter().map(|(target, boost)| {
                let query = in_field(text, target, joined, &members, &options, translator)?;
                boosted_by(query, *boost)
            });
            any_of(each.collect::<Outcome<Vec<Query>>>()?, 1)
        }
        several => best(text, several, joined, &members, &options, translator)?,
    };
    boosted(query, &members)
}

fn joined(members: &Members<'_>) -> Outcome<Joined> {
    let tie_breaker = members.number("tie_breaker")?;
    match (members.text("type")?, tie_breaker) {
        (None | Some("best_fields"), None | Some(0.0)) => Ok(Joined::Best),
        // The sum of all.
        (None | Some("best_fields"), Some(1.0)) | (Some("most_fields"), None | Some(1.0)) => {
            Ok(Joined::Most)
        }
        (Some("phrase"), None | Some(0.0)) => Ok(Joined::BestPhrase),
        (None | Some("best_fields" | "most_fields" | "phrase"), Some(other)) => Err(
            Fault::query_not_there(&format!("a [tie_breaker] of [{other}] in [multi_match]")),
        ),
        (Some(other @ ("cross_fields" | "phrase_prefix" | "bool_prefix")), _) => Err(
            Fault::query_not_there(&format!("[multi_match] of type [{other}]")),
        ),
        (Some(other), _) => Err(Fault::parsing(format!(
            "[multi_match] failed to parse [type], found [{other}]"
        ))),
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
            match targets.iter_mut().find(|(other, _)| other.name == name) {
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
        Joined::BestPhrase => phrase(text, target, slop(members)?, translator),
        _ => words(text, target, options, translator),
    }
}

fn slop(members: &Members<'_>) -> Outcome<u32> {
    let slop = members.count("slop")?.unwrap_or(0);
    u32::try_from(slop).map_err(|_| Fault::illegal("the [slop] is too large"))
}

/// The best of several fields: those must be all text fields of the index.
fn best(
    text: &str,
    targets: &[(Target<'_>, f32)],
    joined: Joined,
    members: &Members<'_>,
    options: &WordOptions<'_>,
    translator: &Translator<'_>,
) -> Outcome<Query> {
    let strings = translator.fields.schema.fields().iter();
    let strings = strings.filter(|field| field.kind == FieldKind::Text);
    let is_asked = |name: &str| targets.iter().any(|(target, _)| target.name == name);
    let are_all = strings.clone().all(|field| is_asked(&field.name));
    let are_strings = targets.iter().all(|(target, _)| target.kind.is_string());
    let are_alike = targets.iter().all(|(_, boost)| *boost == 1.0);
    if !(are_all && are_strings && are_alike && options.are_plain()) {
        return Err(Fault::query_not_there(
            "[multi_match] of type [best_fields] over some of the text fields, or with boosts or options (dis_max): ask for all \
             text fields without boosts, or for type [most_fields]; it",
        ));
    }
    let is_empty = |(target, _): &(Target<'_>, f32)| target.tokens(text).is_empty();
    if targets.iter().all(is_empty) {
        return Ok(Query::MatchNone);
    }
    Ok(match joined {
        Joined::BestPhrase => Query::Phrase {
            field: None,
            text: text.to_owned(),
            slop: slop(members)?,
        },
        _ => Query::Text {
            field: None,
            text: text.to_owned(),
            operator: options.operator,
        },
    })
}
