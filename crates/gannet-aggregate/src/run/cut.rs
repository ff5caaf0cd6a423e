//! Which buckets of terms are answered: the first of each bucket above, in the order asked for.
//!
//! Keywords are ordered by terms, which are asked for only where they decide. Buckets that are
//! better than the last one by count or metric are sure. Those that equal it are *tied*: of them
//! the terms say which are taken, and only the best so far are kept while terms arrive.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::{Range, RangeInclusive};

use gannet_values::ValueType;
use rustc_hash::FxHashMap;

use super::below::{Below, ordering};
use super::partitions::Partitions;
use super::winners::{Winner, winners};
use crate::memory::{Full, Ledger};
use crate::state::numbers::{compare_metrics, number_of_metric};
use crate::table::{BucketKey, Table};
use crate::tree::MetricKind;
use crate::values::number_of;

/// Bytes of an entry of the best below a bucket, in a table that is half empty.
const BEST_BYTES: usize = 2 * size_of::<(u32, Best)>();

/// The choice of buckets, and the chosen ones.
pub(crate) struct Cut {
    pub(crate) criteria: Vec<Criterion>,
    pub(crate) size: usize,
    /// The numbers of documents that a bucket may have.
    pub(crate) counted: RangeInclusive<u64>,
    pub(crate) field_type: ValueType,
    /// The term of documents without a value.
    pub(crate) missing_text: Option<String>,
    pub(crate) partitions: Partitions,
    /// The documents in all buckets, by the bucket above.
    pub(crate) totals: Vec<u64>,
    pub(crate) winners: Vec<Winner>,
    sure: Vec<u32>,
    tied: Vec<u32>,
    best: FxHashMap<u32, Best>,
}

/// A criterion of the order. The last one is the key.
#[derive(Clone, Debug)]
pub(crate) struct Criterion {
    pub(crate) by: By,
    pub(crate) ascending: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum By {
    Count,
    Key,
    /// The eager child of this number, and which of its numbers.
    Metric(usize, MetricKind, Option<String>),
}

/// The best of the tied buckets below one.
struct Best {
    wanted: usize,
    /// The worst of them on top.
    offers: BinaryHeap<Offer>,
}

#[derive(PartialEq, Eq)]
struct Offer {
    term: Box<str>,
    bucket: u32,
    ascending: bool,
}

impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> Ordering {
        directed(self.term.cmp(&other.term), self.ascending)
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn directed(order: Ordering, ascending: bool) -> Ordering {
    if ascending { order } else { order.reverse() }
}

/// Brings the first `size` buckets to the front, in any order. Where others equal the last of them,
/// all that equal it follow those that are before it, and their places are returned; an empty range
/// behind the first buckets if none do.
fn first_and_tied(
    group: &mut [u32],
    size: usize,
    compare: &dyn Fn(&u32, &u32) -> Ordering,
) -> Range<usize> {
    if group.len() <= size {
        return group.len()..group.len();
    }
    let last = *group.select_nth_unstable_by(size - 1, compare).1;
    let mut end = size;
    for at in size..group.len() {
        if compare(&group[at], &last).is_eq() {
            group.swap(at, end);
            end += 1;
        }
    }
    if end == size {
        return size..size;
    }
    let mut before = 0;
    for at in 0..size {
        if compare(&group[at], &last).is_lt() {
            group.swap(at, before);
            before += 1;
        }
    }
    before..end
}

impl Cut {
    pub(crate) fn new(
        criteria: Vec<Criterion>,
        size: usize,
        counted: RangeInclusive<u64>,
        field_type: ValueType,
        missing_text: Option<String>,
    ) -> Cut {
        Cut {
            criteria,
            size,
            counted,
            field_type,
            missing_text,
            partitions: Partitions::default(),
            totals: Vec::new(),
            winners: Vec::new(),
            sure: Vec::new(),
            tied: Vec::new(),
            best: FxHashMap::default(),
        }
    }

    /// Chooses among the buckets of a pass, as far as terms are not needed.
    pub(super) fn choose(
        &mut self,
        table: &Table,
        counts: &[u64],
        children: &[impl Below],
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let mut order = Vec::new();
        let chosen = self.order(&mut order, table, counts, children, ledger);
        ledger.release(&mut order);
        chosen
    }

    fn order(
        &mut self,
        order: &mut Vec<u32>,
        table: &Table,
        counts: &[u64],
        children: &[impl Below],
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let enough = (0..)
            .zip(counts)
            .filter(|(_, count)| self.counted.contains(count));
        for (bucket, _) in enough {
            ledger.push(order, bucket)?;
        }
        let parent = |bucket: &u32| table.keys()[*bucket as usize].parent;
        order.sort_unstable_by_key(parent);
        for group in order.chunk_by_mut(|one, other| parent(one) == parent(other)) {
            let compare =
                |one: &u32, other: &u32| self.compare(*one, *other, table, counts, children);
            let tied = first_and_tied(group, self.size, &compare);
            let (first, tied) = group[..tied.end].split_at(tied.start);
            for bucket in first {
                ledger.push(&mut self.sure, *bucket)?;
            }
            if tied.is_empty() {
                continue;
            }
            for bucket in tied {
                ledger.push(&mut self.tied, *bucket)?;
            }
            ledger.add(BEST_BYTES)?;
            let wanted = self.size - first.len();
            let offers = BinaryHeap::new();
            self.best.insert(parent(&tied[0]), Best { wanted, offers });
        }
        self.tied.sort_unstable();
        Ok(())
    }

    /// Compares two buckets by all that is known without terms.
    fn compare(
        &self,
        one: u32,
        other: u32,
        table: &Table,
        counts: &[u64],
        children: &[impl Below],
    ) -> Ordering {
        let (one, other) = (one as usize, other as usize);
        for criterion in &self.criteria {
            let order = match &criterion.by {
                By::Count => directed(counts[one].cmp(&counts[other]), criterion.ascending),
                By::Key if self.field_type.has_strings() => return Ordering::Equal,
                By::Key => {
                    let keys = [one, other].map(|bucket| table.keys()[bucket]);
                    directed(self.compare_keys(keys[0], keys[1]), criterion.ascending)
                }
                By::Metric(child, kind, number) => {
                    let found = |bucket: usize| {
                        let found = ordering(children).nth(*child)?.get(bucket)?;
                        number_of_metric(kind, number.as_deref(), found)
                    };
                    compare_metrics(found(one), found(other), criterion.ascending)
                }
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    fn compare_keys(&self, one: BucketKey, other: BucketKey) -> Ordering {
        let number = |key: BucketKey| number_of(self.field_type, (key.class, key.key));
        number(one).cmp(&number(other))
    }

    /// Returns the buckets whose terms are needed.
    pub(super) fn chosen(&self) -> impl Iterator<Item = u32> + '_ {
        self.sure.iter().chain(&self.tied).copied()
    }

    pub(super) fn is_tied(&self, bucket: u32) -> bool {
        self.tied.binary_search(&bucket).is_ok()
    }

    /// Takes the term of a tied bucket.
    pub(super) fn offer(
        &mut self,
        parent: u32,
        bucket: u32,
        term: &str,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let ascending = self.key_ascends();
        let Some(best) = self.best.get_mut(&parent) else {
            return Ok(());
        };
        if best.offers.len() == best.wanted {
            let is_better = |worst: &Offer| directed(term.cmp(&worst.term), ascending).is_lt();
            if !best.offers.peek().is_some_and(is_better) {
                return Ok(());
            }
        }
        let bytes = 2 * size_of::<Offer>() + term.len();
        ledger.add(bytes)?;
        let offer = Offer {
            term: term.into(),
            bucket,
            ascending,
        };
        best.offers.push(offer);
        if best.offers.len() > best.wanted
            && let Some(worst) = best.offers.pop()
        {
            let bytes = 2 * size_of::<Offer>() + worst.term.len();
            ledger.give_back(bytes);
        }
        Ok(())
    }

    fn key_ascends(&self) -> bool {
        let mut criteria = self.criteria.iter();
        let key = criteria.find(|criterion| matches!(criterion.by, By::Key));
        key.is_none_or(|criterion| criterion.ascending)
    }

    /// Drops what was chosen in a pass.
    pub(super) fn forget(&mut self, ledger: &mut Ledger<'_>) {
        ledger.release(&mut self.sure);
        ledger.release(&mut self.tied);
        for best in std::mem::take(&mut self.best).into_values() {
            let offers = best.offers.iter();
            let bytes: usize = offers
                .map(|own| 2 * size_of::<Offer>() + own.term.len())
                .sum();
            ledger.give_back(bytes + BEST_BYTES);
        }
    }

    /// Takes over the buckets of a pass that are chosen, and drops others for them. Where memory is
    /// short nothing has changed.
    pub(super) fn keep(
        &mut self,
        table: &Table,
        counts: &[u64],
        named: &mut Vec<(u32, Box<str>)>,
        children: &[impl Below],
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let parents = table.keys().iter().map(|key| key.parent as usize + 1).max();
        ledger.fill(&mut self.totals, parents.unwrap_or_default(), 0)?;
        let mut chosen = std::mem::take(&mut self.sure);
        let result = self.take_best(&mut chosen, named, ledger);
        named.sort_unstable();
        let winners =
            result.and_then(|()| winners(&chosen, table, counts, named, children, ledger));
        ledger.release(&mut chosen);
        ledger.release(&mut self.tied);
        self.winners.extend(winners?);
        for (key, count) in table.keys().iter().zip(counts) {
            self.totals[key.parent as usize] += count;
        }
        self.sort_winners();
        self.drop_others(ledger);
        Ok(())
    }

    /// Adds those of the tied buckets that are best.
    fn take_best(
        &mut self,
        chosen: &mut Vec<u32>,
        named: &mut Vec<(u32, Box<str>)>,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let best = std::mem::take(&mut self.best);
        ledger.give_back(best.len() * BEST_BYTES);
        for offer in best.into_values().flat_map(|best| best.offers) {
            ledger.give_back(2 * size_of::<Offer>() + offer.term.len());
            ledger.push(named, (offer.bucket, offer.term))?;
            ledger.push(chosen, offer.bucket)?;
        }
        Ok(())
    }

    fn sort_winners(&mut self) {
        let mut winners = std::mem::take(&mut self.winners);
        winners.sort_unstable_by(|one, other| {
            let by_parent = one.key.parent.cmp(&other.key.parent);
            by_parent.then_with(|| self.compare_winners(one, other))
        });
        self.winners = winners;
    }

    fn compare_winners(&self, one: &Winner, other: &Winner) -> Ordering {
        for criterion in &self.criteria {
            let order = match &criterion.by {
                By::Count => directed(one.count.cmp(&other.count), criterion.ascending),
                By::Key => {
                    let by_term = one.term.cmp(&other.term);
                    let order = by_term.then_with(|| self.compare_keys(one.key, other.key));
                    directed(order, criterion.ascending)
                }
                By::Metric(child, kind, number) => {
                    let found = |winner: &Winner| {
                        let found = winner.found.get(*child)?;
                        number_of_metric(kind, number.as_deref(), found)
                    };
                    compare_metrics(found(one), found(other), criterion.ascending)
                }
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Keeps as many of each bucket above as are asked for.
    fn drop_others(&mut self, ledger: &mut Ledger<'_>) {
        let (size, mut parent, mut rank, mut bytes) = (self.size, None, 0, 0);
        self.winners.retain(|winner| {
            if parent != Some(winner.key.parent) {
                (parent, rank) = (Some(winner.key.parent), 0);
            }
            rank += 1;
            if rank > size {
                bytes += winner.bytes();
            }
            rank <= size
        });
        ledger.give_back(bytes);
    }
}
