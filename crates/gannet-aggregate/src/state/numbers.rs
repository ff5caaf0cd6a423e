//! The numbers of a metric by name, and their order.

use std::cmp::Ordering;

use gannet_values::{Number, double_of_key};

use super::MetricState;
use crate::percentiles::interpolated;
use crate::stats::Stats;
use crate::tree::MetricKind;

/// Returns if a metric has a number that orders buckets.
pub(crate) fn has_number(kind: &MetricKind, name: Option<&str>) -> bool {
    match kind {
        MetricKind::Stats => matches!(name, Some("count" | "min" | "max" | "avg" | "sum")),
        MetricKind::ExtendedStats { .. } => matches!(
            name,
            Some(
                "count"
                    | "min"
                    | "max"
                    | "avg"
                    | "sum"
                    | "sum_of_squares"
                    | "variance"
                    | "std_deviation"
            )
        ),
        MetricKind::Percentiles { percents, .. } => percent(percents, name).is_some(),
        _ => matches!(name, None | Some("value")),
    }
}

fn percent(percents: &[f64], name: Option<&str>) -> Option<usize> {
    let wanted: f64 = name?.parse().ok()?;
    percents.iter().position(|own| *own == wanted)
}

/// Returns a number of a metric, none if it has none or there are no values.
pub(crate) fn number_of_metric(
    kind: &MetricKind,
    name: Option<&str>,
    found: &MetricState,
) -> Option<f64> {
    match found {
        MetricState::Distinct(count) => Some(*count as f64),
        MetricState::Hashes(hashes) => Some(hashes.len() as f64),
        MetricState::Percentiles(_) | MetricState::Values(_) => {
            let MetricKind::Percentiles { percents, .. } = kind else {
                return None;
            };
            let place = percent(percents, name)?;
            let value = percentiles(percents, found).get(place).copied();
            value.filter(|value| !value.is_nan())
        }
        MetricState::Stats(stats) => {
            let name = match (kind, name) {
                (MetricKind::Stats | MetricKind::ExtendedStats { .. }, Some(name)) => name,
                (MetricKind::ValueCount, _) => "count",
                (kind, _) => kind.name(),
            };
            number_of_stats(stats, name)
        }
    }
}

fn number_of_stats(stats: &Stats, name: &str) -> Option<f64> {
    let (least, greatest) = stats.extremes.unzip();
    match name {
        "count" => Some(stats.count as f64),
        "min" => least.map(Number::nearest_double),
        "max" => greatest.map(Number::nearest_double),
        "avg" => stats.avg(),
        "sum" => Some(stats.sum()),
        "sum_of_squares" => Some(stats.sum_of_squares()),
        "variance" => stats.variance(false),
        "std_deviation" => stats.variance(false).map(f64::sqrt),
        _ => None,
    }
}

pub(crate) fn percentiles(percents: &[f64], found: &MetricState) -> Vec<f64> {
    match found {
        MetricState::Percentiles(bits) => bits.iter().map(|bits| f64::from_bits(*bits)).collect(),
        MetricState::Values(values) => {
            let mut ends = Vec::with_capacity(values.len());
            let mut count = 0_u64;
            for (_, own) in values {
                count = count.saturating_add(*own);
                ends.push(count);
            }
            let value = |rank: u64| {
                let place = ends.partition_point(|end| *end <= rank);
                values
                    .get(place)
                    .map_or(f64::NAN, |own| double_of_key(own.0))
            };
            let percents = percents.iter();
            percents
                .map(|percent| interpolated(*percent, count, value))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Compares numbers of metrics; none, as of no values, is last in both directions.
pub(crate) fn compare_metrics(one: Option<f64>, other: Option<f64>, ascending: bool) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => {
            if ascending {
                one.total_cmp(&other)
            } else {
                other.total_cmp(&one)
            }
        }
        (one, other) => one.is_none().cmp(&other.is_none()),
    }
}
