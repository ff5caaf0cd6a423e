//! `query_string` and `simple_query_string`: texts in Lucene's two syntaxes.

use gannet::{Operator, Query};
use serde_json::Value;

use super::asked_fields::AskedFields;
use super::classic::parse_classic;
use super::minimum::minimum_should_match;
use super::simple::parse_simple;
use super::text::operator;
use super::{Translator, any_of, boosted};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The most bytes of a text.
const BYTES_MAX: usize = 16 << 10;

/// Members that both have.
const KNOWN: [&str; 8] = [
    "query",
    "fields",
    "default_operator",
    "lenient",
    "boost",
    "minimum_should_match",
    "analyze_wildcard",
    "auto_generate_synonyms_phrase_query",
];

/// Members of both that are not there.
const NOT_THERE: [&str; 6] = [
    "_name",
    "analyzer",
    "fuzzy_max_expansions",
    "fuzzy_prefix_length",
    "fuzzy_transpositions",
    "quote_field_suffix",
];

/// `query_string`.
pub fn query_string(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("query_string", value)?;
    let known = [
        &KNOWN[..],
        &[
            "allow_leading_wildcard",
            "default_field",
            "tie_breaker",
            "type",
        ],
    ]
    .concat();
    let own = ["fuzziness", "phrase_slop", "time_zone", "rewrite"];
    members.check(&known, &[&NOT_THERE[..], &own].concat())?;
    let text = text_of(&members)?;
    if members
        .text("type")?
        .is_some_and(|kind| kind != "best_fields")
    {
        return Err(Fault::query_not_there(
            "[query_string] of another [type] than [best_fields]",
        ));
    }
    let field = members.text("default_field")?;
    let mut fields = asked_fields(&members, field, translator)?;
    fields.tie_breaker = super::compound::tie_breaker(&members)?;
    let minimum = |optional: usize| {
        let written = members.get("minimum_should_match");
        written
            .map(|written| minimum_should_match(written, optional))
            .transpose()
    };
    boosted(classic(text, &fields, minimum)?, &members)
}

/// `simple_query_string`.
pub fn simple_query_string(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("simple_query_string", value)?;
    members.check(&KNOWN, &[&NOT_THERE[..], &["flags"]].concat())?;
    let text = text_of(&members)?;
    let mut fields = asked_fields(&members, None, translator)?;
    // The scores of all fields count.
    fields.tie_breaker = 1.0;
    let characters: Vec<char> = text.chars().collect();
    let group = parse_simple(&characters, &fields, 0)?;
    let is_optional = group.operator == Operator::Or && group.clauses.len() > 1;
    let query = match members.get("minimum_should_match") {
        Some(written) if is_optional => {
            let minimum = minimum_should_match(written, group.clauses.len())?;
            any_of(group.clauses, minimum.max(1))
        }
        _ => group.query().unwrap_or(Query::MatchNone),
    };
    boosted(query, &members)
}

/// The query of the parameter `q` of a URL.
pub fn of_parameter(
    text: &str,
    field: Option<&str>,
    operator: Operator,
    translator: &Translator<'_>,
) -> Outcome<Query> {
    check_length(text)?;
    let fields = AskedFields {
        translator: translator.below(),
        default: AskedFields::parse(&default_names(field, translator))?,
        tie_breaker: 0.0,
        operator,
        is_lenient: false,
    };
    classic(text, &fields, |_| Ok(None))
}

fn classic(
    text: &str,
    fields: &AskedFields<'_>,
    minimum: impl FnOnce(usize) -> Outcome<Option<u32>>,
) -> Outcome<Query> {
    if text.trim().is_empty() {
        return Ok(Query::MatchNone);
    }
    parse_classic(text, fields, minimum)
}

fn text_of<'a>(members: &Members<'a>) -> Outcome<&'a str> {
    let text = members.text("query")?.ok_or_else(|| {
        Fault::parsing(format!(
            "[{}] must be provided with a [query]",
            members.name
        ))
    })?;
    check_length(text)?;
    Ok(text)
}

fn check_length(text: &str) -> Outcome<()> {
    if text.len() <= BYTES_MAX {
        return Ok(());
    }
    Err(Fault::illegal(format!(
        "[query_string] has {} bytes, at most {BYTES_MAX} are read",
        text.len()
    )))
}

/// The fields that are asked where none is named: those of the settings of the index, or all.
fn default_names<'n>(field: Option<&'n str>, translator: &Translator<'n>) -> Vec<&'n str> {
    match field {
        Some(field) => vec![field],
        None => translator.fields.metadata.settings.default_fields(),
    }
}

fn asked_fields<'t>(
    members: &Members<'_>,
    field: Option<&str>,
    translator: &Translator<'t>,
) -> Outcome<AskedFields<'t>> {
    let names = members.texts("fields")?.filter(|names| !names.is_empty());
    let names = names.unwrap_or_else(|| default_names(field, translator));
    Ok(AskedFields {
        translator: translator.below(),
        default: AskedFields::parse(&names)?,
        tie_breaker: 0.0,
        operator: operator(members, "default_operator")?,
        is_lenient: members.flag("lenient")?.unwrap_or(false),
    })
}
