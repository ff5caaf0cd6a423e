//! Terms that begin with a text.

use std::fmt::{self, Formatter, Write};

use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::base::Result;
use crate::search::plan::{FieldQuery, LeafPlan, PlanNode, Planner, WrittenPattern, literals};
use crate::search::query::print::{escape, print_all, print_field};
use crate::search::query::{PatternPart, Query};

/// [`Query::Prefix`].
pub struct PrefixQuery<'q> {
    pub field: Option<&'q str>,
    pub prefix: &'q str,
}

impl<'q> QueryKind<'q> for PrefixQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        self.field
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.prefix.is_empty() {
            return print_all(self.field, out);
        }
        print_field(self.field, out)?;
        escape(self.prefix, out)?;
        out.write_char('*')
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

impl LeafPlan for PrefixQuery<'_> {
    fn named(&self) -> Option<&str> {
        self.field
    }

    fn texts(&self) -> [Option<&str>; 2] {
        [Some(self.prefix), None]
    }

    fn external_id(&self) -> Option<&str> {
        None
    }

    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        let mut parts: Vec<PatternPart> = literals(self.prefix).collect();
        parts.push(PatternPart::Many);
        planner.terms_like(&WrittenPattern::of(parts), asked)
    }
}
