//! Queries whose text is analysed: words, phrases, phrases that end in the beginning of a word.

use gannet::{Operator, Query};
use serde_json::Value;

use super::field::{Clause, Target};
use super::minimum::minimum_should_match;
use super::{Translator, any_of, ids, patterns, terms};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The options of a query for the words of a text.
#[derive(Clone, Copy, Default)]
pub struct WordOptions<'a> {
    /// The way in which they are joined.
    pub operator: Operator,
    /// The number of words that must match, as it is written.
    pub minimum: Option<&'a Value>,
    /// The most differences of a word; nothing if it must be the same.
    pub fuzziness: Option<Option<u8>>,
    /// Set if a text that its field cannot have finds nothing.
    pub is_lenient: bool,
}

/// The words that the beginning of one stands for in a phrase, as in Elasticsearch.
const EXPANSIONS: u32 = 50;

/// The most that can be asked for.
const EXPANSIONS_MAX: usize = 1024;

/// Members of `match` and `multi_match` that say so.
pub const WORD_MEMBERS: [&str; 10] = [
    "operator",
    "minimum_should_match",
    "fuzziness",
    "prefix_length",
    "max_expansions",
    "fuzzy_transpositions",
    "auto_generate_synonyms_phrase_query",
    "zero_terms_query",
    "lenient",
    "boost",
];

impl<'a> WordOptions<'a> {
    /// Reads them from the members of a query.
    pub fn of(members: &Members<'a>) -> Outcome<WordOptions<'a>> {
        patterns::check_fuzzy(members)?;
        if members
            .text("zero_terms_query")?
            .is_some_and(|what| what != "none")
        {
            return Err(Fault::query_not_there("[zero_terms_query] of [all]"));
        }
        Ok(WordOptions {
            operator: operator(members, "operator")?,
            minimum: members.get("minimum_should_match"),
            fuzziness: patterns::fuzziness(members)?,
            is_lenient: members.flag("lenient")?.unwrap_or(false),
        })
    }

    /// The same query; one that finds nothing where it does not fit its field and that is no error.
    pub fn lenient(&self, query: Outcome<Query>) -> Outcome<Query> {
        match query {
            Err(fault) if self.is_lenient && fault.is_of_field() => Ok(Query::MatchNone),
            other => other,
        }
    }

    /// Returns true if all is as it is without them.
    pub fn are_plain(&self) -> bool {
        self.minimum.is_none() && self.fuzziness.is_none()
    }
}

/// Reads `and` or `or`.
pub fn operator(members: &Members<'_>, name: &str) -> Outcome<Operator> {
    match members.text(name)?.map(str::to_ascii_lowercase).as_deref() {
        None | Some("or") => Ok(Operator::Or),
        Some("and") => Ok(Operator::And),
        Some(other) => Err(Fault::illegal(format!(
            "operator needs to be either OR or AND, but not [{other}]"
        ))),
    }
}

/// `match`.
pub fn match_words(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("match", value)?;
    let known = [&WORD_MEMBERS[..], &["query", "analyzer"]].concat();
    clause.check(&known, &["_name", "cutoff_frequency", "fuzzy_rewrite"])?;
    if clause.value(&["query"]).is_ok_and(Value::is_null) {
        return Err(Fault::parsing("No text specified for text query"));
    }
    let text = clause.text(&["query"])?;
    let options = match clause.members() {
        None => WordOptions::default(),
        Some(members) => WordOptions::of(members)?,
    };
    if clause.field == ids::ID {
        return clause.boosted(ids::any(&[text]));
    }
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    check_analyzer(&clause, &target)?;
    let found = words(&text, &target, &options, translator);
    clause.boosted(options.lenient(found)?)
}

/// The words of a text in one field.
pub fn words(
    text: &str,
    target: &Target<'_>,
    options: &WordOptions<'_>,
    translator: &Translator<'_>,
) -> Outcome<Query> {
    if !target.kind.is_string() || target.analyzer == gannet::Analyzer::KEYWORD {
        if options.fuzziness.is_some() {
            target.check_string("fuzzy")?;
            return Ok(fuzzy_word(text, target, options));
        }
        return terms::exactly(text, target, translator);
    }
    target.check_terms("match")?;
    let tokens = target.tokens(text);
    if tokens.is_empty() || !target.is_there {
        return Ok(Query::MatchNone);
    }
    if options.are_plain() || tokens.len() == 1 && options.fuzziness.is_none() {
        return Ok(Query::Text {
            field: Some(target.name.to_owned()),
            text: text.to_owned(),
            operator: options.operator,
        });
    }
    let each = tokens
        .iter()
        .filter_map(|(start, end)| text.get(*start..*end));
    let each: Vec<Query> = each.map(|word| one_word(word, target, options)).collect();
    at_least(each, options)
}

/// As many of some queries as the options ask for.
fn at_least(each: Vec<Query>, options: &WordOptions<'_>) -> Outcome<Query> {
    let minimum = match (options.operator, options.minimum) {
        // As in Elasticsearch, where all must match, none of them only should.
        (Operator::And, Some(written))
            if each.len() > 1 && minimum_should_match(written, 0)? > 0 =>
        {
            return Ok(Query::MatchNone);
        }
        (Operator::And, _) => each.len() as u32,
        (Operator::Or, None) => 1,
        (Operator::Or, Some(written)) => minimum_should_match(written, each.len())?,
    };
    if minimum as usize > each.len() {
        return Ok(Query::MatchNone);
    }
    Ok(any_of(each, minimum.max(1)))
}

fn one_word(word: &str, target: &Target<'_>, options: &WordOptions<'_>) -> Query {
    if options.fuzziness.is_some() {
        return fuzzy_word(word, target, options);
    }
    Query::Text {
        field: Some(target.name.to_owned()),
        text: word.to_owned(),
        operator: Operator::Or,
    }
}

fn fuzzy_word(word: &str, target: &Target<'_>, options: &WordOptions<'_>) -> Query {
    if !target.is_there {
        return Query::MatchNone;
    }
    Query::Fuzzy {
        field: Some(target.name.to_owned()),
        text: word.to_owned(),
        distance: options.fuzziness.flatten(),
    }
}

/// `match_phrase`.
pub fn match_phrase(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("match_phrase", value)?;
    clause.check(
        &["query", "slop", "analyzer", "zero_terms_query", "boost"],
        &["_name"],
    )?;
    let Some((target, text, slop)) = phrase_parts(&clause, translator)? else {
        return Ok(Query::MatchNone);
    };
    clause.boosted(phrase(&text, &target, slop, translator)?)
}

/// The words of a text in a row.
pub fn phrase(
    text: &str,
    target: &Target<'_>,
    slop: u32,
    translator: &Translator<'_>,
) -> Outcome<Query> {
    if !target.kind.is_string() || target.analyzer == gannet::Analyzer::KEYWORD {
        return terms::exactly(text, target, translator);
    }
    target.check_terms("match_phrase")?;
    if target.tokens(text).is_empty() || !target.is_there {
        return Ok(Query::MatchNone);
    }
    Ok(Query::Phrase {
        field: Some(target.name.to_owned()),
        text: text.to_owned(),
        slop,
    })
}

/// `match_phrase_prefix`.
pub fn match_phrase_prefix(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("match_phrase_prefix", value)?;
    let known = [
        "query",
        "slop",
        "analyzer",
        "max_expansions",
        "zero_terms_query",
        "boost",
    ];
    clause.check(&known, &["_name"])?;
    let Some((target, text, slop)) = phrase_parts(&clause, translator)? else {
        return Ok(Query::MatchNone);
    };
    target.check_string("phrase prefix")?;
    let tokens = target.tokens(&text);
    let Some((start, end)) = tokens.last().copied().filter(|_| target.is_there) else {
        return Ok(Query::MatchNone);
    };
    let field = Some(target.name.to_owned());
    let last = text.get(start..end).unwrap_or_default();
    let query = Query::PhrasePattern {
        field,
        text: text.get(..start).unwrap_or_default().to_owned(),
        pattern: format!("{}*", patterns::literal(last)),
        slop,
        first: Some(expansions(&clause)?),
    };
    clause.boosted(query)
}

/// The number of words that the beginning of one stands for, 50 unless `max_expansions` says
/// another.
fn expansions(clause: &Clause<'_>) -> Outcome<u32> {
    let Some(members) = clause.members() else {
        return Ok(EXPANSIONS);
    };
    match members.count("max_expansions")? {
        None => Ok(EXPANSIONS),
        // As in Elasticsearch, which looks for a next one behind each.
        Some(0) => Ok(1),
        Some(most) if most <= EXPANSIONS_MAX => Ok(most as u32),
        Some(most) => Err(Fault::query_not_there(&format!(
            "[max_expansions] above {EXPANSIONS_MAX}, as {most},"
        ))),
    }
}

/// `match_bool_prefix`: words, of which the last is the beginning of one.
pub fn match_bool_prefix(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let clause = Clause::of("match_bool_prefix", value)?;
    let known = [
        "query",
        "operator",
        "minimum_should_match",
        "analyzer",
        "boost",
    ];
    clause.check(
        &known,
        &["_name", "fuzziness", "prefix_length", "max_expansions"],
    )?;
    let text = clause.text(&["query"])?;
    let options = clause.members().map(WordOptions::of).transpose()?;
    let options = options.unwrap_or_default();
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(Query::MatchNone);
    };
    check_analyzer(&clause, &target)?;
    target.check_string("bool prefix")?;
    let tokens = target.tokens(&text);
    let Some(((start, end), before)) = tokens.split_last().filter(|_| target.is_there) else {
        return Ok(Query::MatchNone);
    };
    let words = before
        .iter()
        .filter_map(|(start, end)| text.get(*start..*end));
    let mut each: Vec<Query> = words
        .map(|word| one_word(word, &target, &options))
        .collect();
    let last = text.get(*start..*end).unwrap_or_default();
    // As in Elasticsearch a word with anything behind it is whole.
    each.push(if *end < text.len() {
        one_word(last, &target, &options)
    } else {
        patterns::beginning(&target, target.analyzer.part(last), translator)
    });
    clause.boosted(at_least(each, &options)?)
}

/// The field, the text and the slop of a phrase; nothing if there is no such field.
fn phrase_parts<'a>(
    clause: &Clause<'a>,
    translator: &Translator<'a>,
) -> Outcome<Option<(Target<'a>, String, u32)>> {
    let text = clause.text(&["query"])?.into_owned();
    let mut slop = 0;
    if let Some(members) = clause.members() {
        slop = slop_of(members)?;
        if members
            .text("zero_terms_query")?
            .is_some_and(|what| what != "none")
        {
            return Err(Fault::query_not_there("[zero_terms_query] of [all]"));
        }
    }
    let slop = u32::try_from(slop).map_err(|_| Fault::illegal("the [slop] is too large"))?;
    let Some(target) = translator.fields.target(clause.field)? else {
        return Ok(None);
    };
    check_analyzer(clause, &target)?;
    Ok(Some((target, text, slop)))
}

/// Reads `slop`.
pub fn slop_of(members: &Members<'_>) -> Outcome<usize> {
    let is_negative = |value: &Value| value.as_i64().is_some_and(|slop| slop < 0);
    if members.get("slop").is_some_and(is_negative) {
        return Err(Fault::illegal(format!(
            "No negative slop allowed, as in [{}].",
            members.name
        )));
    }
    Ok(members.count("slop")?.unwrap_or(0))
}

/// Fails if a query asks for another analyzer than that of its field.
fn check_analyzer(clause: &Clause<'_>, target: &Target<'_>) -> Outcome<()> {
    let Some(members) = clause.members() else {
        return Ok(());
    };
    match members.text("analyzer")? {
        Some(other) if other != target.analyzer.name() => Err(Fault::query_not_there(&format!(
            "another [analyzer] than [{}], which the field [{}] has,",
            target.analyzer.name(),
            target.name
        ))),
        _ => Ok(()),
    }
}
