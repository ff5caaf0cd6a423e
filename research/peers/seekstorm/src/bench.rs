//! `bench DIR QUERIES.tsv`: top k by BM25 for lines `term|and|or|phrase<TAB>words` on the field
//! `body`.

use std::fs;
use std::future::poll_fn;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use peer::{Asked, Failure, Opened, Options, Outcome, Usage, Work};
use seekstorm::INDEX_RUNTIME;
use seekstorm::index::{open_index, version};
use serde_json::json;

use crate::advice::read_at_random;
use crate::asked::{Questions, parse};
use crate::index::Tokenizer;

/// Runs the queries round and round from `threads` callers until the time is over, or each once.
pub async fn run(options: &Options) -> Outcome {
    let (begun, start) = (Usage::now(), Instant::now());
    let folder = Path::new(&options.places[0]);
    let opened = open_index(folder).await;
    let index = opened.map_err(|error| format!("no index in {}: {error}", folder.display()))?;
    if options.has("--random-advice") {
        read_at_random(folder)?;
    }
    let mut opened = Opened::since(start, begun);
    let (tokenizer, shards) = {
        let index = index.read().await;
        (Tokenizer::of(&index.meta), index.shard_count().await)
    };
    let queries = parse(options, tokenizer)?;
    let how = peer::Run::of(options)?;
    let run = Arc::new(Run {
        limit: how.limit(queries.len()),
        next: AtomicUsize::new(0),
        questions: Questions {
            index,
            queries,
            work: Work::of(options)?,
        },
    });
    opened.asks();
    if how.warm.is_some() {
        drive(&run, how.threads, how.warm).await?;
    }
    let (started, clock) = (Usage::now(), Instant::now());
    let latencies = drive(&run, how.threads, how.time).await?;
    let asked = Asked {
        latencies,
        elapsed: clock.elapsed(),
        used: Usage::now().since(started),
    };
    let questions = &run.questions;
    if let Some(path) = options.text("--dump") {
        fs::write(path, questions.dump().await?)?;
    }
    let more = json!({"workers": INDEX_RUNTIME.metrics().num_workers(), "shards": shards});
    let settings = options.as_asked(&questions.work, &how, questions.queries.len(), more);
    Ok(asked.figures("seekstorm", &version(), &opened, settings))
}

/// What the callers share.
struct Run {
    questions: Questions,
    next: AtomicUsize,
    limit: usize,
}

impl Run {
    /// Asks one query after the other; gives the times in microseconds.
    async fn caller(self: Arc<Self>, end: Option<Instant>) -> Result<Vec<u64>, Failure> {
        let queries = &self.questions.queries;
        let mut latencies = Vec::new();
        while end.is_none_or(|end| Instant::now() < end) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.limit {
                break;
            }
            let start = Instant::now();
            let query = &queries[number % queries.len()];
            turn().await;
            std::hint::black_box(self.questions.answer(query).await?);
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
async fn drive(
    run: &Arc<Run>,
    threads: usize,
    time: Option<Duration>,
) -> Result<Vec<u64>, Failure> {
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
