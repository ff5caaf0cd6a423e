//! Every document.

use std::fmt::{self, Formatter};

use super::node_kind::NodeKind;
use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{Builder, CLAUSE_BYTES};
use crate::search::lists::OpenLists;
use crate::search::matching::doc_set::{BLOCK_WORDS, MemberBits};
use crate::search::matching::sets::Everything;
use crate::search::plan::{Parts, PlanNode, PlannedPattern, Planner, ScoredSlots};
use crate::search::query::Query;
use crate::search::rank::root::Clause;
use crate::search::results::highlight::Wanted;

/// [`Query::MatchAll`].
pub struct AllQuery;

impl<'q> QueryKind<'q> for AllQuery {
    fn field(&self) -> Option<&'q str> {
        None
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn takes_all(&self) -> bool {
        true
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("*:*")
    }

    fn plan(
        &self,
        _: &Query,
        boost: Option<f32>,
        _: usize,
        _: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        Ok(Some(PlanNode::All(boost)))
    }
}

/// [`PlanNode::All`].
pub struct AllNode {
    pub boost: Option<f32>,
}

impl<'p> NodeKind<'p> for AllNode {
    fn parts(&self) -> Parts<'p> {
        Parts::default()
    }

    fn leaves(&self, _: &OpenLists) -> usize {
        1
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
        Some([u64::MAX; BLOCK_WORDS])
    }

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        builder.has_all = true;
        let all = Everything(builder.view.below);
        let what = || "all documents".to_owned();
        Ok(Some(builder.constant(all, self.boost, what)))
    }
}
