//! Documents that have a value for a field. All have an external ID.
//!
//! Where a column has all values of the field, its maps tell most of it. Other fields are asked by
//! the norms of their documents.

use std::fmt::{self, Formatter};

use super::node_kind::NodeKind;
use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::analysis::FieldId;
use crate::base::Result;
use crate::search::build::{Builder, CLAUSE_BYTES};
use crate::search::lists::OpenLists;
use crate::search::matching::sets::{HasField, HasValue};
use crate::search::plan::{Parts, PlanNode, PlannedPattern, Planner, ScoredSlots};
use crate::search::query::print::print_all;
use crate::search::query::{Query, fields};
use crate::search::rank::root::Clause;
use crate::search::results::highlight::Wanted;

/// Bytes of the maps and pieces of a column that are held at a time.
const COLUMN_BYTES: usize = 8 << 10;

/// [`Query::Exists`].
pub struct ExistsQuery<'q> {
    pub field: &'q str,
}

impl<'q> QueryKind<'q> for ExistsQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        Some(self.field)
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn takes_all(&self) -> bool {
        self.field == fields::ID
    }

    fn finds_ids(&self) -> bool {
        true
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_all(Some(self.field), out)
    }

    fn plan(
        &self,
        _: &Query,
        boost: Option<f32>,
        _: usize,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        if fields::is_id(self.field, planner.schema) {
            return Ok(Some(PlanNode::All(boost)));
        }
        let field = planner.schema.named(self.field);
        let node = field.map(|field| PlanNode::Exists(field.id, boost));
        Ok(Some(node.unwrap_or(PlanNode::None)))
    }
}

/// [`PlanNode::Exists`].
pub struct ExistsNode {
    pub field: FieldId,
    pub boost: Option<f32>,
}

impl<'p> NodeKind<'p> for ExistsNode {
    fn parts(&self) -> Parts<'p> {
        Parts::default()
    }

    fn leaves(&self, _: &OpenLists) -> usize {
        1
    }

    fn cursor_bytes(&self, _: &OpenLists) -> usize {
        CLAUSE_BYTES + COLUMN_BYTES
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
        let view = builder.view;
        let documents = view.statistics.of(self.field).documents;
        let what = || "documents that have the field".to_owned();
        if let Some(present) = view.columns.present(self.field) {
            // Values of deleted documents stay where they are.
            builder.has_all = true;
            let source = HasValue::new(present, documents);
            return Ok(Some(builder.constant(source, self.boost, what)));
        }
        let norms = view.tables.norm_cursor(self.field);
        let source = HasField::new(norms, view.below, documents);
        Ok(Some(builder.constant(source, self.boost, what)))
    }
}
