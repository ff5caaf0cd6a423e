//! Readers see one snapshot: two threads search while one writes batches, each of which rewrites the same
//! documents under a new tag. Every answer has one tag, and never an older one than the thread saw before.
//!
//! `GANNET_SNAPSHOT_READS` is the number of answers under load (3,000 if nothing is said). With `GANNET_JSON`
//! set, one line of JSON with the latencies goes to the standard output.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use gannet::{Document, Index, Limits, Operator, Query, Snapshot};

use super::oracle_test::{backend, number};
use super::random::Rng;

/// Documents that each batch rewrites.
const DOCUMENTS: usize = 12;

/// The run goes on until there were so many flushes.
const FLUSHES_MIN: u64 = 20;

/// Batches from one flush to the next.
const BATCHES_A_FLUSH: u64 = 8;

const READERS: u64 = 2;

#[test]
fn every_answer_is_of_one_batch_and_none_goes_back() {
    let seed = number("GANNET_SEED", 8);
    let reads = number("GANNET_SNAPSHOT_READS", 3_000);
    println!("seed {seed}");
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(folder.path());
    write(&index, &batch(0, seed));
    let idle = Latencies::of(read_many(
        &index,
        reads / 10 + 1,
        &AtomicBool::new(true),
        seed,
    ));

    let (done, load) = (AtomicU64::new(0), &AtomicBool::new(false));
    let (flushes, under_load) = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let (index, done) = (&index, &done);
                scope.spawn(move || {
                    let times = read_many(index, reads / READERS, load, seed + reader);
                    done.fetch_add(1, Ordering::Release);
                    times
                })
            })
            .collect();
        let flushes = write_until(&index, seed, || {
            load.store(true, Ordering::Release);
            done.load(Ordering::Acquire) == READERS
        });
        let times = readers
            .into_iter()
            .flat_map(|reader| reader.join().expect("a reader"));
        (flushes, times.collect::<Vec<_>>())
    });
    assert!(flushes >= FLUSHES_MIN, "{flushes} flushes");
    assert!(under_load.len() as u64 >= reads / READERS * READERS);
    report(
        &index,
        flushes,
        under_load.len(),
        idle,
        Latencies::of(under_load),
    );
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

/// So many flushes that lists are cleaned, in checkpoints that have just written the leaves that cleaning
/// reads: with this seed that happens in the 152nd.
#[test]
fn cleaning_goes_on_through_many_flushes() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(folder.path());
    write(&index, &batch(0, 1));
    let mut asked = 0;
    let flushes = write_until(&index, 1, || {
        asked += 1;
        asked > 150
    });
    assert!(flushes > 160, "{flushes} flushes");
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let seen = Watch::default().look(&index.snapshot(), &mut Rng::new(0));
    assert_eq!(seen, Ok(()));
}

/// What one thread has seen.
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

/// Makes answers until there are `count` and `enough` is set, at first those while it is not; gives their
/// times in microseconds.
fn read_many(index: &Index, count: u64, enough: &AtomicBool, seed: u64) -> Vec<u64> {
    let (mut watch, mut rng) = (Watch::default(), Rng::new(seed));
    let mut times = Vec::new();
    while (times.len() as u64) < count || !enough.load(Ordering::Acquire) {
        let started = Instant::now();
        let seen = watch.look(&index.snapshot(), &mut rng);
        times.push(started.elapsed().as_micros() as u64);
        seen.unwrap_or_else(|fault| panic!("after {} answers: {fault}", times.len()));
    }
    times
}

/// Writes batch after batch until there were enough flushes and `is_done`; gives the number of flushes.
fn write_until(index: &Index, seed: u64, mut is_done: impl FnMut() -> bool) -> u64 {
    let mut flushes = 0;
    for tag in 1.. {
        write(index, &batch(tag, seed));
        if tag % BATCHES_A_FLUSH == 0 {
            index.checkpoint().expect("a checkpoint");
            flushes += 1;
        }
        if tag % BATCHES_A_FLUSH == 0 && flushes >= FLUSHES_MIN && is_done() {
            break;
        }
    }
    flushes
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
    let (choice, wanted) = backend();
    let limits = Limits {
        buffer_bytes: Some(512 << 10),
        ..Limits::default()
    };
    let options = Index::options()
        .memory(32 << 20)
        .backend(choice)
        .limits(limits);
    let index = options.open(path.join("index")).expect("an index");
    let active = index.backend();
    assert!(
        wanted.is_none_or(|wanted| wanted == active),
        "{active:?} is active"
    );
    index
}

/// Percentiles in microseconds.
struct Latencies {
    p50: u64,
    p99: u64,
}

impl Latencies {
    fn of(mut times: Vec<u64>) -> Latencies {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        Latencies {
            p50: at(50),
            p99: at(99),
        }
    }
}

fn report(index: &Index, flushes: u64, reads: usize, idle: Latencies, load: Latencies) {
    if std::env::var_os("GANNET_JSON").is_none() {
        return;
    }
    let line = serde_json::json!({
        "test": "snapshots",
        "backend": format!("{:?}", index.backend()).to_lowercase(),
        "reads": reads,
        "flushes": flushes,
        "faults": 0,
        "idle_latency_us_p50": idle.p50,
        "idle_latency_us_p99": idle.p99,
        "load_latency_us_p50": load.p50,
        "load_latency_us_p99": load.p99,
    });
    // Not `println`, which the test harness keeps to itself.
    writeln!(std::io::stdout().lock(), "{line}").expect("a standard output");
}
