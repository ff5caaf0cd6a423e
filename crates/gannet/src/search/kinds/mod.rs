//! Kinds of queries, each in a file that knows all about it.
//!
//! A kind of query implements [`QueryKind`], a kind of node of its plan [`NodeKind`]. Only the two
//! functions of this file tell kinds apart. They have one row for each kind and no row for the
//! others. All rooms ask through them, those below by the interface alone.

mod all;
mod best;
mod bool;
mod boost;
mod exists;
mod fuzzy;
mod id;
mod node_kind;
mod none;
mod one_of;
mod pattern;
mod phrase;
mod phrase_pattern;
mod prefix;
mod query_kind;
mod range;
mod regexp;
mod text;
mod unions;
mod wildcard;

use self::all::{AllNode, AllQuery};
use self::best::{BestNode, BestQuery};
use self::bool::{BoolQuery, FilteredNode};
use self::boost::BoostQuery;
use self::exists::{ExistsNode, ExistsQuery};
use self::fuzzy::FuzzyQuery;
use self::id::IdNode;
use self::node_kind::NodeKind;
use self::none::{NoneNode, NoneQuery};
use self::one_of::OneOfQuery;
use self::pattern::PatternNode;
use self::phrase::{PhraseNode, PhraseQuery};
use self::phrase_pattern::PhrasePatternQuery;
use self::prefix::PrefixQuery;
use self::query_kind::QueryKind;
use self::range::RangeQuery;
use self::regexp::RegexpQuery;
use self::text::{TermNode, TextQuery};
use self::unions::AnyNode;
use self::wildcard::WildcardQuery;
use super::plan::PlanNode;
use super::query::Query;

impl Query {
    /// Asks the kind of this query.
    pub(crate) fn as_kind<'q, R>(&'q self, ask: impl FnOnce(&dyn QueryKind<'q>) -> R) -> R {
        match self {
            Query::MatchAll => ask(&AllQuery),
            Query::MatchNone => ask(&NoneQuery),
            Query::Text {
                field,
                text,
                operator,
            } => ask(&TextQuery {
                field: field.as_deref(),
                text,
                operator: *operator,
            }),
            Query::Phrase { field, text, slop } => ask(&PhraseQuery {
                field: field.as_deref(),
                text,
                slop: *slop,
            }),
            Query::PhrasePattern {
                field,
                text,
                pattern,
                slop,
                first,
            } => ask(&PhrasePatternQuery {
                field: field.as_deref(),
                text,
                pattern,
                slop: *slop,
                first: *first,
            }),
            Query::Prefix { field, prefix } => ask(&PrefixQuery {
                field: field.as_deref(),
                prefix,
            }),
            Query::Wildcard { field, pattern } => ask(&WildcardQuery {
                field: field.as_deref(),
                pattern,
            }),
            Query::Regexp { field, pattern } => ask(&RegexpQuery { field, pattern }),
            Query::Fuzzy {
                field,
                text,
                distance,
            } => ask(&FuzzyQuery {
                field: field.as_deref(),
                text,
                distance: *distance,
            }),
            Query::Range {
                field,
                lower,
                upper,
            } => ask(&RangeQuery {
                field: field.as_deref(),
                lower,
                upper,
            }),
            Query::OneOf { field, values } => ask(&OneOfQuery { field, values }),
            Query::Exists { field } => ask(&ExistsQuery { field }),
            Query::Bool {
                must,
                should,
                must_not,
                filter,
                minimum_should_match,
            } => ask(&BoolQuery {
                must,
                should,
                must_not,
                filter,
                minimum_should_match: *minimum_should_match,
            }),
            Query::Best {
                queries,
                tie_breaker,
            } => ask(&BestQuery {
                queries,
                tie_breaker: *tie_breaker,
            }),
            Query::Boost { query, factor } => ask(&BoostQuery {
                query,
                factor: *factor,
            }),
        }
    }
}

impl PlanNode {
    /// Asks the kind of this node.
    pub(crate) fn as_kind<'p, R>(&'p self, ask: impl FnOnce(&dyn NodeKind<'p>) -> R) -> R {
        match *self {
            PlanNode::None => ask(&NoneNode),
            PlanNode::All(boost) => ask(&AllNode { boost }),
            PlanNode::Term(slot, boost) => ask(&TermNode { slot, boost }),
            PlanNode::Phrase {
                ref words,
                last,
                slop,
                boost,
            } => ask(&PhraseNode {
                words,
                last,
                slop,
                boost,
            }),
            PlanNode::Pattern(slot, boost) => ask(&PatternNode { slot, boost }),
            PlanNode::Exists(field, boost) => ask(&ExistsNode { field, boost }),
            PlanNode::Id(slot, boost) => ask(&IdNode { slot, boost }),
            PlanNode::Any { ref parts, minimum } => ask(&AnyNode {
                nodes: parts,
                minimum,
            }),
            PlanNode::Best { ref parts, tie } => ask(&BestNode { nodes: parts, tie }),
            PlanNode::Filtered {
                ref required,
                ref excluded,
                ref optional,
            } => ask(&FilteredNode {
                required,
                excluded,
                optional,
            }),
        }
    }
}
