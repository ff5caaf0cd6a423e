//! Answers from flash are those that the same snapshot computes, in whatever process and whatever
//! happens to the index meanwhile.
//!
//! `GANNET_SEED` and `GANNET_ANSWERS` (1,500): by which numbers the index changes, and how many
//! answers are compared.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gannet::diagnostics::{AnswerFileFigures, AnswersOnFlash};
use gannet::{
    AnswerPlace, Document, Index, Limits, Operator, Options, SearchOptions, SearchResults,
    Snapshot, SortKey,
};
use tempfile::TempDir;

use super::environment::{number, open};
use gannet_testkit::random::Rng;

const MIB: usize = 1 << 20;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        Place {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Options with a cache of the smallest size.
    fn cached(&self, options: Options) -> Options {
        options
            .cache(self.path("cache"), 8 << 20)
            .cache_answers(1 << 20)
    }

    fn writer(&self, name: &str) -> Index {
        open(self.cached(writing()), &self.path(name)).expect("a writer")
    }

    fn reader(&self, name: &str) -> Index {
        open(self.cached(reading()), &self.path(name)).expect("a reader")
    }

    /// An index of some documents in a checkpoint.
    fn made(&self, name: &str, documents: u64) {
        let index = open(writing(), &self.path(name)).expect("an index");
        write(&index, 0..documents, &mut Rng::new(documents));
        index.close().expect("closed");
    }
}

fn writing() -> Options {
    let limits = Limits {
        zone_pages: Some(64),
        maintain_after: None,
        visible_after: None,
        buffer_bytes: Some(MIB),
        ..Limits::default()
    };
    Index::options().memory(32 * MIB).limits(limits)
}

fn reading() -> Options {
    Index::options().memory(16 * MIB).read_only()
}

fn write(index: &Index, ids: std::ops::Range<u64>, random: &mut Rng) {
    let documents = ids.map(|id| {
        let words: Vec<String> = (0..20).map(|_| format!("w{}", random.below(60))).collect();
        let words = words.join(" ");
        let line = format!(
            r#"{{"id": "{id}", "body": "{words}", "n": {}}}"#,
            id * 7 % 50
        );
        Document::parse(line.as_bytes()).expect("a document")
    });
    index.write(documents.collect()).expect("a batch");
}

fn query(random: &mut Rng) -> String {
    let (one, other) = (random.below(3), random.below(3));
    match random.below(5) {
        0 => format!("w{one}"),
        1 => format!("w{one} w{other}"),
        2 => format!("+w{one} +w{other}"),
        3 => format!("w{one}*"),
        _ => format!("\"w{one} w{other}\""),
    }
}

/// Different things that are asked of the documents of one query.
fn forms() -> [SearchOptions; 6] {
    let plain = SearchOptions {
        count: true,
        k: 5,
        ..SearchOptions::default()
    };
    let with = |change: fn(&mut SearchOptions)| {
        let mut options = plain.clone();
        change(&mut options);
        options
    };
    [
        plain.clone(),
        with(|options| options.k = 7),
        with(|options| options.explain = true),
        with(|options| options.fetch = false),
        with(|options| options.highlight = vec!["body".into()]),
        with(|options| options.sort = vec![SortKey::parse("-n").expect("a key")]),
    ]
}

fn asked(snapshot: &Snapshot, text: &str, options: &SearchOptions) -> SearchResults {
    let query = snapshot.parse(text, Operator::Or).expect("a query");
    let answers = snapshot.search_all(&[query], options);
    let answer = answers.into_iter().next().expect("one answer");
    answer.expect("an answer")
}

/// The part of an answer that is about the documents.
fn told(results: &SearchResults) -> String {
    let hits = results.hits.iter().map(|hit| {
        assert!(hit.error.is_none(), "{:?}", hit.error);
        let explained = hit.explanation.as_ref().map(ToString::to_string);
        let found = (
            hit.doc,
            &hit.id,
            hit.score.to_bits(),
            &hit.sort,
            &hit.source,
        );
        format!("{found:?} {:?} {explained:?}", hit.snippets)
    });
    let hits: Vec<String> = hits.collect();
    let notes = (
        &results.notes,
        &results.unmatched_patterns,
        results.total_is_exact,
    );
    format!(
        "{} {hits:?} {notes:?} {:?}",
        results.total, results.cut_expansions
    )
}

/// Compares an answer with the one that is computed: none is kept that lists pages. Tells from
/// where it came.
fn compared(snapshot: &Snapshot, text: &str, options: &SearchOptions) -> Option<AnswerPlace> {
    let answer = asked(snapshot, text, options);
    let computed = SearchOptions {
        list_pages: true,
        ..options.clone()
    };
    let computed = asked(snapshot, text, &computed);
    assert_eq!(told(&answer), told(&computed), "{text} {options:?}");
    assert_eq!(answer.plan.is_some(), options.explain);
    answer.reused.map(|reused| reused.from)
}

fn figures(index: &Index) -> AnswerFileFigures {
    match index.answers_on_flash() {
        Some(AnswersOnFlash::Used(figures)) => figures,
        other => panic!("{other:?}"),
    }
}

fn copy_folder(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("readable").flatten() {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

#[test]
fn who_opens_the_same_state_later_finds_the_answers() {
    let place = Place::new();
    place.made("index", 500);
    for round in 0..3 {
        let (reader, mut random) = (place.reader("index"), Rng::new(7));
        let snapshot = reader.snapshot();
        for _ in 0..20 {
            let (text, options) = (query(&mut random), &forms()[random.below(6)]);
            let from = compared(&snapshot, &text, options);
            assert!(round == 0 || from.is_some(), "{round}: {text} {options:?}");
        }
        let cache = reader.result_cache().expect("figures");
        assert_eq!(cache.reused_from_flash > 0, round > 0, "{cache:?}");
        let file = figures(&reader);
        assert_eq!((file.read_answers > 0, file.stopped), (round > 0, None));
        // An answer that came from flash is in memory from then on.
        asked(&snapshot, "w1", &forms()[0]);
        let again = asked(&snapshot, "w1", &forms()[0]);
        assert_eq!(again.reused.expect("reused").from, AnswerPlace::Memory);
    }
    // A writer that has changed nothing has that state too.
    let (writer, mut random) = (place.writer("index"), Rng::new(7));
    let (text, options) = (query(&mut random), &forms()[random.below(6)]);
    let from = compared(&writer.snapshot(), &text, options);
    assert_eq!(from, Some(AnswerPlace::Flash), "{text}");
}

#[test]
fn answers_of_states_that_are_not_durable_stay_in_memory() {
    let place = Place::new();
    place.made("index", 300);
    let (writer, mut random) = (place.writer("index"), Rng::new(3));
    let ask = || compared(&writer.snapshot(), "w1 w2", &forms()[0]);
    assert_eq!((ask(), ask()), (None, Some(AnswerPlace::Memory)));
    write(&writer, 300..310, &mut random);
    assert_eq!((ask(), ask()), (None, Some(AnswerPlace::Memory)));
    writer.sync().expect("synced");
    assert_eq!(ask(), Some(AnswerPlace::Memory));
    writer.checkpoint().expect("a checkpoint");
    assert_eq!((ask(), ask()), (None, Some(AnswerPlace::Memory)));
    // The reader sees the state of the checkpoint.
    let reader = place.reader("index");
    assert_eq!(
        figures(&writer).answers + figures(&writer).written_answers,
        0
    );
    writer.close().expect("closed");
    assert_eq!(
        compared(&reader.snapshot(), "w1 w2", &forms()[0]),
        Some(AnswerPlace::Flash)
    );
    assert!(!figures(&reader).writes);
}

#[test]
fn answers_are_those_that_are_computed_whatever_happens_to_the_index() {
    let seed = number("GANNET_SEED", 1);
    eprintln!("GANNET_SEED={seed}");
    let (place, mut random) = (Place::new(), Rng::new(seed));
    place.made("index", 800);
    place.made("other", 700);
    let mut writer = place.writer("index");
    let mut reader = place.reader("index");
    let mut counts = [0; 3];
    for turn in 0..number("GANNET_ANSWERS", 1_500) {
        let first = random.below(900) as u64;
        match random.below(150) {
            0 => write(&writer, first..first + 10, &mut random),
            1 => drop(writer.delete(&[&first.to_string()]).expect("deleted")),
            2 | 3 => writer.checkpoint().expect("a checkpoint"),
            4 => drop(writer.vacuum().expect("a vacuum")),
            5 => drop(reader.refresh().expect("refreshed")),
            6 => reader = place.reader("index"),
            7 => {
                writer.close().expect("closed");
                writer = place.writer("index");
            }
            8 if turn % 3 == 0 => {
                // The folder is set back to what it was.
                copy_folder(&place.path("index"), &place.path("copy"));
                write(&writer, first..first + 30, &mut random);
                writer.checkpoint().expect("a checkpoint");
                compared(&writer.snapshot(), "w1", &forms()[0]);
                drop(reader);
                drop(writer);
                std::fs::remove_dir_all(place.path("index")).expect("removed");
                copy_folder(&place.path("copy"), &place.path("index"));
                writer = place.writer("index");
                write(&writer, first..first + 30, &mut random);
                writer.checkpoint().expect("a checkpoint");
                reader = place.reader("index");
            }
            9 => {
                let other = place.reader("other");
                compared(&other.snapshot(), "w1", &forms()[0]);
            }
            _ => {}
        }
        let index = if random.below(2) == 0 {
            &writer
        } else {
            &reader
        };
        let (text, options) = (query(&mut random), &forms()[random.below(6)]);
        let from = compared(&index.snapshot(), &text, options);
        counts[from.map_or(0, |from| 1 + from as usize)] += 1;
    }
    let [computed, memory, flash] = counts;
    eprintln!("{computed} computed, {memory} from memory, {flash} from flash");
    assert!(flash > 30 && memory > 30 && computed > 30);
}

#[test]
fn older_answers_are_reused_across_processes_where_that_is_allowed() {
    let place = Place::new();
    place.made("index", 300);
    let first = asked(&place.reader("index").snapshot(), "w1", &forms()[0]);
    let writer = open(writing(), &place.path("index")).expect("a writer");
    write(&writer, 300..400, &mut Rng::new(1));
    writer.close().expect("closed");
    let ask = |ttl: Option<Duration>| {
        let options = place.cached(reading());
        let options = match ttl {
            Some(ttl) => options.result_ttl(ttl),
            None => options,
        };
        // Nothing of it is kept that another opening would find.
        let reader = open(options, &place.path("index")).expect("a reader");
        asked(&reader.snapshot(), "w1", &forms()[0])
    };
    let older = ask(Some(Duration::from_secs(3_600)));
    let reused = older.reused.expect("reused");
    assert!(reused.is_older && reused.from == AnswerPlace::Flash);
    assert_eq!(told(&older), told(&first));
    std::thread::sleep(Duration::from_millis(20));
    assert!(ask(Some(Duration::from_millis(10))).reused.is_none());
    // The answer of the newest state has taken its place.
    let newest = ask(Some(Duration::from_secs(3_600)));
    assert!(!newest.reused.expect("reused").is_older && newest.total > first.total);
    assert!(ask(None).reused.is_some());
}

#[test]
fn two_readers_share_the_answers_and_the_second_takes_over() {
    let place = Place::new();
    place.made("index", 300);
    let (first, second) = (place.reader("index"), place.reader("index"));
    assert!(figures(&first).writes && !figures(&second).writes);
    assert_eq!(compared(&first.snapshot(), "w1", &forms()[0]), None);
    let (options, path) = (place.cached(reading()), place.path("index"));
    drop(first);
    assert_eq!(compared(&second.snapshot(), "w2", &forms()[0]), None);
    std::thread::sleep(Duration::from_millis(120));
    assert_eq!(compared(&second.snapshot(), "w0", &forms()[0]), None);
    assert!(figures(&second).writes);
    drop(second);
    let third = open(options, &path).expect("a reader");
    for text in ["w1", "w0"] {
        let from = compared(&third.snapshot(), text, &forms()[0]);
        assert_eq!(from, Some(AnswerPlace::Flash), "{text}");
    }
}

#[test]
fn answers_that_cannot_be_on_flash_are_said_to_be_none_and_searches_go_on() {
    let place = Place::new();
    place.made("index", 100);
    let past = |options: Options| {
        let index = open(options, &place.path("index")).expect("a reader");
        assert_eq!(compared(&index.snapshot(), "w1", &forms()[0]), None);
        match index.answers_on_flash() {
            Some(AnswersOnFlash::Past(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    let cached = || reading().cache(place.path("cache"), 8 << 20);
    assert!(past(cached().cache_answers(1_000)).contains("1MiB"));
    assert!(past(cached().cache_answers(1 << 40)).contains("memory budget"));
    let largest = reading().cache(place.path("cache"), 1024 << 20);
    assert!(past(largest).contains("memory budget"));
    std::fs::write(place.path("file"), "x").expect("written");
    assert!(past(reading().cache_folder(place.path("file"))).contains("is a file"));
    std::os::unix::fs::symlink(place.path("index"), place.path("linked")).expect("linked");
    assert!(past(reading().cache_folder(place.path("linked"))).contains("is no cache"));
    std::fs::create_dir(place.path("holder")).expect("made");
    std::os::unix::fs::symlink(place.path("index"), place.path("holder/answers")).expect("linked");
    assert!(past(reading().cache_folder(place.path("holder"))).contains("a symbolic link"));
    for none in [
        cached().cache_answers(0),
        cached().result_cache(0),
        reading(),
    ] {
        let index = open(none, &place.path("index")).expect("a reader");
        assert_eq!(index.answers_on_flash(), None);
    }
    let writer = open(
        writing().cache_folder(place.path("cache")),
        &place.path("index"),
    );
    assert!(figures(&writer.expect("a writer")).capacity_bytes >= 2 << 20);
}
