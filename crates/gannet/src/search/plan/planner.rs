//! The services by which kinds of queries plan themselves: terms, phrases, values, patterns, each
//! within the allowance.

use std::ops::Bound;

use gannet_values::{ValueType, parse_date};
use rustc_hash::FxHashMap;

use super::addresses::pattern_of_addresses;
use super::allowance::{Allowance, check_phrase};
use super::field_query::FieldQuery;
use super::node::{PlanNode, PlanSlot, PlannedPattern, PlannedTerm, WantedTerms};
use super::notes::Notes;
use crate::analysis::{Field, FieldKind, FieldOptions, Schema, Scratch, term_key};
use crate::base::{Error, Result};
use crate::columns::{ColumnId, Columns};
use crate::documents::exact_number;
use crate::search::query::addresses::has_addresses;
use crate::search::query::fields;
use crate::search::query::pattern::{Fuzzy, Pattern};
use crate::search::query::ranges::DateSpan;
use crate::search::query::{DEPTH_MAX, Query};

/// Bytes of a node of the tree beside its words.
const NODE_BYTES: usize = 2 * size_of::<PlanNode>();

/// A query that is being planned.
pub struct Planner<'a> {
    /// The fields of the index.
    pub schema: &'a Schema,
    /// The columns of values that they have.
    columns: &'a Columns,
    pub(super) allowance: Allowance<'a>,
    pub(super) scratch: Scratch,
    /// The slots of the terms by their keys.
    known: FxHashMap<Vec<u8>, PlanSlot>,
    /// Fuzzy terms by their texts and distances.
    automata: FxHashMap<(String, u8), Fuzzy>,
    pub(super) terms: Vec<PlannedTerm>,
    pub(super) patterns: Vec<PlannedPattern>,
    pub(super) ids: Vec<String>,
    pub(super) notes: Notes,
    /// The number of fields that could not be asked for a pattern.
    pub(super) unasked: usize,
    /// The last such pattern as it was written.
    pub(super) last_unasked: String,
    /// Set if the analyzer of one field dropped the text of the last node, and that of another did
    /// not.
    pub is_partial: bool,
}

impl<'a> Planner<'a> {
    /// A planner that has planned nothing yet.
    pub fn new(schema: &'a Schema, columns: &'a Columns, allowance: Allowance<'a>) -> Planner<'a> {
        Planner {
            schema,
            columns,
            allowance,
            known: FxHashMap::default(),
            automata: FxHashMap::default(),
            scratch: Scratch::default(),
            terms: Vec::new(),
            patterns: Vec::new(),
            ids: Vec::new(),
            notes: Notes::default(),
            unasked: 0,
            last_unasked: String::new(),
            is_partial: false,
        }
    }

    /// The node of a query, unless analysis leaves nothing of it.
    pub fn node(
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
        query.as_kind(|kind| kind.plan(query, boost, depth, self))
    }

    /// A text as a single value, where the field has numbers and dates that are written in several
    /// ways: a number in all its spellings, a date with and without a time.
    pub fn value(&mut self, text: &str, asked: &FieldQuery<'_>) -> Result<Option<PlanNode>> {
        if has_addresses(asked.field) && text.contains('/') {
            let pattern = pattern_of_addresses(&[text.to_owned()], asked.field)?;
            let slot = self.pattern(asked, pattern, WantedTerms::All)?;
            return Ok(Some(PlanNode::Pattern(slot, asked.boost)));
        }
        if let Some(spelled) = other_spelling(text, asked.field) {
            return self
                .number([text, &spelled], asked.field, asked.boost)
                .map(Some);
        }
        // Words for all fields stand for themselves.
        if !asked.is_named {
            return Ok(None);
        }
        if self.has_dates(asked.field) && is_date(text) {
            return self.date_or_words(text, asked).map(Some);
        }
        if !fields::has_order(asked.field) {
            return Ok(None);
        }
        let date = DateSpan::of(text);
        date.map(|span| self.date(text, span, asked)).transpose()
    }

    /// A number as it was asked for, which a string may be, and as it is indexed.
    fn number(&mut self, texts: [&str; 2], field: &Field, boost: Option<f32>) -> Result<PlanNode> {
        let mut spelled = Vec::new();
        for text in texts {
            spelled.extend(self.words(text, field, false)?.0);
        }
        let terms = spelled.iter().map(|(slot, _)| PlanNode::Term(*slot, boost));
        Ok(PlanNode::best(terms.collect()))
    }

    /// A date as it was written, and what goes on from it.
    fn date(&mut self, text: &str, span: DateSpan, asked: &FieldQuery<'_>) -> Result<PlanNode> {
        let (words, _) = self.words(text, asked.field, false)?;
        let terms = words.iter();
        let terms = terms.map(|(slot, _)| PlanNode::Term(*slot, asked.boost));
        let mut parts: Vec<PlanNode> = terms.collect();
        let slot = self.pattern(asked, Pattern::Span(span), WantedTerms::All)?;
        parts.push(PlanNode::Pattern(slot, asked.boost));
        Ok(PlanNode::best(parts))
    }

    /// Returns true if a field of words has the dates that they are as values.
    fn has_dates(&self, field: &Field) -> bool {
        let mut columns = self.columns.of_field(field.id).iter();
        let is_of_dates = |id: &ColumnId| {
            let column = self.columns.get(*id);
            column.is_some_and(|column| !column.closed && column.value_type == ValueType::Date)
        };
        field.kind == FieldKind::Text && columns.any(is_of_dates)
    }

    /// The dates that a written one stands for, all those of a day or a month. Documents whose
    /// string has more than a date have it as words side by side.
    fn date_or_words(&mut self, text: &str, asked: &FieldQuery<'_>) -> Result<PlanNode> {
        let mut parts = Vec::new();
        if check_positions(asked.field).is_ok() {
            let (words, _) = self.words(text, asked.field, true)?;
            parts.extend(self.phrase_of(words, 0, asked)?);
        }
        let end = || Bound::Included(text.as_bytes().to_vec());
        let slot = self.pattern(asked, Pattern::Range(end(), end()), WantedTerms::All)?;
        parts.push(PlanNode::Pattern(slot, asked.boost));
        Ok(PlanNode::best(parts))
    }

    /// Words at their places: nothing if there are none, a term if there is one.
    pub fn phrase_of(
        &mut self,
        words: Vec<(PlanSlot, u32)>,
        slop: u32,
        asked: &FieldQuery<'_>,
    ) -> Result<Option<PlanNode>> {
        match words.as_slice() {
            [] => Ok(None),
            [(slot, _)] => Ok(Some(PlanNode::Term(*slot, asked.boost))),
            _ => {
                check_positions(asked.field)?;
                Ok(Some(PlanNode::Phrase {
                    words,
                    last: None,
                    slop,
                    boost: asked.boost,
                }))
            }
        }
    }

    /// A pattern over the terms of a field.
    pub fn pattern(
        &mut self,
        asked: &FieldQuery<'_>,
        pattern: Pattern,
        wanted: WantedTerms,
    ) -> Result<PlanSlot> {
        let written = asked.query.to_string();
        self.allowance
            .leaf(pattern.memory_bytes() + written.len())?;
        self.patterns.push(PlannedPattern {
            field: asked.field.id,
            pattern,
            written,
            wanted,
            stems: asked.field.analyzer.stems(),
        });
        Ok(self.patterns.len() - 1)
    }

    /// A fuzzy term with its automaton, which is made once for all fields.
    pub(super) fn fuzzy(&mut self, text: String, distance: u8) -> Result<Fuzzy> {
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
    pub fn words(
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

/// Rejects a phrase in a field without positions.
pub(super) fn check_positions(field: &Field) -> Result<()> {
    if field.options.contains(FieldOptions::POSITIONS) {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "field {:?} keeps no positions, so that it has no phrases: ask for its words",
            field.name
        )))
    }
}

/// Returns true if a text is a month, a day or a moment. A year alone is a word like others, which
/// finds the dates that begin with it.
fn is_date(text: &str) -> bool {
    text.contains('-') && parse_date(text).is_some()
}

/// The spelling of a number in the index of a field that matches exactly, if it differs from this
/// one.
fn other_spelling(text: &str, field: &Field) -> Option<String> {
    match field.kind {
        FieldKind::Text => None,
        FieldKind::Exact => exact_number(text).filter(|spelled| spelled != text),
    }
}
