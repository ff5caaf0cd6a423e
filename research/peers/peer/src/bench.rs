//! What `bench` is told, and what it tells.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Failure, Options, Usage, peak_resident_bytes};

/// As many queries as `--dump` writes.
pub const DUMPED: usize = 200;

/// What one query does besides ranking.
pub struct Work {
    /// As many of the best documents; with 0 they are counted alone.
    pub k: usize,
    pub count: bool,
    pub fetch: bool,
}

/// How queries are asked.
pub struct Run {
    pub threads: usize,
    /// Without a time every query is asked once.
    pub time: Option<Duration>,
    pub warm: Option<Duration>,
    distinct: bool,
}

/// What opening an index took.
pub struct Opened {
    milliseconds: f64,
    begun: Usage,
    /// When asking began.
    asked: Usage,
}

/// What was measured.
pub struct Asked {
    /// Microseconds of each query.
    pub latencies: Vec<u64>,
    pub elapsed: Duration,
    pub used: Usage,
}

impl Work {
    pub fn of(options: &Options) -> Result<Self, Failure> {
        Ok(Self {
            k: options.number("-k", 10)?,
            count: options.has("--count"),
            fetch: options.has("--fetch"),
        })
    }
}

impl Run {
    pub fn of(options: &Options) -> Result<Self, Failure> {
        Ok(Self {
            threads: options.number("--threads", 1)?,
            time: options.seconds("--seconds")?,
            warm: options.seconds("--warm")?,
            distinct: options.has("--distinct"),
        })
    }

    /// How many queries are asked at most, where there are so many.
    pub fn limit(&self, queries: usize) -> usize {
        match self.time.is_some() && !self.distinct {
            true => usize::MAX,
            false => queries,
        }
    }
}

impl Opened {
    /// An index that was opened since.
    pub fn since(start: Instant, begun: Usage) -> Self {
        Self {
            milliseconds: start.elapsed().as_secs_f64() * 1e3,
            begun,
            asked: begun,
        }
    }

    /// Notes that asking begins now.
    pub fn asks(&mut self) {
        self.asked = Usage::now();
    }
}

impl Asked {
    /// The figures of a run, with what the engine says of itself and its own settings.
    pub fn figures(
        mut self,
        engine: &str,
        version: &str,
        opened: &Opened,
        settings: Value,
    ) -> Value {
        self.latencies.sort_unstable();
        let latencies = &self.latencies;
        let used = self.used;
        let per_query = |total: f64| total / latencies.len().max(1) as f64;
        json!({
            "engine": engine, "version": version, "queries": latencies.len(),
            "qps": latencies.len() as f64 / self.elapsed.as_secs_f64(),
            "latency_us_mean": per_query(latencies.iter().sum::<u64>() as f64),
            "latency_us_p50": percentile(latencies, 0.50),
            "latency_us_p95": percentile(latencies, 0.95),
            "latency_us_p99": percentile(latencies, 0.99),
            "bytes_read_per_query": {"os": per_query(used.bytes_read as f64), "engine": null},
            "major_faults_per_query": per_query(used.major_faults as f64),
            "reads_per_query": null, "rounds_per_query": null,
            "cpu_us_per_query": per_query(used.cpu_seconds * 1e6),
            "open_ms": opened.milliseconds,
            "open_bytes_read": opened.asked.since(opened.begun).bytes_read,
            "peak_memory_bytes": peak_resident_bytes(), "backend": "mmap",
            "settings": settings,
        })
    }
}

impl Options {
    /// What each peer says of how it was asked, with its own `more`.
    pub fn as_asked(&self, work: &Work, run: &Run, queries: usize, more: Value) -> Value {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let mut settings = json!({
            "threads": run.threads, "seconds": seconds(run.time),
            "warm_seconds": seconds(run.warm), "k": work.k, "count": work.count,
            "fetch": work.fetch, "distinct": run.distinct, "as": self.text("--as"),
            "random_advice": self.has("--random-advice"), "distinct_queries": queries,
        });
        if let (Some(settings), Value::Object(more)) = (settings.as_object_mut(), more) {
            settings.extend(more);
        }
        settings
    }
}

/// The queries of a file: lines `term|and|or|phrase<TAB>words`, or plain lines of the kind of
/// `--as`. `parsed` makes a query of a kind and its words; nothing where no word is left.
pub fn queries<Q>(
    options: &Options,
    parsed: impl Fn(&str, &str) -> Result<Option<Q>, Failure>,
) -> Result<Vec<Q>, Failure> {
    let file = &options.places[1];
    let text = fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let mut queries = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (kind, words) = match options.text("--as") {
            Some(kind) => (kind, line),
            None => line
                .split_once('\t')
                .ok_or(format!("no tab in query line {line:?} of {file}"))?,
        };
        queries.extend(parsed(kind, words)?);
    }
    match queries.is_empty() {
        true => Err(format!("no queries in {file}").into()),
        false => Ok(queries),
    }
}

fn percentile(sorted: &[u64], share: f64) -> u64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0)
}
