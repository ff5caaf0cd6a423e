//! Processes that read beside one that writes, all of which are killed again and again.
//!
//! The children are this test program itself. The writer rewrites all documents in one batch after
//! another, with the number of the batch in each. It goes on through checkpoints, vacuum, cleaning
//! and rebuilds, under limits so small that leases expire. A reader refreshes, searches and checks:
//! all documents of a state must have one number, which never goes back, and no error may come but
//! that a lease has expired. Children tell their parent through their standard output how far they
//! are.
//!
//! `GANNET_QUERIES` (3,000), `GANNET_CHECKPOINTS` (20) and `GANNET_KILLS` (10): what is done at
//! least, the kills spread over it. `GANNET_SEED`: the seed of the kills.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use gannet::{Document, Error, Index, Limits, Operator, Options, SearchResults, Snapshot};

use crate::command::Place;

/// Tells the test program which child it is, and where the index is.
const ROLE: &str = "GANNET_BESIDE_ROLE";
const INDEX: &str = "GANNET_BESIDE_INDEX";

/// The name of the writer's role. Readers have numbers.
const WRITER: &str = "writer";

/// Documents, all of which each batch rewrites.
const DOCUMENTS: u64 = 210;

/// Words that each of so many documents has, in every batch.
const SHARED: u64 = 7;

const READERS: usize = 4;

/// Queries between two moves of each reader: the last hold on to roots until these expire.
const REFRESH_EVERY: [u64; READERS] = [10, 50, 1_000, 4_000];

/// Queries between two openings, between two checks, and between two reports.
const OPEN_EVERY: u64 = 5_000;
const CHECK_EVERY: u64 = 1_500;
const TELL_EVERY: u64 = 50;

/// The longest that nothing is heard of any child.
const SILENCE: Duration = Duration::from_secs(60);

/// The work of all children.
#[derive(Debug, Default)]
struct Figures {
    queries: u64,
    /// Operations that ended with `Error::Expired`.
    expired: u64,
    moves: u64,
    checks: u64,
    batches: u64,
    checkpoints: u64,
    rebuilds: u64,
    kills: u64,
    commands: u64,
}

/// The children, the writer last.
struct Family {
    index: PathBuf,
    children: Vec<Child>,
    sender: Sender<(usize, String)>,
    heard: Receiver<(usize, String)>,
    figures: Figures,
}

#[test]
fn readers_beside_a_writer_see_whole_states_whoever_is_killed() {
    let wanted = |name, default| number(name).unwrap_or(default);
    let queries = wanted("GANNET_QUERIES", 3_000);
    let checkpoints = wanted("GANNET_CHECKPOINTS", 20);
    let kills = wanted("GANNET_KILLS", 10);
    let mut seed = wanted("GANNET_SEED", 1);
    println!("seed {seed}");
    let place = Place::new();
    let mut family = Family::new(place.path("index"));
    let start = Instant::now();
    loop {
        family.listen();
        let figures = &family.figures;
        let done = |done: u64, wanted: u64| done as f64 / wanted.max(1) as f64;
        let done = done(figures.queries, queries).min(done(figures.checkpoints, checkpoints));
        if done >= 1.0 && figures.kills >= kills && figures.expired > 0 {
            break;
        }
        if figures.kills < kills && figures.kills as f64 <= done * kills as f64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            family.kill((seed >> 33) as usize % (READERS + 1));
            family.run_commands(&place);
        }
    }
    family.end();
    println!("{:?} in {:?}", family.figures, start.elapsed());
    nothing_is_lost(&place);
}

/// One of the children, if the environment says so.
#[test]
fn beside_child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let index = PathBuf::from(std::env::var(INDEX).expect("the index"));
    match role.as_str() {
        WRITER => write_for_ever(&index),
        number => {
            let number: usize = number.parse().expect("the number of a reader");
            read_for_ever(&index, REFRESH_EVERY[number]);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")),
    )
}

impl Family {
    fn new(index: PathBuf) -> Family {
        let (sender, heard) = channel();
        let mut family = Family {
            index,
            children: Vec::new(),
            sender,
            heard,
            figures: Figures::default(),
        };
        // The index is there before anybody reads it.
        let writer = family.start(READERS);
        while family.figures.checkpoints == 0 {
            family.listen();
        }
        let readers = (0..READERS).map(|child| family.start(child)).collect();
        family.children = readers;
        family.children.push(writer);
        family
    }

    fn start(&self, child: usize) -> Child {
        let role = match child {
            READERS => WRITER.to_owned(),
            reader => reader.to_string(),
        };
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "beside::beside_child", "--nocapture"])
            .env(ROLE, role)
            .env(INDEX, &self.index)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let sender = self.sender.clone();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send((child, line));
            }
        });
        process
    }

    /// Takes in what a child says next.
    fn listen(&mut self) {
        let (child, line) = self
            .heard
            .recv_timeout(SILENCE)
            .expect("a child that goes on");
        let figures = &mut self.figures;
        let (word, value) = line.split_once(' ').unwrap_or((&line, ""));
        let value = value.parse();
        let count = match word {
            "queries" => &mut figures.queries,
            "expired" => &mut figures.expired,
            "moves" => &mut figures.moves,
            "checks" => &mut figures.checks,
            "checkpoints" => &mut figures.checkpoints,
            "rebuilds" => &mut figures.rebuilds,
            "batches" => &mut figures.batches,
            "wrong:" => panic!("child {child}: {line}"),
            // What the test program says of itself.
            _ => return,
        };
        *count += value.unwrap_or(0);
    }

    /// Kills a child and starts another.
    fn kill(&mut self, child: usize) {
        self.children[child].kill().expect("a kill");
        self.children[child].wait().expect("an end");
        self.figures.kills += 1;
        self.children[child] = self.start(child);
    }

    /// The command reads beside the writer too.
    fn run_commands(&mut self, place: &Place) {
        for arguments in [
            &["search", "index", "body:all", "--json"][..],
            &["stats", "index", "--json"],
            &["check", "index", "--json"],
        ] {
            let ran = place.run(arguments);
            assert!([0, 5].contains(&ran.code), "{arguments:?}: {ran:?}");
            self.figures.commands += 1;
        }
    }

    fn end(&mut self) {
        for child in &mut self.children {
            child.kill().expect("a kill");
            child.wait().expect("an end");
        }
        while let Ok((child, line)) = self.heard.try_recv() {
            assert!(!line.starts_with("wrong:"), "child {child}: {line}");
        }
    }
}

/// After all kills the next writer finds a sound index, and has all space back that nothing names.
fn nothing_is_lost(place: &Place) {
    let path = place.path("index");
    let index = options().open(&path).expect("the index");
    let report = index.check(&|_, _| ()).expect("a check");
    assert_eq!(report.findings, Vec::<String>::new());
    assert_eq!(
        fs::read_dir(path.join("readers"))
            .expect("the leases")
            .count(),
        0
    );
    index.checkpoint().expect("a checkpoint");
    // A zone goes once nobody has a state of an earlier epoch; idle maintenance may have one.
    let start = Instant::now();
    while zone_files(&path) != named_zones(place) && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(zone_files(&path), named_zones(place));
    index.close().expect("the end");
    place.done(&["check", "index"]);
}

/// The zones that the index names, as a command tells them. A file may be longer than its zone: a
/// writer that was killed leaves what it wrote last behind the end, until the zone goes.
fn named_zones(place: &Place) -> BTreeSet<u32> {
    let shown = place.done(&["inspect", "index", "zones"]);
    let numbers = shown.lines().skip(1).map(|line| {
        let number = line.split_whitespace().next().expect("a number");
        number.parse().expect("the number of a zone")
    });
    numbers.collect()
}

/// The zones that have files in the folder of an index.
fn zone_files(path: &Path) -> BTreeSet<u32> {
    let files = fs::read_dir(path).expect("the folder");
    let names = files.map(|file| file.expect("a file").file_name());
    let numbers = names.filter_map(|name| {
        let number = name.to_str()?.strip_prefix("zone-")?;
        Some(number.parse().expect("the number of a zone"))
    });
    numbers.collect()
}

fn options() -> Options {
    Index::options().memory(32 << 20).limits(Limits {
        zone_pages: Some(16),
        snapshot_bytes: Some(256 << 10),
        snapshot_age: Duration::from_millis(20),
        visible_after: Some(Duration::from_millis(100)),
        ..Limits::default()
    })
}

fn tell(line: String) {
    let mut out = std::io::stdout().lock();
    // A parent that is gone ends this child soon.
    if out
        .write_all(line.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(1);
    }
}

fn wrong(what: impl std::fmt::Display) -> ! {
    tell(format!("wrong: {what}\n"));
    std::process::exit(1);
}

fn batch(number: u64) -> Vec<Document> {
    let document = |id: u64| {
        let own = (0..20).map(|n| format!("own{} ", (id * 31 + number * 17 + n * n) % 4_000));
        let text = format!(
            "all batch{number} shared{} {}",
            id % SHARED,
            own.collect::<String>()
        );
        Document::new(id.to_string(), [("body", text.as_str())])
    };
    (0..DOCUMENTS)
        .map(|id| document(id).unwrap_or_else(|error| wrong(error)))
        .collect()
}

fn write_for_ever(path: &Path) {
    let done = |done: gannet::Result<()>| done.unwrap_or_else(|error| wrong(error));
    let index = options().open(path).unwrap_or_else(|error| wrong(error));
    // What the writer before has left.
    let found = ask(&index.snapshot(), "*:*").unwrap_or_else(|error| wrong(error));
    let first = number_of(&found).map_or(1, |last| last + 1);
    for number in first.. {
        done(index.write(batch(number)).map(|_| ()));
        tell("batches 1\n".to_owned());
        match number % 8 {
            1 => done(index.sync()),
            3 => while index.vacuum().unwrap_or_else(|error| wrong(error)) {},
            5 => while index.clean().unwrap_or_else(|error| wrong(error)) {},
            7 => {
                done(index.rebuild(&mut |_, _, _| ()));
                tell("rebuilds 1\n".to_owned());
            }
            _ => {}
        }
        if number % 2 == 1 || number == first {
            done(index.checkpoint());
            tell("checkpoints 1\n".to_owned());
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn read_for_ever(path: &Path, refresh_every: u64) {
    let open = || {
        let options = Index::options().memory(16 << 20).read_only();
        options.open(path).unwrap_or_else(|error| wrong(error))
    };
    let (mut index, mut seen) = (open(), 0);
    for query in 1_u64.. {
        if query.is_multiple_of(OPEN_EVERY) {
            index = open();
        }
        if query.is_multiple_of(refresh_every) {
            refresh(&index);
        }
        if query.is_multiple_of(CHECK_EVERY) {
            match index.check(&|_, _| ()) {
                Ok(report) if report.findings.is_empty() => tell("checks 1\n".to_owned()),
                Ok(report) => wrong(format!("{:?}", report.findings)),
                Err(error) => expect_expired(&error),
            }
        }
        match look(&index.snapshot(), query) {
            Ok(number) if number < seen => wrong(format!("{seen} became {number}")),
            Ok(number) => seen = number,
            Err(error) => {
                expect_expired(&error);
                refresh(&index);
            }
        }
        if query.is_multiple_of(TELL_EVERY) {
            tell(format!("queries {TELL_EVERY}\n"));
        }
    }
}

fn refresh(index: &Index) {
    match index.refresh() {
        Ok(moved) => tell(format!("moves {}\n", u64::from(moved))),
        Err(error) => expect_expired(&error),
    }
}

fn expect_expired(error: &Error) {
    match error {
        Error::Expired { .. } => tell("expired 1\n".to_owned()),
        error => wrong(error),
    }
}

/// Searches a state and gives the number of the batch that all of it is of.
fn look(snapshot: &Snapshot, query: u64) -> gannet::Result<u64> {
    let words = match query % 3 {
        0 => "body:all".to_owned(),
        1 => format!("body:shared{}", query % SHARED),
        _ => "*:*".to_owned(),
    };
    let expected = if query % 3 == 1 {
        DOCUMENTS / SHARED
    } else {
        DOCUMENTS
    };
    // What is not in memory yet may be gone.
    let own = ask(snapshot, &format!("body:own{}", query * 7_919 % 4_000))?;
    let found = ask(snapshot, &words)?;
    if found.total != expected {
        wrong(format!(
            "{} documents have {words}, not {expected}",
            found.total
        ));
    }
    if let Some(error) = found.hits.iter().find_map(|hit| hit.error.clone()) {
        return Err(error);
    }
    let number = number_of(&found).unwrap_or(0);
    if let Some(other) = number_of(&own).filter(|other| *other != number) {
        wrong(format!("batches {number} and {other} in one state"));
    }
    let same = ask(snapshot, &format!("body:batch{number}"))?.total;
    if same != DOCUMENTS {
        wrong(format!(
            "{same} documents of batch {number}, not {DOCUMENTS}"
        ));
    }
    Ok(number)
}

fn ask(snapshot: &Snapshot, words: &str) -> gannet::Result<SearchResults> {
    let query = snapshot.parse(words, Operator::Or)?;
    snapshot.search(&query).top(20).count(true).run()
}

/// The number of the batch that the hits are of.
fn number_of(found: &SearchResults) -> Option<u64> {
    let sources = found.hits.iter().filter_map(|hit| hit.source.as_deref());
    let numbers: Vec<u64> = sources.map(batch_of).collect();
    if numbers.windows(2).any(|pair| pair[0] != pair[1]) {
        wrong(format!("batches {numbers:?} in one state"));
    }
    numbers.first().copied()
}

fn batch_of(source: &[u8]) -> u64 {
    let source = String::from_utf8_lossy(source);
    let behind = source.split("batch").nth(1).unwrap_or_default();
    let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
