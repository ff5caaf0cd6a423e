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

mod allowance;
mod cut;
mod forms;
mod notes;
mod patterns;

pub use allowance::Allowance;

use std::ops::Bound;

use rustc_hash::FxHashMap;

use allowance::{check_phrase, check_text};
use notes::Notes;

use super::query::fields;
use super::query::ranges::DateSpan;
use super::query::{DEPTH_MAX, Operator, Query};
use crate::analysis::{Field, FieldId, FieldKind, FieldOptions, Schema, Scratch, term_key};
use crate::base::{Error, Reservation, Result};
use crate::documents::exact_number;
use crate::search::query::pattern::{Fuzzy, Pattern};

/// Bytes of a node of the tree beside its words.
const NODE_BYTES: usize = 2 * size_of::<PlanNode>();

/// A place in [`Plan::terms`], [`Plan::patterns`] or [`Plan::ids`].
pub type PlanSlot = usize;

/// A node of the plan. `boost` is `None` where the node only filters.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanNode {
    /// Nothing.
    None,
    /// Every document.
    All(Option<f32>),
    /// The documents of a term.
    Term(PlanSlot, Option<f32>),
    /// Documents with terms at places: slots with places in the phrase.
    Phrase {
        /// The terms.
        words: Vec<(PlanSlot, u32)>,
        /// A pattern, any term of which stands at its place behind them.
        last: Option<(PlanSlot, u32)>,
        /// The slop: positions that they may be moved in all.
        slop: u32,
        /// The boost.
        boost: Option<f32>,
    },
    /// The documents of all terms that a pattern stands for.
    Pattern(PlanSlot, Option<f32>),
    /// Documents that have a field.
    Exists(FieldId, Option<f32>),
    /// The document with an external ID.
    Id(PlanSlot, Option<f32>),
    /// At least `minimum` of the parts must match; the scores are added up.
    Any {
        /// The parts.
        parts: Vec<PlanNode>,
        /// The number of parts that must match.
        minimum: usize,
    },
    /// Any of the parts must match; the best part's score counts.
    Best(Vec<PlanNode>),
    /// All of `required` must match and none of `excluded`; `optional` adds to the score.
    Filtered {
        /// All must match.
        required: Vec<PlanNode>,
        /// None may match.
        excluded: Vec<PlanNode>,
        /// May match.
        optional: Vec<PlanNode>,
    },
}

impl PlanNode {
    /// Returns true if it contains a phrase: positions are read of the lists of its words.
    pub fn has_phrases(&self) -> bool {
        match self {
            PlanNode::Phrase { .. } => true,
            PlanNode::Any { parts, .. } | PlanNode::Best(parts) => {
                parts.iter().any(PlanNode::has_phrases)
            }
            PlanNode::Filtered {
                required,
                excluded,
                optional,
            } => [required, excluded, optional]
                .into_iter()
                .flatten()
                .any(PlanNode::has_phrases),
            PlanNode::None
            | PlanNode::All(_)
            | PlanNode::Term(..)
            | PlanNode::Pattern(..)
            | PlanNode::Exists(..)
            | PlanNode::Id(..) => false,
        }
    }
}

/// A term of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTerm {
    /// The field.
    pub field: FieldId,
    /// The key in the dictionary.
    pub key: Vec<u8>,
}

/// A pattern over a field's terms.
pub struct PlannedPattern {
    /// The field.
    pub field: FieldId,
    /// The pattern.
    pub pattern: Pattern,
    /// The pattern as it was written.
    pub written: String,
    /// Set if it is the last word of a phrase, so that the positions of its terms are needed.
    pub ends_phrase: bool,
    /// Set if the terms of the field are stems.
    pub stems: bool,
}

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

/// Makes the plan of `query` for an index with the fields of `schema`, as far as the allowance
/// goes. `elsewhere` tells of names that only other indexes have.
pub fn plan(
    query: &Query,
    schema: &Schema,
    elsewhere: &dyn Fn(&str) -> bool,
    mut allowance: Allowance<'_>,
) -> Result<Plan> {
    fields::check(query, schema, elsewhere)?;
    let scratch = schema.fields().iter().map(|f| f.analyzer.scratch_bytes());
    let scratch = scratch.max().unwrap_or(0);
    allowance.memory(scratch)?;
    let mut planner = Planner {
        schema,
        allowance,
        known: FxHashMap::default(),
        automata: FxHashMap::default(),
        scratch: Scratch::default(),
        terms: Vec::new(),
        patterns: Vec::new(),
        ids: Vec::new(),
        notes: Notes::default(),
        unasked: 0,
        is_partial: false,
    };
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

struct Planner<'a> {
    schema: &'a Schema,
    allowance: Allowance<'a>,
    scratch: Scratch,
    /// The slots of the terms by their keys.
    known: FxHashMap<Vec<u8>, PlanSlot>,
    /// Fuzzy terms by their texts and distances.
    automata: FxHashMap<(String, u8), Fuzzy>,
    terms: Vec<PlannedTerm>,
    patterns: Vec<PlannedPattern>,
    ids: Vec<String>,
    notes: Notes,
    /// The number of fields that could not be asked for a pattern.
    unasked: usize,
    /// Set if the analyzer of one field dropped the text of the last node, and that of another did
    /// not.
    is_partial: bool,
}

/// The clauses that are to match, or one of which is.
#[derive(Default)]
struct Clauses {
    nodes: Vec<PlanNode>,
    /// Nodes that some fields dropped.
    partial: Vec<PlanNode>,
}

impl Planner<'_> {
    /// The node of a query, unless analysis leaves nothing of it.
    fn node(
        &mut self,
        query: &Query,
        boost: Option<f32>,
        depth: usize,
    ) -> Result<Option<PlanNode>> {
        if depth > DEPTH_MAX {
            return Err(Error::invalid(format!(
                "the query is nested more than {DEPTH_MAX} deep: make it flatter"
            )));
        }
        self.allowance.memory(NODE_BYTES)?;
        self.is_partial = false;
        match query {
            Query::MatchAll => Ok(Some(PlanNode::All(boost))),
            Query::MatchNone => Ok(Some(PlanNode::None)),
            Query::Exists { field } => Ok(Some(self.exists(field, boost))),
            Query::Boost { query, factor } => {
                let boost = boost.map(|boost| boost * check_boost(*factor).unwrap_or(1.0));
                check_boost(*factor)?;
                self.node(query, boost, depth + 1)
            }
            Query::Bool { .. } => self.bool(query, boost, depth),
            leaf => self.leaf(leaf, boost),
        }
    }

    fn exists(&self, field: &str, boost: Option<f32>) -> PlanNode {
        if fields::is_id(field, self.schema) {
            return PlanNode::All(boost);
        }
        let field = self.schema.named(field);
        field.map_or(PlanNode::None, |field| PlanNode::Exists(field.id, boost))
    }

    fn bool(
        &mut self,
        query: &Query,
        boost: Option<f32>,
        depth: usize,
    ) -> Result<Option<PlanNode>> {
        let Query::Bool {
            must,
            should,
            must_not,
            filter,
            minimum_should_match,
        } = query
        else {
            return Ok(Some(PlanNode::None));
        };
        let mut required = self.clauses(must, boost, depth)?;
        required.extend(self.clauses(filter, None, depth)?);
        let parts = self.clauses(should, boost, depth)?;
        let excluded = self.clauses(must_not, None, depth)?.all();
        if required.is_empty() && parts.is_empty() && excluded.is_empty() {
            let had_none = query.children().next().is_none();
            return Ok(had_none.then_some(PlanNode::None));
        }
        let whole = [&required.nodes, &parts.nodes, &excluded];
        self.is_partial = whole.iter().all(|nodes| nodes.is_empty());
        let (mut required, mut optional) = (required.nodes, required.partial);
        let mut parts = parts.all();
        let mut minimum = *minimum_should_match as usize;
        if parts.len() < should.len() {
            // What is dropped cannot match, and is not missed.
            minimum = minimum.min(parts.len());
        }
        if self.is_partial {
            // Nothing else is to match.
            parts.append(&mut optional);
        }
        if minimum == 0 && required.is_empty() && !parts.is_empty() {
            minimum = 1;
        }
        if minimum == 0 {
            if required.is_empty() {
                required.push(PlanNode::All(None));
            }
            optional.extend(parts);
            return Ok(Some(all(required, excluded, optional)));
        }
        required.push(any(parts, minimum));
        Ok(Some(all(required, excluded, optional)))
    }

    /// Plans clauses; keeps those that analysis leaves.
    fn clauses(&mut self, queries: &[Query], boost: Option<f32>, depth: usize) -> Result<Clauses> {
        let mut clauses = Clauses::default();
        for query in queries {
            if let Some(node) = self.node(query, boost, depth + 1)? {
                if self.is_partial {
                    clauses.partial.push(node);
                } else {
                    clauses.nodes.push(node);
                }
            }
        }
        Ok(clauses)
    }

    /// A query of one field, or the best of all text fields.
    fn leaf(&mut self, leaf: &Query, boost: Option<f32>) -> Result<Option<PlanNode>> {
        let schema = self.schema;
        let name = match leaf {
            Query::Text { field, .. }
            | Query::Phrase { field, .. }
            | Query::PhrasePattern { field, .. }
            | Query::Prefix { field, .. }
            | Query::Wildcard { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Range { field, .. } => field,
            _ => return Ok(Some(PlanNode::None)),
        };
        if let Some(name) = name {
            if fields::is_id(name, schema) {
                return self.id(leaf, boost).map(Some);
            }
            // Without any field there are no documents.
            return match schema.named(name) {
                None => Ok(Some(PlanNode::None)),
                Some(field) => self.in_fields(leaf, &[field], boost),
            };
        }
        let fields = schema.fields().iter();
        let texts: Vec<&Field> = fields.filter(|f| f.kind == FieldKind::Text).collect();
        if texts.is_empty() {
            Ok(Some(PlanNode::None))
        } else {
            self.in_fields(leaf, &texts, boost)
        }
    }

    /// The best of some fields, at least one.
    fn in_fields(
        &mut self,
        leaf: &Query,
        fields: &[&Field],
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        let asked_before = self.unasked;
        let nodes = fields.iter();
        let nodes = nodes.filter_map(|field| self.in_field(leaf, field, boost).transpose());
        let mut nodes = nodes.collect::<Result<Vec<PlanNode>>>()?;
        let unasked = self.unasked - asked_before;
        if unasked > 0 && unasked == nodes.len() {
            return Err(self.impossible(leaf));
        }
        self.is_partial = (1..fields.len()).contains(&nodes.len());
        Ok(match nodes.len() {
            0 | 1 => nodes.pop(),
            _ => Some(PlanNode::Best(nodes)),
        })
    }

    /// The document whose external ID was written.
    fn id(&mut self, leaf: &Query, boost: Option<f32>) -> Result<PlanNode> {
        let (Query::Text { text, .. } | Query::Phrase { text, .. }) = leaf else {
            return Ok(PlanNode::None);
        };
        self.allowance.leaf(2 * text.len())?;
        self.ids.push(text.clone());
        Ok(PlanNode::Id(self.ids.len() - 1, boost))
    }

    fn in_field(
        &mut self,
        leaf: &Query,
        field: &Field,
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        leaf_texts(leaf).try_for_each(check_text)?;
        if let Query::Text { text, .. } | Query::Phrase { text, .. } = leaf
            && let Some(spelled) = other_spelling(text, field)
        {
            return self.number([text, &spelled], field, boost).map(Some);
        }
        if let Some(span) = span(leaf, field) {
            return self.date(leaf, span, field, boost).map(Some);
        }
        match leaf {
            Query::Text { text, operator, .. } => self.text(text, *operator, field, boost),
            Query::Phrase { text, slop, .. } => self.phrase(text, *slop, field, boost),
            Query::Range { lower, upper, .. } => {
                let bytes = |text: &String| field.analyzer.part(text).into_bytes();
                let range = (lower.as_ref().map(bytes), upper.as_ref().map(bytes));
                let range = Pattern::Range(range.0, range.1);
                let slot = self.add_pattern(leaf, range, field, false)?;
                Ok(Some(PlanNode::Pattern(slot, boost)))
            }
            _ => self.terms_like(leaf, field, boost),
        }
    }

    fn text(
        &mut self,
        text: &str,
        operator: Operator,
        field: &Field,
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        let (words, _) = self.words(text, field, false)?;
        let nodes: Vec<PlanNode> = words
            .iter()
            .map(|(slot, _)| PlanNode::Term(*slot, boost))
            .collect();
        if nodes.is_empty() {
            return Ok(None);
        }
        Ok(Some(match operator {
            Operator::Or => any(nodes, 1),
            Operator::And => all(nodes, Vec::new(), Vec::new()),
        }))
    }

    /// A number as it was asked for, which a string may be, and as it is indexed.
    fn number(&mut self, texts: [&str; 2], field: &Field, boost: Option<f32>) -> Result<PlanNode> {
        let mut spelled = Vec::new();
        for text in texts {
            spelled.extend(self.words(text, field, false)?.0);
        }
        let terms = spelled.iter().map(|(slot, _)| PlanNode::Term(*slot, boost));
        Ok(PlanNode::Best(terms.collect()))
    }

    /// A date as it was written, and what goes on from it.
    fn date(
        &mut self,
        leaf: &Query,
        span: DateSpan,
        field: &Field,
        boost: Option<f32>,
    ) -> Result<PlanNode> {
        let mut terms = Vec::new();
        for text in leaf_texts(leaf) {
            terms.extend(self.words(text, field, false)?.0);
        }
        let terms = terms.iter().map(|(slot, _)| PlanNode::Term(*slot, boost));
        let mut parts: Vec<PlanNode> = terms.collect();
        let slot = self.add_pattern(leaf, Pattern::Span(span), field, false)?;
        parts.push(PlanNode::Pattern(slot, boost));
        Ok(PlanNode::Best(parts))
    }

    fn phrase(
        &mut self,
        text: &str,
        slop: u32,
        field: &Field,
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        let (words, _) = self.words(text, field, true)?;
        self.phrase_of(words, slop, field, boost)
    }

    fn phrase_of(
        &mut self,
        words: Vec<(PlanSlot, u32)>,
        slop: u32,
        field: &Field,
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        match words.as_slice() {
            [] => Ok(None),
            [(slot, _)] => Ok(Some(PlanNode::Term(*slot, boost))),
            _ => {
                check_positions(field)?;
                Ok(Some(PlanNode::Phrase {
                    words,
                    last: None,
                    slop,
                    boost,
                }))
            }
        }
    }

    /// A fuzzy term with its automaton, which is made once for all fields.
    fn fuzzy(&mut self, text: String, distance: u8) -> Result<Fuzzy> {
        if let Some(known) = self.automata.get(&(text.clone(), distance)) {
            return Ok(known.clone());
        }
        self.allowance
            .memory(text.len() + Fuzzy::memory_bytes(&text, distance)?)?;
        let fuzzy = Fuzzy::new(&text, distance, 0)?;
        self.automata.insert((text, distance), fuzzy.clone());
        Ok(fuzzy)
    }

    /// The terms of a text with their positions, and the position behind them; each distinct term
    /// has one slot.
    fn words(
        &mut self,
        text: &str,
        field: &Field,
        is_phrase: bool,
    ) -> Result<(Vec<(PlanSlot, u32)>, u32)> {
        let Planner {
            allowance,
            scratch,
            known,
            terms,
            ..
        } = self;
        let (mut words, mut failed) = (Vec::new(), None);
        let mut add = |text: &str, position: u32| -> Result<()> {
            if is_phrase {
                check_phrase(words.len())?;
            }
            let mut key = Vec::new();
            term_key(field.id, text.as_bytes(), &mut key);
            let slot = known.get(&key).copied().unwrap_or(terms.len());
            let is_new = slot == terms.len();
            allowance.leaf(if is_new { 2 * key.len() } else { 0 })?;
            if is_new {
                let field = field.id;
                known.insert(key.clone(), slot);
                terms.push(PlannedTerm { field, key });
            }
            words.push((slot, position));
            Ok(())
        };
        let end = field.analyzer.analyze(text, scratch, |token| {
            if failed.is_none() {
                failed = add(token.text, token.position).err();
            }
        });
        match failed {
            None => Ok((words, end)),
            Some(error) => Err(error),
        }
    }
}

impl Clauses {
    fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.partial.is_empty()
    }

    fn extend(&mut self, others: Clauses) {
        self.nodes.extend(others.nodes);
        self.partial.extend(others.partial);
    }

    fn all(self) -> Vec<PlanNode> {
        let Clauses { mut nodes, partial } = self;
        nodes.extend(partial);
        nodes
    }
}

/// Rejects a phrase in a field without positions.
fn check_positions(field: &Field) -> Result<()> {
    if field.options.contains(FieldOptions::POSITIONS) {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "field {:?} keeps no positions, so that it has no phrases: ask for its words",
            field.name
        )))
    }
}

fn check_boost(factor: f32) -> Result<f32> {
    if factor.is_finite() && factor >= 0.0 {
        Ok(factor)
    } else {
        Err(Error::invalid(format!(
            "a boost is a number from 0 on, not {factor}"
        )))
    }
}

/// Requires at least `minimum` of `parts`, in the simplest form.
fn any(mut parts: Vec<PlanNode>, minimum: usize) -> PlanNode {
    match parts.len() {
        count if count < minimum || count == 0 => PlanNode::None,
        1 => parts.remove(0),
        _ => PlanNode::Any { parts, minimum },
    }
}

/// Requires all of `required`, in the simplest form.
fn all(mut required: Vec<PlanNode>, excluded: Vec<PlanNode>, optional: Vec<PlanNode>) -> PlanNode {
    if required.is_empty() || required.contains(&PlanNode::None) {
        return PlanNode::None;
    }
    if required.len() == 1 && excluded.is_empty() && optional.is_empty() {
        return required.remove(0);
    }
    PlanNode::Filtered {
        required,
        excluded,
        optional,
    }
}

/// The texts of a query of one field.
fn leaf_texts(leaf: &Query) -> impl Iterator<Item = &str> {
    let texts = match leaf {
        Query::Text { text, .. } | Query::Phrase { text, .. } | Query::Fuzzy { text, .. } => {
            [Some(text), None]
        }
        Query::Prefix { prefix, .. } => [Some(prefix), None],
        Query::Wildcard { pattern, .. } => [Some(pattern), None],
        Query::PhrasePattern { text, pattern, .. } => [Some(text), Some(pattern)],
        Query::Range { lower, upper, .. } => [bound_text(lower), bound_text(upper)],
        _ => [None, None],
    };
    texts.into_iter().flatten().map(String::as_str)
}

fn bound_text(bound: &Bound<String>) -> Option<&String> {
    match bound {
        Bound::Included(text) | Bound::Excluded(text) => Some(text),
        Bound::Unbounded => None,
    }
}

/// The spelling of a number in the index of a field that matches exactly, if it differs from this
/// one.
fn other_spelling(text: &str, field: &Field) -> Option<String> {
    match field.kind {
        FieldKind::Text => None,
        FieldKind::Exact => exact_number(text).filter(|spelled| spelled != text),
    }
}

/// The date that a field of whole strings is asked for by name. Words for all fields stand for
/// themselves.
fn span(leaf: &Query, field: &Field) -> Option<DateSpan> {
    let (Query::Text {
        field: Some(_),
        text,
        ..
    }
    | Query::Phrase {
        field: Some(_),
        text,
        ..
    }) = leaf
    else {
        return None;
    };
    DateSpan::of(text).filter(|_| fields::has_order(field))
}

#[cfg(test)]
mod tests;
