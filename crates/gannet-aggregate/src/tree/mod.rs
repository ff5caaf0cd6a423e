//! The tree of a request: aggregations with names, each with its own below it.
//!
//! All fields are public, so that a program can build a tree as well as read one from JSON.
//! Dates in it are milliseconds already, since arithmetic such as `now-7d` is done by the reader.

use gannet_values::Number;

use crate::dates::format::DateFormat;
use crate::dates::rounding::Interval;

mod addresses;
mod composite;
mod fitting;
mod members;
mod metrics;
pub(crate) mod read;
mod read_buckets;
mod read_dates;
pub(crate) mod write;

pub use addresses::{IpRange, IpRanges};
pub use composite::{Composite, Source, SourceKind};
pub use metrics::{DEFAULT_PERCENTS, Metric, MetricKind};

/// The most aggregations below each other.
pub const DEPTH_MAX: usize = 8;

/// The most buckets of an answer, and the most values that are included or excluded.
pub const BUCKETS_MAX: usize = 65_536;

/// Names a filter that the caller evaluates.
pub type FilterId = u32;

/// Aggregations side by side, in the order in which they are answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aggregations {
    /// The aggregations, with names that differ.
    pub list: Vec<Aggregation>,
}

/// One aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// The name in the answer.
    pub name: String,
    /// The kind, with its parameters.
    pub kind: Kind,
    /// The aggregations in each bucket. Metrics have none.
    pub children: Aggregations,
}

/// The kinds of aggregations.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A bucket for each value; the first `size` of them in an order.
    Terms(Terms),
    /// A bucket for each range of numbers.
    Range(Ranges<Number>),
    /// A bucket for each range of dates.
    DateRange(DateRanges),
    /// A bucket for each range of internet addresses.
    IpRange(IpRanges),
    /// A bucket for each interval of numbers.
    Histogram(Histogram),
    /// A bucket for each interval of time.
    DateHistogram(DateHistogram),
    /// The documents of a filter.
    Filter(FilterId),
    /// A bucket for each filter.
    Filters(Filters),
    /// The documents without a value of a field.
    Missing(String),
    /// All documents, whatever was searched for. Only at the top.
    Global,
    /// A bucket for each combination of values, page by page. Only at the top.
    Composite(Composite),
    /// Numbers of the values of a field.
    Metric(Metric),
}

/// A value as a request writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A number.
    Number(Number),
    /// A string, or the text of a boolean.
    Text(String),
}

/// A bucket for each value.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The field.
    pub field: String,
    /// The most buckets that are answered.
    pub size: usize,
    /// The keys that buckets are ordered by. Equal ones are ordered by ascending keys.
    pub order: Vec<Order>,
    /// Buckets of fewer documents are left out. At least 1.
    pub min_doc_count: u64,
    /// Buckets of more documents are left out, if there is a number. Then these are rare terms,
    /// all of which are answered, and more of them than `size` are an error.
    pub max_doc_count: Option<u64>,
    /// Only these values have buckets, if there are any.
    pub include: Option<Vec<Scalar>>,
    /// These values have none.
    pub exclude: Vec<Scalar>,
    /// The value that documents without one are given.
    pub missing: Option<Scalar>,
    /// The form in which dates are printed.
    pub format: Option<DateFormat>,
}

impl Terms {
    /// Returns the ten most frequent values of a field.
    pub fn of(field: impl Into<String>) -> Terms {
        Terms {
            field: field.into(),
            size: 10,
            order: vec![Order::COUNT],
            min_doc_count: 1,
            max_doc_count: None,
            include: None,
            exclude: Vec::new(),
            missing: None,
            format: None,
        }
    }
}

/// One criterion of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The number or name that is compared.
    pub by: OrderBy,
    /// If the least is first.
    pub ascending: bool,
}

impl Order {
    /// The most documents first.
    pub const COUNT: Order = Order {
        by: OrderBy::Count,
        ascending: false,
    };

    /// The least key first.
    pub const KEY: Order = Order {
        by: OrderBy::Key,
        ascending: true,
    };
}

/// A key that buckets are ordered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderBy {
    /// The number of documents.
    Count,
    /// The key.
    Key,
    /// A number of a metric below the buckets: its name, and which of several numbers.
    Metric(String, Option<String>),
}

/// A bucket for each range. Ranges hold their lower ends and not their upper ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranges<T> {
    /// The field.
    pub field: String,
    /// The ranges.
    pub ranges: Vec<RangeOf<T>>,
    /// If the answer is an object by key.
    pub keyed: bool,
    /// The value that documents without one are given.
    pub missing: Option<Scalar>,
}

/// One range.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeOf<T> {
    /// The key in the answer, if it is not to be made of the ends.
    pub key: Option<String>,
    /// The lower end, which is included.
    pub from: Option<T>,
    /// The upper end, which is excluded.
    pub to: Option<T>,
}

/// A bucket for each range of dates, whose ends are milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct DateRanges {
    /// The ranges.
    pub ranges: Ranges<i64>,
    /// The form in which dates are printed.
    pub format: Option<DateFormat>,
}

/// Ends that are both included. Each may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds<T> {
    /// The lower end.
    pub min: Option<T>,
    /// The upper end.
    pub max: Option<T>,
}

/// A bucket for each interval of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The field.
    pub field: String,
    /// The interval, above 0.
    pub interval: f64,
    /// Where a bucket begins, from 0 up to the interval.
    pub offset: f64,
    /// The members that histograms have in common.
    pub common: HistogramCommon<f64>,
}

/// A bucket for each interval of time.
#[derive(Clone, Debug, PartialEq)]
pub struct DateHistogram {
    /// The field.
    pub field: String,
    /// The interval, with its time zone and offset.
    pub interval: Interval,
    /// The members that histograms have in common.
    pub common: HistogramCommon<i64>,
    /// The form in which dates are printed.
    pub format: Option<DateFormat>,
}

/// The members that histograms of numbers and of dates have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramCommon<T> {
    /// Buckets of fewer documents are left out. With 0, empty ones stand between the others.
    pub min_doc_count: u64,
    /// Empty buckets are answered at least up to here.
    pub extended_bounds: Option<Bounds<T>>,
    /// No bucket is answered beyond.
    pub hard_bounds: Option<Bounds<T>>,
    /// The key or the count that buckets are ordered by.
    pub order: Vec<Order>,
    /// If the answer is an object by key.
    pub keyed: bool,
    /// The value that documents without one are given.
    pub missing: Option<Scalar>,
}

impl<T> Default for HistogramCommon<T> {
    fn default() -> HistogramCommon<T> {
        HistogramCommon {
            min_doc_count: 0,
            extended_bounds: None,
            hard_bounds: None,
            order: vec![Order::KEY],
            keyed: false,
            missing: None,
        }
    }
}

/// A bucket for each filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Filters {
    /// The filters, with the names of their buckets.
    pub filters: Vec<(String, FilterId)>,
    /// If filters have names, so that the answer is an object.
    pub keyed: bool,
    /// The name of the bucket of documents that no filter has, if one is wanted.
    pub other: Option<String>,
}

impl Aggregations {
    /// Adds an aggregation.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, kind: Kind) -> Aggregations {
        self.list.push(Aggregation::new(name, kind));
        self
    }

    /// Returns the number of aggregations below each other.
    pub fn depth(&self) -> usize {
        let depths = self.list.iter().map(|own| 1 + own.children.depth());
        depths.max().unwrap_or_default()
    }

    /// Returns if there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl Aggregation {
    /// Returns an aggregation without others below it.
    pub fn new(name: impl Into<String>, kind: Kind) -> Aggregation {
        Aggregation {
            name: name.into(),
            kind,
            children: Aggregations::default(),
        }
    }
}
