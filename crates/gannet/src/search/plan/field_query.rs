//! A query that stands in fields, as one of them is asked for it.

use crate::analysis::Field;
use crate::search::query::Query;

/// A query as one field is asked for it.
pub struct FieldQuery<'a> {
    /// The query, for people to read.
    pub query: &'a Query,
    /// The field.
    pub field: &'a Field,
    /// The boost; `None` where the query only filters.
    pub boost: Option<f32>,
    /// Set if the query names the field.
    pub is_named: bool,
}
