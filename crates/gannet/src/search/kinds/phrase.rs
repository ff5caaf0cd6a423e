//! The terms of a text in their order.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use super::node_kind::NodeKind;
use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::analysis::{FieldId, fingerprint, split_term_key};
use crate::base::{PhraseFilters, Result};
use crate::postings::{Neighbours, TermList};
use crate::search::build::{self, Builder, formula_of};
use crate::search::lists::{OpenLists, OpenTerm};
use crate::search::matching::phrase::{LastWord, PhraseCheck, PhraseWord};
use crate::search::matching::phrase_lists::{PhraseLists, phrase_cursor_bytes};
use crate::search::plan::{
    FieldQuery, LeafPlan, Parts, PlanNode, PlanSlot, PlannedPattern, Planner, ScoredSlots,
};
use crate::search::query::Query;
use crate::search::query::print::{print_field, print_quoted, print_slop};
use crate::search::rank::root::Clause;
use crate::search::results::explain;
use crate::search::results::highlight::{Wanted, WantedPhrase};
use crate::search::results::marks::text_in;

/// [`Query::Phrase`].
pub struct PhraseQuery<'q> {
    pub field: Option<&'q str>,
    pub text: &'q str,
    pub slop: u32,
}

impl<'q> QueryKind<'q> for PhraseQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        self.field
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn finds_ids(&self) -> bool {
        self.slop == 0
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_field(self.field, out)?;
        print_quoted(self.text, out)?;
        print_slop(self.slop, out)
    }

    fn plan(
        &self,
        query: &Query,
        boost: Option<f32>,
        _: usize,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        planner.leaf(self, query, boost)
    }
}

impl LeafPlan for PhraseQuery<'_> {
    fn named(&self) -> Option<&str> {
        self.field
    }

    fn texts(&self) -> [Option<&str>; 2] {
        [Some(self.text), None]
    }

    fn external_id(&self) -> Option<&str> {
        Some(self.text)
    }

    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        if let Some(value) = planner.value(self.text, asked)? {
            return Ok(Some(value));
        }
        let (words, _) = planner.words(self.text, asked.field, true)?;
        planner.phrase_of(words, self.slop, asked)
    }
}

/// [`PlanNode::Phrase`].
pub struct PhraseNode<'p> {
    pub words: &'p [(PlanSlot, u32)],
    pub last: Option<(PlanSlot, u32)>,
    pub slop: u32,
    pub boost: Option<f32>,
}

impl<'p> NodeKind<'p> for PhraseNode<'p> {
    fn parts(&self) -> Parts<'p> {
        Parts::default()
    }

    fn leaves(&self, _: &OpenLists) -> usize {
        1
    }

    fn cursor_bytes(&self, lists: &OpenLists) -> usize {
        let mut slots: Vec<PlanSlot> = self.words.iter().map(|(slot, _)| *slot).collect();
        slots.sort_unstable();
        slots.dedup();
        let open = slots.iter().filter_map(|slot| lists.terms[*slot].as_ref());
        let ends = self.ends(lists);
        // For their documents, and for the positions.
        let ends = ends.map(|term| size_of::<&TermList>() + 2 * build::term_bytes(term));
        self.words.len() * size_of::<PhraseWord<'_>>()
            + phrase_cursor_bytes(open.map(|term| &term.list), build::list_bytes)
            + ends.sum::<usize>()
    }

    fn ordered_words(&self) -> usize {
        self.words.len() + 1
    }

    fn note_scored(&self, _: &[PlannedPattern], scored: &mut ScoredSlots) {
        let words = self.words.iter().filter(|_| self.boost.is_some());
        words.for_each(|(slot, _)| scored.terms[*slot] = true);
        if let Some((slot, _)) = self.last {
            scored.patterns[slot] = true;
        }
    }

    fn want(&self, field: FieldId, lists: &OpenLists, wanted: &mut Wanted) -> Result<()> {
        let mut terms = Vec::new();
        for (slot, place) in self.words {
            let open = lists.terms[*slot].as_ref();
            match open.map(|open| text_in(open, field)).transpose()?.flatten() {
                Some(term) => terms.push((term, *place)),
                None => return Ok(()),
            }
        }
        let last = self.last.map(|(slot, place)| {
            let pattern = &lists.patterns[slot].pattern;
            (Arc::clone(pattern), place)
        });
        wanted.phrase(WantedPhrase {
            terms,
            last,
            slop: self.slop,
        });
        Ok(())
    }

    fn explanation_bytes(&self, lists: &OpenLists) -> usize {
        let ends = self.ends(lists).map(explain::term_bytes);
        let each_counts = |(slot, _): (PlanSlot, u32)| lists.patterns[slot].each.is_some();
        let most = if self.last.is_some_and(each_counts) {
            Some(ends.sum())
        } else {
            ends.max()
        };
        let words = self.words.iter();
        let words = words.filter_map(|(slot, _)| lists.terms[*slot].as_ref());
        most.unwrap_or(0) + words.map(explain::term_bytes).sum::<usize>()
    }

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        let lists = builder.lists;
        let last = self
            .last
            .map(|(slot, place)| (&lists.patterns[slot], place));
        if last.is_some_and(|(pattern, _)| pattern.terms.is_empty()) {
            return Ok(None);
        }
        let open: Option<Vec<&OpenTerm>> = self
            .words
            .iter()
            .map(|(slot, _)| lists.terms[*slot].as_ref())
            .collect();
        let Some(open) = open else {
            return Ok(None);
        };
        let Some(first) = open.first() else {
            return Ok(None);
        };
        let field = split_term_key(&first.key)?.0;
        let scored = builder.ranked(field, &open, last.map(|(pattern, _)| pattern), self.boost);
        let formula = formula_of(&scored);
        let filters = match self.slop {
            0 => builder.filters_of(field),
            _ => PhraseFilters::None,
        };
        let words = self.words.iter().zip(open);
        let words = words.map(|((slot, place), term)| PhraseWord {
            place: *place,
            word: *slot,
            fingerprint: fingerprint(&term.key, filters),
            proves: Neighbours::default(),
            list: &term.list,
        });
        let lists = PhraseLists {
            words: words.collect(),
            last: last.map(|(pattern, place)| LastWord {
                place,
                lists: pattern.terms.iter().map(|term| &term.list).collect(),
            }),
            filters,
            slop: self.slop,
        };
        let below = builder.view.below.into();
        let (matcher, check) = lists.matcher(scored, builder.width, below, builder.budget)?;
        let clause = Clause {
            check,
            ..Clause::new(matcher, formula)
        };
        // Only the frequency of a leaf is bounded by what its approximation tells.
        let bounded = |check: &PhraseCheck| check.is_bounded() && clause.formula.is_leaf();
        if clause.check.as_ref().is_none_or(bounded) {
            Ok(Some(clause))
        } else {
            Ok(Some(clause.verified()))
        }
    }
}

impl<'p> PhraseNode<'p> {
    /// The terms that its last word may be, if that is a pattern.
    fn ends<'l>(&self, lists: &'l OpenLists) -> impl Iterator<Item = &'l OpenTerm> + use<'l, 'p> {
        let last = self.last.into_iter();
        last.flat_map(|(slot, _)| &lists.patterns[slot].terms)
    }
}
