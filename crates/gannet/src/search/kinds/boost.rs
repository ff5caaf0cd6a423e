//! A query whose scores are multiplied. In the plan the boost is part of what scores.

use std::fmt::{self, Formatter};
use std::slice;

use super::query_kind::{Children, QueryKind};
use crate::base::{Error, Result};
use crate::search::plan::{PlanNode, Planner};
use crate::search::query::Query;
use crate::search::query::print::{Beside, print_beside};

/// [`Query::Boost`].
pub struct BoostQuery<'q> {
    pub query: &'q Query,
    pub factor: f32,
}

impl<'q> QueryKind<'q> for BoostQuery<'q> {
    fn field(&self) -> Option<&'q str> {
        None
    }

    fn children(&self) -> Children<'q> {
        [slice::from_ref(self.query), &[], &[], &[]]
    }

    fn takes_all(&self) -> bool {
        self.query.takes_all()
    }

    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_beside(self.query, Beside::Boost, out)?;
        write!(out, "^{}", self.factor)
    }

    fn is_enclosed(&self, beside: Beside) -> bool {
        match beside {
            Beside::FilterSign | Beside::Boost => true,
            Beside::Clauses => false,
        }
    }

    fn plan(
        &self,
        _: &Query,
        boost: Option<f32>,
        depth: usize,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>> {
        let factor = check_boost(self.factor)?;
        let boost = boost.map(|boost| boost * factor);
        planner.node(self.query, boost, depth + 1)
    }
}

fn check_boost(factor: f32) -> Result<f32> {
    if factor.is_finite() && factor >= 0.0 {
        Ok(factor)
    } else {
        Err(Error::invalid(format!(
            "a boost is a number from 0 on, not {factor}"
        )))
    }
}
