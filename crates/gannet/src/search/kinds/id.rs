//! The document with an external ID: what texts and phrases are that name `id`.

use super::node_kind::NodeKind;
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{Builder, CLAUSE_BYTES};
use crate::search::lists::OpenLists;
use crate::search::matching::sets::One;
use crate::search::plan::{Parts, PlanSlot, PlannedPattern, ScoredSlots};
use crate::search::rank::root::Clause;
use crate::search::results::highlight::Wanted;

/// [`PlanNode::Id`](crate::search::plan::PlanNode::Id).
pub struct IdNode {
    pub slot: PlanSlot,
    pub boost: Option<f32>,
}

impl<'p> NodeKind<'p> for IdNode {
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

    fn build(&self, builder: &mut Builder<'_>) -> Result<Option<Clause>> {
        let Some(doc) = builder.lists.ids[self.slot] else {
            return Ok(None);
        };
        // The newest with an ID may be deleted.
        builder.has_all = true;
        let what = || "the document with the external ID".to_owned();
        Ok(Some(builder.constant(One(doc), self.boost, what)))
    }
}
