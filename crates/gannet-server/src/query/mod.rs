//! Queries of Elasticsearch become queries of the engine: the same documents, or an error.
//!
//! Where Elasticsearch finds nothing without an error, as in a field that no document has, so does
//! this. A query that the engine would understand in another way is rejected.

mod asked_fields;
mod classic;
mod compound;
mod dates;
mod ends;
mod field;
mod ids;
mod joined;
mod minimum;
mod multi;
mod patterns;
mod query_string;
mod simple;
mod terms;
mod text;

pub use dates::between as dates_between;
pub use field::{Fields, Target};
pub use ids::any as with_ids;
pub use query_string::of_parameter;

use gannet::Query;
use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::json::Members;
use crate::near::nearest;

/// The deepest query.
const DEPTH_MAX: usize = 32;

/// A kind of query: its name, and what makes a query of its value.
type Kind = (&'static str, fn(&Value, &Translator<'_>) -> Outcome<Query>);

/// The kinds that there are.
const KINDS: [Kind; 22] = [
    ("bool", compound::bool),
    ("boosting", compound::boosting),
    ("constant_score", compound::constant_score),
    ("dis_max", compound::dis_max),
    ("exists", field::exists),
    ("fuzzy", patterns::fuzzy),
    ("ids", ids::ids),
    ("match", text::match_words),
    ("match_all", compound::match_all),
    ("match_bool_prefix", text::match_bool_prefix),
    ("match_none", compound::match_none),
    ("match_phrase", text::match_phrase),
    ("match_phrase_prefix", text::match_phrase_prefix),
    ("multi_match", multi::multi_match),
    ("prefix", patterns::prefix),
    ("query_string", query_string::query_string),
    ("range", terms::range),
    ("regexp", patterns::regexp),
    ("simple_query_string", query_string::simple_query_string),
    ("term", terms::term),
    ("terms", terms::terms),
    ("wildcard", patterns::wildcard),
];

/// Kinds of Elasticsearch that are not there.
const NOT_THERE: [&str; 29] = [
    "combined_fields",
    "distance_feature",
    "function_score",
    "geo_bounding_box",
    "geo_distance",
    "geo_grid",
    "geo_polygon",
    "geo_shape",
    "has_child",
    "has_parent",
    "intervals",
    "knn",
    "more_like_this",
    "nested",
    "parent_id",
    "percolate",
    "pinned",
    "rank_feature",
    "rule",
    "script",
    "script_score",
    "semantic",
    "shape",
    "span_near",
    "span_or",
    "span_term",
    "sparse_vector",
    "terms_set",
    "wrapper",
];

/// Makes queries for one index.
#[derive(Clone, Copy)]
pub struct Translator<'a> {
    /// The fields of the index.
    pub fields: &'a Fields<'a>,
    /// Set if the query counts for the score.
    is_scored: bool,
    depth: usize,
}

impl<'a> Translator<'a> {
    /// Of an index with these fields.
    pub fn new(fields: &'a Fields<'a>) -> Translator<'a> {
        Translator {
            fields,
            is_scored: true,
            depth: 0,
        }
    }

    /// Makes a query of an object with one member, its kind.
    pub fn query(&self, value: &Value) -> Outcome<Query> {
        let (kind, value) = Members::of("query", value)?.only()?;
        if self.depth > DEPTH_MAX {
            return Err(Fault::parsing(format!(
                "the query is nested more than {DEPTH_MAX} deep: make it flatter"
            )));
        }
        match KINDS.iter().find(|(name, _)| *name == kind) {
            Some((_, make)) => make(value, self),
            None => Err(unknown(kind)),
        }
    }

    /// For the queries below one.
    fn below(&self) -> Translator<'a> {
        Translator {
            depth: self.depth + 1,
            ..*self
        }
    }

    /// For queries that do not count for the score.
    pub fn filter(&self) -> Translator<'a> {
        Translator {
            is_scored: false,
            ..self.below()
        }
    }

    /// The same documents, each with the score 1.
    fn constant(&self, query: Query) -> Query {
        if !self.is_scored {
            return query;
        }
        all_of(vec![Query::MatchAll], vec![query])
    }
}

fn unknown(kind: &str) -> Fault {
    if NOT_THERE.contains(&kind) {
        return Fault::query_not_there(&format!("the query [{kind}]"));
    }
    let proposal = nearest(kind, KINDS.iter().map(|(name, _)| *name));
    let proposal = proposal.map_or_else(String::new, |near| format!(" did you mean [{near}]?"));
    Fault::parsing(format!("unknown query [{kind}]{proposal}"))
}

/// The kinds of queries that there are.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// Documents that match so many of some queries.
pub fn any_of(should: Vec<Query>, minimum: u32) -> Query {
    Query::Bool {
        must: Vec::new(),
        should,
        must_not: Vec::new(),
        filter: Vec::new(),
        minimum_should_match: minimum,
    }
}

fn all_of(must: Vec<Query>, filter: Vec<Query>) -> Query {
    Query::Bool {
        must,
        should: Vec::new(),
        must_not: Vec::new(),
        filter,
        minimum_should_match: 0,
    }
}

/// A query with the member `boost` of its object.
fn boosted(query: Query, members: &Members<'_>) -> Outcome<Query> {
    match members.number("boost")? {
        None => Ok(query),
        Some(factor) => boosted_by(query, factor),
    }
}

fn boosted_by(query: Query, factor: f32) -> Outcome<Query> {
    if factor < 0.0 {
        return Err(Fault::parsing(format!(
            "failed to parse field [boost]: negative [boost] are not allowed in [query], but was [{factor}]"
        )));
    }
    Ok(if factor == 1.0 {
        query
    } else {
        Query::Boost {
            query: Box::new(query),
            factor,
        }
    })
}
