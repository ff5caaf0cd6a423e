//! Buckets of terms that are chosen so far, with what was found for their order.

use super::below::{Below, ordering};
use crate::memory::{Full, Ledger};
use crate::state::MetricState;
use crate::table::{BucketKey, Table};

/// A bucket that is chosen so far.
pub(crate) struct Winner {
    pub(crate) key: BucketKey,
    pub(crate) count: u64,
    pub(crate) term: Option<Box<str>>,
    /// The findings of each eager child.
    pub(crate) found: Vec<MetricState>,
}

impl Winner {
    pub(super) fn bytes(&self) -> usize {
        let found = self.found.iter().map(|found| match found {
            MetricState::Percentiles(list) => list.len() * 8,
            _ => 0,
        });
        // A list that grows holds the half of it twice.
        2 * size_of::<Winner>()
            + self.term.as_ref().map_or(0, |term| term.len())
            + self.found.len() * size_of::<MetricState>()
            + found.sum::<usize>()
    }
}

pub(super) fn winners(
    chosen: &[u32],
    table: &Table,
    counts: &[u64],
    named: &mut [(u32, Box<str>)],
    children: &[impl Below],
    ledger: &mut Ledger<'_>,
) -> Result<Vec<Winner>, Full> {
    let (mut winners, mut bytes) = (Vec::new(), 0);
    for bucket in chosen {
        let at = *bucket as usize;
        let name = named.binary_search_by_key(bucket, |own| own.0).ok();
        let name = name.and_then(|name| named.get_mut(name));
        let found = ordering(children).filter_map(|found| found.get(at).cloned());
        let winner = Winner {
            key: table.keys()[at],
            count: counts[at],
            term: name.map(|own| std::mem::take(&mut own.1)),
            found: found.collect(),
        };
        if let Err(rejected) = ledger.add(winner.bytes()) {
            ledger.give_back(bytes);
            return Err(rejected);
        }
        bytes += winner.bytes();
        winners.push(winner);
    }
    Ok(winners)
}
