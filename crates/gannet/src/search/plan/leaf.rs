//! The queries that stand in fields: of one field, or of the best of all text fields.

use super::allowance::check_text;
use super::field_query::FieldQuery;
use super::node::PlanNode;
use super::planner::Planner;
use crate::analysis::Field;
use crate::base::Result;
use crate::search::query::{Query, fields};

/// Plans a kind of query that stands in fields.
pub trait LeafPlan {
    /// The field that it names.
    fn named(&self) -> Option<&str>;

    /// The texts that were written, whose length is limited.
    fn texts(&self) -> [Option<&str>; 2];

    /// The external ID that it stands for where it names those; nothing if it finds none.
    fn external_id(&self) -> Option<&str>;

    /// Its node in a field, unless analysis leaves nothing of it.
    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>>;
}

impl Planner<'_> {
    /// A query of one field, or the best of all text fields.
    pub fn leaf(
        &mut self,
        leaf: &dyn LeafPlan,
        query: &Query,
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        let schema = self.schema;
        if let Some(name) = leaf.named() {
            if fields::is_id(name, schema) {
                return self.id(leaf, boost).map(Some);
            }
            // Without any field there are no documents.
            return match schema.named(name) {
                None => Ok(Some(PlanNode::None)),
                Some(field) => self.in_fields(leaf, query, &[field], boost),
            };
        }
        let texts: Vec<&Field> = schema.asked_without_name().collect();
        if texts.is_empty() {
            Ok(Some(PlanNode::None))
        } else {
            self.in_fields(leaf, query, &texts, boost)
        }
    }

    /// The best of some fields, at least one.
    fn in_fields(
        &mut self,
        leaf: &dyn LeafPlan,
        query: &Query,
        fields: &[&Field],
        boost: Option<f32>,
    ) -> Result<Option<PlanNode>> {
        let asked_before = self.unasked;
        let nodes = fields.iter().map(|field| FieldQuery {
            query,
            field,
            boost,
            is_named: leaf.named().is_some(),
        });
        let nodes = nodes.filter_map(|asked| self.in_field(leaf, &asked).transpose());
        let mut nodes = nodes.collect::<Result<Vec<PlanNode>>>()?;
        let unasked = self.unasked - asked_before;
        if unasked > 0 && unasked == nodes.len() {
            return Err(self.impossible());
        }
        self.is_partial = (1..fields.len()).contains(&nodes.len());
        Ok(match nodes.len() {
            0 | 1 => nodes.pop(),
            _ => Some(PlanNode::best(nodes)),
        })
    }

    fn in_field(
        &mut self,
        leaf: &dyn LeafPlan,
        asked: &FieldQuery<'_>,
    ) -> Result<Option<PlanNode>> {
        let mut texts = leaf.texts().into_iter().flatten();
        texts.try_for_each(check_text)?;
        leaf.in_field(asked, self)
    }

    /// The document whose external ID was written.
    fn id(&mut self, leaf: &dyn LeafPlan, boost: Option<f32>) -> Result<PlanNode> {
        let Some(id) = leaf.external_id() else {
            return Ok(PlanNode::None);
        };
        self.allowance.leaf(2 * id.len())?;
        self.ids.push(id.to_owned());
        Ok(PlanNode::Id(self.ids.len() - 1, boost))
    }
}
