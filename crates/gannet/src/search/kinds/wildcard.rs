//! Terms that a pattern fits.

use std::fmt::{self, Formatter};

use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::base::Result;
use crate::search::plan::{FieldQuery, LeafPlan, PlanNode, Planner, WrittenPattern};
use crate::search::query::print::{Beside, print_all, print_field, print_pattern};
use crate::search::query::{PatternPart, Query, pattern_parts};

/// [`Query::Wildcard`].
pub struct WildcardQuery<'q> {
    pub field: Option<&'q str>,
    pub pattern: &'q str,
}

impl<'q> QueryKind<'q> for WildcardQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        self.field
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.pattern.chars().all(|one| one == '*') {
            return print_all(self.field, out);
        }
        print_field(self.field, out)?;
        print_pattern(self.pattern, out)
    }

    fn is_enclosed(&self, beside: Beside) -> bool {
        match beside {
            Beside::FilterSign => true,
            // At the end of a query a `?` behind other words would be a mark.
            Beside::Clauses => pattern_parts(self.pattern).last() == Some(PatternPart::One),
            Beside::Boost => false,
        }
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

impl LeafPlan for WildcardQuery<'_> {
    fn named(&self) -> Option<&str> {
        self.field
    }

    fn texts(&self) -> [Option<&str>; 2] {
        [Some(self.pattern), None]
    }

    fn external_id(&self) -> Option<&str> {
        None
    }

    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        let parts = pattern_parts(self.pattern).collect();
        planner.terms_like(&WrittenPattern::of(parts), asked)
    }
}
