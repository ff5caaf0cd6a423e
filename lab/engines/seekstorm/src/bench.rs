//! `bench DIR QUERIES.tsv`: top k by BM25 for lines `term|and|or|phrase<TAB>words` on the field
//! `body`.

use std::fs;
use std::future::poll_fn;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use seekstorm::INDEX_RUNTIME;
use seekstorm::index::{open_index, version};
use serde_json::json;

use crate::advice::read_at_random;
use crate::asked::{Asked, Work, parse};
use crate::index::Tokenizer;
use crate::options::Options;
use crate::process::{Usage, peak_resident_bytes};
use crate::{Failure, Outcome};

/// Runs the queries round and round from `threads` callers until the time is over, or each once.
pub async fn run(options: &Options) -> Outcome {
    let (begin, start) = (Usage::now(), Instant::now());
    let folder = Path::new(&options.places[0]);
    let opened = open_index(folder).await;
    let index = opened.map_err(|error| format!("no index in {}: {error}", folder.display()))?;
    if options.has("--random-advice") {
        read_at_random(folder)?;
    }
    let open_ms = start.elapsed().as_secs_f64() * 1e3;
    let (tokenizer, shards) = {
        let index = index.read().await;
        (Tokenizer::of(&index.meta), index.shard_count().await)
    };
    let asked = &options.places[1];
    let text =
        fs::read_to_string(asked).map_err(|error| format!("cannot read {asked}: {error}"))?;
    let work = Work {
        k: options.number("-k", 10)?,
        count: options.has("--count"),
        fetch: options.has("--fetch"),
    };
    let queries = parse(&text, options.text("--as"), tokenizer)?;
    let threads = options.number("--threads", 1)?;
    // Without a time every query is asked once.
    let (time, warm) = (options.seconds("--seconds")?, options.seconds("--warm")?);
    let distinct = options.has("--distinct");
    let endless = time.is_some() && !distinct;
    let run = Arc::new(Run {
        limit: if endless { usize::MAX } else { queries.len() },
        next: AtomicUsize::new(0),
        asked: Asked {
            index,
            queries,
            work,
        },
    });

    let opened = Usage::now();
    if warm.is_some() {
        drive(&run, threads, warm).await?;
    }
    let started = Usage::now();
    let clock = Instant::now();
    let mut latencies = drive(&run, threads, time).await?;
    let elapsed = clock.elapsed().as_secs_f64();
    let used = Usage::now().since(started);
    if let Some(path) = options.text("--dump") {
        fs::write(path, run.asked.dump().await?)?;
    }

    latencies.sort_unstable();
    let work = &run.asked.work;
    let per_query = |total: f64| total / latencies.len().max(1) as f64;
    Ok(json!({
        "engine": "seekstorm", "version": version(), "queries": latencies.len(),
        "qps": latencies.len() as f64 / elapsed,
        "latency_us_mean": per_query(latencies.iter().sum::<u64>() as f64),
        "latency_us_p50": percentile(&latencies, 0.50),
        "latency_us_p95": percentile(&latencies, 0.95),
        "latency_us_p99": percentile(&latencies, 0.99),
        "bytes_read_per_query": {"os": per_query(used.bytes_read as f64), "engine": null},
        "major_faults_per_query": per_query(used.major_faults as f64),
        "reads_per_query": null, "rounds_per_query": null,
        "cpu_us_per_query": per_query(used.cpu_seconds * 1e6),
        "open_ms": open_ms, "open_bytes_read": opened.since(begin).bytes_read,
        "peak_memory_bytes": peak_resident_bytes(), "backend": "mmap",
        "settings": {"threads": threads, "workers": INDEX_RUNTIME.metrics().num_workers(),
            "shards": shards, "seconds": time, "warm_seconds": warm, "k": work.k,
            "count": work.count, "fetch": work.fetch, "distinct": distinct,
            "as": options.text("--as"), "random_advice": options.has("--random-advice"),
            "distinct_queries": run.asked.queries.len()},
    }))
}

/// What the callers share.
struct Run {
    asked: Asked,
    next: AtomicUsize,
    limit: usize,
}

impl Run {
    /// Asks one query after the other; gives the times in microseconds.
    async fn caller(self: Arc<Self>, end: Option<Instant>) -> Result<Vec<u64>, Failure> {
        let queries = &self.asked.queries;
        let mut latencies = Vec::new();
        while end.is_none_or(|end| Instant::now() < end) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.limit {
                break;
            }
            let start = Instant::now();
            let query = &queries[number % queries.len()];
            turn().await;
            std::hint::black_box(self.asked.answer(query).await?);
            latencies.push(start.elapsed().as_micros() as u64);
        }
        Ok(latencies)
    }
}

/// Queues behind what waits already. The runtime would let a caller ask a hundred times in a row.
async fn turn() {
    let mut queued = false;
    poll_fn(|context| {
        if queued {
            return Poll::Ready(());
        }
        queued = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// Asks from `threads` callers at once. They are tasks of the runtime that searches, so that a
/// query changes no thread on its way.
async fn drive(run: &Arc<Run>, threads: usize, seconds: Option<f64>) -> Result<Vec<u64>, Failure> {
    let time = seconds.map(Duration::try_from_secs_f64).transpose()?;
    let end = time.map(|time| Instant::now() + time);
    let callers: Vec<_> = (0..threads)
        .map(|_| INDEX_RUNTIME.spawn(run.clone().caller(end)))
        .collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await??);
    }
    Ok(all)
}

fn percentile(sorted: &[u64], share: f64) -> u64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0)
}
