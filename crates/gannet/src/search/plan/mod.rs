//! The plan of a query: what is left of it once its texts are terms and its fields are numbers.
//!
//! Rules, as Lucene and Elasticsearch's `query_string` have them:
//! - a query without a field searches all text fields, and of each clause the best field counts;
//! - one term is a term, several are joined by the operator; the same word twice counts twice;
//! - prefixes, wildcards, ranges and `exists` score a constant 1 times the boost; so do all
//!   documents;
//! - a number in a field that matches exactly is found however it is spelled;
//! - a date that a field of whole strings is asked for is found with and without a time;
//! - the idf of a pattern that ends a phrase is that of its most frequent term, as in Lucene's
//!   `SynonymQuery`. The sum of all (`MultiPhraseQuery`) would make a phrase the more valuable the
//!   less it says;
//! - a fuzzy term is the sum of the terms it stands for, each with the similarity as its boost;
//! - `must_not` and `filter` never score; a `Bool` of only `must_not` (and `filter`) scores 0;
//! - an external ID scores a constant 1 times the boost;
//! - a text without a term after analysis, as one of stop words, is dropped, and so is a `Bool` all
//!   of whose clauses are; a query of which nothing is left matches nothing;
//! - a text without a field that the analyzers of some fields drop and those of others keep is not
//!   required: it only adds to the score, unless there is nothing else to match;
//! - what `fields` rejects has no plan.

mod addresses;
mod allowance;
mod cut;
mod field_query;
mod forms;
mod leaf;
mod node;
mod notes;
mod patterns;
mod planner;

pub use addresses::{pattern_between_addresses, pattern_of_addresses};
pub use allowance::{Allowance, check_text};
pub use field_query::FieldQuery;
pub use leaf::LeafPlan;
pub use node::{
    JoinedNodes, Parts, PlanNode, PlanSlot, PlannedPattern, PlannedTerm, ScoredSlots, WantedTerms,
};
pub use patterns::{WrittenPattern, literals};
pub use planner::Planner;

use crate::analysis::{Schema, Scratch};
use crate::base::{Reservation, Result};
use crate::columns::Columns;
use crate::search::query::{Query, fields};

/// A query in terms of an index.
pub struct Plan {
    /// The tree.
    pub root: PlanNode,
    /// Set if analysis left no clause of the query.
    pub is_dropped: bool,
    /// The terms to look up.
    pub terms: Vec<PlannedTerm>,
    /// The patterns to expand.
    pub patterns: Vec<PlannedPattern>,
    /// The external IDs to look up.
    pub ids: Vec<String>,
    /// Sentences for the user on how the query is asked.
    pub notes: Vec<String>,
    /// The memory of all this.
    pub memory: Reservation,
}

impl Plan {
    /// The terms and patterns whose statistics its scores need.
    pub fn scored(&self) -> ScoredSlots {
        let mut scored = ScoredSlots {
            terms: vec![false; self.terms.len()],
            patterns: vec![false; self.patterns.len()],
        };
        for node in self.root.nodes() {
            node.as_kind(|kind| kind.note_scored(&self.patterns, &mut scored));
        }
        scored
    }
}

/// Makes the plan of `query` for an index with the fields of `schema` and their columns, as far as
/// the allowance goes. `elsewhere` tells of names that only other indexes have.
pub fn plan(
    query: &Query,
    schema: &Schema,
    columns: &Columns,
    elsewhere: &dyn Fn(&str) -> bool,
    mut allowance: Allowance<'_>,
) -> Result<Plan> {
    fields::check(query, schema, elsewhere)?;
    let scratch = schema.fields().iter().map(|f| f.analyzer.scratch_bytes());
    let scratch = scratch.max().unwrap_or(0);
    allowance.memory(scratch)?;
    let mut planner = Planner::new(schema, columns, allowance);
    let root = planner.node(query, Some(1.0), 0)?;
    let is_dropped = root.is_none();
    planner.scratch = Scratch::default();
    planner.allowance.give_back(scratch)?;
    Ok(Plan {
        root: root.unwrap_or(PlanNode::None),
        is_dropped,
        terms: planner.terms,
        patterns: planner.patterns,
        ids: planner.ids,
        notes: planner.notes.sentences(),
        memory: planner.allowance.into_memory(),
    })
}

#[cfg(test)]
mod tests;
