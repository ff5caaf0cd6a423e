//! Exact percentiles. Where the values fit, they are gathered and sorted.
//!
//! Where they do not, a pass counts how many are in each of 1,024 parts of the range in which they
//! are. Only the parts that have a wanted rank are of interest to the next pass, and are cut again,
//! until what is in them fits. A percentile stands between two ranks, and is interpolated.

use gannet_values::double_of_key;

mod ranks;
mod search;

use crate::memory::{Full, Ledger};
pub(crate) use ranks::interpolated;
use search::{Measure, NOTHING, PARTS, Search};

/// Values by the bucket that they are in, as keys of doubles.
#[derive(Debug, Default)]
pub(crate) struct Percentiles {
    state: State,
    /// Eager ones say no instead of passing again, since their buckets are not known for good.
    is_eager: bool,
}

#[derive(Debug)]
enum State {
    /// All values.
    All(Vec<(u32, u64)>),
    /// Count, least and greatest key of each bucket.
    Measure(Vec<Measure>),
    /// Counters of parts.
    Count(Search),
    /// Values of some parts, by the number of the part.
    Some(Search, Vec<(u32, u64)>),
}

impl Default for State {
    fn default() -> State {
        State::All(Vec::new())
    }
}

/// The findings of a pass.
pub(crate) enum Found {
    /// For each bucket its percentiles, NaN if it has no values.
    All(Vec<Vec<f64>>),
    /// Another pass is needed.
    Again,
}

impl Percentiles {
    pub(crate) fn new(is_eager: bool) -> Percentiles {
        Percentiles {
            state: State::default(),
            is_eager,
        }
    }

    pub(crate) fn add(
        &mut self,
        bucket: u32,
        key: u64,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        match &mut self.state {
            State::All(values) => {
                if ledger.push(values, (bucket, key)).is_ok() {
                    return Ok(());
                }
                if self.is_eager {
                    return Err(Full);
                }
                self.measure(ledger)?;
                self.add(bucket, key, ledger)
            }
            State::Measure(measures) => {
                ledger.fill(measures, bucket as usize + 1, NOTHING)?;
                measures[bucket as usize].add(key);
                Ok(())
            }
            State::Count(search) => {
                search.count(bucket, key);
                Ok(())
            }
            State::Some(search, values) => {
                let part = search.part(bucket, key);
                let part = part.filter(|part| !search.parts[*part].is_known());
                match part {
                    Some(part) => ledger.push(values, (part as u32, key)),
                    None => Ok(()),
                }
            }
        }
    }

    /// Keeps of the values only how many there are.
    fn measure(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        let State::All(mut values) = std::mem::take(&mut self.state) else {
            return Err(Full);
        };
        let mut measures: Vec<Measure> = Vec::new();
        let buckets = values.iter().map(|(bucket, _)| *bucket as usize + 1).max();
        // The values are given back first: a measure is taken for many of them.
        let bytes = values.capacity() * size_of::<(u32, u64)>();
        ledger.give_back(bytes);
        let filled = ledger.fill(&mut measures, buckets.unwrap_or_default(), NOTHING);
        if filled.is_ok() {
            for (bucket, key) in values.drain(..) {
                measures[bucket as usize].add(key);
            }
        }
        self.state = State::Measure(measures);
        filled
    }

    /// Ends a pass.
    pub(crate) fn end_of_pass(
        &mut self,
        percents: &[f64],
        buckets: usize,
        ledger: &mut Ledger<'_>,
    ) -> Result<Found, Full> {
        match std::mem::take(&mut self.state) {
            State::All(mut values) => {
                values.sort_unstable();
                let found = all(&values, percents, buckets);
                ledger.release(&mut values);
                Ok(Found::All(found))
            }
            State::Measure(measures) => {
                let search = Search::of(measures, ledger)?;
                self.search(search, ledger)
            }
            State::Count(search) => {
                let search = search.narrowed(percents, ledger)?;
                self.search(search, ledger)
            }
            State::Some(mut search, mut values) => {
                values.sort_unstable();
                let found = search.all(&values, percents, buckets);
                ledger.release(&mut values);
                search.release(ledger);
                Ok(Found::All(found))
            }
        }
    }

    /// Gathers what is in the parts, if it fits, or cuts them once more.
    fn search(&mut self, mut search: Search, ledger: &mut Ledger<'_>) -> Result<Found, Full> {
        let parts = search.parts.iter().filter(|part| !part.is_known());
        let count: u64 = parts.map(|part| part.count).sum();
        let mut values = Vec::new();
        let fits = usize::try_from(count).is_ok_and(|count| {
            let bytes = count.saturating_mul(size_of::<(u32, u64)>());
            ledger.add(bytes).is_ok()
        });
        if fits {
            values.reserve_exact(count as usize);
            self.state = State::Some(search, values);
            return Ok(Found::Again);
        }
        let counters = search.parts.len() * PARTS as usize;
        ledger.fill(&mut search.counters, counters, 0)?;
        self.state = State::Count(search);
        Ok(Found::Again)
    }

    /// Lists the values of each bucket with their counts, ascending, where all fit.
    pub(crate) fn take_all(
        &mut self,
        buckets: usize,
        ledger: &mut Ledger<'_>,
    ) -> Result<Vec<Vec<(u64, u64)>>, Full> {
        let State::All(mut values) = std::mem::take(&mut self.state) else {
            return Err(Full);
        };
        values.sort_unstable();
        ledger.add(values.len() * size_of::<(u64, u64)>())?;
        let mut lists: Vec<Vec<(u64, u64)>> = vec![Vec::new(); buckets];
        for (bucket, key) in &values {
            let Some(list) = lists.get_mut(*bucket as usize) else {
                continue;
            };
            match list.last_mut() {
                Some((last, count)) if last == key => *count += 1,
                _ => list.push((*key, 1)),
            }
        }
        ledger.release(&mut values);
        Ok(lists)
    }

    pub(crate) fn release(&mut self, ledger: &mut Ledger<'_>) {
        match std::mem::take(&mut self.state) {
            State::All(mut values) => ledger.release(&mut values),
            State::Measure(mut measures) => ledger.release(&mut measures),
            State::Count(mut search) => search.release(ledger),
            State::Some(mut search, mut values) => {
                search.release(ledger);
                ledger.release(&mut values);
            }
        }
    }
}

fn all(values: &[(u32, u64)], percents: &[f64], buckets: usize) -> Vec<Vec<f64>> {
    let of = |bucket: usize| {
        let begin = values.partition_point(|(own, _)| (*own as usize) < bucket);
        let end = values.partition_point(|(own, _)| (*own as usize) <= bucket);
        let own = &values[begin..end];
        let value = |rank: u64| {
            own.get(rank as usize)
                .map_or(f64::NAN, |own| double_of_key(own.1))
        };
        let percentiles = percents.iter();
        percentiles
            .map(|percent| interpolated(*percent, own.len() as u64, value))
            .collect()
    };
    (0..buckets).map(of).collect()
}
