//! Merging the states of shards.

use gannet_values::ValueType;

use super::{BucketState, MetricState, NodeState, State};
use crate::error::{Error, Result};

impl State {
    /// Adds what another shard found for the same request. Both runs must be of
    /// [`crate::Scope::Shard`].
    pub fn merge(&mut self, other: State) -> Result<()> {
        if !self.is_whole || !other.is_whole {
            let text = "only states of runs over shards merge, since others have no longer all \
                        buckets";
            return Err(Error::given(text));
        }
        for (field, code) in other.types {
            let joined = self.types.get(&field).map_or(Ok(code), |own| {
                join(*own, code).ok_or_else(|| {
                    let name = |code| ValueType::from_code(code).map_or("unknown", ValueType::name);
                    let (own, other) = (name(*own), name(code));
                    Error::given(format!(
                        "the field \"{field}\" is {own} in one shard and {other} in another: give \
                         it one type by a mapping"
                    ))
                })
            })?;
            self.types.insert(field, joined);
        }
        merge_lists(&mut self.nodes, other.nodes)
    }
}

/// Returns the type that has the values of both.
fn join(one: u8, other: u8) -> Option<u8> {
    let (one, other) = (ValueType::from_code(one)?, ValueType::from_code(other)?);
    match (one, other) {
        (ValueType::Long, ValueType::Double) | (ValueType::Double, ValueType::Long) => {
            Some(ValueType::Double.code())
        }
        (one, other) => (one == other).then(|| one.code()),
    }
}

fn merge_lists(own: &mut [NodeState], other: Vec<NodeState>) -> Result<()> {
    if own.len() != other.len() {
        return Err(of_another_request());
    }
    for (own, other) in own.iter_mut().zip(other) {
        match (own, other) {
            (NodeState::Buckets(own, left), NodeState::Buckets(other, others_left)) => {
                *left = left.saturating_add(others_left);
                *own = merge_buckets(std::mem::take(own), other)?;
            }
            (NodeState::Metric(own), NodeState::Metric(other)) => merge_metric(own, other)?,
            _ => return Err(of_another_request()),
        }
    }
    Ok(())
}

fn of_another_request() -> Error {
    Error::given("the states are not of the same request")
}

/// Merges buckets that both ascend by key.
fn merge_buckets(own: Vec<BucketState>, other: Vec<BucketState>) -> Result<Vec<BucketState>> {
    let mut merged = Vec::with_capacity(own.len().max(other.len()));
    let (mut own, mut other) = (own.into_iter().peekable(), other.into_iter().peekable());
    loop {
        let order = match (own.peek(), other.peek()) {
            (Some(one), Some(two)) => one.key.cmp(&two.key),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return Ok(merged),
        };
        if order.is_gt() {
            merged.extend(other.next());
            continue;
        }
        let Some(mut bucket) = own.next() else {
            return Ok(merged);
        };
        if order.is_eq()
            && let Some(same) = other.next()
        {
            bucket.count = bucket.count.saturating_add(same.count);
            merge_lists(&mut bucket.children, same.children)?;
        }
        merged.push(bucket);
    }
}

fn merge_metric(own: &mut MetricState, other: MetricState) -> Result<()> {
    match (own, other) {
        (MetricState::Stats(own), MetricState::Stats(other)) => own.merge(&other),
        (MetricState::Hashes(own), MetricState::Hashes(other)) => {
            own.extend(other);
            own.sort_unstable();
            own.dedup();
        }
        (MetricState::Values(own), MetricState::Values(other)) => {
            own.extend(other);
            own.sort_unstable();
            own.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                if is_same {
                    kept.1 = kept.1.saturating_add(next.1);
                }
                is_same
            });
        }
        _ => return Err(of_another_request()),
    }
    Ok(())
}
