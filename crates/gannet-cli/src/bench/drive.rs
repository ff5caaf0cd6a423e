//! Asks queries from several threads until the time or the queries are used up.
//!
//! Threads take queries from one counter. With groups, a thread carries several forward side by side; each of
//! them then took as long as its group, which is what its caller would have waited.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Query, Result, Snapshot};
use hdrhistogram::Histogram;

use super::Settings;
use crate::interrupt;

/// How many queries took how many microseconds, to a thousandth. Each value of its own would take more memory than an index may
/// have that is asked in a small group.
pub type Latencies = Histogram<u32>;

const DIGITS: u8 = 3;

/// What was seen from outside.
pub struct Drive {
    pub latencies: Latencies,
    /// Of all queries together.
    pub rounds: u64,
}

/// Asks, from query number `next` on and for `time` if one is given; fails with the first query that fails.
pub fn drive(
    snapshot: &Snapshot,
    settings: &Settings,
    next: &AtomicUsize,
    time: Option<Duration>,
) -> Result<Drive> {
    let end = time.map(|time| Instant::now() + time);
    let worker = || {
        let mut drive = Drive::new();
        while !interrupt::asked() && end.is_none_or(|end| Instant::now() < end) {
            let group = next_group(next, settings);
            if group.is_empty() {
                break;
            }
            drive.ask(snapshot, settings, &group)?;
        }
        Ok(drive)
    };
    let mut all = Drive::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.threads).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            let drive = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.add(drive?);
        }
        Ok(())
    })?;
    Ok(all)
}

fn next_group(next: &AtomicUsize, settings: &Settings) -> Vec<Query> {
    let first = next.fetch_add(settings.group, Ordering::Relaxed);
    let end = first.saturating_add(settings.group).min(settings.count_max);
    let queries = &settings.queries;
    (first..end)
        .map(|number| queries[number % queries.len()].clone())
        .collect()
}

impl Drive {
    fn new() -> Drive {
        Drive {
            latencies: Latencies::new(DIGITS).expect("three digits are possible"),
            rounds: 0,
        }
    }

    fn ask(&mut self, snapshot: &Snapshot, settings: &Settings, group: &[Query]) -> Result<()> {
        let started = Instant::now();
        let answers = snapshot.search_all(group, &settings.options);
        let latency = started.elapsed().as_micros() as u64;
        for answer in answers {
            let answer = answer?;
            if let Some(error) = answer.hits.into_iter().find_map(|hit| hit.error) {
                return Err(error);
            }
            self.rounds += u64::from(answer.io.rounds);
            self.latencies.saturating_record(latency);
        }
        Ok(())
    }

    fn add(&mut self, other: Drive) {
        let added = self.latencies.add(&other.latencies);
        added.expect("a histogram grows with what is added");
        self.rounds += other.rounds;
    }
}
