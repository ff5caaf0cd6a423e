//! `gannet bench`: how fast queries are answered, and what they read.
//!
//! `queries` reads what is asked, `drive` asks from several threads, `latencies` keeps how long
//! each query took. `report` makes figures of it. `dump` writes answers down so that engines can be
//! compared, `trace` the pages that queries ask for.

mod drive;
mod dump;
mod latencies;
mod queries;
mod report;
mod settings;
mod situations;
mod trace;
mod usage;

use std::sync::atomic::AtomicUsize;

use crate::arguments::{BenchArguments, Common};
use crate::failure::{Outcome, remark};
use crate::interrupt;
use crate::opening::{open_with, reading};
use crate::output::Output;
use drive::{Drive, drive};
use report::Report;
use settings::Settings;
use trace::Trace;
use usage::Usage;

/// Measures and prints the figures.
pub fn run(common: &Common, arguments: &BenchArguments, output: &mut Output) -> Outcome<()> {
    let settings = Settings::resolve(arguments)?;
    let trace = arguments.trace.as_deref().map(Trace::create).transpose()?;
    let before = Usage::now(None);
    let options = reading(common, &arguments.results);
    let index = open_with(options, &arguments.index, common, &arguments.cache)?;
    let opened = Usage::now(Some(&index));
    interrupt::catch()?;
    let snapshot = index.snapshot();
    let next = AtomicUsize::new(0);
    if settings.warm.is_some() {
        drive(&snapshot, &settings, &next, settings.warm, None)?;
    }
    let started = Usage::now(Some(&index));
    let Drive {
        latencies,
        rounds,
        situations,
        threads,
    } = drive(&snapshot, &settings, &next, settings.time, trace.as_ref())?;
    if threads < settings.threads {
        let asked = settings.threads;
        remark(&format!(
            "{threads} of {asked} threads asked queries: there were no more; allow this process more threads"
        ));
    }
    let ended = Usage::now(Some(&index));
    let report = Report {
        common,
        arguments,
        latencies,
        rounds,
        situations,
        threads,
        distinct_queries: settings.queries.len(),
        usage: [before, opened, started, ended],
        backend: index.backend(),
        cache: index.cache(),
        result_cache: index.result_cache(),
        answers_on_flash: index.answers_on_flash(),
    };
    report.print(output)?;
    if let Some(trace) = &trace {
        trace.finish()?;
    }
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
