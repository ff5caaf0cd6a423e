//! Metrics that collect the values of the documents in each bucket above them.

use gannet_values::{Number, ValueType, key_of_double};

use super::context::Context;
use super::partitions::Partitions;
use crate::batch::{Chunk, Pair, Pairs};
use crate::memory::{Full, Ledger};
use crate::percentiles::{Found, Percentiles};
use crate::state::MetricState;
use crate::stats::Stats;
use crate::table::{BucketKey, Table};
use crate::tree::{MetricKind, Scalar};
use crate::values::{ClassKey, class_key};

/// A metric while it is collected, and what it found.
pub(crate) struct MetricNode {
    pub(crate) kind: MetricKind,
    pub(crate) column: usize,
    pub(crate) field_type: ValueType,
    pub(crate) missing: Option<Missing>,
    /// The missing value of keywords.
    pub(crate) missing_text: Option<Scalar>,
    /// For each bucket above.
    pub(crate) found: Vec<MetricState>,
    found_bytes: usize,
    partitions: Partitions,
    stats: Vec<Stats>,
    values: Table,
    distinct: Vec<u64>,
    percentiles: Percentiles,
}

/// The value that a document without one is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub(crate) key: ClassKey,
    /// None of a keyword.
    pub(crate) number: Option<Number>,
}

impl MetricNode {
    pub(crate) fn new(
        kind: MetricKind,
        column: usize,
        field_type: ValueType,
        missing: Option<Missing>,
        is_eager: bool,
    ) -> MetricNode {
        MetricNode {
            kind,
            column,
            field_type,
            missing,
            missing_text: None,
            found: Vec::new(),
            found_bytes: 0,
            partitions: Partitions::default(),
            stats: Vec::new(),
            values: Table::new(field_type),
            distinct: Vec::new(),
            percentiles: Percentiles::new(is_eager),
        }
    }

    pub(crate) fn collect(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: Pairs<'_>,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        match self.kind {
            MetricKind::Cardinality => self.collect_distinct(chunk, pairs.list, ledger),
            MetricKind::Percentiles { .. } => self.collect_values(chunk, pairs.list, ledger),
            _ if pairs.are_all && self.missing.is_none() => self.collect_all(chunk, ledger),
            _ => self.collect_stats(chunk, pairs.list, ledger),
        }
    }

    fn collect_stats(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: &[Pair],
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let squares = matches!(self.kind, MetricKind::ExtendedStats { .. });
        for pair in pairs {
            let bucket = pair.bucket as usize;
            if bucket >= self.stats.len() {
                ledger.fill(&mut self.stats, bucket + 1, Stats::default())?;
            }
            let stats = &mut self.stats[bucket];
            let (piece, keys) = chunk.keys(self.column, pair.document);
            if self.kind == MetricKind::ValueCount {
                stats.count += keys.len() as u64;
                stats.count += u64::from(keys.is_empty() && self.missing.is_some());
                continue;
            }
            let numbers = keys.iter().filter_map(|key| piece.number_of_key(*key));
            numbers.for_each(|number| stats.add(number, squares));
            if keys.is_empty()
                && let Some(number) = self.missing.and_then(|missing| missing.number)
            {
                stats.add(number, squares);
            }
        }
        Ok(())
    }

    /// Reads the values of all documents of a chunk.
    fn collect_all(&mut self, chunk: &Chunk<'_>, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        ledger.fill(&mut self.stats, 1, Stats::default())?;
        let Some(column) = chunk.column(self.column) else {
            return Ok(());
        };
        let squares = matches!(self.kind, MetricKind::ExtendedStats { .. });
        let is_counted = self.kind == MetricKind::ValueCount;
        let piece = column.value_type;
        let stats = &mut self.stats[0];
        column.try_for_each(|_, key| {
            if is_counted {
                stats.count += 1;
            } else if let Some(number) = piece.number_of_key(key) {
                stats.add(number, squares);
            }
            Ok(())
        })
    }

    fn collect_distinct(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: &[Pair],
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let (field_type, missing) = (self.field_type, self.missing);
        for pair in pairs {
            let (piece, keys) = chunk.keys(self.column, pair.document);
            let own = keys.iter().map(|key| class_key(field_type, piece, *key));
            let missing = missing.filter(|_| keys.is_empty()).map(|own| own.key);
            for (class, key) in own.chain(missing) {
                let key = BucketKey {
                    parent: pair.bucket,
                    class,
                    key,
                };
                if self.partitions.has(key.hash()) && !self.partitions.has_failed() {
                    self.values.find_or_add(key, ledger)?;
                }
            }
        }
        Ok(())
    }

    fn collect_values(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: &[Pair],
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        for pair in pairs {
            let (piece, keys) = chunk.keys(self.column, pair.document);
            let missing = self.missing.filter(|_| keys.is_empty());
            let own = keys.iter().filter_map(|key| piece.number_of_key(*key));
            for number in own.chain(missing.and_then(|own| own.number)) {
                if let Some(key) = key_of_double(number.nearest_double()) {
                    self.percentiles.add(pair.bucket, key, ledger)?;
                }
            }
        }
        Ok(())
    }

    /// Ends a pass of so many documents. Returns if all is found, for `buckets` buckets above.
    pub(crate) fn end_of_pass(
        &mut self,
        buckets: usize,
        context: &mut Context<'_>,
    ) -> Result<bool, Full> {
        match &self.kind {
            MetricKind::Cardinality if context.is_whole => Ok(true),
            MetricKind::Cardinality => self.end_distinct(buckets, context),
            MetricKind::Percentiles { percents, .. } => {
                let percents = percents.clone();
                self.end_percentiles(&percents, buckets, context)
            }
            _ => {
                let ledger = &mut context.ledger;
                ledger.fill(&mut self.stats, buckets, Stats::default())?;
                self.reserve_found(buckets, 0, ledger)?;
                let found = self.stats.iter().map(|stats| MetricState::Stats(*stats));
                self.found = found.take(buckets).collect();
                ledger.release(&mut self.stats);
                Ok(true)
            }
        }
    }

    fn end_distinct(&mut self, buckets: usize, context: &mut Context<'_>) -> Result<bool, Full> {
        if self.partitions.has_failed() {
            if self.partitions.is_least() {
                return Err(Full);
            }
            self.partitions.cut(context.documents);
            return Ok(false);
        }
        let ledger = &mut context.ledger;
        ledger.fill(&mut self.distinct, buckets, 0)?;
        for key in self.values.keys() {
            self.distinct[key.parent as usize] += 1;
        }
        self.values.release(ledger);
        if !self.partitions.next() {
            return Ok(false);
        }
        self.reserve_found(buckets, 0, ledger)?;
        let found = self
            .distinct
            .iter()
            .map(|count| MetricState::Distinct(*count));
        self.found = found.collect();
        ledger.release(&mut self.distinct);
        Ok(true)
    }

    fn end_percentiles(
        &mut self,
        percents: &[f64],
        buckets: usize,
        context: &mut Context<'_>,
    ) -> Result<bool, Full> {
        let ledger = &mut context.ledger;
        if context.is_whole {
            self.reserve_found(buckets, 0, ledger)?;
            let lists = self.percentiles.take_all(buckets, ledger)?;
            self.found = lists.into_iter().map(MetricState::Values).collect();
            return Ok(true);
        }
        match self.percentiles.end_of_pass(percents, buckets, ledger)? {
            Found::Again => Ok(false),
            Found::All(lists) => {
                self.reserve_found(buckets, 2 * percents.len() * size_of::<u64>(), ledger)?;
                let bits = |list: Vec<f64>| list.into_iter().map(f64::to_bits).collect();
                let found = lists.into_iter().map(bits);
                self.found = found.map(MetricState::Percentiles).collect();
                Ok(true)
            }
        }
    }

    fn reserve_found(
        &mut self,
        buckets: usize,
        each: usize,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let bytes = buckets.saturating_mul(size_of::<MetricState>() + each);
        ledger.add(bytes)?;
        self.found_bytes += bytes;
        Ok(())
    }

    /// Notes that distinct values did not fit.
    pub(crate) fn fail(&mut self, documents: u64, ledger: &mut Ledger<'_>) {
        self.values.release(ledger);
        self.partitions.fail(documents);
    }

    /// Takes over what was found before for other numbers of buckets.
    pub(crate) fn settle(
        &mut self,
        found: Vec<MetricState>,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let each = match found.first() {
            Some(MetricState::Percentiles(list)) => list.len() * size_of::<u64>(),
            _ => 0,
        };
        self.reserve_found(found.len(), each, ledger)?;
        self.found = found;
        Ok(())
    }

    /// Returns the distinct values of a shard, whose hashes are still to be made.
    pub(crate) fn distinct_values(&self) -> &[BucketKey] {
        self.values.keys()
    }

    /// Drops what was collected.
    pub(crate) fn clear(&mut self, ledger: &mut Ledger<'_>) {
        ledger.release(&mut self.stats);
        ledger.release(&mut self.distinct);
        self.values.release(ledger);
        self.percentiles.release(ledger);
        self.found = Vec::new();
        ledger.give_back(std::mem::take(&mut self.found_bytes));
    }
}
