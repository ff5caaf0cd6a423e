//! The findings of a run, apart from any index: they are stored, sent, merged and answered.

use std::collections::BTreeMap;

use gannet_values::{Number, ValueType};
use serde::{Deserialize, Serialize};

use crate::stats::Stats;

mod empty;
pub(crate) mod merge;
pub(crate) mod numbers;

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// If all buckets are in it, so that it merges with the states of other shards.
    pub(crate) is_whole: bool,
    /// The codes of the types of fields.
    pub(crate) types: BTreeMap<String, u8>,
    /// In the order of the request.
    pub(crate) nodes: Vec<NodeState>,
}

impl State {
    /// Forgets the type of a field that had no values, so that the states of others say it.
    pub fn forget_type(&mut self, field: &str) {
        self.types.remove(field);
    }

    pub(crate) fn type_of(&self, field: &str) -> Option<ValueType> {
        let code = self.types.get(field)?;
        ValueType::from_code(*code)
    }
}

/// The findings of one aggregation in one bucket of the one above.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum NodeState {
    /// Buckets, and the documents that were counted in buckets that are left out.
    Buckets(Vec<BucketState>, u64),
    Metric(MetricState),
}

/// A bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BucketState {
    pub(crate) key: Key,
    pub(crate) count: u64,
    /// One for each aggregation in it.
    pub(crate) children: Vec<NodeState>,
}

/// The findings of a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum MetricState {
    Stats(Stats),
    /// A number of distinct values.
    Distinct(u64),
    /// Hashes of distinct values, ascending: the high and the low half of 128 bits.
    Hashes(Vec<(u64, u64)>),
    /// The bits of percentiles, NaN where there are no values.
    Percentiles(Vec<u64>),
    /// Keys of doubles with their counts, ascending.
    Values(Vec<(u64, u64)>),
}

/// The key of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Key {
    /// A missing value of a composite; it is the least.
    Missing,
    Number(PortableNumber),
    Term(Box<str>),
    /// The number of a range, of a filter, of an interval of numbers.
    Index(i64),
    Composite(Vec<Key>),
}

/// A number with doubles by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(bool, u64)", into = "(bool, u64)")]
pub(crate) struct PortableNumber(pub(crate) Number);

impl From<PortableNumber> for (bool, u64) {
    fn from(number: PortableNumber) -> (bool, u64) {
        match number.0 {
            Number::Long(long) => (true, long.cast_unsigned()),
            Number::Double(double) => (false, double.to_bits()),
        }
    }
}

impl From<(bool, u64)> for PortableNumber {
    fn from((is_long, bits): (bool, u64)) -> PortableNumber {
        PortableNumber(if is_long {
            Number::Long(bits.cast_signed())
        } else {
            Number::Double(f64::from_bits(bits))
        })
    }
}
