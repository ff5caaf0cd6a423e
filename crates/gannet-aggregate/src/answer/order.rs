//! The order of buckets in an answer.

use std::cmp::Ordering;

use crate::state::numbers::{compare_metrics, number_of_metric};
use crate::state::{BucketState, NodeState};
use crate::tree::{Aggregations, Kind, Order, OrderBy};

/// Sorts buckets by an order, and by ascending keys where it says nothing.
pub(super) fn sort(buckets: &mut [&BucketState], order: &[Order], children: &Aggregations) {
    buckets.sort_by(|one, other| {
        let orders = order
            .iter()
            .map(|order| compare(one, other, order, children));
        let by_key = || one.key.cmp(&other.key);
        orders
            .fold(Ordering::Equal, Ordering::then)
            .then_with(by_key)
    });
}

fn compare(
    one: &BucketState,
    other: &BucketState,
    order: &Order,
    children: &Aggregations,
) -> Ordering {
    let by = match &order.by {
        OrderBy::Count => one.count.cmp(&other.count),
        OrderBy::Key => one.key.cmp(&other.key),
        OrderBy::Metric(name, number) => {
            let number = |bucket: &BucketState| metric(bucket, name, number.as_deref(), children);
            return compare_metrics(number(one), number(other), order.ascending);
        }
    };
    if order.ascending { by } else { by.reverse() }
}

fn metric(
    bucket: &BucketState,
    name: &str,
    number: Option<&str>,
    children: &Aggregations,
) -> Option<f64> {
    let child = children.list.iter().position(|own| own.name == name)?;
    match (&children.list.get(child)?.kind, bucket.children.get(child)?) {
        (Kind::Metric(metric), NodeState::Metric(found)) => {
            number_of_metric(&metric.kind, number, found)
        }
        _ => None,
    }
}
