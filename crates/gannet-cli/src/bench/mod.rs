//! `gannet bench`: how fast queries are answered, and what they read.
//!
//! `queries` reads what is asked, `drive` asks from several threads, `latencies` keeps how long
//! each query took. `report` makes figures of it. `dump` writes answers down so that engines can be
//! compared. `modelled` tells instead what a drive that runs programs would take.

mod drive;
mod dump;
mod latencies;
#[cfg(feature = "ssd")]
mod modelled;
mod queries;
mod report;

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use gannet::diagnostics::{CountersSnapshot, RequestCounts, Techniques};
use gannet::{Index, Query, SearchOptions};

use crate::arguments::{BenchArguments, Common};
use crate::failure::{Failure, Outcome};
use crate::opening::{open_with, reading};
use crate::output::Output;
use crate::{interrupt, process};
use drive::{Drive, drive};
use report::Report;

/// The longest measurement: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// What is measured, resolved.
struct Settings {
    queries: Vec<Query>,
    options: SearchOptions,
    threads: usize,
    group: usize,
    /// Asks for this time before it measures ...
    warm: Option<Duration>,
    /// ... ends after this time ...
    time: Option<Duration>,
    /// ... or after so many queries.
    count_max: usize,
}

impl Settings {
    fn resolve(arguments: &BenchArguments) -> Outcome<Settings> {
        let mut queries = queries::read(arguments)?;
        if arguments.distinct {
            queries::keep_distinct(&mut queries);
        }
        let time = arguments.seconds.map(duration).transpose()?;
        let warm = arguments.warm.map(duration).transpose()?;
        let endless = time.is_some() && !arguments.distinct;
        let highlight = arguments.fetch.then(|| arguments.field.clone());
        Ok(Settings {
            options: SearchOptions {
                k: arguments.k,
                count: arguments.count,
                fetch: arguments.fetch,
                highlight: highlight.into_iter().collect(),
                deadline: arguments.timeout.time(),
                techniques: techniques(&arguments.without),
                ..SearchOptions::default()
            },
            threads: arguments.threads.into(),
            group: arguments.group.into(),
            warm,
            time,
            count_max: if endless { usize::MAX } else { queries.len() },
            queries,
        })
    }
}

/// All techniques but those of these names, which the command line checked.
fn techniques(without: &[String]) -> Techniques {
    let all = Techniques::default();
    without
        .iter()
        .fold(all, |left, name| left.without(name).unwrap_or(left))
}

fn duration(seconds: f64) -> Outcome<Duration> {
    let rejected = || Failure::caller(format!("{seconds} is no time to measure for: give seconds"));
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if time <= LONGEST => Ok(time),
        _ => Err(rejected()),
    }
}

/// What was used up to one moment.
#[derive(Clone, Copy)]
struct Usage {
    at: Instant,
    cpu: Duration,
    device: CountersSnapshot,
    /// What was asked of a store behind a network.
    requests: Option<RequestCounts>,
    system_bytes_read: Option<u64>,
}

impl Usage {
    /// Nothing is open yet where there is no index.
    fn now(index: Option<&Index>) -> Usage {
        Usage {
            at: Instant::now(),
            cpu: process::cpu_time(),
            device: index.map(Index::counters).unwrap_or_default(),
            requests: index.and_then(Index::requests),
            system_bytes_read: process::bytes_read(),
        }
    }
}

/// Measures and prints the figures.
pub fn run(common: &Common, arguments: &BenchArguments, output: &mut Output) -> Outcome<()> {
    let settings = Settings::resolve(arguments)?;
    #[cfg(feature = "ssd")]
    if let Some(profile) = &arguments.device.device {
        return modelled::run(common, arguments, (profile, &settings), output);
    }
    let before = Usage::now(None);
    let options = reading(common, &arguments.results);
    let index = open_with(options, &arguments.index, common, &arguments.cache)?;
    let opened = Usage::now(Some(&index));
    interrupt::catch()?;
    let snapshot = index.snapshot();
    let next = AtomicUsize::new(0);
    if settings.warm.is_some() {
        drive(&snapshot, &settings, &next, settings.warm)?;
    }
    let started = Usage::now(Some(&index));
    let Drive { latencies, rounds } = drive(&snapshot, &settings, &next, settings.time)?;
    let ended = Usage::now(Some(&index));
    let report = Report {
        common,
        arguments,
        latencies,
        rounds,
        distinct_queries: settings.queries.len(),
        usage: [before, opened, started, ended],
        backend: index.backend(),
        cache: index.cache(),
        result_cache: index.result_cache(),
    };
    report.print(output)?;
    if interrupt::asked() {
        output.finish()?;
        return Err(interrupt::failure(
            "interrupted before the measurement ended",
        ));
    }
    match &arguments.dump {
        Some(path) => dump::write(path, &snapshot, &settings),
        None => Ok(()),
    }
}
