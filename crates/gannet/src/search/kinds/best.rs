//! Any of some queries, of which the best counts, and the others by a part of their scores.
//!
//! Fields that are searched together are planned so, too.

use std::fmt::{self, Formatter, Write};
use std::slice;

use super::node_kind::NodeKind;
use super::query_kind::{Children, QueryKind};
use super::unions::parts_of;
use crate::analysis::FieldId;
use crate::base::{Error, Result};
use crate::search::build::{Builder, CLAUSE_BYTES};
use crate::search::lists::OpenLists;
use crate::search::plan::{JoinedNodes, Parts, PlanNode, PlannedPattern, Planner, ScoredSlots};
use crate::search::query::Query;
use crate::search::query::print::{Beside, print_beside};
use crate::search::rank::root::{Clause, Root};
use crate::search::results::highlight::Wanted;
use crate::search::scoring::formula::Formula;

/// [`Query::Best`].
pub struct BestQuery<'q> {
    pub queries: &'q [Query],
    pub tie_breaker: f32,
}

impl<'q> QueryKind<'q> for BestQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        None
    }

    fn children(&self) -> Children<'q> {
        [self.queries, &[], &[], &[]]
    }

    fn takes_all(&self) -> bool {
        self.queries.iter().any(Query::takes_all)
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('(')?;
        let mut separator = "";
        for query in self.queries {
            out.write_str(separator)?;
            separator = " ";
            print_beside(query, Beside::Clauses, out)?;
        }
        out.write_char(')')
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
        let tie = check_tie(self.tie_breaker)?;
        let (mut parts, mut partial) = (Vec::new(), 0);
        for query in self.queries {
            if let Some(node) = planner.node(query, boost, depth + 1)? {
                partial += usize::from(planner.is_partial);
                parts.push(node);
            }
        }
        planner.is_partial = !parts.is_empty() && partial == parts.len();
        Ok(match parts.len() {
            0 if self.queries.is_empty() => Some(PlanNode::None),
            0 | 1 => parts.pop(),
            _ => Some(PlanNode::Best { parts, tie }),
        })
    }
}

fn check_tie(tie: f32) -> Result<f32> {
    if (0.0..=1.0).contains(&tie) {
        Ok(tie)
    } else {
        Err(Error::invalid(format!(
            "a tie breaker is a number from 0 to 1, not {tie}"
        )))
    }
}

/// [`PlanNode::Best`].
pub struct BestNode<'p> {
    pub nodes: &'p [PlanNode],
    pub tie: f32,
}

impl<'p> NodeKind<'p> for BestNode<'p> {
    fn parts(&self) -> Parts<'p> {
        parts_of(self.nodes)
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

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        let clauses = builder.clauses(self.nodes)?;
        let tie = self.tie;
        Ok(builder.any(clauses, 1, |parts| Formula::Best { parts, tie }))
    }

    fn root(&self, builder: &mut Builder<'_>) -> Result<Root> {
        let clauses = builder.clauses(self.nodes)?;
        Ok(Root {
            tie: self.tie,
            ..Root::of(clauses)
        })
    }

    fn alternatives(&self, _: &'p PlanNode) -> Option<&'p [PlanNode]> {
        (self.tie == 0.0).then_some(self.nodes)
    }

    fn joined(&self, itself: &'p PlanNode) -> Option<JoinedNodes<'p>> {
        (self.tie == 0.0).then(|| JoinedNodes::whole(slice::from_ref(itself), true))
    }
}
