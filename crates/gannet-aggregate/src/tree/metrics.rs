//! Metrics of a request.

use super::Scalar;
use crate::dates::format::DateFormat;

/// The percents that are answered if none are named.
pub const DEFAULT_PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Numbers of the values of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Which numbers.
    pub kind: MetricKind,
    /// The field.
    pub field: String,
    /// The value that documents without one are given.
    pub missing: Option<Scalar>,
    /// The form in which dates are printed.
    pub format: Option<DateFormat>,
}

impl Metric {
    /// Returns a metric of a field.
    pub fn of(kind: MetricKind, field: impl Into<String>) -> Metric {
        Metric {
            kind,
            field: field.into(),
            missing: None,
            format: None,
        }
    }
}

/// The kinds of metrics.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricKind {
    /// The least value.
    Min,
    /// The greatest value.
    Max,
    /// The sum.
    Sum,
    /// The mean.
    Avg,
    /// The number of values.
    ValueCount,
    /// All of the above.
    Stats,
    /// The same with squares, variance and deviation. Bounds are so many deviations apart.
    ExtendedStats {
        /// Deviations between the mean and a bound.
        sigma: f64,
    },
    /// The number of distinct values.
    Cardinality,
    /// Values below which so many percent are, interpolated between neighbours.
    Percentiles {
        /// The percents, 0 to 100.
        percents: Vec<f64>,
        /// If the answer is an object by percent.
        keyed: bool,
    },
}

impl MetricKind {
    /// Returns the name in a request.
    pub fn name(&self) -> &'static str {
        match self {
            MetricKind::Min => "min",
            MetricKind::Max => "max",
            MetricKind::Sum => "sum",
            MetricKind::Avg => "avg",
            MetricKind::ValueCount => "value_count",
            MetricKind::Stats => "stats",
            MetricKind::ExtendedStats { .. } => "extended_stats",
            MetricKind::Cardinality => "cardinality",
            MetricKind::Percentiles { .. } => "percentiles",
        }
    }

    /// Returns if keywords have this metric.
    pub(crate) fn takes_keywords(&self) -> bool {
        matches!(self, MetricKind::ValueCount | MetricKind::Cardinality)
    }
}
