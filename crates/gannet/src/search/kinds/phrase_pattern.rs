//! The terms of a text in their order, and behind them a term that a pattern fits.

use std::fmt::{self, Formatter, Write};

use super::query_kind::{Children, Complaint, NO_CHILDREN, QueryKind};
use crate::base::{Error, Result};
use crate::search::plan::{FieldQuery, LeafPlan, PlanNode, Planner, WrittenPattern, literals};
use crate::search::query::print::{
    print_field, print_in_quotes, print_pattern_in_quotes, print_slop,
};
use crate::search::query::{ENDS_MAX, PatternPart, Query, pattern_parts};

/// [`Query::PhrasePattern`].
pub struct PhrasePatternQuery<'q> {
    pub field: Option<&'q str>,
    pub text: &'q str,
    pub pattern: &'q str,
    pub slop: u32,
    pub first: Option<u32>,
}

impl<'q> QueryKind<'q> for PhrasePatternQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        self.field
    }

    fn children(&self) -> Children<'q> {
        NO_CHILDREN
    }

    fn check_written(&self) -> std::result::Result<(), Complaint> {
        let has_literal =
            pattern_parts(self.pattern).any(|part| matches!(part, PatternPart::Literal(_)));
        if has_literal {
            Ok(())
        } else {
            Err((
                "quotes whose last word is only a wildcard,",
                "write a letter before it, or a backslash, or leave it out",
            ))
        }
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_field(self.field, out)?;
        out.write_char('"')?;
        print_in_quotes(self.text, true, out)?;
        print_pattern_in_quotes(self.pattern, out)?;
        out.write_char('"')?;
        print_slop(self.slop, out)?;
        self.first.map_or(Ok(()), |first| write!(out, "|{first}"))
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

impl LeafPlan for PhrasePatternQuery<'_> {
    fn named(&self) -> Option<&str> {
        self.field
    }

    fn texts(&self) -> [Option<&str>; 2] {
        [Some(self.text), Some(self.pattern)]
    }

    fn external_id(&self) -> Option<&str> {
        None
    }

    fn in_field(
        &self,
        asked: &FieldQuery<'_>,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        let mut parts: Vec<PatternPart> = literals(self.text).collect();
        parts.extend(pattern_parts(self.pattern));
        let pattern = WrittenPattern {
            phrase: Some(self.slop),
            first: self.first.map(checked).transpose()?,
            ..WrittenPattern::of(parts)
        };
        planner.terms_like(&pattern, asked)
    }
}

/// The number of terms that a pattern stands for at most.
fn checked(first: u32) -> Result<usize> {
    let first = first as usize;
    if (1..=ENDS_MAX).contains(&first) {
        return Ok(first);
    }
    Err(Error::invalid(format!(
        "the last word of a phrase stands for 1 to {ENDS_MAX} terms, not for {first}"
    )))
}
