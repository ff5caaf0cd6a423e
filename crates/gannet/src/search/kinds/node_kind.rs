//! Asks a node of a plan all that depends on its kind: one implementation for each kind of node, in
//! the file of the kind of query that it is planned for.
//!
//! What is said of a node is said without those below it: whoever asks goes through all of them.

use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::Builder;
use crate::search::lists::OpenLists;
use crate::search::matching::doc_set::MemberBits;
use crate::search::plan::{JoinedNodes, Parts, PlanNode, PlanSlot, PlannedPattern, ScoredSlots};
use crate::search::rank::root::{Clause, Root};
use crate::search::results::highlight::Wanted;

/// A kind of node: what it costs, what it matches, what of it is shown.
pub trait NodeKind<'p> {
    /// The nodes directly below it.
    fn parts(&self) -> Parts<'p>;

    /// The most leaves that it can have in the formula.
    fn leaves(&self, lists: &OpenLists) -> usize;

    /// Bytes of its cursors, its matcher, its leaves.
    fn cursor_bytes(&self, lists: &OpenLists) -> usize;

    /// Words whose order matters: positions are read of their lists, and marks are looked for in a
    /// row. 0 if it matters for none.
    fn ordered_words(&self) -> usize;

    /// Notes the terms and patterns whose statistics its score needs.
    fn note_scored(&self, patterns: &[PlannedPattern], scored: &mut ScoredSlots);

    /// Notes what the snippets of a field mark.
    fn want(&self, field: FieldId, lists: &OpenLists, wanted: &mut Wanted) -> Result<()>;

    /// Bytes of the explanation of its score at most, beside the lines that every node has.
    fn explanation_bytes(&self, lists: &OpenLists) -> usize;

    /// Its clause, unless it matches nothing.
    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>>;

    /// The root if it is the whole query, in clauses where that lets the ranking prune.
    fn root(&self, builder: &mut Builder<'_>) -> Result<Root> {
        let clause = self.build(builder)?;
        Ok(Root::of(clause.into_iter().collect()))
    }

    /// The documents of a block that match, deleted ones too, if whole sets tell. They tell of all
    /// blocks or of none.
    fn members(&self, _lists: &OpenLists, _block: usize) -> Option<MemberBits> {
        None
    }

    /// The term and the boost, if it is one word in one field.
    fn word(&self) -> Option<(PlanSlot, Option<f32>)> {
        None
    }

    /// The nodes of which the best counts, `itself` if it is one word.
    fn alternatives(&self, _itself: &'p PlanNode) -> Option<&'p [PlanNode]> {
        None
    }

    /// The nodes whose lists may be joined, if `itself` is the whole query.
    fn joined(&self, _itself: &'p PlanNode) -> Option<JoinedNodes<'p>> {
        None
    }
}
