//! Readers with a flash tier find what readers without one find, whatever happens to the index, its
//! folder or the tier's.
//!
//! `GANNET_TIER_ROUNDS` (12), `GANNET_TIER_DAMAGES` (100) and `GANNET_SEED`: how often the index
//! changes, how often the tier's file is damaged, and by which numbers.

use std::fs;
use std::path::{Path, PathBuf};

use gannet::diagnostics::{CacheState, TierFigures};
use gannet::{Document, Index, Limits, Operator};
use tempfile::TempDir;

use super::environment::{number, open};
use gannet_testkit::random::Rng;

const MIB: usize = 1 << 20;

/// Words of the language; frequent ones come first.
const WORDS: usize = 2_000;

pub(super) struct Place {
    folder: TempDir,
}

impl Place {
    pub(super) fn new() -> Place {
        Place {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn writer(&self, name: &str) -> Index {
        let limits = Limits {
            zone_pages: Some(64),
            maintain_after: None,
            visible_after: None,
            ..Limits::default()
        };
        let options = Index::options().memory(32 * MIB).limits(limits);
        open(options, &self.path(name)).expect("a writer")
    }

    pub(super) fn reader(&self, name: &str) -> Index {
        let options = Index::options().memory(16 * MIB).read_only();
        open(options, &self.path(name)).expect("a reader")
    }

    fn cached(&self, name: &str) -> Index {
        // Each answer is computed of pages.
        let options = Index::options()
            .memory(16 * MIB)
            .read_only()
            .result_cache(0);
        let options = options.cache(self.path("tier"), 16 << 20);
        open(options, &self.path(name)).expect("a reader with a tier")
    }

    fn made(&self, name: &str, random: &mut Rng) -> Index {
        let index = self.writer(name);
        write(&index, 0..1_500, random);
        index.checkpoint().expect("a checkpoint");
        index
    }
}

fn word(random: &mut Rng) -> String {
    let most = 1 + random.below(WORDS);
    format!("w{}", random.below(most))
}

pub(super) fn seeded() -> Rng {
    let seed = number("GANNET_SEED", 1);
    eprintln!("GANNET_SEED={seed}");
    Rng::new(seed)
}

pub(super) fn write(index: &Index, ids: std::ops::Range<u64>, random: &mut Rng) {
    let ids: Vec<u64> = ids.collect();
    for batch in ids.chunks(100) {
        let documents = batch.iter().map(|id| {
            let words: Vec<String> = (0..60).map(|_| word(random)).collect();
            Document::new(id.to_string(), [("body", words.join(" ").as_str())]).expect("a document")
        });
        index.write(documents.collect()).expect("a batch");
    }
}

/// The number of documents that a query finds, and the best with their scores and sources.
type Found = (u64, Vec<(String, f32, Option<Vec<u8>>)>);

fn found(index: &Index, query: &str) -> Found {
    let snapshot = index.snapshot();
    let query = snapshot.parse(query, Operator::Or).expect("a query");
    let results = snapshot.search(&query).count(true).top(10).run();
    let results = results.expect("an answer");
    let hits = results.hits.into_iter().map(|hit| {
        assert!(hit.error.is_none(), "{:?}", hit.error);
        (hit.id, hit.score, hit.source)
    });
    (results.total, hits.collect())
}

fn query(random: &mut Rng) -> String {
    let (one, other, third) = (word(random), word(random), word(random));
    match random.below(6) {
        0 => one,
        1 => format!("{one} {other} {third}"),
        2 => format!("+{one} +{other}"),
        3 => format!("\"{one} {other}\""),
        4 => format!("{one} -{other}"),
        _ => format!("{}*", &one[..one.len().min(3)]),
    }
}

/// Asks both the same; tells how many queries there were.
pub(super) fn same(plain: &Index, cached: &Index, queries: u64, random: &mut Rng) {
    for _ in 0..queries {
        let query = query(random);
        assert_eq!(found(cached, &query), found(plain, &query), "{query}");
    }
}

pub(super) fn figures(index: &Index) -> TierFigures {
    match index.cache() {
        Some(CacheState::Used(figures)) => figures,
        other => panic!("the tier is not used: {other:?}"),
    }
}

fn pages_read(index: &Index) -> u64 {
    index.counters().read_bytes / 4096
}

pub(super) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
}

#[test]
fn answers_are_the_same_with_a_tier_beside_a_writer() {
    let (place, mut random) = (Place::new(), seeded());
    let writer = place.made("index", &mut random);
    let mut kept = place.cached("index");
    let mut read = 0;
    for round in 0..number("GANNET_TIER_ROUNDS", 12) {
        let first = random.below(1_200) as u64;
        write(&writer, first..first + 300, &mut random);
        match round % 4 {
            1 => while writer.vacuum().expect("a vacuum") {},
            2 => while writer.clean().expect("a cleaning") {},
            3 => {
                let rebuilt = writer.rebuild(&mut |_, _, _| ());
                rebuilt.expect("a rebuild");
            }
            _ => {}
        }
        writer.checkpoint().expect("a checkpoint");
        match random.below(2) {
            0 => drop(kept.refresh().expect("the newest root")),
            _ => {
                read += figures(&kept).read_pages;
                drop(kept);
                kept = place.cached("index");
            }
        }
        same(&place.reader("index"), &kept, 60, &mut random);
        assert_eq!(figures(&kept).unproven_pages, 0);
    }
    read += figures(&kept).read_pages;
    assert!(read > 100, "{read} pages were read from the tier");
}

#[test]
fn a_second_process_with_the_same_queries_reads_nothing_from_the_device() {
    let (place, mut random) = (Place::new(), seeded());
    drop(place.made("index", &mut random));
    let queries: Vec<String> = (0..100).map(|_| query(&mut random)).collect();
    let ask = || {
        let index = place.cached("index");
        let before = pages_read(&index);
        queries.iter().for_each(|query| drop(found(&index, query)));
        (pages_read(&index) - before, figures(&index).read_pages)
    };
    let (first, _) = ask();
    let (second, from_tier) = ask();
    assert!(first > 50 && from_tier > 50, "{first}, {from_tier}");
    assert_eq!(second, 0);
}

#[test]
fn a_reader_that_moves_to_a_newer_root_fills_the_tier_with_its_pages() {
    let (place, mut random) = (Place::new(), seeded());
    let writer = place.made("index", &mut random);
    let cached = place.cached("index");
    write(&writer, 0..1_500, &mut random);
    writer.checkpoint().expect("a checkpoint");
    assert!(cached.refresh().expect("the newest root"));
    let queries: Vec<String> = (0..100).map(|_| query(&mut random)).collect();
    queries.iter().for_each(|query| drop(found(&cached, query)));
    assert!(pages_read(&cached) > 50);
    drop(cached);
    // An end does not wait long for pages to be written, so a busy machine may take several.
    let mut openings = (0..5).map(|_| {
        let cached = place.cached("index");
        let before = pages_read(&cached);
        queries.iter().for_each(|query| drop(found(&cached, query)));
        pages_read(&cached) - before
    });
    assert!(openings.any(|pages| pages == 0));
}

#[test]
fn the_tier_of_another_index_and_of_a_copy_that_was_set_back_is_dropped() {
    let (place, mut random) = (Place::new(), seeded());
    let writer = place.made("index", &mut random);
    copy_folder(&place.path("index"), &place.path("copy"));
    // What is written next has the same zone numbers as what the copy gets below.
    write(&writer, 0..1_500, &mut random);
    writer.checkpoint().expect("a checkpoint");
    writer.close().expect("an end");
    same(
        &place.reader("index"),
        &place.cached("index"),
        100,
        &mut random,
    );
    let held = figures(&place.cached("index")).pages;
    assert!(held > 100, "{held}");

    fs::remove_dir_all(place.path("index")).expect("a removal");
    fs::rename(place.path("copy"), place.path("index")).expect("a move");
    let back = place.cached("index");
    assert_eq!(figures(&back).pages, 0);
    assert!(figures(&back).foreign_regions > 0);
    same(&place.reader("index"), &back, 20, &mut random);
    drop(back);
    let writer = place.writer("index");
    write(&writer, 0..1_500, &mut random);
    writer.checkpoint().expect("a checkpoint");
    writer.close().expect("an end");
    same(
        &place.reader("index"),
        &place.cached("index"),
        100,
        &mut random,
    );

    drop(place.made("other", &mut random));
    let other = place.cached("other");
    assert_eq!(figures(&other).pages, 0);
    same(&place.reader("other"), &other, 100, &mut random);
}

/// Damages a file in one of the ways in which files are damaged.
fn damage(file: &Path, random: &mut Rng) {
    let mut bytes = fs::read(file).expect("the tier");
    if bytes.is_empty() {
        // It was emptied, and its end did not wait for pages to be written.
        return;
    }
    let at = random.below(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes[at..].fill(0),
        // In the first page of a region.
        2 => bytes[at / (512 << 10) * (512 << 10) + random.below(4096)] ^= 1 << random.below(8),
        3 => bytes[at] ^= 1 << random.below(8),
        _ => (0..200).for_each(|_| {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }),
    }
    fs::write(file, bytes).expect("a damaged tier");
}

#[test]
fn a_damaged_tier_costs_reads_and_no_answer() {
    let (place, mut random) = (Place::new(), seeded());
    drop(place.made("index", &mut random));
    let file = place.path("tier").join("flash-tier");
    let plain = place.reader("index");
    let (mut unproven, mut emptied) = (0, 0);
    let rounds = number("GANNET_TIER_DAMAGES", 100);
    for _ in 0..rounds {
        let cached = place.cached("index");
        same(&plain, &cached, 10, &mut random);
        unproven += figures(&cached).unproven_pages;
        emptied += u64::from(figures(&cached).foreign_regions > 0);
        drop(cached);
        damage(&file, &mut random);
    }
    eprintln!(
        "{rounds} damages: {unproven} pages did not prove themselves, {emptied} times emptied"
    );
    assert!(unproven > 0 && emptied > 0, "{unproven}, {emptied}");
    // Also while it is open.
    let cached = place.cached("index");
    same(&plain, &cached, 20, &mut random);
    fs::OpenOptions::new()
        .write(true)
        .open(&file)
        .and_then(|file| file.set_len(9_000))
        .expect("a truncation");
    same(&plain, &cached, 100, &mut random);
}

#[test]
fn a_second_reader_shares_the_tier_and_takes_over_when_the_first_one_ends() {
    let (place, mut random) = (Place::new(), seeded());
    drop(place.made("index", &mut random));
    let first = place.cached("index");
    same(&first, &first, 60, &mut random);
    drop(first);
    let first = place.cached("index");
    let second = place.cached("index");
    let reason = figures(&second).stopped.expect("it does not write");
    assert!(reason.contains(&std::process::id().to_string()), "{reason}");
    same(&first, &second, 20, &mut random);
    assert!(figures(&second).read_pages > 0 && figures(&second).written_pages == 0);
    drop(first);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    same(&second, &second, 20, &mut random);
    assert_eq!(figures(&second).stopped, None);
    drop(second);
    figures(&place.cached("index"));
    assert_eq!(place.reader("index").cache(), None);
}

/// A reader that takes in a log has the fewest frames.
#[test]
fn queries_have_memory_enough_beside_the_largest_tier() {
    let (place, mut random) = (Place::new(), seeded());
    let writer = place.made("index", &mut random);
    write(&writer, 0..300, &mut random);
    copy_folder(&place.path("index"), &place.path("copy"));
    let options = Index::options()
        .memory(16 * MIB)
        .read_only()
        .result_cache(0);
    let largest = options.cache(place.path("tier"), 1024 << 20);
    let cached = open(largest, &place.path("copy")).expect("a reader");
    let plain = place.reader("copy");
    same(&plain, &cached, 60, &mut random);
    for _ in 0..20 {
        let words: Vec<String> = (0..60).map(|_| word(&mut random)).collect();
        let query = words.join(" ");
        assert_eq!(found(&cached, &query), found(&plain, &query), "{query}");
    }
    assert_eq!(found(&cached, "w*"), found(&plain, "w*"));
}

#[test]
fn caches_that_cannot_be_are_rejected_with_what_can() {
    let (place, mut random) = (Place::new(), seeded());
    drop(place.made("index", &mut random));
    let reading = || Index::options().memory(16 * MIB).read_only();
    let error = |options: gannet::Options| {
        let error = options.open(place.path("index")).err();
        error.expect("an error").to_string()
    };
    let large = error(reading().cache(place.path("tier"), 10 << 30));
    let largest = large
        .split("at most ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let largest: u64 = largest
        .and_then(|number| number.parse().ok())
        .expect("a size");
    assert!(largest >= 1 << 30, "{large}");
    assert!(!place.path("tier").exists());
    drop(
        reading()
            .cache(place.path("tier"), largest)
            .open(place.path("index"))
            .expect("it fits"),
    );
    assert!(error(reading().cache(place.path("tier"), largest + MIB as u64)).contains("at most"));
    assert!(error(reading().cache(place.path("tier"), 1 << 20)).contains("8MiB"));
    let cached = || reading().cache(place.path("tier"), 8 << 20);
    assert!(error(cached().cache_writes(4096)).contains("64KiB"));
    assert!(error(reading().cache_writes(1 << 20)).contains("needs a cache"));
}

#[test]
fn an_index_is_read_past_a_folder_that_is_no_cache() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (place, mut random) = (Place::new(), seeded());
    drop(place.made("index", &mut random));
    let victim = place.path("victim");
    std::fs::write(&victim, "kept").expect("written");
    for name in ["LOCK", "flash-tier"] {
        std::fs::create_dir(place.path(name)).expect("made");
        symlink(&victim, place.path(name).join(name)).expect("linked");
    }
    for (folder, said) in [
        ("index", "is no cache"),
        ("victim", "is a file"),
        ("LOCK", "a symbolic link"),
        ("flash-tier", "a symbolic link"),
    ] {
        let options = Index::options().memory(16 * MIB).read_only();
        let opened = options
            .cache(place.path(folder), 8 << 20)
            .open(place.path("index"));
        let Some(CacheState::Past(reason)) = opened.expect("open").cache() else {
            panic!("{folder} is used");
        };
        assert!(reason.contains(said), "{folder}: {reason}");
    }
    assert_eq!(std::fs::read(&victim).expect("read"), b"kept");

    let options = Index::options().memory(16 * MIB).read_only();
    let made = place.path("made/cache");
    let opened = options.cache(&made, 8 << 20).open(place.path("index"));
    drop(opened.expect("open"));
    for (name, mode) in [("", 0o700), ("flash-tier", 0o600)] {
        let found = std::fs::metadata(made.join(name)).expect("there");
        assert_eq!(found.permissions().mode() & 0o777, mode, "{name}");
    }
}
