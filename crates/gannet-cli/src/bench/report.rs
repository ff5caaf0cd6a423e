//! The figures of a benchmark, each with the settings under which it came about.

use gannet::Backend;
use gannet::diagnostics::{AnswersOnFlash, CacheState, ResultCacheFigures};
use serde_json::{Value, json};

use super::latencies::Latencies;
use super::situations::Situations;
use super::usage::Usage;
use crate::arguments::{BenchArguments, Common};
use crate::failure::Outcome;
use crate::output::Output;
use crate::process;
use crate::search::requests;
use crate::size::{Size, counted, grouped, human};
use crate::{search, stats};

/// The results of a measurement.
pub struct Report<'a> {
    pub common: &'a Common,
    pub arguments: &'a BenchArguments,
    pub latencies: Latencies,
    pub rounds: u64,
    pub situations: Situations,
    /// Threads that asked.
    pub threads: usize,
    pub distinct_queries: usize,
    /// Before the index was opened, after, when the measurement began, and at its end.
    pub usage: [Usage; 4],
    pub backend: Backend,
    pub cache: Option<CacheState>,
    pub result_cache: Option<ResultCacheFigures>,
    pub answers_on_flash: Option<AnswersOnFlash>,
}

impl Report<'_> {
    /// Prints the figures.
    pub fn print(&self, output: &mut Output) -> Outcome<()> {
        if output.is_json() {
            output.json(&self.json())
        } else {
            self.print_text(output)
        }
    }

    fn json(&self) -> Value {
        let [before, opened, started, ended] = self.usage;
        json!({
            "queries": self.latencies.count(),
            "qps": self.qps(),
            "latency_us_mean": self.latencies.mean_us(),
            "latency_us_p50": self.latencies.quantile_us(0.50),
            "latency_us_p95": self.latencies.quantile_us(0.95),
            "latency_us_p99": self.latencies.quantile_us(0.99),
            "latency_us_max": self.latencies.max_us(),
            "bytes_read_per_query": {
                "os": system_bytes(started, ended).map(|bytes| self.per_query(bytes as f64)),
                "engine": self.per_query((ended.device.read_bytes - started.device.read_bytes) as f64),
            },
            "reads_per_query": self.per_query((ended.device.reads - started.device.reads) as f64),
            "rounds_per_query": self.per_query(self.rounds as f64),
            "cpu_us_per_query": self.per_query((ended.cpu - started.cpu).as_secs_f64() * 1e6),
            "bytes_read": {"os": system_bytes(before, ended), "engine": ended.device.read_bytes},
            "open_reads": opened.device.reads,
            "open_ms": (opened.at - before.at).as_secs_f64() * 1e3,
            "peak_memory_bytes": process::peak_memory(),
            "places": self.situations.json(),
            "cache": stats::cache(self.cache.clone()),
            "remote": self.remote(),
            "result_cache": search::result_cache(self.result_cache),
            "answers_on_flash": search::answers_on_flash(self.answers_on_flash.as_ref()),
            "backend": self.backend.to_string(),
            "settings": self.settings(),
        })
    }

    /// Returns the requests to a store behind a network; null if there is none.
    fn remote(&self) -> Value {
        let [_, opened, started, ended] = self.usage;
        let (Some(opened), Some(started), Some(ended)) =
            (opened.requests, started.requests, ended.requests)
        else {
            return Value::Null;
        };
        let asked = ended.since(&started);
        json!({
            "opening": requests(opened),
            "requests_per_query": self.per_query(asked.requests() as f64),
            "bytes_per_query": self.per_query(asked.got_bytes as f64),
            "rounds_per_query": self.per_query(asked.rounds as f64),
            "retries": asked.retries,
        })
    }

    fn settings(&self) -> Value {
        let arguments = self.arguments;
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "memory_bytes": self.common.memory().bytes(),
            "threads": self.threads,
            "group": arguments.group,
            "seconds": arguments.seconds,
            "warm_seconds": arguments.warm,
            "k": arguments.k,
            "field": arguments.field,
            "count": arguments.count,
            "fetch": arguments.fetch,
            "ids": arguments.ids,
            "timeout": arguments.timeout.to_string(),
            "distinct": arguments.distinct,
            "distinct_queries": self.distinct_queries,
            "as": arguments.plain.map(|kind| format!("{kind:?}").to_lowercase()),
            "cold": arguments.cold,
            "cache_dir": arguments.cache.pages.cache_dir,
            "cache_size": arguments.cache.pages.cache_size.map(Size::bytes),
            "cache_writes": arguments.cache.pages.cache_writes.map(Size::bytes),
            "result_cache": arguments.results.result_cache.map(Size::bytes),
            "without": arguments.without,
            "traced": arguments.trace.is_some(),
        })
    }

    fn print_text(&self, output: &mut Output) -> Outcome<()> {
        let [_, _, started, ended] = self.usage;
        let reads = self.per_query((ended.device.reads - started.device.reads) as f64);
        let bytes = self.per_query((ended.device.read_bytes - started.device.read_bytes) as f64);
        let cpu = self.per_query((ended.cpu - started.cpu).as_secs_f64() * 1e6);
        let latencies = &self.latencies;
        let at = |share| latencies.quantile_us(share);
        let count = match self.latencies.count() {
            1 => "1 query".to_owned(),
            count => format!("{} queries", grouped(count)),
        };
        output.line(format!("{count}, {:.0} a second", self.qps()))?;
        output.line(format!(
            "latency: mean {:.1} us, p50 {:.1} us, p95 {:.1} us, p99 {:.1} us, max {:.1} us",
            latencies.mean_us(),
            at(0.50),
            at(0.95),
            at(0.99),
            latencies.max_us()
        ))?;
        output.line(format!(
            "a query: {reads:.2} reads, {} read, {:.2} rounds, {cpu:.0} us of processor time",
            human(bytes as u64),
            self.per_query(self.rounds as f64),
        ))?;
        if let Some(sentence) = self.situations.sentence() {
            output.line(sentence)?;
        }
        if let Some(CacheState::Used(figures)) = &self.cache {
            output.line(format!(
                "cache: {} read, {} written",
                counted(figures.read_pages, "page"),
                counted(figures.written_pages, "page")
            ))?;
            if let Some(reason) = &figures.stopped {
                output.line(format!("nothing is written to the cache: {reason}"))?;
            }
        }
        if let Some(CacheState::OnOneDisk) = &self.cache {
            output.line(stats::ON_ONE_DISK)?;
        }
        if let Some(figures) = &self.result_cache {
            output.line(search::reused_of(figures))?;
        }
        if let Some(AnswersOnFlash::Used(figures)) = &self.answers_on_flash {
            output.line(search::kept_on_flash(figures))?;
        }
        if let (Some(started), Some(ended)) = (started.requests, ended.requests) {
            let asked = ended.since(&started);
            output.line(format!(
                "remote, a query: {:.2} requests in {:.2} rounds, {} received",
                self.per_query(asked.requests() as f64),
                self.per_query(asked.rounds as f64),
                human(self.per_query(asked.got_bytes as f64) as u64),
            ))?;
        }
        let settings = self.settings();
        let line = output.dim(&format!("{} {settings}", self.backend));
        output.line(line)
    }

    fn qps(&self) -> f64 {
        let [_, _, started, ended] = self.usage;
        let seconds = (ended.at - started.at).as_secs_f64();
        self.latencies.count() as f64 / seconds.max(1e-9)
    }

    fn per_query(&self, total: f64) -> f64 {
        total / self.latencies.count().max(1) as f64
    }
}

fn system_bytes(from: Usage, to: Usage) -> Option<u64> {
    Some(to.system_bytes_read? - from.system_bytes_read?)
}
