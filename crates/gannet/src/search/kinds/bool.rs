//! Clauses together: those that must match, may match, must not, and only filter.
//!
//! A text without a field that the analyzers of some fields drop is not required: it only adds to
//! the score, unless there is nothing else to match.

use std::fmt::{self, Formatter, Write};

use super::node_kind::NodeKind;
use super::query_kind::{Children, QueryKind};
use super::unions::any_member;
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{Builder, CLAUSE_BYTES, split};
use crate::search::lists::OpenLists;
use crate::search::matching::conjunction::Conjunction;
use crate::search::matching::doc_set::MemberBits;
use crate::search::plan::{JoinedNodes, Parts, PlanNode, PlannedPattern, Planner, ScoredSlots};
use crate::search::query::Query;
use crate::search::query::print::{Beside, print_beside};
use crate::search::rank::root::{Clause, Root};
use crate::search::results::highlight::Wanted;
use crate::search::scoring::formula::Formula;

/// [`Query::Bool`].
pub struct BoolQuery<'q> {
    pub must: &'q [Query],
    pub should: &'q [Query],
    pub must_not: &'q [Query],
    pub filter: &'q [Query],
    pub minimum_should_match: u32,
}

/// The clauses that are to match, or one of which is.
#[derive(Default)]
struct Clauses {
    nodes: Vec<PlanNode>,
    /// Nodes that some fields dropped.
    partial: Vec<PlanNode>,
}

impl<'q> QueryKind<'q> for BoolQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        None
    }

    fn children(&self) -> Children<'q> {
        [self.must, self.filter, self.should, self.must_not]
    }

    fn takes_all(&self) -> bool {
        let mut needed = self.must.iter().chain(self.filter);
        let any = self.should.iter().any(Query::takes_all);
        let minimum = self.minimum_should_match;
        let is_optional = minimum == 0 && !(self.must.is_empty() && self.filter.is_empty());
        let mut must_not = self.must_not.iter();
        must_not.all(|query| matches!(query, Query::MatchNone))
            && needed.all(Query::takes_all)
            && (is_optional || self.should.is_empty() || any && minimum <= 1)
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('(')?;
        self.print_clauses(out)?;
        out.write_char(')')?;
        match self.minimum_should_match {
            0 => Ok(()),
            minimum => write!(out, "~{minimum}"),
        }
    }

    fn print_alone(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.minimum_should_match == 0 && self.has_clauses() {
            self.print_clauses(out)
        } else {
            self.print(out)
        }
    }

    fn is_enclosed(&self, beside: Beside) -> bool {
        match beside {
            // As an operand it has parentheses.
            Beside::FilterSign | Beside::Clauses | Beside::Boost => false,
        }
    }

    fn plan(
        &self,
        _: &Query,
        boost: Option<f32>,
        depth: usize,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        let mut required = plan_all(self.must, boost, depth, planner)?;
        required.extend(plan_all(self.filter, None, depth, planner)?);
        let parts = plan_all(self.should, boost, depth, planner)?;
        let excluded = plan_all(self.must_not, None, depth, planner)?.all();
        if required.is_empty() && parts.is_empty() && excluded.is_empty() {
            let had_none = !self.has_clauses();
            return Ok(had_none.then_some(PlanNode::None));
        }
        let whole = [&required.nodes, &parts.nodes, &excluded];
        planner.is_partial = whole.iter().all(|nodes| nodes.is_empty());
        let (mut required, mut optional) = (required.nodes, required.partial);
        let mut parts = parts.all();
        let mut minimum = self.minimum_should_match as usize;
        if parts.len() < self.should.len() {
            // What is dropped cannot match, and is not missed.
            minimum = minimum.min(parts.len());
        }
        if planner.is_partial {
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
            return Ok(Some(PlanNode::all(required, excluded, optional)));
        }
        required.push(PlanNode::any(parts, minimum));
        Ok(Some(PlanNode::all(required, excluded, optional)))
    }
}

impl BoolQuery<'_> {
    fn has_clauses(&self) -> bool {
        self.children().iter().any(|list| !list.is_empty())
    }

    fn print_clauses(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (sign, beside, clauses) in [
            ("+", Beside::Clauses, self.must),
            ("#", Beside::FilterSign, self.filter),
            ("", Beside::Clauses, self.should),
            ("-", Beside::Clauses, self.must_not),
        ] {
            for clause in clauses {
                write!(out, "{separator}{sign}")?;
                separator = " ";
                print_beside(clause, beside, out)?;
            }
        }
        Ok(())
    }
}

/// Plans clauses; keeps those that analysis leaves.
fn plan_all(
    queries: &[Query],
    boost: Option<f32>,
    depth: usize,
    planner: &mut Planner<'_>,
) -> Result<Clauses> {
    let mut clauses = Clauses::default();
    for query in queries {
        if let Some(node) = planner.node(query, boost, depth + 1)? {
            if planner.is_partial {
                clauses.partial.push(node);
            } else {
                clauses.nodes.push(node);
            }
        }
    }
    Ok(clauses)
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

/// [`PlanNode::Filtered`].
pub struct FilteredNode<'p> {
    pub required: &'p [PlanNode],
    pub excluded: &'p [PlanNode],
    pub optional: &'p [PlanNode],
}

impl<'p> NodeKind<'p> for FilteredNode<'p> {
    fn parts(&self) -> Parts<'p> {
        Parts {
            matching: [self.required, self.optional],
            excluded: self.excluded,
        }
    }

    fn leaves(&self, _: &OpenLists) -> usize {
        0
    }

    fn cursor_bytes(&self, _: &OpenLists) -> usize {
        CLAUSE_BYTES
    }

    fn ordered_words(&self) -> usize {
        0
    }

    fn note_scored(&self, _: &[PlannedPattern], _: &mut ScoredSlots) {}

    fn want(&self, _: FieldId, _: &OpenLists, _: &mut Wanted) -> Result<()> {
        Ok(())
    }

    fn explanation_bytes(&self, _: &OpenLists) -> usize {
        0
    }

    fn members(&self, lists: &OpenLists, block: usize) -> Option<MemberBits> {
        let mut found = any_member(self.excluded, lists, block)?.map(|bits| !bits);
        for node in self.required {
            let own = node.as_kind(|kind| kind.members(lists, block))?;
            found
                .iter_mut()
                .zip(own)
                .for_each(|(bits, own)| *bits &= own);
        }
        Some(found)
    }

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        self.with(self.optional, builder)
    }

    fn root(&self, builder: &mut Builder<'_>) -> Result<Root> {
        if self.optional.is_empty() {
            let clause = self.build(builder)?;
            return Ok(Root::of(clause.into_iter().collect()));
        }
        let mut clauses = Vec::new();
        if let Some(driver) = self.with(&[], builder)? {
            clauses.push(driver);
            clauses.extend(builder.clauses(self.optional)?);
        }
        Ok(Root {
            driven: true,
            ..Root::of(clauses)
        })
    }

    fn joined(&self, _: &'p PlanNode) -> Option<JoinedNodes<'p>> {
        Some(JoinedNodes {
            nodes: self.required,
            all_required: true,
            optional: self.optional,
            excluded: self.excluded,
        })
    }
}

impl FilteredNode<'_> {
    /// The clause of what is required and not excluded, to whose score `optional` adds.
    fn with(&self, optional: &[PlanNode], builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        let before = builder.leaf_count();
        let mut all = builder.clauses(self.required)?;
        if all.len() < self.required.len() {
            return Ok(None);
        }
        all.iter_mut().for_each(|clause| builder.prefilter(clause));
        let (all, mut formulas) = split(all);
        let (none, _) = split(builder.clauses(self.excluded)?);
        let (some, more) = split(builder.clauses(optional)?);
        formulas.extend(more);
        let leaves = builder.leaf_count() - before;
        let below = builder.view.below.into();
        let matcher = Conjunction::new(all, none, some, builder.width, leaves, below);
        Ok(Some(Clause::new(Box::new(matcher), Formula::Sum(formulas))))
    }
}
