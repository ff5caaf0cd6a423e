//! Asks queries from several threads until the time or the queries are used up.
//!
//! Threads take queries from one counter. A latency is the time from the call that asks a query to
//! the call's return with the answer. With groups, one call asks several queries and returns all
//! answers together, so each of them took as long as its group. Threads do nothing between two
//! calls but take the next group, so the mean latency is the number of queries in flight (threads
//! times group) divided by the rate. With fewer threads than were asked for, those that there are
//! ask.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Query, Result, Snapshot};

use super::latencies::Latencies;
use super::settings::Settings;
use super::situations::Situations;
use super::trace::Trace;
use crate::interrupt;

/// The measurements of the threads that ask.
pub struct Drive {
    pub latencies: Latencies,
    /// Of all queries together.
    pub rounds: u64,
    pub situations: Situations,
    /// Threads that asked.
    pub threads: usize,
}

/// Asks, from query number `next` on and for `time` if one is given; fails with the first query
/// that fails. What queries ask for goes to `trace`.
pub fn drive(
    snapshot: &Snapshot,
    settings: &Settings,
    next: &AtomicUsize,
    time: Option<Duration>,
    trace: Option<&Trace>,
) -> Result<Drive> {
    let end = time.map(|time| Instant::now() + time);
    let worker = || {
        let mut drive = Drive::new();
        while !interrupt::asked() && end.is_none_or(|end| Instant::now() < end) {
            let (first, group) = next_group(next, settings);
            if group.is_empty() {
                break;
            }
            drive.ask(snapshot, settings, (first, &group), trace)?;
        }
        Ok(drive)
    };
    let mut all = Drive::new();
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let workers: Vec<_> = (0..settings.threads).map_while(start).collect();
        all.threads = workers.len();
        if workers.is_empty() {
            all.threads = 1;
            all.add(worker()?);
        }
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

/// The queries of the next group, with the number of the first.
fn next_group(next: &AtomicUsize, settings: &Settings) -> (usize, Vec<Query>) {
    let first = next.fetch_add(settings.group, Ordering::Relaxed);
    let end = first.saturating_add(settings.group).min(settings.count_max);
    let queries = &settings.queries;
    let group = (first..end).map(|number| queries[number % queries.len()].clone());
    (first, group.collect())
}

impl Drive {
    fn new() -> Drive {
        Drive {
            latencies: Latencies::new(),
            rounds: 0,
            situations: Situations::default(),
            threads: 0,
        }
    }

    fn ask(
        &mut self,
        snapshot: &Snapshot,
        settings: &Settings,
        (first, group): (usize, &[Query]),
        trace: Option<&Trace>,
    ) -> Result<()> {
        let started = Instant::now();
        let answers = snapshot.search_all(group, &settings.options);
        let latency = started.elapsed();
        for (number, answer) in (first..).zip(answers) {
            let answer = answer?;
            if let Some(trace) = trace {
                trace.add(number, &answer.requests);
            }
            self.situations.record(&answer, latency);
            if let Some(error) = answer.hits.into_iter().find_map(|hit| hit.error) {
                return Err(error);
            }
            self.rounds += u64::from(answer.io.rounds);
            self.latencies.record(latency);
        }
        Ok(())
    }

    fn add(&mut self, other: Drive) {
        self.latencies.add(&other.latencies);
        self.rounds += other.rounds;
        self.situations.add(&other.situations);
    }
}
