//! The terms that the analyzer of a field makes of a text.

use std::fmt::{self, Formatter};
use std::slice;

use super::node_kind::NodeKind;
use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{self, Builder};
use crate::search::lists::OpenLists;
use crate::search::plan::{
    FieldQuery, JoinedNodes, LeafPlan, Parts, PlanNode, PlanSlot, PlannedPattern, Planner,
    ScoredSlots,
};
use crate::search::query::print::{print_field, print_word};
use crate::search::query::words::is_single;
use crate::search::query::{Operator, Query};
use crate::search::rank::root::Clause;
use crate::search::results::explain;
use crate::search::results::highlight::Wanted;
use crate::search::results::marks::want_terms;

/// [`Query::Text`].
pub struct TextQuery<'q> {
    pub field: Option<&'q str>,
    pub text: &'q str,
    pub operator: Operator,
}

impl<'q> QueryKind<'q> for TextQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        self.field
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn finds_ids(&self) -> bool {
        true
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_field(self.field, out)?;
        print_word(self.text, out)?;
        out.write_str(match self.operator {
            // Of a single word the parser makes a text.
            Operator::Or if is_single(self.text) => "",
            Operator::Or | Operator::And if self.text.is_empty() => "",
            Operator::Or => "~or",
            Operator::And => "~and",
        })
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

impl LeafPlan for TextQuery<'_> {
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
        let (words, _) = planner.words(self.text, asked.field, false)?;
        let words = words.iter();
        let nodes = words.map(|(slot, _)| PlanNode::Term(*slot, asked.boost));
        let nodes: Vec<PlanNode> = nodes.collect();
        if nodes.is_empty() {
            return Ok(None);
        }
        Ok(Some(match self.operator {
            Operator::Or => PlanNode::any(nodes, 1),
            Operator::And => PlanNode::all(nodes, Vec::new(), Vec::new()),
        }))
    }
}

/// [`PlanNode::Term`].
pub struct TermNode {
    pub slot: PlanSlot,
    pub boost: Option<f32>,
}

impl<'p> NodeKind<'p> for TermNode {
    fn parts(&self) -> Parts<'p> {
        Parts::default()
    }

    fn leaves(&self, _: &OpenLists) -> usize {
        1
    }

    fn cursor_bytes(&self, lists: &OpenLists) -> usize {
        lists.terms[self.slot].as_ref().map_or(0, build::term_bytes)
    }

    fn ordered_words(&self) -> usize {
        0
    }

    fn note_scored(&self, _: &[PlannedPattern], scored: &mut ScoredSlots) {
        scored.terms[self.slot] |= self.boost.is_some();
    }

    fn want(&self, field: FieldId, lists: &OpenLists, wanted: &mut Wanted) -> Result<()> {
        want_terms(lists.terms[self.slot].iter(), field, wanted)
    }

    fn explanation_bytes(&self, lists: &OpenLists) -> usize {
        lists.terms[self.slot]
            .as_ref()
            .map_or(0, explain::term_bytes)
    }

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        let term = builder.lists.terms[self.slot].as_ref();
        term.map(|term| builder.term(term, self.boost)).transpose()
    }

    fn word(&self) -> Option<(PlanSlot, Option<f32>)> {
        Some((self.slot, self.boost))
    }

    fn alternatives(&self, itself: &'p PlanNode) -> Option<&'p [PlanNode]> {
        Some(slice::from_ref(itself))
    }

    fn joined(&self, itself: &'p PlanNode) -> Option<JoinedNodes<'p>> {
        Some(JoinedNodes::whole(slice::from_ref(itself), true))
    }
}
