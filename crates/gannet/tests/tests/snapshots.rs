//! Readers see one snapshot: two threads search while one writes batches, each of which rewrites
//! the same documents under a new tag. Every answer has one tag, and never an older one than the
//! thread saw before.
//!
//! `GANNET_SNAPSHOT_READS`: answers under load (3,000). `GANNET_BACKEND`, `GANNET_SEED`: as
//! elsewhere. `GANNET_JSON`: a file that gets the latencies.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Document, Index, Limits, Operator, Query, Snapshot};

use super::environment::{self, number};
use gannet_testkit::random::Rng;

/// Documents that each batch rewrites.
const DOCUMENTS: usize = 12;

/// A run has at least so many flushes.
const FLUSHES_MIN: u64 = 20;

/// Batches from one flush to the next.
const BATCHES_A_FLUSH: u64 = 8;

const READERS: u64 = 2;

/// Batches over a whole run, at least. Deleted documents slow reading down until a vacuum, so that
/// the number must not depend on how fast the writer is.
const BATCHES_MIN: u64 = 200;

#[test]
fn every_answer_is_of_one_batch_and_none_goes_back() {
    let seed = number("GANNET_SEED", 8);
    let reads = number("GANNET_SNAPSHOT_READS", 3_000);
    println!("seed {seed}");
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(folder.path());
    write(&index, &batch(0, seed));
    let (answers, written) = (&AtomicU64::new(0), &AtomicBool::new(true));
    let idle = read_many(&index, reads / 10 + 1, answers, written, seed);
    answers.store(0, Ordering::Release);
    written.store(false, Ordering::Release);

    let flushed = flushes(&index);
    let batches = BATCHES_MIN.max(reads / 100);
    let under_load = thread::scope(|scope| {
        let index = &index;
        let read =
            |reader| move || read_many(index, reads / READERS, answers, written, seed + reader);
        let readers: Vec<_> = (0..READERS)
            .map(|reader| scope.spawn(read(reader)))
            .collect();
        // In step with the answers, unless no reader is left to give any.
        write_many(index, seed, batches, |tag| {
            while answers.load(Ordering::Acquire) * batches < tag * reads
                && !readers.iter().all(|reader| reader.is_finished())
            {
                thread::sleep(Duration::from_micros(200));
            }
        });
        written.store(true, Ordering::Release);
        let all = readers.into_iter().map(|reader| reader.join());
        all.map(|read| read.expect("a reader"))
            .reduce(Readings::and)
            .expect("readers")
    });
    let flushed = flushes(&index) - flushed;
    report(&index, flushed, &idle, &under_load);
    let faults: Vec<&String> = idle.faults.iter().chain(&under_load.faults).collect();
    let first = &faults[..faults.len().min(5)];
    assert!(
        faults.is_empty(),
        "seed {seed}: {} faults: {first:#?}",
        faults.len()
    );
    assert!(flushed >= FLUSHES_MIN, "{flushed} flushes");
    assert!(under_load.times.len() as u64 >= reads / READERS * READERS);
}

/// The checker must notice a batch that becomes visible in two halves.
#[test]
fn a_batch_published_in_halves_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(folder.path());
    let mut watch = Watch::default();
    write(&index, &batch(0, 0));
    watch
        .look(&index.snapshot(), &mut Rng::new(0))
        .expect("one tag");
    let next = batch(1, 0);
    write(&index, &next[..DOCUMENTS / 2]);
    let torn = watch.look(&index.snapshot(), &mut Rng::new(0));
    assert!(torn.is_err(), "half a batch went unnoticed");
    write(&index, &next[DOCUMENTS / 2..]);
    assert_eq!(watch.look(&index.snapshot(), &mut Rng::new(0)), Ok(()));
}

/// The checker must notice a reader that is given an older state after a newer one.
#[test]
fn going_back_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(folder.path());
    let mut watch = Watch::default();
    write(&index, &batch(0, 0));
    let old = index.snapshot();
    write(&index, &batch(1, 0));
    index.checkpoint().expect("a checkpoint");
    watch
        .look(&index.snapshot(), &mut Rng::new(0))
        .expect("one tag");
    assert!(
        watch.look(&old, &mut Rng::new(0)).is_err(),
        "going back went unnoticed"
    );
}

/// So many flushes that lists are cleaned, in checkpoints that have just written the leaves that
/// cleaning reads: with this seed that happens in the 152nd.
#[test]
fn cleaning_goes_on_through_many_flushes() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(folder.path());
    write(&index, &batch(0, 1));
    write_many(&index, 1, 170 * BATCHES_A_FLUSH, |_| ());
    let flushes = flushes(&index);
    assert!(flushes > 160, "{flushes} flushes");
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let seen = Watch::default().look(&index.snapshot(), &mut Rng::new(0));
    assert_eq!(seen, Ok(()));
}

/// The newest tag that one thread has seen.
#[derive(Default)]
struct Watch {
    newest: u64,
}

impl Watch {
    /// Asks one query of `snapshot` and checks the answer.
    fn look(&mut self, snapshot: &Snapshot, rng: &mut Rng) -> Result<(), String> {
        let queries = [
            "*:*",
            "body:always",
            "body:\"always here\"",
            "+body:here number:*",
            "alw*",
        ];
        let text: &str = queries[rng.below(queries.len())];
        let query = snapshot.parse(text, Operator::Or);
        let query = query.map_err(|error| error.to_string())?;
        let tags = tags(snapshot, &query)?;
        let tag = *tags.first().ok_or("no tag")?;
        if tags.len() > 1 {
            return Err(format!("{query} sees the tags {tags:?}"));
        }
        if tag < self.newest {
            return Err(format!("{query} sees tag {tag} after {}", self.newest));
        }
        self.newest = tag;
        Ok(())
    }
}

/// The tags of all documents that a query finds; all documents must be among them.
fn tags(snapshot: &Snapshot, query: &Query) -> Result<BTreeSet<u64>, String> {
    let search = snapshot.search(query).top(2 * DOCUMENTS).count(true);
    let results = search.run().map_err(|error| format!("{query}: {error}"))?;
    if results.total != DOCUMENTS as u64 || results.hits.len() != DOCUMENTS {
        let (total, hits) = (results.total, results.hits.len());
        return Err(format!(
            "{query} finds {total} documents, shows {hits}, expected {DOCUMENTS}"
        ));
    }
    let sources = results.hits.iter().filter_map(|hit| hit.source.as_deref());
    let tags = sources.filter_map(|source| {
        let source: serde_json::Value = serde_json::from_slice(source).ok()?;
        source["number"].as_u64()
    });
    Ok(tags.collect())
}

/// The observations of a reader, or of several.
#[derive(Default)]
struct Readings {
    /// The time of each answer in microseconds.
    times: Vec<u64>,
    /// Answers of two batches, of an older batch than before, or none at all.
    faults: Vec<String>,
}

impl Readings {
    fn and(mut self, other: Readings) -> Readings {
        self.times.extend(other.times);
        self.faults.extend(other.faults);
        self
    }
}

/// Makes answers until there are `count` and all batches are written, and counts them in `answers`.
fn read_many(
    index: &Index,
    count: u64,
    answers: &AtomicU64,
    written: &AtomicBool,
    seed: u64,
) -> Readings {
    let (mut watch, mut rng) = (Watch::default(), Rng::new(seed));
    let mut readings = Readings::default();
    while (readings.times.len() as u64) < count || !written.load(Ordering::Acquire) {
        let started = Instant::now();
        let seen = watch.look(&index.snapshot(), &mut rng);
        readings.times.push(started.elapsed().as_micros() as u64);
        readings.faults.extend(seen.err());
        answers.fetch_add(1, Ordering::Release);
    }
    readings
}

/// Writes `count` batches, each when `wait` returns, with flushes between them.
fn write_many(index: &Index, seed: u64, count: u64, wait: impl Fn(u64)) {
    for tag in 1..=count {
        wait(tag);
        write(index, &batch(tag, seed));
        if tag % BATCHES_A_FLUSH == 0 {
            index.checkpoint().expect("a checkpoint");
        }
    }
}

fn flushes(index: &Index) -> u64 {
    index.stats().expect("the figures").flushes
}

/// The documents of one batch: all have the tag, as a number in their source and as a term.
fn batch(tag: u64, seed: u64) -> Vec<String> {
    let mut rng = Rng::new(seed.wrapping_mul(1_000_003) ^ tag);
    let document = |id: usize| {
        let filler: Vec<String> = (0..30).map(|_| format!("w{}", rng.below(2_000))).collect();
        let body = format!("always here tag{tag} {}", filler.join(" "));
        format!("{{\"id\": \"{id}\", \"number\": {tag}, \"body\": \"{body}\"}}")
    };
    (0..DOCUMENTS).map(document).collect()
}

fn write(index: &Index, lines: &[String]) {
    let each = lines
        .iter()
        .map(|line| Document::parse(line.as_bytes()).expect("a document"));
    index.write(each.collect()).expect("a batch");
}

fn open(path: &std::path::Path) -> Index {
    let limits = Limits {
        buffer_bytes: Some(512 << 10),
        ..Limits::default()
    };
    let options = Index::options().memory(32 << 20).limits(limits);
    environment::open(options, &path.join("index")).expect("an index")
}

/// Percentiles in microseconds.
struct Latencies {
    p50: u64,
    p99: u64,
}

impl Latencies {
    fn of(readings: &Readings) -> Latencies {
        let mut times = readings.times.clone();
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        Latencies {
            p50: at(50),
            p99: at(99),
        }
    }
}

fn report(index: &Index, flushes: u64, idle: &Readings, load: &Readings) {
    let (idle_times, load_times) = (Latencies::of(idle), Latencies::of(load));
    let line = serde_json::json!({
        "test": "snapshots",
        "backend": index.backend().to_string(),
        "reads": load.times.len(),
        "reads_idle": idle.times.len(),
        "flushes": flushes,
        "faults": idle.faults.len() + load.faults.len(),
        "idle_latency_us_p50": idle_times.p50,
        "idle_latency_us_p99": idle_times.p99,
        "load_latency_us_p50": load_times.p50,
        "load_latency_us_p99": load_times.p99,
    });
    println!("{line}");
    environment::report(&line);
}
