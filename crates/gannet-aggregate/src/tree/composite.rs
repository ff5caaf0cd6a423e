//! Composite aggregations of a request.

use super::Scalar;
use crate::dates::format::DateFormat;
use crate::dates::rounding::Interval;

/// A bucket for each combination of values, in the order of the sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    /// The most buckets of an answer.
    pub size: usize,
    /// The sources that are combined, 1 to 16.
    pub sources: Vec<Source>,
    /// The key after which the answer begins: one value a source, none for a missing one.
    pub after: Option<Vec<Option<Scalar>>>,
}

/// One of the values that are combined.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The name in the keys.
    pub name: String,
    /// The way in which values become keys.
    pub kind: SourceKind,
    /// The field.
    pub field: String,
    /// If the least is first.
    pub ascending: bool,
    /// If documents without a value have keys too, which are the least.
    pub missing_bucket: bool,
}

/// The way in which values become keys.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    /// Each value is a key.
    Terms,
    /// The begin of an interval is a key.
    Histogram {
        /// The interval, above 0.
        interval: f64,
    },
    /// The begin of an interval of time is a key.
    DateHistogram {
        /// The interval.
        interval: Interval,
        /// The form in which dates are printed.
        format: Option<DateFormat>,
    },
}
