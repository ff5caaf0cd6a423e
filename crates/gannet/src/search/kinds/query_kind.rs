//! What a kind of query is asked: one implementation in one file for each kind.
//!
//! A method without a default has to be answered by every kind. A default holds for whoever knows
//! nothing better, and is right for every kind that stands in fields.

use std::fmt::{self, Formatter};

use crate::analysis::Field;
use crate::base::Result;
use crate::search::plan::{PlanNode, Planner};
use crate::search::query::Query;
use crate::search::query::print::Beside;

/// A complaint about a query as it was written: what is wrong, and what to do.
pub type Complaint = (&'static str, &'static str);

/// The lists of queries directly below one.
pub type Children<'q> = [&'q [Query]; 4];

/// The children of a query that has none.
pub const NO_CHILDREN: Children<'static> = [&[]; 4];

/// A kind of query: how it is printed, checked and planned.
pub trait QueryKind<'q> {
    /// The field that it names.
    fn field(&self) -> Option<&'q str>;

    /// The queries directly below it.
    fn children(&self) -> Children<'q>;

    /// Returns true if it finds every document, whatever they are. False is never wrong.
    fn takes_all(&self) -> bool {
        false
    }

    /// Returns true if external IDs may be asked for it.
    fn finds_ids(&self) -> bool {
        false
    }

    /// Fails if the field that it names cannot be asked for it, or if it has to name one.
    fn check_field(&self, _named: Option<&Field>) -> Result<()> {
        Ok(())
    }

    /// Fails if nobody can mean what was written.
    fn check_written(&self) -> std::result::Result<(), Complaint> {
        Ok(())
    }

    /// Prints it as one operand of the query language.
    fn print(&self, out: &mut Formatter<'_>) -> fmt::Result;

    /// Prints it where nothing stands beside it.
    fn print_alone(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.print(out)
    }

    /// Returns true if it needs parentheses beside that.
    fn is_enclosed(&self, beside: Beside) -> bool {
        beside == Beside::FilterSign
    }

    /// Its node, unless analysis leaves nothing of it. `query` is the query itself, as `depth` deep
    /// in the tree; it only filters where `boost` is `None`.
    fn plan(
        &self,
        query: &Query,
        boost: Option<f32>,
        depth: usize,
        planner: &mut Planner<'_>,
    ) -> Result<Option<PlanNode>>;
}
