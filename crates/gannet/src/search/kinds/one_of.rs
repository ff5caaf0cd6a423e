//! Documents that have one of some values, each compared as a whole.
//!
//! A field of whole strings is asked by its terms, any other by its column.

use std::fmt::{self, Formatter, Write};

use super::query_kind::{Children, Complaint, NO_CHILDREN, QueryKind};
use crate::base::Result;
use crate::search::plan::{
    FieldQuery, LeafPlan, PlanNode, Planner, WantedTerms, check_text, pattern_of_addresses,
};
use crate::search::query::Query;
use crate::search::query::addresses::has_addresses;
use crate::search::query::fields::has_order;
use crate::search::query::pattern::Pattern;
use crate::search::query::print::{print_field, print_quoted};

/// The most values that are asked for together.
const VALUES_MAX: usize = 1_024;

/// [`Query::OneOf`].
pub struct OneOfQuery<'q> {
    pub field: &'q str,
    pub values: &'q [String],
}

impl<'q> QueryKind<'q> for OneOfQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        Some(self.field)
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn check_written(&self) -> std::result::Result<(), Complaint> {
        match self.values.len() {
            0 => Err((
                "a field that is to have one of no values",
                "write field:=value, or field:=(a b)",
            )),
            1..=VALUES_MAX => Ok(()),
            _ => Err((
                "more than 1,024 values of a field",
                "ask for fewer, or several times",
            )),
        }
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_field(Some(self.field), out)?;
        match self.values {
            [only] => {
                out.write_char('=')?;
                print_quoted(only, out)
            }
            several => {
                out.write_str("=(")?;
                for (at, value) in several.iter().enumerate() {
                    if at > 0 {
                        out.write_char(' ')?;
                    }
                    print_quoted(value, out)?;
                }
                out.write_char(')')
            }
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

impl LeafPlan for OneOfQuery<'_> {
    fn named(&self) -> Option<&str> {
        Some(self.field)
    }

    fn texts(&self) -> [Option<&str>; 2] {
        [None, None]
    }

    fn external_id(&self) -> Option<&str> {
        None
    }

    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        self.values.iter().try_for_each(|value| check_text(value))?;
        if has_addresses(asked.field) {
            let pattern = pattern_of_addresses(self.values, asked.field)?;
            let slot = planner.pattern(asked, pattern, WantedTerms::All)?;
            return Ok(Some(PlanNode::Pattern(slot, asked.boost)));
        }
        let bytes = |value: &String| {
            if has_order(asked.field) {
                asked.field.analyzer.part(value).into_bytes()
            } else {
                value.as_bytes().to_vec()
            }
        };
        let mut values: Vec<Vec<u8>> = self.values.iter().map(bytes).collect();
        values.sort_unstable();
        values.dedup();
        let slot = planner.pattern(asked, Pattern::OneOf(values), WantedTerms::All)?;
        Ok(Some(PlanNode::Pattern(slot, asked.boost)))
    }
}
