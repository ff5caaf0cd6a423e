//! The findings of aggregations where there are no documents.

use super::{BucketState, Key, MetricState, NodeState};
use crate::stats::Stats;
use crate::tree::{Aggregation, Aggregations, Kind, MetricKind};

impl Aggregations {
    pub(crate) fn empty(&self, is_whole: bool) -> Vec<NodeState> {
        self.list.iter().map(|own| own.empty(is_whole)).collect()
    }
}

impl Aggregation {
    /// Returns what is found in no documents.
    pub(crate) fn empty(&self, is_whole: bool) -> NodeState {
        let Kind::Metric(metric) = &self.kind else {
            let mut buckets = Vec::new();
            self.add_fixed(&mut buckets, is_whole);
            return NodeState::Buckets(buckets, 0);
        };
        NodeState::Metric(match &metric.kind {
            MetricKind::Cardinality if is_whole => MetricState::Hashes(Vec::new()),
            MetricKind::Cardinality => MetricState::Distinct(0),
            MetricKind::Percentiles { .. } if is_whole => MetricState::Values(Vec::new()),
            MetricKind::Percentiles { percents, .. } => {
                MetricState::Percentiles(vec![f64::NAN.to_bits(); percents.len()])
            }
            _ => MetricState::Stats(Stats::default()),
        })
    }

    /// Adds the buckets that are answered though they have no documents: of ranges and filters.
    pub(crate) fn add_fixed(&self, buckets: &mut Vec<BucketState>, is_whole: bool) {
        for number in 0..self.fixed_buckets() {
            let key = Key::Index(number);
            if let Err(place) = buckets.binary_search_by(|bucket| bucket.key.cmp(&key)) {
                let bucket = BucketState {
                    key,
                    count: 0,
                    children: self.children.empty(is_whole),
                };
                buckets.insert(place, bucket);
            }
        }
    }

    fn fixed_buckets(&self) -> i64 {
        let count = match &self.kind {
            Kind::Range(own) => own.ranges.len(),
            Kind::DateRange(own) => own.ranges.ranges.len(),
            Kind::IpRange(own) => own.ranges.len(),
            Kind::Filters(own) => own.filters.len() + usize::from(own.other.is_some()),
            Kind::Filter(_) | Kind::Missing(_) | Kind::Global => 1,
            _ => 0,
        };
        count as i64
    }
}
