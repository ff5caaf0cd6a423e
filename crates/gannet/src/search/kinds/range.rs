//! Values between two others: numbers, dates, whole strings in the order of their bytes.

use std::fmt::{self, Formatter, Write};
use std::ops::Bound;

use super::query_kind::{Children, Complaint, NO_CHILDREN, QueryKind};
use crate::analysis::Field;
use crate::base::{Error, Result};
use crate::search::plan::{
    FieldQuery, LeafPlan, PlanNode, Planner, WantedTerms, pattern_between_addresses,
};
use crate::search::query::addresses::has_addresses;
use crate::search::query::pattern::Pattern;
use crate::search::query::print::{print_field, print_quoted};
use crate::search::query::{Query, ranges};

/// [`Query::Range`].
pub struct RangeQuery<'q> {
    pub field: Option<&'q str>,
    pub lower: &'q Bound<String>,
    pub upper: &'q Bound<String>,
}

impl<'q> QueryKind<'q> for RangeQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        self.field
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    /// Which fields have an order shows only where their values are.
    fn check_field(&self, named: Option<&Field>) -> Result<()> {
        match named {
            Some(_) => Ok(()),
            None => Err(Error::invalid(
                "a range needs a field: write field:[a TO b]",
            )),
        }
    }

    fn check_written(&self) -> std::result::Result<(), Complaint> {
        ranges::check_written(self.lower, self.upper)
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_field(self.field, out)?;
        print_range(self.lower, self.upper, out)
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

impl LeafPlan for RangeQuery<'_> {
    fn named(&self) -> Option<&str> {
        self.field
    }

    fn texts(&self) -> [Option<&str>; 2] {
        [self.lower, self.upper].map(bound_text)
    }

    fn external_id(&self) -> Option<&str> {
        None
    }

    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        if has_addresses(asked.field) {
            let pattern = pattern_between_addresses(self.lower, self.upper, asked.field)?;
            let slot = planner.pattern(asked, pattern, WantedTerms::All)?;
            return Ok(Some(PlanNode::Pattern(slot, asked.boost)));
        }
        let bytes = |text: &String| asked.field.analyzer.part(text).into_bytes();
        let range = (
            self.lower.as_ref().map(bytes),
            self.upper.as_ref().map(bytes),
        );
        let slot = planner.pattern(asked, Pattern::Range(range.0, range.1), WantedTerms::All)?;
        Ok(Some(PlanNode::Pattern(slot, asked.boost)))
    }
}

fn bound_text(bound: &Bound<String>) -> Option<&str> {
    match bound {
        Bound::Included(text) | Bound::Excluded(text) => Some(text),
        Bound::Unbounded => None,
    }
}

fn print_range(
    lower: &Bound<String>,
    upper: &Bound<String>,
    out: &mut Formatter<'_>,
) -> fmt::Result {
    out.write_char(match lower {
        Bound::Excluded(_) => '{',
        Bound::Included(_) | Bound::Unbounded => '[',
    })?;
    print_bound(lower, out)?;
    out.write_str(" TO ")?;
    print_bound(upper, out)?;
    out.write_char(match upper {
        Bound::Excluded(_) => '}',
        Bound::Included(_) | Bound::Unbounded => ']',
    })
}

fn print_bound(bound: &Bound<String>, out: &mut Formatter<'_>) -> fmt::Result {
    match bound {
        Bound::Unbounded => out.write_char('*'),
        Bound::Included(value) | Bound::Excluded(value) => print_quoted(value, out),
    }
}
