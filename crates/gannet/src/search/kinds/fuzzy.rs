//! Terms that differ from a text by few edits.

use std::fmt::{self, Formatter, Write};

use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::base::Result;
use crate::search::plan::{FieldQuery, LeafPlan, PlanNode, Planner, WrittenPattern, literals};
use crate::search::query::Query;
use crate::search::query::print::{print_field, print_word};

/// [`Query::Fuzzy`].
pub struct FuzzyQuery<'q> {
    pub field: Option<&'q str>,
    pub text: &'q str,
    pub distance: Option<u8>,
}

impl<'q> QueryKind<'q> for FuzzyQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        self.field
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_field(self.field, out)?;
        print_word(self.text, out)?;
        out.write_char('~')?;
        self.distance
            .map_or(Ok(()), |distance| write!(out, "{distance}"))
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

impl LeafPlan for FuzzyQuery<'_> {
    fn named(&self) -> Option<&str> {
        self.field
    }

    fn texts(&self) -> [Option<&str>; 2] {
        [Some(self.text), None]
    }

    fn external_id(&self) -> Option<&str> {
        None
    }

    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        let pattern = WrittenPattern {
            fuzzy: Some(self.distance),
            ..WrittenPattern::of(literals(self.text).collect())
        };
        planner.terms_like(&pattern, asked)
    }
}
