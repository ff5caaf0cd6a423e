//! Backups of an index that is written all the time: each holds one state of it, and kills cost
//! none.
//!
//! `GANNET_BACKUP_QUERIES`: queries whose answers are compared (1,000). `GANNET_BACKUP_KILLS`:
//! kills (6). `GANNET_SEED`: other documents, queries and moments. The others: see `environment`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use gannet::{Document, Durability, Error, Index, Limits, Options, Query, Snapshot};

use super::environment::{self, number};
use super::kill;
use gannet_testkit::oracle::PlainDocument;
use gannet_testkit::random::{Documents, KINDS, Queries, Rng, to_json};

const DOCUMENTS: usize = 3_000;

/// Backups into one folder, under load.
const BACKUPS: usize = 4;

/// Tells the test program to be the child, and in which folder.
const CHILD_VARIABLE: &str = "GANNET_BACKUP_CHILD";

#[test]
fn a_backup_under_load_answers_as_the_index_did() {
    let (seed, queries) = (
        number("GANNET_SEED", 5),
        number("GANNET_BACKUP_QUERIES", 1_000),
    );
    println!("seed {seed}");
    let folder = tempfile::tempdir().expect("a folder");
    let mut rng = Rng::new(seed);
    let source = Documents::new(&mut rng, 4_000);
    let corpus: Vec<PlainDocument> = (0..DOCUMENTS)
        .map(|n| source.document(&mut rng, format!("id{n}")))
        .collect();
    let queries: Vec<Query> = {
        let made = Queries::new(&corpus);
        (0..queries as usize)
            .map(|n| made.query(&mut rng, KINDS[n % KINDS.len()]))
            .collect()
    };
    let index = open(loaded(), &folder.path().join("index"));
    corpus.chunks(250).for_each(|batch| write(&index, batch));
    let copy = folder.path().join("copy");
    let (batches, ends) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let _end = EndWhenDropped(&ends);
        scope.spawn(|| change(&index, &source, Rng::new(seed + 1), &batches, &ends));
        for (turn, queries) in queries.chunks(queries.len().div_ceil(BACKUPS)).enumerate() {
            let (backup, snapshot) = index.begin_backup().expect("a root");
            let before = batches.load(Ordering::Acquire);
            let mut shown = (0, 0);
            let report = backup.copy_to(&copy, &mut |done, total| {
                shown = (done, total);
                // However fast copying is, the index changes meanwhile.
                while batches.load(Ordering::Acquire) < before + 3 {
                    thread::sleep(Duration::from_millis(1));
                }
            });
            let report = report.expect("a backup");
            assert_eq!(shown, (report.bytes_copied, report.bytes_copied));
            assert_eq!(
                (report.incremental, report.documents),
                (turn > 0, snapshot.documents())
            );
            let copied = open(Index::options().memory(128 << 20).read_only(), &copy);
            compare(&copied.snapshot(), &snapshot, queries);
            let report = copied.check(&|_, _| ()).expect("a check");
            assert_eq!(report.findings, Vec::<String>::new());
        }
    });
    let options = Index::options().memory(128 << 20);
    let restored = folder.path().join("restored");
    let report = options.clone().restore(&copy, &restored, &mut |_, _| ());
    assert_eq!(
        report.expect("restored").checked.findings,
        Vec::<String>::new()
    );
    let (copy, restored) = (
        open(options.clone().read_only(), &copy),
        open(options, &restored),
    );
    compare(&restored.snapshot(), &copy.snapshot(), &queries);
}

struct EndWhenDropped<'a>(&'a AtomicBool);

impl Drop for EndWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Limits under which flushes, cleaning and checkpoints happen all the time.
fn loaded() -> Options {
    Index::options().memory(128 << 20).limits(Limits {
        buffer_bytes: Some(1 << 20),
        ..Limits::default()
    })
}

fn open(options: Options, path: &Path) -> Index {
    environment::open(options, path).expect("the index opens")
}

fn write(index: &Index, documents: &[PlainDocument]) {
    let parsed = documents
        .iter()
        .map(|document| Document::parse(to_json(document).as_bytes()));
    index
        .write(parsed.collect::<gannet::Result<_>>().expect("documents"))
        .expect("a batch");
}

/// Adds, replaces and deletes documents until it is told to end.
fn change(index: &Index, source: &Documents, mut rng: Rng, batches: &AtomicU64, ends: &AtomicBool) {
    while !ends.load(Ordering::Acquire) {
        let batch: Vec<PlainDocument> = (0..20)
            .map(|_| {
                let id = rng.below(DOCUMENTS * 5 / 4);
                source.document(&mut rng, format!("id{id}"))
            })
            .collect();
        write(index, &batch);
        let gone: Vec<String> = (0..5)
            .map(|_| format!("id{}", rng.below(DOCUMENTS)))
            .collect();
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        index.delete(&gone).expect("a deletion");
        batches.fetch_add(1, Ordering::Release);
    }
}

/// Both give the same documents with the same scores and sources, and count the same.
fn compare(copy: &Snapshot, original: &Snapshot, queries: &[Query]) {
    assert_eq!(copy.documents(), original.documents());
    for query in queries {
        let answer = |snapshot: &Snapshot| {
            let results = snapshot.search(query).top(20).count(true).run();
            let hits = |results: gannet::SearchResults| {
                let hits = results.hits.into_iter();
                let hits: Vec<_> = hits
                    .map(|hit| (hit.id, hit.score.to_bits(), hit.source))
                    .collect();
                (results.total, hits)
            };
            results.map(hits).map_err(|error| error.to_string())
        };
        assert_eq!(answer(copy), answer(original), "{query}");
    }
}

/// The reports of a child before it was killed.
#[derive(Default)]
struct Told {
    /// The last batch that was acknowledged.
    last: Option<u64>,
    /// The last batch that had been acknowledged when the last backup that was done had begun.
    saved: Option<Option<u64>>,
    /// The same of the backup under way.
    begun: Option<u64>,
}

#[test]
fn kills_cost_neither_the_index_nor_the_backup_before() {
    let (kills, seed) = (number("GANNET_BACKUP_KILLS", 6), number("GANNET_SEED", 1));
    println!("seed {seed}");
    let folder = kill::folder("backup-");
    let mut rng = Rng::new(seed);
    let (mut state, mut next) = (BTreeMap::new(), 0);
    // What the backup holds at least, and how often a kill fell into a first one.
    let (mut saved, mut unfinished) = (None, 0);
    for cycle in 0..kills {
        let first = cycle % 3 == 0;
        if first {
            std::fs::remove_dir_all(folder.path().join("copy")).ok();
            saved = None;
        }
        let told = run_and_kill(folder.path(), next, first, &mut rng);
        saved = told.saved.or(saved);
        let states = states_since(&mut state, &mut next, told.last);
        let found = contents(&folder.path().join("index")).expect("the index opens");
        let at = states.iter().rposition(|state| *state == found);
        assert!(
            at.is_some_and(|at| at + 2 >= states.len()),
            "seed {seed}, cycle {cycle}: lost"
        );
        match (contents(&folder.path().join("copy")), saved) {
            (Ok(found), saved) => judge_copy(&found, saved, next, (seed, cycle)),
            (Err(Error::Format { .. } | Error::Invalid(_)), None) => unfinished += 1,
            (Err(error), _) => panic!("seed {seed}, cycle {cycle}: {error}"),
        }
        // The batch under way counts if it is there.
        if at == Some(states.len() - 1) {
            state = found;
            next += 1;
        }
    }
    println!("{kills} kills, {unfinished} in a first backup, {next} batches");
}

/// Starts a child, kills it in one of its next backups, or in the first, and gives what it told.
fn run_and_kill(folder: &Path, from: u64, first: bool, rng: &mut Rng) -> Told {
    let mut child = start(folder, from);
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let mut passes = if first { 0 } else { rng.below(4) };
    let mut told = Told::default();
    let mut lines = output.lines().map_while(Result::ok);
    // Parts that the backup under way has copied, and how many it is to copy before the kill.
    let (mut copied, mut aim) = (0, None);
    for line in lines.by_ref() {
        told.take(&line);
        match line.as_str() {
            "backup begins" if passes == 0 => (copied, aim) = (0, Some(rng.below(40))),
            "backup begins" => passes -= 1,
            "copied" => copied += 1,
            "backup done" if aim.is_some() => break,
            _ => {}
        }
        if aim.is_some_and(|aim| copied >= aim) {
            break;
        }
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    lines.for_each(|line| told.take(&line));
    told
}

fn start(folder: &Path, from: u64) -> Child {
    Command::new(std::env::current_exe().expect("the test program"))
        .args([
            "--exact",
            "backups::backup_child",
            "--nocapture",
            "--test-threads",
            "1",
        ])
        .env(CHILD_VARIABLE, folder)
        .env("GANNET_BACKUP_FROM", from.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child")
}

impl Told {
    fn take(&mut self, line: &str) {
        if let Some(number) = line.strip_prefix("acknowledged ") {
            self.last = number.parse().ok().or(self.last);
        }
        match line {
            "backup begins" => self.begun = self.last,
            "backup done" => self.saved = Some(self.begun),
            _ => {}
        }
    }
}

/// The states that the index may be in: that after the last batch that was acknowledged, and that
/// after the next.
fn states_since(
    state: &mut BTreeMap<String, u64>,
    next: &mut u64,
    last: Option<u64>,
) -> Vec<BTreeMap<String, u64>> {
    while last.is_some_and(|last| *next <= last) {
        kill::replay(state, *next);
        *next += 1;
    }
    let mut later = state.clone();
    kill::replay(&mut later, *next);
    vec![state.clone(), later]
}

/// The backup has the state after some batch: one that was acknowledged when it began, or a later
/// one.
fn judge_copy(
    found: &BTreeMap<String, u64>,
    saved: Option<Option<u64>>,
    next: u64,
    at: (u64, u64),
) {
    let least = saved.flatten();
    let mut state = BTreeMap::new();
    let fits = (0..=next).any(|number| {
        let enough = least.is_none_or(|least| number > least);
        let fits = enough && state == *found;
        kill::replay(&mut state, number);
        fits
    });
    assert!(
        fits || state == *found,
        "{at:?}: the backup is of no state since batch {least:?}"
    );
}

/// Reads the contents of a folder, which must be sound, without changing it.
fn contents(path: &Path) -> gannet::Result<BTreeMap<String, u64>> {
    let index = kill::options().read_only().open(path)?;
    let report = index.check(&|_, _| ())?;
    assert_eq!(report.findings, Vec::<String>::new(), "{}", path.display());
    Ok(kill::contents(&index))
}

/// The child: one thread writes, the other backs up, until it is killed.
#[test]
fn backup_child() {
    let Ok(folder) = std::env::var(CHILD_VARIABLE).map(PathBuf::from) else {
        return;
    };
    let options = kill::options().durability(Durability::Sync);
    let index = open(options, &folder.join("index"));
    thread::scope(|scope| {
        scope.spawn(|| {
            for batch in number("GANNET_BACKUP_FROM", 0).. {
                kill::apply(&index, batch).expect("a write");
                kill::tell(&format!("acknowledged {batch}"));
            }
        });
        loop {
            thread::sleep(Duration::from_millis(20));
            kill::tell("backup begins");
            index
                .backup(folder.join("copy"), &mut |_, _| kill::tell("copied"))
                .expect("a backup");
            kill::tell("backup done");
        }
    });
}
