//! Kills a process that writes, again and again, and looks for everything that it acknowledged.
//!
//! The child is this test program itself: it writes batches with `durability = sync` under limits so small
//! that flushes, checkpoints and cleaning happen all the time, and prints each batch once it is acknowledged.
//! After a random time it is killed (SIGKILL). What it printed must be there, whole, when the index is
//! opened again; the index then goes on from there in the next cycle.
//!
//! `GANNET_KILLS`: cycles (8). `GANNET_BACKEND`: `auto`, `uring` or `pread`. `GANNET_SEED`: the seed of the
//! times. `GANNET_JSON`: a file that gets the counts.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use gannet::{BackendChoice, Document, Durability, Index, Limits, Operator, Options};

/// Tells the test program to be the child, and where the index is.
const CHILD_VARIABLE: &str = "GANNET_KILL_CHILD";

/// External IDs in turn; each batch rewrites some of them.
const IDS: u64 = 400;

/// Documents of a batch; all carry the batch's number, so that a torn one is seen.
const BATCH: u64 = 5;

/// Every so many batches are a deletion.
const DELETE_EVERY: u64 = 7;

/// What one cycle found.
#[derive(Default)]
struct Counts {
    cycles: u64,
    acknowledged: u64,
    documents: u64,
    lost: u64,
    checks: u64,
    zones_removed: u64,
    max_open_ms: u128,
}

fn variable(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given
        .and_then(|given| given.parse().ok())
        .unwrap_or(default)
}

fn backend() -> BackendChoice {
    match std::env::var("GANNET_BACKEND").as_deref() {
        Ok("uring") => BackendChoice::Uring,
        Ok("pread") => BackendChoice::Pread,
        _ => BackendChoice::Auto,
    }
}

fn options() -> Options {
    Index::options()
        .memory(32 << 20)
        .backend(backend())
        .durability(Durability::Sync)
        .limits(Limits {
            buffer_bytes: Some(192 << 10),
            log_source_bytes: 64 << 10,
            zone_pages: Some(16),
            ..Limits::default()
        })
}

/// The IDs that batch `number` writes, or deletes.
fn ids_of(number: u64) -> impl Iterator<Item = String> {
    let start = number.wrapping_mul(0x9e37_79b9) % IDS;
    (0..BATCH).map(move |at| format!("id{}", (start + at * 3) % IDS))
}

fn is_deletion(number: u64) -> bool {
    number % DELETE_EVERY == DELETE_EVERY - 1
}

fn text_of(number: u64) -> String {
    let mut text = format!("all batch{number}");
    for word in 0..20 + number % 50 {
        text.push_str(&format!(" w{}", (number * 31 + word * 7) % 200));
    }
    text
}

fn apply(index: &Index, number: u64) -> gannet::Result<()> {
    let ids: Vec<String> = ids_of(number).collect();
    if is_deletion(number) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        return index.delete(&ids).map(drop);
    }
    let text = text_of(number);
    let one = |id: &String| Document::new(id.as_str(), [("body", text.as_str())]);
    index
        .write(ids.iter().map(one).collect::<gannet::Result<_>>()?)
        .map(drop)
}

/// The oracle: which batch wrote each ID last.
fn replay(state: &mut BTreeMap<String, u64>, number: u64) {
    for id in ids_of(number) {
        match is_deletion(number) {
            true => drop(state.remove(&id)),
            false => drop(state.insert(id, number)),
        }
    }
}

/// The child: writes batches from `GANNET_KILL_FROM` on until it is killed.
#[test]
fn kill_child() {
    let Ok(path) = std::env::var(CHILD_VARIABLE) else {
        return;
    };
    let index = options().open(path).expect("the index opens");
    for number in variable("GANNET_KILL_FROM", 0).. {
        apply(&index, number).expect("a write");
        println!("\nacknowledged {number}");
        if number % 40 == 39 {
            index.checkpoint().expect("a checkpoint");
        }
    }
}

struct Writer {
    child: Child,
    lines: Receiver<u64>,
}

impl Writer {
    fn start(path: &Path, from: u64) -> Writer {
        let program = std::env::current_exe().expect("the test program");
        let mut child = Command::new(program)
            .args([
                "--exact",
                "kill::kill_child",
                "--nocapture",
                "--test-threads",
                "1",
            ])
            .env(CHILD_VARIABLE, path)
            .env("GANNET_KILL_FROM", from.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let number = line
                    .strip_prefix("acknowledged ")
                    .and_then(|n| n.parse().ok());
                if number.is_some_and(|number| sender.send(number).is_err()) {
                    return;
                }
            }
        });
        Writer { child, lines }
    }

    /// Waits for the first batch, then for `time`; kills the child and gives the last batch that it
    /// acknowledged.
    fn kill_after(mut self, time: Duration) -> u64 {
        let first = self.lines.recv_timeout(Duration::from_secs(60));
        let mut last = first.expect("the child writes");
        std::thread::sleep(time);
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
        while let Ok(number) = self.lines.recv() {
            last = number;
        }
        last
    }
}

/// All documents in the index, by the batch that wrote them.
fn contents(index: &Index) -> BTreeMap<String, u64> {
    let snapshot = index.snapshot();
    let query = snapshot.parse("body:all", Operator::Or).expect("a query");
    let found = snapshot
        .search(&query)
        .top(10_000)
        .count(true)
        .run()
        .expect("an answer");
    assert_eq!(found.total, snapshot.documents());
    let batch_of = |source: Vec<u8>| {
        let text = String::from_utf8(source).expect("text");
        let number = text
            .split("batch")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let number: u64 = number
            .and_then(|number| number.parse().ok())
            .expect("a batch");
        assert!(text.contains(&text_of(number)), "a whole document");
        number
    };
    let hits = found.hits.into_iter();
    hits.map(|hit| (hit.id, batch_of(hit.source.expect("a source"))))
        .collect()
}

/// How many IDs are not as the oracle has them.
fn differences(found: &BTreeMap<String, u64>, expected: &BTreeMap<String, u64>) -> u64 {
    let ids = found.keys().chain(expected.keys());
    let different = ids.filter(|id| found.get(*id) != expected.get(*id));
    different.collect::<std::collections::BTreeSet<_>>().len() as u64
}

fn zones(path: &Path) -> (u64, u64) {
    let names = std::fs::read_dir(path).expect("a folder").flatten();
    let numbers: Vec<u64> = names
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_prefix("zone-")?
                .parse()
                .ok()
        })
        .collect();
    (
        numbers.len() as u64,
        numbers.iter().max().map_or(0, |number| number + 1),
    )
}

fn folder() -> PathBuf {
    let program = std::env::current_exe().expect("the test program");
    let parent = program.parent().expect("its folder");
    let folder = tempfile::Builder::new().prefix("kill-").tempdir_in(parent);
    folder.expect("a folder").keep()
}

#[test]
fn what_was_acknowledged_survives_kills() {
    let cycles = variable("GANNET_KILLS", 8);
    let seed = variable("GANNET_SEED", 1);
    let path = folder();
    let mut counts = Counts::default();
    let (mut state, mut next) = (BTreeMap::new(), 0);
    let mut backend = String::new();
    for cycle in 0..cycles {
        let writer = Writer::start(&path, next);
        let last = writer.kill_after(time_of(seed, cycle));
        (next..=last).for_each(|number| replay(&mut state, number));
        counts.acknowledged += last + 1 - next;
        let started = Instant::now();
        let index = options().open(&path).expect("the index opens after a kill");
        counts.max_open_ms = counts.max_open_ms.max(started.elapsed().as_millis());
        backend = index.backend().to_string();
        let asked = std::env::var("GANNET_BACKEND").unwrap_or_default();
        assert!(
            asked.is_empty() || asked == "auto" || asked == backend,
            "{backend} is active"
        );
        let found = contents(&index);
        // A check begins with a checkpoint; every other cycle leaves the log to the next recovery.
        if cycle % 2 == 1 {
            let report = index.check(&|_, _| ()).expect("a check");
            assert!(
                report.findings.is_empty(),
                "seed {seed}: {:?}",
                report.findings
            );
            counts.checks += 1;
        }
        let mut later = state.clone();
        replay(&mut later, last + 1);
        // The batch under way at the kill is there as a whole, or not at all.
        next = last + 1;
        if found == later && later != state {
            state = later;
            next += 1;
        }
        counts.cycles += 1;
        counts.documents += found.len() as u64;
        counts.lost += differences(&found, &state);
        assert_eq!(
            counts.lost,
            0,
            "seed {seed}, cycle {cycle}, batch {last}, {}",
            path.display()
        );
    }
    let (present, given) = zones(&path);
    counts.zones_removed = given - present;
    report(&counts, seed, &backend);
    std::fs::remove_dir_all(&path).expect("removed");
}

/// Between none and a third of a second, so that kills fall into all phases.
fn time_of(seed: u64, cycle: u64) -> Duration {
    let mixed = (seed << 32 | cycle)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29);
    Duration::from_micros(mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) % 330_000)
}

fn report(counts: &Counts, seed: u64, backend: &str) {
    let json = format!(
        "{{\"kills\":{},\"backend\":\"{backend}\",\"seed\":{seed},\"acknowledged_batches\":{},\
         \"documents_checked\":{},\"lost\":{},\"checks_clean\":{},\"zones_removed\":{},\"open_ms_max\":{}}}",
        counts.cycles,
        counts.acknowledged,
        counts.documents,
        counts.lost,
        counts.checks,
        counts.zones_removed,
        counts.max_open_ms
    );
    println!("{json}");
    if let Ok(path) = std::env::var("GANNET_JSON") {
        std::fs::write(path, json + "\n").expect("the counts are written");
    }
}
