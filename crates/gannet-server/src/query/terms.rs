//! Queries for whole terms, and for terms that fit a pattern.

use std::cmp::Ordering;
use std::ops::Bound;

use gannet::values::AddressRange;
use gannet::{Analyzer, Operator, Query, Scratch};
use serde_json::Value;

use super::dates::{self, DateReader, between};
use super::ends::{ENDS, End, LOWER, UPPER};
use super::field::{Clause, Target, text_of};
use super::patterns::check_case;
use super::{Translator, any_of, boosted, ids};
use crate::fault::{Fault, Outcome};
use crate::indexes::FieldType;
use crate::json::{Members, kind_of};

/// The longest text that can be asked for as a fuzzy one.
const FUZZY_CHARACTERS_MAX: usize = 255;

/// Bytes of the longest whole string that the engine keeps of a text.
const COLUMN_BYTES_MAX: usize = 256;

/// Values that one `terms` may have.
const TERMS_MAX: usize = 4_000;

/// `term`.
pub fn term(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("term", value)?;
    clause.check(&["value", "boost", "case_insensitive"], &["_name"])?;
    check_case(&clause)?;
    let text = clause.text(&["value"])?;
    if clause.field == ids::ID {
        return clause.boosted(ids::any(&[text]));
    }
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    clause.boosted(exactly(&text, &target, translator)?)
}

/// `terms`.
pub fn terms(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("terms", value)?;
    let mut fields = members
        .iter()
        .filter(|(name, _)| *name != "boost" && *name != "_name");
    let (field, values) = fields.next().ok_or_else(|| {
        Fault::parsing("[terms] query requires a field name, followed by array of terms")
    })?;
    if let Some((other, _)) = fields.next() {
        return Err(Fault::parsing(format!(
            "[terms] query does not support multiple fields, found [{field}] and [{other}]"
        )));
    }
    let values = match values {
        Value::Array(values) => values,
        Value::Object(_) => return Err(Fault::query_not_there("a [terms] lookup")),
        other => {
            return Err(Fault::parsing(format!(
                "[terms] query does not support {} for field [{field}]: give an array",
                kind_of(other)
            )));
        }
    };
    if values.len() > TERMS_MAX {
        return Err(Fault::illegal(format!(
            "[terms] of field [{field}] has {} values, at most {TERMS_MAX} can be asked for at once",
            values.len()
        )));
    }
    if values.iter().any(Value::is_null) {
        return Err(Fault::parsing(format!(
            "No value specified for terms query of field [{field}]"
        )));
    }
    let texts = values.iter().map(|value| text_of(value, field));
    let texts = texts.collect::<Outcome<Vec<_>>>()?;
    if field == ids::ID {
        return boosted(ids::any(&texts), &members);
    }
    let Some(target) = translator.fields.target(field)? else {
        return Ok(Query::MatchNone);
    };
    let unscored = translator.filter();
    let each = texts.iter().map(|text| exactly(text, &target, &unscored));
    let each = each.collect::<Outcome<Vec<Query>>>()?;
    if each.is_empty() {
        return Ok(Query::MatchNone);
    }
    boosted(translator.constant(any_of(each, 1)), &members)
}

/// A term as it is, which no analyzer changes.
pub fn exactly(text: &str, target: &Target<'_>, translator: &Translator<'_>) -> Outcome<Query> {
    if let Some(formats) = target.date_formats {
        let span = DateReader::new(target.name, formats).span(text)?;
        return Ok(if target.is_there {
            translator.constant(between(target, span))
        } else {
            Query::MatchNone
        });
    }
    match target.kind {
        FieldType::Boolean if !matches!(text, "true" | "false") => {
            Err(Fault::query_shard(format!(
                "failed to create query: Can't parse boolean value [{text}], expected [true] or [false], for field [{}]",
                target.name
            )))
        }
        FieldType::Whole(..) | FieldType::Fraction(_) if text.parse::<f64>().is_err() => {
            Err(Fault::query_shard(format!(
                "failed to create query: For input string: \"{text}\", for field [{}] of type [{}]",
                target.name,
                target.kind.name()
            )))
        }
        FieldType::Ip if AddressRange::parse(text).is_none() => Err(no_address(text, target)),
        _ if !target.is_there => Ok(Query::MatchNone),
        FieldType::Text if !target.is_indexed => {
            target.check_terms("term").map(|()| Query::MatchNone)
        }
        _ if !target.is_indexed => Ok(translator.constant(Query::OneOf {
            field: target.name.to_owned(),
            values: vec![text.to_owned()],
        })),
        _ if target.is_column => Ok(translator.constant(of_column(text, target))),
        FieldType::Boolean => Ok(analysed(text, target)),
        FieldType::Whole(..) | FieldType::Fraction(_) | FieldType::Ip => {
            Ok(translator.constant(analysed(text, target)))
        }
        _ if target.analyzer == Analyzer::KEYWORD => Ok(whole(text, target)),
        _ => token(text, target),
    }
}

/// A value of the whole strings of a text.
fn of_column(text: &str, target: &Target<'_>) -> Query {
    if text.len() > COLUMN_BYTES_MAX {
        // A longer one is no value of the column.
        return Query::MatchNone;
    }
    Query::OneOf {
        field: target.name.to_owned(),
        values: vec![text.to_owned()],
    }
}

/// A value of a field that keeps strings whole.
fn whole(text: &str, target: &Target<'_>) -> Query {
    // As a text, a date would stand for all that it begins.
    let may_be_date = text.starts_with(|c: char| c.is_ascii_digit());
    if may_be_date && text.chars().count() <= FUZZY_CHARACTERS_MAX {
        return Query::Fuzzy {
            field: Some(target.name.to_owned()),
            text: text.to_owned(),
            distance: Some(0),
        };
    }
    analysed(text, target)
}

/// One of the tokens that the analyzer of a field makes, if it is one.
fn token(text: &str, target: &Target<'_>) -> Outcome<Query> {
    let mut found = Vec::new();
    let mut scratch = Scratch::default();
    target.analyzer.analyze(text, &mut scratch, |token| {
        found.push(token.text.to_owned());
    });
    if found == [text] {
        return Ok(analysed(text, target));
    }
    if target.analyzer.stems() {
        return Err(Fault::query_not_there(&format!(
            "[term] in a field of stems, as [{}] is, for what is no stem as it is written, as [{text}] is: use [match]; it",
            target.name
        )));
    }
    // Such a token is never made.
    Ok(Query::MatchNone)
}

fn analysed(text: &str, target: &Target<'_>) -> Query {
    Query::Text {
        field: Some(target.name.to_owned()),
        text: text.to_owned(),
        operator: Operator::And,
    }
}

/// `range`: over numbers, booleans, dates, addresses, and strings that are kept whole.
pub fn range(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("range", value)?;
    let known = [&ENDS[..], &["boost", "format", "time_zone"]].concat();
    clause.check(&known, &["_name", "relation"])?;
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    if let Some(formats) = target.date_formats {
        return clause.boosted(dates::range(&clause, &target, formats)?);
    }
    for name in ["format", "time_zone"] {
        if clause
            .members()
            .is_some_and(|members| members.get(name).is_some())
        {
            return Err(Fault::query_not_there(&format!(
                "[{name}] of a [range] in field [{}], which is not mapped as [date]: map it so, and reindex; it",
                target.name
            )));
        }
    }
    if target.kind.is_string() {
        target.check_terms("range")?;
    }
    let lower = bound(&clause, &LOWER)?;
    let upper = bound(&clause, &UPPER)?;
    for end in [&lower, &upper] {
        if target.kind == FieldType::Ip
            && let Bound::Included(text) | Bound::Excluded(text) = end
            && AddressRange::parse(text).is_none()
        {
            return Err(no_address(text, &target));
        }
        if target.kind == FieldType::Keyword
            && let Bound::Included(text) | Bound::Excluded(text) = end
            && text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        {
            return Err(Fault::query_not_there(&format!(
                "a [range] of numbers or dates, as [{text}] in field [{}] is,",
                target.name
            )));
        }
    }
    if !target.is_there || is_empty(&lower, &upper, target.kind) {
        return Ok(Query::MatchNone);
    }
    clause.boosted(Query::Range {
        field: Some(target.name.to_owned()),
        lower,
        upper,
    })
}

/// Returns true if no value lies between two ends, as where the lower one is above the other. The
/// engine takes that for a mistake, and Elasticsearch for a range that finds nothing.
fn is_empty(lower: &Bound<String>, upper: &Bound<String>, kind: FieldType) -> bool {
    let (Bound::Included(low) | Bound::Excluded(low)) = lower else {
        return false;
    };
    let (Bound::Included(high) | Bound::Excluded(high)) = upper else {
        return false;
    };
    if kind == FieldType::Ip {
        let (low, high) = (AddressRange::parse(low), AddressRange::parse(high));
        return low
            .zip(high)
            .is_some_and(|(low, high)| low.first > high.last);
    }
    let order = match (kind.is_string(), low.parse::<i128>(), high.parse::<i128>()) {
        (true, ..) => Some(low.cmp(high)),
        (false, Ok(low), Ok(high)) => Some(low.cmp(&high)),
        _ => match (low.parse::<f64>(), high.parse::<f64>()) {
            (Ok(low), Ok(high)) => low.partial_cmp(&high),
            // `false` is before `true`.
            _ => Some(low.cmp(high)),
        },
    };
    let are_included = matches!((lower, upper), (Bound::Included(_), Bound::Included(_)));
    match order {
        Some(Ordering::Greater) => true,
        Some(Ordering::Equal) => !are_included,
        Some(Ordering::Less) | None => false,
    }
}

fn no_address(text: &str, target: &Target<'_>) -> Fault {
    Fault::query_shard(format!(
        "'{text}' is not an IP string literal, for field [{}] of type [ip]",
        target.name
    ))
}

fn bound(clause: &Clause<'_>, end: &End) -> Outcome<Bound<String>> {
    let Some(members) = clause.members() else {
        return Err(Fault::parsing(
            "[range] query malformed, no start_object after field name",
        ));
    };
    let text = |value| text_of(value, clause.field).map(|text| text.into_owned());
    match end.of(members)? {
        None => Ok(Bound::Unbounded),
        Some((value, true)) => text(value).map(Bound::Included),
        Some((value, false)) => text(value).map(Bound::Excluded),
    }
}
