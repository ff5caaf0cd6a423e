//! Asking a strategy: one query after the other, and by many threads.
//!
//! Lists are read from the device each time: baselines keep none in memory, and Gannet's frames for
//! lists are given up every few queries. What look-ups need is brought to memory before, so that
//! all strategies begin with reading lists. The same queries are asked of all.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gannet::{Error, Result};
use gannet_ssd::Work;
use serde_json::{Value as Json, json};

use super::flush::TermNumber;
use super::queries::{Mix, Scoring};
use super::strategy::Strategy;
use crate::Outcome;
use crate::random::Random;

/// Pairs that threads ask for, over and over.
const PAIRS_TOGETHER: usize = 4_000;

/// Parts of a second that the kernel counts processor time in.
const TICKS: f64 = 100.0;

/// What queries are made from.
pub struct Asking<'a> {
    /// Lists to ask for.
    pub mix: &'a Mix,
    /// How pairs are ranked.
    pub scoring: &'a Scoring,
    /// What the choice starts from.
    pub seed: u64,
}

/// What queries took.
pub struct Asked {
    /// How many there were.
    pub count: usize,
    /// The mean.
    pub mean_us: f64,
    /// The median, and what 99 of a hundred stay below.
    pub percentiles_us: [f64; 2],
    /// Bytes of lists that they gave, or documents that were found.
    pub bytes: u64,
    /// Documents that pairs have.
    pub found: u64,
    /// What was done with the device.
    pub work: Work,
}

impl Asking<'_> {
    /// Reads lists, then finds pairs, one after the other. `number` says which.
    pub fn ask(&self, strategy: &dyn Strategy, count: usize, number: u64) -> Outcome<[Asked; 2]> {
        let mut random = Random::new(self.seed, &format!("lists {number}"));
        let lists = (0..count).map_while(|_| self.mix.draw(&mut random));
        let lists: Vec<TermNumber> = lists.collect();
        let pairs = self.mix.pairs(count, &mut random);
        strategy.warm(&lists)?;
        strategy.warm(pairs.as_flattened())?;
        let lists = timed(strategy, &lists, |term| Ok((strategy.retrieve(*term)?, 0)))?;
        let pairs = timed(strategy, &pairs, |pair| {
            Ok((0, strategy.both(*pair, self.scoring)?.count))
        })?;
        Ok([lists, pairs])
    }

    /// Has threads find pairs at the same time, for some seconds.
    pub fn ask_together(
        &self,
        strategy: &dyn Strategy,
        threads: usize,
        seconds: f64,
    ) -> Outcome<Json> {
        let mut random = Random::new(self.seed, "together");
        let pairs = self.mix.pairs(PAIRS_TOGETHER, &mut random);
        if pairs.is_empty() || threads == 0 {
            return Ok(Json::Null);
        }
        strategy.warm(pairs.as_flattened())?;
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<Error>));
        let (work, processor) = (strategy.work(), processor_seconds());
        let started = Instant::now();
        let until = Duration::from_secs_f64(seconds);
        let one = || -> Result<Vec<Duration>> {
            let mut took = Vec::new();
            while started.elapsed() < until {
                let pair = pairs[next.fetch_add(1, Ordering::Relaxed) % pairs.len()];
                let asked = Instant::now();
                strategy.both(pair, self.scoring)?;
                took.push(asked.elapsed());
            }
            Ok(took)
        };
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
            for thread in threads {
                match thread.join() {
                    Ok(Ok(took)) => all.extend(took),
                    Ok(Err(error)) => {
                        *failed.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
            return Err(error.into());
        }
        let (elapsed, work) = (started.elapsed().as_secs_f64(), strategy.work().less(work));
        let processor = processor_seconds() - processor;
        let count = all.len().max(1) as f64;
        let [mean, p50, p99] = figures(all);
        Ok(json!({
            "threads": threads, "seconds": elapsed, "queries_per_second": count / elapsed,
            "cpu_us": 1e6 * processor / count, "mean_us": mean, "p50_us": p50, "p99_us": p99,
            "reads": work.reads as f64 / count, "read_bytes": work.read_bytes as f64 / count,
        }))
    }
}

fn timed<Q>(
    strategy: &dyn Strategy,
    queries: &[Q],
    mut ask: impl FnMut(&Q) -> Result<(u64, u64)>,
) -> Outcome<Asked> {
    let before = strategy.work();
    let (mut took, mut bytes, mut found) = (Vec::with_capacity(queries.len()), 0, 0);
    for query in queries {
        let started = Instant::now();
        let (more_bytes, more_found) = ask(query)?;
        took.push(started.elapsed());
        (bytes, found) = (bytes + more_bytes, found + more_found);
    }
    let [mean_us, p50, p99] = figures(took);
    Ok(Asked {
        count: queries.len(),
        mean_us,
        percentiles_us: [p50, p99],
        bytes,
        found,
        work: strategy.work().less(before),
    })
}

/// Microseconds: the mean, the median and the 99th percentile.
fn figures(mut took: Vec<Duration>) -> [f64; 3] {
    took.sort_unstable();
    let us = |duration: &Duration| duration.as_secs_f64() * 1e6;
    let at = |percent: usize| took.get(took.len() * percent / 100).map_or(0.0, us);
    let sum: f64 = took.iter().map(us).sum();
    [sum / took.len().max(1) as f64, at(50), at(99)]
}

/// Processor time of this process so far, where the system tells.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = behind_name.split_whitespace().skip(11).take(2);
    fields
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS
}
