//! Kills a process that writes, again and again, and looks for everything that it acknowledged.
//!
//! The child is this test program itself: it writes batches with `durability = sync` under limits
//! so small that flushes, vacuum, cleaning and checkpoints happen all the time. It tells each batch
//! once it is acknowledged, and each phase before it begins, through a pipe that outlives it. Each
//! kill (SIGKILL) is aimed at a phase; the last phase in the pipe is the one in which it fell. The
//! parent never writes to the index: it reads it and checks it as it is, as `gannet check` does,
//! and lets a copy recover, which it reads and checks too. The next child then recovers the index
//! itself, and may be killed while it does.
//!
//! `GANNET_KILLS`: cycles (8). `GANNET_SEED`: the seed of the moments. The others: see
//! `environment`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use gannet::values::ValueType;
use gannet::{Document, Durability, FieldMapping, FieldType, Index, Limits, Operator, Options};
use gannet_testkit::Phase;
use serde_json::json;
use tempfile::TempDir;

use super::environment::{self, number};
use gannet_testkit::random::Rng;

/// Tells the test program to be the child, and where the index is.
const CHILD_VARIABLE: &str = "GANNET_KILL_CHILD";

/// Makes the child a liar: it acknowledges what only stands in its memory.
const LIAR_VARIABLE: &str = "GANNET_KILL_LIAR";

/// External IDs in turn; each batch rewrites some of them.
const IDS: u64 = 400;

/// Documents of a batch; all carry the batch's number, so that a torn one is seen.
const BATCH: u64 = 5;

/// Every so many batches are a deletion.
const DELETE_EVERY: u64 = 7;

/// Every so many batches are followed by a checkpoint that is asked for; the limits ask for two
/// between.
const CHECKPOINT_EVERY: u64 = 150;

/// The phases of a child; kills are aimed at each in turn.
const PHASES: [&str; 6] = [
    "cleaning",
    "flush",
    "vacuum",
    "writing",
    "checkpoint",
    "opening",
];

/// A child that does not come to the phase is killed where it is.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// A line that a child writes.
enum Word {
    Acknowledged(u64),
    Phase(String, Instant),
}

/// The death of a child.
struct Kill {
    aim: &'static str,
    delay: Duration,
    /// The phase in which it fell.
    phase: String,
    /// The last batch that was acknowledged, if any was.
    last: Option<u64>,
}

/// All that is known of the index between two children.
struct World {
    path: PathBuf,
    /// The batch that wrote each ID last, of all that were acknowledged.
    state: BTreeMap<String, u64>,
    /// The first batch that is not in `state`.
    next: u64,
    acknowledged: u64,
    backend: String,
    open_ms_max: u128,
    kills: Vec<serde_json::Value>,
    lost: u64,
    unsound: u64,
    documents: u64,
}

#[test]
fn what_was_acknowledged_survives_kills() {
    let (kills, seed) = (number("GANNET_KILLS", 8), number("GANNET_SEED", 1));
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let folder = folder("kill-");
    let mut world = World::new(folder.path());
    let mut lengths = BTreeMap::new();
    for (cycle, aim) in (0..kills).zip(PHASES.iter().cycle()) {
        let writer = Writer::start(&world.path, world.next, false);
        let kill = writer.kill_in(aim, &mut lengths, &mut rng);
        world.judge(&kill);
        if world.lost + world.unsound > 0 {
            report(&world, seed);
            let kept = folder.keep();
            let (last, kept) = (world.kills.last(), kept.display());
            panic!("seed {seed}, cycle {cycle}: {last:?} in {kept}");
        }
    }
    report(&world, seed);
}

/// The judge must notice what was acknowledged too early.
#[test]
fn a_writer_that_acknowledges_early_is_noticed() {
    let mut rng = Rng::new(number("GANNET_SEED", 1));
    let mut lengths = BTreeMap::new();
    let noticed = (0..20).any(|_| {
        let folder = folder("liar-");
        let mut world = World::new(folder.path());
        let writer = Writer::start(&world.path, 0, true);
        let kill = writer.kill_in("writing", &mut lengths, &mut rng);
        world.judge(&kill);
        world.lost > 0
    });
    assert!(noticed, "early acknowledgements went unnoticed");
}

/// The child: writes batches from `GANNET_KILL_FROM` on until it is killed.
#[test]
fn kill_child() {
    let Ok(path) = std::env::var(CHILD_VARIABLE) else {
        return;
    };
    tell("phase opening");
    let limits = Limits {
        on_phase: Some(tell_phase),
        ..limits()
    };
    let durability = match std::env::var(LIAR_VARIABLE) {
        Ok(_) => Durability::Async,
        Err(_) => Durability::Sync,
    };
    let options = options().durability(durability).limits(limits);
    let index = open(options, Path::new(&path));
    tell("phase writing");
    for batch in number("GANNET_KILL_FROM", 0).. {
        apply(&index, batch).expect("a write");
        tell(&format!("acknowledged {batch}"));
        if batch % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1 {
            index.checkpoint().expect("a checkpoint");
        }
    }
}

fn tell_phase(phase: Phase) {
    tell(match phase {
        Phase::Writing => "phase writing",
        Phase::Flush => "phase flush",
        Phase::Vacuum => "phase vacuum",
        Phase::Cleaning => "phase cleaning",
        Phase::Checkpoint => "phase checkpoint",
        // The flush beside which a write waits goes on.
        Phase::Backpressure => return,
    });
}

/// One write, so that no kill leaves half a line. The test runner has begun a line of its own.
pub fn tell(line: &str) {
    let mut output = std::io::stdout().lock();
    let written = output.write_all(format!("\n{line}\n").as_bytes());
    written.and_then(|()| output.flush()).expect("a parent");
}

pub fn options() -> Options {
    let mapping = FieldMapping::new()
        .field("kind", FieldType::Column(ValueType::Keyword))
        .field("ip", FieldType::Column(ValueType::Ip));
    Index::options()
        .memory(32 << 20)
        .mapping(mapping)
        .limits(limits())
}

fn limits() -> Limits {
    Limits {
        buffer_bytes: Some(192 << 10),
        log_source_bytes: 64 << 10,
        vacuum_bytes: Some(32 << 10),
        zone_pages: Some(16),
        ..Limits::default()
    }
}

fn open(options: Options, path: &Path) -> Index {
    environment::open(options, path).expect("the index opens")
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

/// A string that only the documents of few batches have, so that most leave the index again.
fn kind_of(number: u64) -> String {
    format!("kind {}", number / 3)
}

fn address_of(number: u64) -> String {
    format!("10.{}.{}.1", number / 256 % 256, number % 256)
}

pub fn apply(index: &Index, number: u64) -> gannet::Result<()> {
    let ids: Vec<String> = ids_of(number).collect();
    if is_deletion(number) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        return index.delete(&ids).map(drop);
    }
    let one = |id: &String| {
        let document = json!({
            "id": id,
            "body": text_of(number),
            "batch": number,
            "kind": kind_of(number),
            "ip": address_of(number),
        });
        Document::parse(document.to_string().as_bytes())
    };
    index
        .write(ids.iter().map(one).collect::<gannet::Result<_>>()?)
        .map(drop)
}

/// The oracle: which batch wrote each ID last.
pub fn replay(state: &mut BTreeMap<String, u64>, number: u64) {
    for id in ids_of(number) {
        if is_deletion(number) {
            state.remove(&id);
        } else {
            state.insert(id, number);
        }
    }
}

struct Writer {
    child: Child,
    words: Receiver<Word>,
}

impl Writer {
    fn start(path: &Path, from: u64, lies: bool) -> Writer {
        let program = std::env::current_exe().expect("the test program");
        let mut child = Command::new(program)
            .envs(lies.then_some((LIAR_VARIABLE, "1")))
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
        let (sender, words) = channel();
        std::thread::spawn(move || {
            let mut heard = output.lines().map_while(Result::ok).filter_map(heard);
            heard.try_for_each(|word| sender.send(word).ok())
        });
        Writer { child, words }
    }

    /// Waits until the child enters the phase, one of the next times, and for a part of the time
    /// that the phase took before; then kills it. `lengths` has what each phase took last.
    fn kill_in(
        mut self,
        aim: &'static str,
        lengths: &mut BTreeMap<String, Duration>,
        rng: &mut Rng,
    ) -> Kill {
        let mut passes = if aim == "opening" { 0 } else { rng.below(6) };
        let (mut phase, mut since) = (String::new(), Instant::now());
        let mut last = None;
        let deadline = since + LONGEST_WAIT;
        while phase != aim || passes > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.words.recv_timeout(left) {
                Ok(Word::Acknowledged(number)) => last = Some(number),
                Ok(Word::Phase(next, now)) => {
                    passes -= usize::from(passes > 0 && phase == aim && next != aim);
                    lengths.insert(std::mem::replace(&mut phase, next), now - since);
                    since = now;
                }
                Err(_) => break,
            }
        }
        let length = lengths.get(aim).copied();
        let length = length.unwrap_or(Duration::from_millis(2));
        let delay = length.mul_f64(rng.below(1_000) as f64 / 1_000.0);
        std::thread::sleep(delay.saturating_sub(since.elapsed()));
        let alive = self.child.try_wait().expect("a child").is_none();
        assert!(alive, "the child ended by itself, in phase {phase:?}");
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
        for word in self.words.iter() {
            match word {
                Word::Acknowledged(number) => last = Some(number),
                Word::Phase(next, _) => phase = next,
            }
        }
        Kill {
            aim,
            delay,
            phase,
            last,
        }
    }
}

fn heard(line: String) -> Option<Word> {
    if let Some(phase) = line.strip_prefix("phase ") {
        return Some(Word::Phase(phase.to_owned(), Instant::now()));
    }
    let number = line.strip_prefix("acknowledged ")?;
    Some(Word::Acknowledged(number.parse().ok()?))
}

impl World {
    fn new(path: &Path) -> World {
        World {
            path: path.to_owned(),
            state: BTreeMap::new(),
            next: 0,
            acknowledged: 0,
            backend: String::new(),
            open_ms_max: 0,
            kills: Vec::new(),
            lost: 0,
            unsound: 0,
            documents: 0,
        }
    }

    /// Looks at what a kill left, as it is and after a recovery, and counts what is wrong.
    fn judge(&mut self, kill: &Kill) {
        if let Some(last) = kill.last {
            (self.next..=last).for_each(|number| replay(&mut self.state, number));
            self.acknowledged += last + 1 - self.next;
            self.next = last + 1;
        }
        let (mut lost, mut findings) = (0, Vec::new());
        let mut found = BTreeMap::new();
        // A kill in the first opening of all may leave nothing that can be read.
        if kill.last.is_some() || self.next > 0 {
            let index = open(options().read_only(), &self.path);
            found = contents(&index);
            lost += self.settle(&found);
            findings.extend(index.check(&|_, _| ()).expect("a check").findings);
        }
        let copy = copy_of(&self.path);
        let started = Instant::now();
        let index = open(options(), copy.path());
        self.open_ms_max = self.open_ms_max.max(started.elapsed().as_millis());
        self.backend = index.backend().to_string();
        lost += differences(&contents(&index), &self.state);
        findings.extend(index.check(&|_, _| ()).expect("a check").findings);
        lost += differences(&contents(&index), &self.state);
        drop(index);
        self.lost += lost;
        self.unsound += u64::from(!findings.is_empty());
        self.documents += found.len() as u64;
        self.kills.push(json!({
            "aimed_at": kill.aim,
            "phase": kill.phase,
            "delay_us": kill.delay.as_micros() as u64,
            "last_acknowledged": kill.last,
            "documents": found.len(),
            "lost": lost,
            "findings": findings,
        }));
    }

    /// The batch under way at the kill is there as a whole, or not at all; if it is, it counts from
    /// now on. Gives how many IDs are not as they must be.
    fn settle(&mut self, found: &BTreeMap<String, u64>) -> u64 {
        let mut later = self.state.clone();
        replay(&mut later, self.next);
        if *found == later && later != self.state {
            self.state = later;
            self.next += 1;
        }
        differences(found, &self.state)
    }
}

/// All documents in the index, by the batch that wrote them.
pub fn contents(index: &Index) -> BTreeMap<String, u64> {
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
    let found: BTreeMap<String, u64> = hits
        .map(|hit| (hit.id, batch_of(hit.source.expect("a source"))))
        .collect();
    check_values(index, &found);
    found
}

/// Compares the values of columns with what the batches wrote, and counts some of them.
fn check_values(index: &Index, found: &BTreeMap<String, u64>) {
    let snapshot = index.snapshot();
    if snapshot.schema().named("ip").is_none() {
        return;
    }
    let ids: Vec<&str> = found.keys().map(String::as_str).collect();
    let values = |column: &str| {
        let values = snapshot.values(&ids, column).expect("values").into_iter();
        let texts = values.map(|own| own.iter().map(ToString::to_string).collect::<Vec<_>>());
        texts.collect::<Vec<_>>()
    };
    let wanted = |text: &dyn Fn(u64) -> String| {
        let each = found.values().map(|number| vec![text(*number)]);
        each.collect::<Vec<_>>()
    };
    assert_eq!(values("batch"), wanted(&|number| number.to_string()));
    assert_eq!(values("kind"), wanted(&kind_of));
    assert_eq!(values("ip"), wanted(&address_of));
    let Some(number) = found.values().next_back() else {
        return;
    };
    let text = format!("ip:{} kind:=\"{}\"", address_of(*number), kind_of(*number));
    let query = snapshot.parse(&text, Operator::Or).expect("a query");
    let counted = snapshot.search(&query).top(1).count(true).run();
    let own = found
        .values()
        .filter(|other| kind_of(**other) == kind_of(*number));
    assert_eq!(
        counted.expect("an answer").total,
        own.count() as u64,
        "{text}"
    );
}

/// Counts the IDs that differ from the oracle.
fn differences(found: &BTreeMap<String, u64>, expected: &BTreeMap<String, u64>) -> u64 {
    let ids = found.keys().chain(expected.keys());
    let different = ids.filter(|id| found.get(*id) != expected.get(*id));
    different.collect::<BTreeSet<_>>().len() as u64
}

/// A new folder on a file system that is most likely a real one: beside the test program.
pub fn folder(prefix: &str) -> TempDir {
    let program = std::env::current_exe().expect("the test program");
    let parent = program.parent().expect("its folder");
    let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent);
    folder.expect("a folder")
}

fn copy_of(path: &Path) -> TempDir {
    let copy = folder("killed-");
    let entries = std::fs::read_dir(path).expect("a folder").flatten();
    // The folder of leases is no part of the index.
    for entry in entries.filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("copied");
    }
    copy
}

/// Zones that were given up: numbers are never used again.
fn zones_removed(path: &Path) -> u64 {
    let names = std::fs::read_dir(path).expect("a folder").flatten();
    let number = |name: &str| name.strip_prefix("zone-")?.parse::<u64>().ok();
    let numbers: Vec<u64> = names
        .filter_map(|entry| number(entry.file_name().to_str()?))
        .collect();
    let given = numbers.iter().max().map_or(0, |number| number + 1);
    given - numbers.len() as u64
}

fn report(world: &World, seed: u64) {
    let fallen = |phase: &str| {
        let kills = world.kills.iter();
        kills.filter(|kill| kill["phase"] == phase).count()
    };
    let phases: BTreeMap<&str, usize> = PHASES.iter().map(|p| (*p, fallen(p))).collect();
    let figures = json!({
        "test": "kill",
        "backend": world.backend,
        "seed": seed,
        "kills": world.kills.len(),
        "kills_by_phase": phases,
        "acknowledged_batches": world.acknowledged,
        "documents_checked": world.documents,
        "lost": world.lost,
        "unsound": world.unsound,
        "zones_removed": zones_removed(&world.path),
        "open_ms_max": world.open_ms_max as u64,
        "each": world.kills,
    });
    println!("{phases:?}");
    environment::report(&figures);
}
