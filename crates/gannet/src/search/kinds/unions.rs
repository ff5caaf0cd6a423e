//! Any of some nodes, whose scores are added up.
//!
//! Several words are planned so, and clauses that may match.

use super::node_kind::NodeKind;
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{Builder, CLAUSE_BYTES};
use crate::search::lists::OpenLists;
use crate::search::matching::doc_set::{BLOCK_WORDS, MemberBits};
use crate::search::plan::{JoinedNodes, Parts, PlanNode, PlannedPattern, ScoredSlots};
use crate::search::rank::root::{Clause, Root};
use crate::search::results::highlight::Wanted;
use crate::search::scoring::formula::Formula;

/// [`PlanNode::Any`].
pub struct AnyNode<'p> {
    pub nodes: &'p [PlanNode],
    pub minimum: usize,
}

impl<'p> NodeKind<'p> for AnyNode<'p> {
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

    fn members(&self, lists: &OpenLists, block: usize) -> Option<MemberBits> {
        let is_union = self.minimum <= 1;
        is_union.then(|| any_member(self.nodes, lists, block))?
    }

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        let clauses = builder.clauses(self.nodes)?;
        Ok(builder.any(clauses, self.minimum, Formula::Sum))
    }

    fn root(&self, builder: &mut Builder<'_>) -> Result<Root> {
        if self.minimum != 1 {
            let clause = self.build(builder)?;
            return Ok(Root::of(clause.into_iter().collect()));
        }
        Ok(Root::of(builder.clauses(self.nodes)?))
    }

    fn joined(&self, _: &'p PlanNode) -> Option<JoinedNodes<'p>> {
        (self.minimum == 1).then(|| JoinedNodes::whole(self.nodes, false))
    }
}

/// Nodes that documents may match.
pub fn parts_of(nodes: &[PlanNode]) -> Parts<'_> {
    Parts {
        matching: [nodes, &[]],
        excluded: &[],
    }
}

/// Returns the documents of a block that any of some nodes has, if whole sets tell.
pub fn any_member(nodes: &[PlanNode], lists: &OpenLists, block: usize) -> Option<MemberBits> {
    let mut found = [0; BLOCK_WORDS];
    for node in nodes {
        let own = node.as_kind(|kind| kind.members(lists, block))?;
        found
            .iter_mut()
            .zip(own)
            .for_each(|(bits, own)| *bits |= own);
    }
    Some(found)
}
