//! The documents of all terms that a pattern stands for: what prefixes, wildcards, ranges and fuzzy
//! words are in a field.
//!
//! All of them have the same score, but for those of a fuzzy word and the first ones in order that
//! stand for the last word of a phrase: it is the sum of its terms.

use std::sync::Arc;

use super::node_kind::NodeKind;
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{self, Builder, CLAUSE_BYTES};
use crate::search::lists::{OpenLists, OpenPattern, OpenTerm};
use crate::search::matching::doc_set::{DocSet, MemberBits};
use crate::search::matching::sets::{SetMembers, Union};
use crate::search::plan::{Parts, PlanSlot, PlannedPattern, ScoredSlots, WantedTerms};
use crate::search::rank::root::{Clause, Root};
use crate::search::results::explain;
use crate::search::results::highlight::Wanted;
use crate::search::results::marks::want_terms;
use crate::search::scoring::formula::Formula;

/// [`PlanNode::Pattern`](crate::search::plan::PlanNode::Pattern).
pub struct PatternNode {
    pub slot: PlanSlot,
    pub boost: Option<f32>,
}

impl<'p> NodeKind<'p> for PatternNode {
    fn parts(&self) -> Parts<'p> {
        Parts::default()
    }

    fn leaves(&self, lists: &OpenLists) -> usize {
        lists.patterns[self.slot].terms.len().max(1)
    }

    fn cursor_bytes(&self, lists: &OpenLists) -> usize {
        let terms = lists.patterns[self.slot].terms.iter();
        CLAUSE_BYTES + terms.map(build::term_bytes).sum::<usize>()
    }

    fn ordered_words(&self) -> usize {
        0
    }

    fn note_scored(&self, patterns: &[PlannedPattern], scored: &mut ScoredSlots) {
        // Which terms are the most similar ones, or the first, shows only where all are known.
        let planned = &patterns[self.slot];
        let is_first = matches!(planned.wanted, WantedTerms::First(_));
        scored.patterns[self.slot] |= planned.pattern.is_fuzzy() || is_first;
    }

    fn want(&self, field: FieldId, lists: &OpenLists, wanted: &mut Wanted) -> Result<()> {
        let pattern = &lists.patterns[self.slot];
        let many = pattern.documents.as_ref();
        if let Some(many) = many.filter(|many| many.field == field) {
            wanted.terms_like(&many.pattern);
        }
        want_terms(pattern.terms.iter(), field, wanted)
    }

    fn explanation_bytes(&self, lists: &OpenLists) -> usize {
        let terms = lists.patterns[self.slot].terms.iter();
        terms
            .map(|term| explain::LINES_BYTES + explain::term_bytes(term))
            .sum()
    }

    fn members(&self, lists: &OpenLists, block: usize) -> Option<MemberBits> {
        let documents = lists.patterns[self.slot].documents.as_ref()?;
        Some(documents.set.block(block))
    }

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        let pattern = &builder.lists.patterns[self.slot];
        let OpenPattern {
            terms, documents, ..
        } = pattern;
        if pattern.scores_terms() && self.boost.is_some() {
            let clauses = self.similar(builder)?;
            return Ok(builder.any(clauses, 1, Formula::Sum));
        }
        if let Some(documents) = documents {
            builder.has_all |= documents.of_values;
            let members = SetMembers(Arc::clone(&documents.set));
            let what = || format!("{} terms of a pattern", documents.sources.terms);
            return Ok(Some(builder.constant(members, self.boost, what)));
        }
        if terms.is_empty() {
            return Ok(None);
        }
        let cursors = terms.iter().map(|term| term.list.cursor()).collect();
        let union = Union::new(cursors, DocSet::new(builder.budget)?);
        let what = || format!("{} terms of a pattern", terms.len());
        Ok(Some(builder.constant(union, self.boost, what)))
    }

    fn root(&self, builder: &mut Builder<'_>) -> Result<Root> {
        let scores_terms = builder.lists.patterns[self.slot].scores_terms();
        let clauses = if scores_terms && self.boost.is_some() {
            self.similar(builder)?
        } else {
            self.build(builder)?.into_iter().collect()
        };
        Ok(Root::of(clauses))
    }
}

impl PatternNode {
    /// The terms, each with its score. As in Lucene all that are similar to a fuzzy word count as
    /// the most frequent one, or the rarest misspelling would score most.
    fn similar(&self, builder: &mut Builder<'_>) -> Result<Vec<Clause>> {
        let pattern = &builder.lists.patterns[self.slot];
        let (most, _) = pattern.most_frequent();
        let counted = pattern.terms.iter().map(|term| OpenTerm {
            frequency: if pattern.is_fuzzy {
                most
            } else {
                term.frequency
            },
            ..term.clone()
        });
        counted
            .map(|term| builder.term(&term, self.boost))
            .collect()
    }
}
