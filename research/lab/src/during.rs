//! Queries beside writing at full speed: how long they take while a thread adds documents, and how
//! long while nobody does.
//!
//! The first half of a corpus is there before. A quarter is added with nobody asking, for the rate
//! of that; then queries are asked and nothing is written; then the last quarter is added and the
//! same kinds of queries are asked. A query takes a snapshot of its own each time, and the readers
//! ask one after the other, without a rest. Of each query three times are kept, since where there
//! are more threads than processors most of what it takes is waiting for one: how long it took, its
//! thread's processor time, and how long the thread was ready to run and did not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Index, Limits, PhraseFilters};
use serde_json::{Value, json};

use crate::Outcome;
use crate::churn::Lines;
use crate::process::{ThreadTimes, cpu_time};
use crate::queries;
use crate::random::Random;

/// Documents between two syncs are one in so many of the corpus.
const SYNCS: usize = 100;

/// The arguments of `gannet-lab during`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of the index, which must not be there
    index: PathBuf,
    /// JSON lines
    corpus: PathBuf,
    /// Sets of queries, asked in turns
    #[arg(required = true)]
    sets: Vec<PathBuf>,
    /// The memory budget in bytes
    #[arg(long, default_value_t = gannet::MEMORY_DEFAULT)]
    memory: usize,
    /// Threads that ask
    #[arg(long, default_value_t = 1)]
    readers: usize,
    /// Documents of one batch
    #[arg(long, default_value_t = 100)]
    batch: usize,
    /// Seconds for which queries are asked while nothing is written, after half as many to warm up
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// The field that is searched
    #[arg(long, default_value = "body")]
    field: String,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the phases and prints figures of each.
pub fn run(arguments: &Arguments) -> Outcome {
    if arguments.index.exists() {
        let place = arguments.index.display();
        return Err(format!("{place} is there already: remove it first").into());
    }
    let corpus = Lines::of(&arguments.corpus)?;
    let (half, rest) = corpus.lines.split_at(corpus.lines.len() / 2);
    let (third, fourth) = rest.split_at(rest.len() / 2);
    let options = Index::options().memory(arguments.memory);
    let options = options.phrase_filters(PhraseFilters::Common);
    let limits = Limits {
        maintain_after: None,
        ..Limits::default()
    };
    let index = options.limits(limits).open(&arguments.index)?;
    let write = |lines: &[_]| {
        let every = (corpus.lines.len() / SYNCS).max(1);
        for lines in lines.chunks(every) {
            corpus.write(&index, lines, arguments.batch)?;
            index.sync()?;
        }
        Ok(())
    };
    let rest = |share: f64| {
        thread::sleep(Duration::from_secs_f64(arguments.seconds * share));
        Ok(())
    };
    let none = Asked::none(arguments);
    let sets = Asked::read(arguments)?;
    let mut phases = Vec::new();
    phase("fill", &index, &none, || write(half))?;
    phases.push(phase("write", &index, &none, || write(third))?);
    index.checkpoint()?;
    // As it would be some seconds later, and not while queries are asked.
    while index.maintain()? {}
    phase("warm", &index, &sets, || rest(0.5))?;
    phases.push(phase("ask", &index, &sets, || rest(1.0))?);
    phases.push(phase("both", &index, &sets, || write(fourth))?);
    index.close()?;
    let figures = json!({
        "phases": phases,
        "documents": corpus.lines.len(),
        "settings": {
            "memory_bytes": arguments.memory, "readers": arguments.readers, "writers": 1, "batch": arguments.batch,
            "processors": thread::available_parallelism()?.get(), "sets": sets.names(), "seed": arguments.seed,
        },
    });
    println!("{figures}");
    Ok(())
}

/// Does `work` while the readers ask, and says what both did.
fn phase(
    name: &str,
    index: &Index,
    asked: &Asked,
    work: impl FnOnce() -> Outcome,
) -> Outcome<Value> {
    let (documents, flushes) = (index.snapshot().documents(), index.stats()?.flushes);
    let (before, cpu, start) = (index.counters(), cpu_time(), Instant::now());
    let ends = AtomicBool::new(false);
    let (done, taken) = thread::scope(|scope| {
        let readers = (0..asked.readers).map(|_| scope.spawn(|| asked.ask(index, &ends)));
        let readers: Vec<_> = readers.collect();
        let done = work();
        ends.store(true, Ordering::Relaxed);
        let taken: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
        (done, taken)
    });
    done?;
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_time() - cpu);
    let mut all = Vec::new();
    for reader in taken {
        all.append(&mut reader.map_err(|_| "a reader panicked")??);
    }
    let after = index.counters();
    let documents = index.snapshot().documents() - documents;
    Ok(json!({
        "phase": name,
        "seconds": seconds,
        "cpu_seconds": cpu.as_secs_f64(),
        "documents": documents,
        "documents_per_second": documents as f64 / seconds,
        "queries_per_second": all.len() as f64 / seconds,
        "flushes": index.stats()?.flushes - flushes,
        "bytes_written": after.written_bytes - before.written_bytes,
        "bytes_read": after.read_bytes - before.read_bytes,
        "syncs": after.syncs - before.syncs,
        "queries": asked.figures(&all),
    }))
}

/// What readers ask.
struct Asked {
    /// Name and queries of each set.
    sets: Vec<(String, Vec<gannet::Query>)>,
    readers: usize,
    seed: u64,
    /// How many have begun to ask.
    begun: AtomicUsize,
}

/// What one query took.
struct Taken {
    set: usize,
    wall: Duration,
    thread: ThreadTimes,
    reads: u32,
    rounds: u32,
}

impl Asked {
    fn none(arguments: &Arguments) -> Asked {
        Asked {
            sets: Vec::new(),
            readers: 0,
            seed: arguments.seed,
            begun: AtomicUsize::new(0),
        }
    }

    fn read(arguments: &Arguments) -> Outcome<Asked> {
        let sets = arguments.sets.iter().map(|path| {
            let queries = queries::read(path)?;
            let queries = queries
                .iter()
                .map(|query| query.for_field(&arguments.field));
            Ok((set_name(path), queries.collect()))
        });
        Ok(Asked {
            sets: sets.collect::<Outcome<_>>()?,
            readers: arguments.readers,
            ..Asked::none(arguments)
        })
    }

    fn names(&self) -> Vec<&str> {
        self.sets.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Asks a query of each set in turn, drawn at random, until it is to end.
    fn ask(&self, index: &Index, ends: &AtomicBool) -> gannet::Result<Vec<Taken>> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let mut random = Random::new(self.seed, &format!("reader {number}"));
        let mut taken = Vec::new();
        for set in (0..self.sets.len()).cycle() {
            if ends.load(Ordering::Relaxed) {
                break;
            }
            let queries = &self.sets[set].1;
            let query = &queries[random.below(queries.len())];
            let (before, start) = (ThreadTimes::now(), Instant::now());
            let snapshot = index.snapshot();
            let results = snapshot.search(query).fetch(false).run()?;
            let wall = start.elapsed();
            taken.push(Taken {
                set,
                wall,
                thread: ThreadTimes::now().since(before),
                reads: results.io.reads,
                rounds: results.io.rounds,
            });
        }
        Ok(taken)
    }

    /// Figures of all that was asked, and of each set.
    fn figures(&self, taken: &[Taken]) -> Value {
        let mut by_set = BTreeMap::from([("all".to_owned(), summary(taken.iter()))]);
        for (number, (name, _)) in self.sets.iter().enumerate() {
            let of_set = taken.iter().filter(|taken| taken.set == number);
            by_set.insert(name.clone(), summary(of_set));
        }
        json!(by_set)
    }
}

fn set_name(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Percentiles of what queries took, and means of what they read.
fn summary<'a>(taken: impl Iterator<Item = &'a Taken> + Clone) -> Value {
    let count = taken.clone().count();
    let mean = |sum: u64| sum as f64 / count.max(1) as f64;
    let all = |time: fn(&Taken) -> Duration| percentiles(taken.clone().map(time).collect());
    json!({
        "queries": count,
        "latency_us": all(|taken| taken.wall),
        "latency_us_with_a_processor": all(|taken| taken.wall.saturating_sub(taken.thread.ready)),
        "cpu_us": all(|taken| taken.thread.cpu),
        "ready_us": all(|taken| taken.thread.ready),
        "reads_per_query": mean(taken.clone().map(|taken| u64::from(taken.reads)).sum()),
        "rounds_per_query": mean(taken.clone().map(|taken| u64::from(taken.rounds)).sum()),
    })
}

fn percentiles(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let mean = times.iter().sum::<Duration>().as_secs_f64() / times.len().max(1) as f64;
    let us = |time: Option<&Duration>| time.map(|time| time.as_secs_f64() * 1e6);
    let at = |share: f64| us(times.get((times.len() as f64 * share) as usize));
    json!({"mean": mean * 1e6, "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "p999": at(0.999), "max": us(times.last())})
}
