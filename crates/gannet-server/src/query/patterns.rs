//! Queries for terms that fit a pattern, or differ little from a word.

use gannet::Query;
use serde_json::Value;

use super::Translator;
use super::field::{Clause, Target, text_of};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// `prefix`.
pub fn prefix(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("prefix", value)?;
    clause.check(
        &["value", "boost", "case_insensitive"],
        &["_name", "rewrite"],
    )?;
    check_case(&clause)?;
    let text = clause.text(&["value"])?;
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    target.check_string("prefix")?;
    if !is_there_as_written(&text, &target) {
        return Ok(Query::MatchNone);
    }
    if !text.is_empty() && target.tokens(&text) != [(0, text.len())] {
        // The engine would look for the words in it.
        return clause.boosted(Query::Regexp {
            field: target.name.to_owned(),
            pattern: format!("{}.*", escaped(&text)),
        });
    }
    if text.is_empty() {
        return clause.boosted(Query::Exists {
            field: target.name.to_owned(),
        });
    }
    clause.boosted(beginning(&target, text.into_owned(), translator))
}

/// A text in which no sign has a meaning for a regular expression.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_alphanumeric() {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// Terms that begin with a part, all with the same score.
pub fn beginning(target: &Target<'_>, prefix: String, translator: &Translator<'_>) -> Query {
    let is_word = is_word(&prefix);
    let query = Query::Prefix {
        field: Some(target.name.to_owned()),
        prefix,
    };
    // A sign that is a word by itself, as an ideograph, would be asked for as a whole word.
    if is_word {
        query
    } else {
        translator.constant(query)
    }
}

/// Returns true if no sign of a pattern can be a word by itself.
fn is_word(pattern: &str) -> bool {
    pattern.is_ascii()
}

/// `wildcard`.
pub fn wildcard(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("wildcard", value)?;
    let known = ["value", "wildcard", "boost", "case_insensitive"];
    clause.check(&known, &["_name", "rewrite"])?;
    check_case(&clause)?;
    let text = clause.text(&["value", "wildcard"])?;
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    target.check_string("wildcard")?;
    if !is_there_as_written(&text, &target) {
        return Ok(Query::MatchNone);
    }
    let is_word = is_word(&text);
    let query = Query::Wildcard {
        field: Some(target.name.to_owned()),
        pattern: text.into_owned(),
    };
    clause.boosted(if is_word {
        query
    } else {
        translator.constant(query)
    })
}

/// `regexp`.
pub fn regexp(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("regexp", value)?;
    let known = [
        "value",
        "flags",
        "flags_value",
        "max_determinized_states",
        "boost",
        "case_insensitive",
    ];
    clause.check(&known, &["_name", "rewrite"])?;
    check_case(&clause)?;
    let flags = clause.members().and_then(|members| members.get("flags"));
    if let Some(flags) = flags.filter(|flags| *flags != "ALL") {
        return Err(Fault::query_not_there(&format!(
            "[flags] of [regexp] other than [ALL], as {flags},"
        )));
    }
    let pattern = clause.text(&["value"])?;
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    target.check_string("regexp")?;
    if !target.is_there {
        return Ok(Query::MatchNone);
    }
    clause.boosted(Query::Regexp {
        field: target.name.to_owned(),
        pattern: pattern.into_owned(),
    })
}

/// `fuzzy`.
pub fn fuzzy(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("fuzzy", value)?;
    let known = [
        "value",
        "fuzziness",
        "prefix_length",
        "max_expansions",
        "transpositions",
        "boost",
    ];
    clause.check(&known, &["_name", "rewrite"])?;
    let text = clause.text(&["value"])?;
    let mut distance = None;
    if let Some(members) = clause.members() {
        check_fuzzy(members)?;
        distance = fuzziness(members)?.flatten();
    }
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    target.check_string("fuzzy")?;
    if !target.is_there {
        return Ok(Query::MatchNone);
    }
    if target.analyzer.part(&text) != text {
        return Err(Fault::query_not_there(&format!(
            "[fuzzy] for [{text}] in field [{}], whose terms are in another form: use [match] with [fuzziness]; it",
            target.name
        )));
    }
    clause.boosted(Query::Fuzzy {
        field: Some(target.name.to_owned()),
        text: text.into_owned(),
        distance,
    })
}

/// Returns true if terms of a field can have a part as it is written.
fn is_there_as_written(text: &str, target: &Target<'_>) -> bool {
    // The engine would look for it as the analyzer writes it.
    target.is_there && target.analyzer.part(text) == text
}

/// Fails if letters of any case are asked for.
pub fn check_case(clause: &Clause<'_>) -> Outcome<()> {
    let flag = clause
        .members()
        .map(|members| members.flag("case_insensitive"));
    match flag.transpose()?.flatten() {
        Some(true) => Err(Fault::query_not_there("[case_insensitive]")),
        _ => Ok(()),
    }
}

/// Fails at what a fuzzy term cannot have.
pub fn check_fuzzy(members: &Members<'_>) -> Outcome<()> {
    if members
        .count("prefix_length")?
        .is_some_and(|length| length > 0)
    {
        return Err(Fault::query_not_there("a [prefix_length] above 0"));
    }
    if members
        .count("max_expansions")?
        .is_some_and(|most| most != 50)
    {
        return Err(Fault::query_not_there("[max_expansions] other than 50"));
    }
    for name in ["transpositions", "fuzzy_transpositions"] {
        if members.flag(name)? == Some(false) {
            return Err(Fault::query_not_there(&format!("[{name}] of [false]")));
        }
    }
    Ok(())
}

/// The most differences that are asked for: nothing if none are, and nothing in it if their number
/// goes by the length of the word.
pub fn fuzziness(members: &Members<'_>) -> Outcome<Option<Option<u8>>> {
    let Some(written) = members.get("fuzziness") else {
        return Ok(None);
    };
    let text = text_of(written, "fuzziness")?;
    match &*text {
        "AUTO" | "auto" | "AUTO:3,6" => Ok(Some(None)),
        "0" => Ok(Some(Some(0))),
        "1" => Ok(Some(Some(1))),
        "2" => Ok(Some(Some(2))),
        other => Err(Fault::illegal(format!(
            "[fuzziness] is AUTO, 0, 1 or 2, not [{other}]"
        ))),
    }
}

/// A text in which nothing stands for other characters.
pub fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
