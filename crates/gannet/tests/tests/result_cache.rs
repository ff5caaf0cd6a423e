//! Answers from the result cache are those that the same snapshot computes, whatever is written
//! meanwhile.
//!
//! `GANNET_SEED` and `GANNET_REUSES` (3,000): by which numbers the index changes, and how many
//! answers are compared.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gannet::{
    Document, Error, Index, Limits, Operator, Options, Query, SearchOptions, SearchResults,
    Snapshot,
};
use tempfile::TempDir;

use super::environment::{number, open};
use gannet_testkit::random::Rng;

const MIB: usize = 1 << 20;

/// Readers beside the writer.
const READERS: u64 = 3;

fn base() -> Options {
    let limits = Limits {
        zone_pages: Some(64),
        maintain_after: None,
        buffer_bytes: Some(MIB),
        ..Limits::default()
    };
    Index::options().memory(32 * MIB).limits(limits)
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// An index of a folder of its own with a result cache.
fn cached(options: Options) -> (TempDir, Index) {
    let folder = folder();
    let index = open(options.result_cache(MIB), folder.path()).expect("an index");
    (folder, index)
}

fn write(index: &Index, ids: Range<u64>, random: &mut Rng) {
    let documents = ids.map(|id| {
        let words: Vec<String> = (0..20).map(|_| format!("w{}", random.below(60))).collect();
        Document::new(id.to_string(), [("body", words.join(" ").as_str())]).expect("a document")
    });
    index.write(documents.collect()).expect("a batch");
}

/// One of few queries, so that they are asked again.
fn query(random: &mut Rng) -> String {
    let (one, other) = (random.below(3), random.below(3));
    match random.below(4) {
        0 => format!("w{one}"),
        1 => format!("w{one} w{other}"),
        2 => format!("+w{one} +w{other}"),
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
        with(|options| options.skip = 3),
        with(|options| options.sources = false),
        with(|options| options.fetch = false),
        with(|options| options.highlight = vec!["body".into()]),
    ]
}

fn asked(snapshot: &Snapshot, text: &str, options: &SearchOptions) -> SearchResults {
    let query = snapshot.parse(text, Operator::Or).expect("a query");
    let answers = snapshot.search_all(&[query], options);
    let answer = answers.into_iter().next().expect("one answer");
    answer.expect("an answer")
}

fn ask(snapshot: &Snapshot, text: &str) -> SearchResults {
    asked(snapshot, text, &forms()[5])
}

/// The same without the cache: it keeps no answers that list pages.
fn computed(snapshot: &Snapshot, text: &str, options: &SearchOptions) -> SearchResults {
    let options = SearchOptions {
        list_pages: true,
        ..options.clone()
    };
    let answer = asked(snapshot, text, &options);
    assert!(answer.reused.is_none());
    answer
}

/// The part of an answer that is about the documents.
fn told(results: &SearchResults) -> String {
    let hits = results.hits.iter().map(|hit| {
        assert!(hit.error.is_none(), "{:?}", hit.error);
        let (id, score) = (&hit.id, hit.score);
        format!("{id} {score} {:?} {:?}", hit.source, hit.snippets)
    });
    let hits: Vec<String> = hits.collect();
    format!("{} {hits:?}", results.total)
}

/// Compares a random answer with the one that is computed. Tells whether it was reused.
fn is_reused(snapshot: &Snapshot, random: &mut Rng) -> bool {
    let (text, options) = (query(random), &forms()[random.below(6)]);
    let answer = asked(snapshot, &text, options);
    let computed = computed(snapshot, &text, options);
    assert_eq!(told(&answer), told(&computed), "{text} {options:?}");
    answer.reused.is_some_and(|reused| {
        assert!(!reused.is_older);
        assert_eq!(answer.io, Default::default());
        true
    })
}

fn change(index: &Index, round: u64, random: &mut Rng) {
    let first = random.below(2_000) as u64;
    match round % 8 {
        0 => index.checkpoint().expect("a checkpoint"),
        1 => while index.vacuum().expect("a vacuum") {},
        2 => while index.clean().expect("a cleaning") {},
        3 => {
            let ids: Vec<String> = (first..first + 20).map(|id| id.to_string()).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            index.delete(&ids).expect("a deletion");
        }
        4 if round % 32 == 4 => {
            let rebuilt = index.rebuild(&mut |_, _, _| ());
            rebuilt.expect("a rebuild");
        }
        _ => write(index, first..first + 20, random),
    }
}

/// Asks on snapshots, some of which are older than answers that others have kept.
fn read(index: &Index, reader: u64, turns: u64, seed: u64) -> u64 {
    let mut random = Rng::new(seed ^ reader << 32);
    let mut snapshot = index.snapshot();
    let is_reused = |turn: &u64| {
        if turn.is_multiple_of(5 + 20 * reader) {
            snapshot = index.snapshot();
        }
        is_reused(&snapshot, &mut random)
    };
    (0..turns).filter(is_reused).count() as u64
}

#[test]
fn reused_answers_are_those_that_are_computed_under_writing() {
    let seed = number("GANNET_SEED", 1);
    eprintln!("GANNET_SEED={seed}");
    let (_folder, index) = cached(base());
    write(&index, 0..2_000, &mut Rng::new(seed));
    let each = number("GANNET_REUSES", 3_000) / READERS;
    let is_over = AtomicBool::new(false);
    let reused: u64 = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let index = &index;
                scope.spawn(move || read(index, reader, each, seed))
            })
            .collect();
        let (index, is_over) = (&index, &is_over);
        scope.spawn(move || {
            let mut random = Rng::new(seed + 1);
            let mut rounds = 0..;
            while !is_over.load(Ordering::Relaxed) {
                change(index, rounds.next().expect("a round"), &mut random);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let ended: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        ended.into_iter().map(|sum| sum.expect("a reader")).sum()
    });
    let figures = index.result_cache().expect("figures");
    assert!(
        reused > each * READERS / 20,
        "{reused} of {each} each: {figures:?}"
    );
    assert_eq!(figures.reused, reused);
    assert!(figures.bytes <= figures.capacity_bytes, "{figures:?}");
}

#[test]
fn snapshots_of_different_states_get_their_own_answers_side_by_side() {
    let ((_folder, index), mut random) = (cached(base()), Rng::new(1));
    let snapshots = [0, 100, 200].map(|first| {
        write(&index, first..first + 100, &mut random);
        index.snapshot()
    });
    let mut reused = 0;
    for _ in 0..2_000 {
        let snapshot = &snapshots[random.below(3)];
        reused += u64::from(is_reused(snapshot, &mut random));
    }
    assert!(reused > 300, "{reused}");
}

#[test]
fn older_answers_are_reused_where_that_is_allowed_and_say_so() {
    let hour = Duration::from_secs(3_600);
    let ((_folder, index), mut random) = (cached(base().result_ttl(hour)), Rng::new(1));
    write(&index, 0..100, &mut random);
    let before = index.snapshot();
    let first = ask(&before, "w1");
    write(&index, 100..200, &mut random);
    let after = index.snapshot();
    let again = ask(&after, "w1");
    assert_eq!(told(&again), told(&first));
    assert!(again.reused.expect("reused").is_older);
    assert_ne!(again.total, computed(&after, "w1", &forms()[5]).total);
    // No snapshot gets an answer of a later one.
    let later = ask(&after, "w2");
    assert!(later.reused.is_none());
    let earlier = ask(&before, "w2");
    assert!(earlier.reused.is_none());
    assert_ne!(told(&earlier), told(&later));
    assert_eq!(index.result_cache().expect("figures").reused_older, 1);
}

#[test]
fn older_answers_are_never_older_than_is_allowed() {
    let ttl = Duration::from_millis(100);
    let ((_folder, index), mut random) = (cached(base().result_ttl(ttl)), Rng::new(1));
    // When each state was replaced by the next, under how many documents it has.
    let mut replaced: Vec<(u64, Instant)> = Vec::new();
    let (mut older, mut renewed) = (0, 0);
    for documents in 1.. {
        write(&index, documents - 1..documents, &mut random);
        replaced.push((documents - 1, Instant::now()));
        let asked_at = Instant::now();
        let answer = asked(&index.snapshot(), "*:*", &forms()[0]);
        match answer.reused {
            None => renewed += 1,
            Some(reused) => {
                assert!(reused.is_older && reused.age <= ttl);
                let (_, until) = replaced[answer.total as usize];
                assert!(asked_at.saturating_duration_since(until) <= ttl);
                older += 1;
            }
        }
        if older >= 3 && renewed >= 3 {
            return;
        }
        assert!(documents < 20_000, "{older} were older, {renewed} renewed");
    }
}

#[test]
fn a_reader_reuses_answers_until_it_moves_to_a_newer_root() {
    let (folder, mut random) = (folder(), Rng::new(1));
    let writer = open(base(), folder.path()).expect("an index");
    write(&writer, 0..500, &mut random);
    writer.checkpoint().expect("a checkpoint");
    let reading = Index::options().memory(16 * MIB).read_only();
    let reader = open(reading.result_cache(MIB), folder.path()).expect("a reader");
    let asked = || ask(&reader.snapshot(), "w1 w2");
    let first = asked();
    assert!(first.reused.is_none());
    write(&writer, 500..600, &mut random);
    // What the writer does is not seen before its checkpoint, and changes nothing.
    assert!(asked().reused.is_some());
    assert!(!reader.refresh().expect("no newer root"));
    assert!(asked().reused.is_some());
    writer.checkpoint().expect("a checkpoint");
    assert!(reader.refresh().expect("a newer root"));
    let newer = asked();
    assert!(newer.reused.is_none() && newer.total > first.total);
}

#[test]
fn of_queries_that_are_asked_together_only_those_that_are_not_known_are_computed() {
    let ((_folder, index), mut random) = (cached(base()), Rng::new(1));
    write(&index, 0..500, &mut random);
    let snapshot = index.snapshot();
    let parse = |text: &str| snapshot.parse(text, Operator::Or).expect("a query");
    let options = SearchOptions::default();
    snapshot.search_all(&["w1", "w2 w3", "+w4 +w5"].map(parse), &options);
    let unknown = Query::Text {
        field: Some("nowhere".into()),
        text: "w1".into(),
        operator: Operator::Or,
    };
    let texts = ["w9", "w2 w3", "w8", "w1", "+w4 +w5"];
    let mut queries = texts.map(parse).to_vec();
    queries.insert(2, unknown);
    let mut answers = snapshot.search_all(&queries, &options);
    assert!(matches!(answers.remove(2), Err(Error::Invalid(_))));
    let answers: Vec<_> = answers.into_iter().map(|a| a.expect("an answer")).collect();
    let reused: Vec<bool> = answers.iter().map(|a| a.reused.is_some()).collect();
    assert_eq!(reused, [false, true, false, true, true]);
    for (text, answer) in texts.iter().zip(&answers) {
        assert_eq!(told(answer), told(&computed(&snapshot, text, &options)));
    }
}

#[test]
fn errors_are_not_kept_and_a_search_without_time_fails_as_without_a_cache() {
    let ((_folder, index), mut random) = (cached(base()), Rng::new(1));
    write(&index, 0..500, &mut random);
    let snapshot = index.snapshot();
    let query = snapshot.parse("w1", Operator::Or).expect("a query");
    let late = SearchOptions {
        clock: Some(std::sync::Arc::new(|| Duration::from_secs(10))),
        deadline: Some(Duration::from_secs(1)),
        ..forms()[0].clone()
    };
    let failed = || snapshot.search_all(std::slice::from_ref(&query), &late);
    let kept = || index.result_cache().expect("figures").answers;
    assert!(matches!(failed()[..], [Err(Error::Timeout { .. })]));
    assert_eq!(kept(), 0);
    let too_many = SearchOptions {
        k: SearchOptions::RANKED_MAX + 1,
        ..forms()[0].clone()
    };
    let rejected = snapshot.search_all(std::slice::from_ref(&query), &too_many);
    assert!(matches!(rejected[..], [Err(Error::Invalid(_))]));
    assert_eq!(kept(), 0);
    assert!(asked(&snapshot, "w1", &forms()[0]).reused.is_none());
    assert!(asked(&snapshot, "w1", &forms()[0]).reused.is_some());
    assert_eq!(kept(), 1);
    assert!(matches!(failed()[..], [Err(Error::Timeout { .. })]));
}

#[test]
fn a_reused_answer_that_is_explained_has_its_plan() {
    let ((_folder, index), mut random) = (cached(base()), Rng::new(1));
    write(&index, 0..500, &mut random);
    let snapshot = index.snapshot();
    let query = snapshot.parse("w1 w2", Operator::Or).expect("a query");
    let explained = || snapshot.search(&query).explain(true).run();
    let answers = [(); 2].map(|()| explained().expect("an answer"));
    assert!(answers[0].reused.is_none() && answers[1].reused.is_some());
    let [first, again] = answers.map(|answer| {
        let hits = answer.hits.iter().map(|hit| hit.explanation.clone());
        let hits: Vec<_> = hits.map(|hit| hit.expect("an explanation")).collect();
        (answer.plan.expect("a plan").to_string(), hits)
    });
    assert!(!first.1.is_empty());
    assert_eq!(first, again);
}

#[test]
fn a_result_cache_that_cannot_be_is_rejected_with_what_can() {
    let folder = folder();
    let base = || Index::options().memory(16 * MIB);
    let error = |options: Options| {
        let error = options.open(folder.path()).err();
        error.expect("an error").to_string()
    };
    assert!(error(base().result_cache(1_000)).contains("64KiB"));
    for bytes in [4 * MIB + 1, 5 * MIB, usize::MAX] {
        let large = error(base().result_cache(bytes));
        assert!(large.contains("at most 4194304 bytes (4096KiB)"), "{large}");
    }
    let only_ttl = error(base().result_ttl(Duration::from_secs(1)));
    assert!(only_ttl.contains("needs a result cache"), "{only_ttl}");
    for (bytes, capacity) in [(0, None), (4 * MIB, Some(4 << 20))] {
        let index = open(base().result_cache(bytes), folder.path()).expect("it fits");
        let figures = index.result_cache();
        assert_eq!(figures.map(|figures| figures.capacity_bytes), capacity);
    }
}
