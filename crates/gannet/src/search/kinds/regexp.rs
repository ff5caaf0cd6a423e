//! Terms that a regular expression fits.

use std::fmt::{self, Formatter, Write};

use super::query_kind::{Children, NO_CHILDREN, QueryKind};
use crate::base::Result;
use crate::search::plan::{FieldQuery, LeafPlan, PlanNode, Planner, WantedTerms};
use crate::search::query::Query;
use crate::search::query::pattern::Pattern;
use crate::search::query::print::print_field;
use crate::search::query::regexp::Regexp;

/// [`Query::Regexp`].
pub struct RegexpQuery<'q> {
    pub field: &'q str,
    pub pattern: &'q str,
}

impl<'q> QueryKind<'q> for RegexpQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        Some(self.field)
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_field(Some(self.field), out)?;
        out.write_char('/')?;
        out.write_str(self.pattern)?;
        out.write_char('/')
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

impl LeafPlan for RegexpQuery<'_> {
    fn named(&self) -> Option<&str> {
        Some(self.field)
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
        let regexp = Regexp::new(self.pattern)?;
        let slot = planner.pattern(asked, Pattern::Regexp(Box::new(regexp)), WantedTerms::All)?;
        Ok(Some(PlanNode::Pattern(slot, asked.boost)))
    }
}
