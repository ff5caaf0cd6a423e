//! The parts of ranges of keys that have wanted ranks, and what is in them.

use gannet_values::double_of_key;

use super::ranks::{interpolated, ranks};
use crate::memory::{Full, Ledger};

/// Parts of a range: 8 KiB of counters, and at most 7 passes for any 64-bit keys.
pub(super) const PARTS: u64 = 1_024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    pub(super) count: u64,
    least: u64,
    greatest: u64,
}

pub(super) const NOTHING: Measure = Measure {
    count: 0,
    least: u64::MAX,
    greatest: 0,
};

impl Measure {
    pub(super) fn add(&mut self, key: u64) {
        self.count += 1;
        self.least = self.least.min(key);
        self.greatest = self.greatest.max(key);
    }
}

/// The parts of ranges that have wanted ranks.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) measures: Vec<Measure>,
    /// By bucket, then by key.
    pub(super) parts: Vec<Part>,
    /// For each bucket the first of its parts.
    first: Vec<usize>,
    pub(super) counters: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    bucket: u32,
    least: u64,
    greatest: u64,
    /// Values of the bucket below the part.
    below: u64,
    pub(super) count: u64,
}

impl Part {
    /// Returns if all its values are equal.
    pub(super) fn is_known(&self) -> bool {
        self.least == self.greatest
    }

    /// Returns the width of a 1,024th, at least 1.
    pub(super) fn step(&self) -> u64 {
        (self.greatest - self.least) / PARTS + 1
    }
}

impl Search {
    pub(super) fn of(mut measures: Vec<Measure>, ledger: &mut Ledger<'_>) -> Result<Search, Full> {
        let mut parts = Vec::new();
        for (bucket, measure) in measures.iter().enumerate() {
            if measure.count > 0 {
                let part = Part {
                    bucket: bucket as u32,
                    least: measure.least,
                    greatest: measure.greatest,
                    below: 0,
                    count: measure.count,
                };
                ledger.push(&mut parts, part)?;
            }
        }
        Search::with(std::mem::take(&mut measures), parts, ledger)
    }

    pub(super) fn with(
        measures: Vec<Measure>,
        parts: Vec<Part>,
        ledger: &mut Ledger<'_>,
    ) -> Result<Search, Full> {
        let mut first = Vec::new();
        ledger.fill(&mut first, measures.len() + 1, parts.len())?;
        for (number, part) in parts.iter().enumerate().rev() {
            first[part.bucket as usize] = number;
        }
        for bucket in (0..measures.len()).rev() {
            first[bucket] = first[bucket].min(first[bucket + 1]);
        }
        Ok(Search {
            measures,
            parts,
            first,
            counters: Vec::new(),
        })
    }

    /// Returns the part of a bucket that a key is in.
    pub(super) fn part(&self, bucket: u32, key: u64) -> Option<usize> {
        let begin = *self.first.get(bucket as usize)?;
        let end = *self.first.get(bucket as usize + 1)?;
        let own = self.parts.get(begin..end)?;
        let after = own.partition_point(|part| part.least <= key);
        let number = after.checked_sub(1)?;
        (key <= own[number].greatest).then_some(begin + number)
    }

    pub(super) fn count(&mut self, bucket: u32, key: u64) {
        if let Some(number) = self.part(bucket, key) {
            let part = &self.parts[number];
            let place = (key - part.least) / part.step();
            let counter = self
                .counters
                .get_mut(number * PARTS as usize + place as usize);
            if let Some(counter) = counter {
                *counter += 1;
            }
        }
    }

    /// Returns the search in those of the counted parts that have a wanted rank.
    pub(super) fn narrowed(
        mut self,
        percents: &[f64],
        ledger: &mut Ledger<'_>,
    ) -> Result<Search, Full> {
        let mut parts: Vec<Part> = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let counters = &self.counters[number * PARTS as usize..][..PARTS as usize];
            let mut below = part.below;
            for (place, count) in counters.iter().enumerate() {
                let range = below..below + count;
                below += count;
                let last = self.measures[part.bucket as usize].count - 1;
                let is_wanted = |percent: &f64| {
                    let (low, high, _) = ranks(*percent, last);
                    range.contains(&low) || range.contains(&high)
                };
                if *count == 0 || !percents.iter().any(is_wanted) {
                    continue;
                }
                let least = part.least + place as u64 * part.step();
                let narrow = Part {
                    least,
                    greatest: least.saturating_add(part.step() - 1).min(part.greatest),
                    below: range.start,
                    count: *count,
                    ..*part
                };
                ledger.push(&mut parts, narrow)?;
            }
        }
        let measures = std::mem::take(&mut self.measures);
        self.release(ledger);
        Search::with(measures, parts, ledger)
    }

    /// Returns the percentiles, given the sorted values of the parts that are not known.
    pub(super) fn all(
        &self,
        values: &[(u32, u64)],
        percents: &[f64],
        buckets: usize,
    ) -> Vec<Vec<f64>> {
        let value = |bucket: usize, rank: u64| {
            let (begin, end) = (self.first[bucket], self.first[bucket + 1]);
            let own = &self.parts[begin..end];
            let number = own
                .partition_point(|part| part.below <= rank)
                .saturating_sub(1);
            let Some(part) = own.get(number) else {
                return f64::NAN;
            };
            if part.is_known() {
                return double_of_key(part.least);
            }
            let start = values.partition_point(|(own, _)| (*own as usize) < begin + number);
            let at = start + (rank - part.below) as usize;
            values.get(at).map_or(f64::NAN, |own| double_of_key(own.1))
        };
        let of = |bucket: usize| {
            let count = self.measures.get(bucket).map_or(0, |measure| measure.count);
            let percentiles = percents.iter();
            percentiles
                .map(|percent| interpolated(*percent, count, |rank| value(bucket, rank)))
                .collect()
        };
        (0..buckets).map(of).collect()
    }

    pub(super) fn release(&mut self, ledger: &mut Ledger<'_>) {
        ledger.release(&mut self.measures);
        ledger.release(&mut self.parts);
        ledger.release(&mut self.first);
        ledger.release(&mut self.counters);
    }
}
