//! No document.

use std::fmt::{self, Formatter};

use super::node_kind::NodeKind;
use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{Builder, CLAUSE_BYTES};
use crate::search::lists::OpenLists;
use crate::search::matching::doc_set::{BLOCK_WORDS, MemberBits};
use crate::search::plan::{Parts, PlanNode, PlannedPattern, Planner, ScoredSlots};
use crate::search::query::Query;
use crate::search::rank::root::Clause;
use crate::search::results::highlight::Wanted;

/// [`Query::MatchNone`].
pub struct NoneQuery;

impl<'q> QueryKind<'q> for NoneQuery {
    fn field(&self) -> Option<&'q str> {
        None
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("()")
    }

    fn plan(
        &self,
        _: &Query,
        _: Option<f32>,
        _: usize,
        _: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        Ok(Some(PlanNode::None))
    }
}

/// [`PlanNode::None`].
pub struct NoneNode;

impl<'p> NodeKind<'p> for NoneNode {
    fn parts(&self) -> Parts<'p> {
        Parts::default()
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

    fn members(&self, _: &OpenLists, _: usize) -> Option<MemberBits> {
        Some([0; BLOCK_WORDS])
    }

    fn build(&self, _: &mut Builder<'_>) -> Result<Option<Clause>> {
        Ok(None)
    }

    fn alternatives(&self, _: &'p PlanNode) -> Option<&'p [PlanNode]> {
        Some(&[])
    }
}
