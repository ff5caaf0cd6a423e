//! The fields that a text in Lucene's syntax asks for, and the queries of its words, phrases and
//! patterns there. Each is one that a client could have sent by itself.

use gannet::{Operator, Query};
use serde_json::{Value, json};

use super::compound::best_of;
use super::{Translator, boosted_by};
use crate::fault::{Fault, Outcome};
use crate::json::fits;

/// The most fields of one text, as of an index.
const FIELDS_MAX: usize = 1_000;

/// The fields that are asked where a clause names none, and the way in which each is asked.
pub struct AskedFields<'t> {
    pub translator: Translator<'t>,
    /// Names or patterns of names, with boosts.
    pub default: Vec<(String, f32)>,
    /// The part of the scores of all fields but the best that counts.
    pub tie_breaker: f32,
    /// The way in which several words of one clause are joined.
    pub operator: Operator,
    /// Set if a field finds nothing where a clause does not fit its type.
    pub is_lenient: bool,
}

impl AskedFields<'_> {
    /// Reads names with their boosts.
    pub fn parse(names: &[&str]) -> Outcome<Vec<(String, f32)>> {
        let read = |written: &&str| match written.split_once('^') {
            None => Ok(((*written).to_owned(), 1.0)),
            Some((name, boost)) => match boost.parse::<f32>() {
                Ok(boost) => Ok((name.to_owned(), boost)),
                Err(_) => Err(Fault::illegal(format!(
                    "the boost of the field [{written}] is no number"
                ))),
            },
        };
        names.iter().map(read).collect()
    }

    /// The words of a text.
    pub fn words(&self, field: Option<&str>, text: &str) -> Outcome<Query> {
        let operator = match self.operator {
            Operator::And => "and",
            Operator::Or => "or",
        };
        self.each(
            field,
            |name| json!({ "match": { name: { "query": text, "operator": operator } } }),
        )
    }

    /// Words in a row.
    pub fn phrase(&self, field: Option<&str>, text: &str, slop: u32) -> Outcome<Query> {
        self.each(
            field,
            |name| json!({ "match_phrase": { name: { "query": text, "slop": slop } } }),
        )
    }

    /// Terms that begin with a text.
    pub fn prefix(&self, field: Option<&str>, text: &str) -> Outcome<Query> {
        self.each(
            field,
            |name| json!({ "prefix": { name: self.as_terms(name, text) } }),
        )
    }

    /// Terms that a pattern fits.
    pub fn wildcard(&self, field: Option<&str>, pattern: &str) -> Outcome<Query> {
        self.each(
            field,
            |name| json!({ "wildcard": { name: self.as_terms(name, pattern) } }),
        )
    }

    /// Terms that differ little from a text; by its length if no number is given.
    pub fn fuzzy(&self, field: Option<&str>, text: &str, distance: Option<u8>) -> Outcome<Query> {
        let fuzziness = distance.map_or(json!("AUTO"), |distance| json!(distance));
        self.each(
            field,
            |name| json!({ "fuzzy": { name: { "value": self.as_terms(name, text), "fuzziness": fuzziness } } }),
        )
    }

    /// Values between two ends.
    pub fn range(&self, field: Option<&str>, ends: &Value) -> Outcome<Query> {
        self.each(field, |name| json!({ "range": { name: ends } }))
    }

    /// Documents that have a value.
    pub fn exists(&self, field: &str) -> Outcome<Query> {
        self.translator
            .query(&json!({ "exists": { "field": field } }))
    }

    /// A part of a term, in the form in which a field keeps its terms.
    fn as_terms(&self, name: &str, text: &str) -> String {
        let target = self.translator.fields.target(name).ok().flatten();
        target.map_or_else(|| text.to_owned(), |target| target.analyzer.part(text))
    }

    /// The query of each field that is asked, of which the best counts.
    fn each(&self, field: Option<&str>, query: impl Fn(&str) -> Value) -> Outcome<Query> {
        let own = field.map(|field| [(field.to_owned(), 1.0)]);
        let asked = own.as_ref().map_or(&self.default[..], |own| &own[..]);
        let mut queries = Vec::new();
        for (pattern, boost) in asked {
            let is_pattern = pattern.contains('*');
            for name in self.names(pattern) {
                // A pattern stands for fields of all types, and a clause need not fit each.
                let made = match self.translator.query(&query(&name)) {
                    Err(fault) if fault.status == 400 && (is_pattern || self.is_lenient) => {
                        continue;
                    }
                    made => made?,
                };
                queries.push(boosted_by(made, *boost)?);
            }
        }
        if queries.len() > FIELDS_MAX {
            return Err(Fault::illegal(format!(
                "a text asks for {} fields, at most {FIELDS_MAX} can be asked for at once",
                queries.len()
            )));
        }
        Ok(match queries.len() {
            0 => Query::MatchNone,
            _ => best_of(queries, self.tie_breaker),
        })
    }

    /// The fields that a pattern stands for.
    fn names(&self, pattern: &str) -> Vec<String> {
        if !pattern.contains('*') {
            return vec![pattern.to_owned()];
        }
        let all = self.translator.fields.metadata.mapping.all();
        let fitting = all.filter(|(name, _)| fits(pattern, name));
        fitting.map(|(name, _)| name).collect()
    }
}
