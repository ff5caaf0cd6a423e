//! Searches of one thread and of eight stay within the budget and end by their deadlines.

use std::thread;
use std::time::{Duration, Instant};

use gannet::{Document, Error, Index, Operator, Query, SearchOptions, Snapshot};

use crate::corpus::{self, Random};
use crate::counting::{self, Alone};
use crate::queries::{self, Asked};

/// The memory budget.
const MEMORY: usize = 24 << 20;

/// Bytes that the process may hold beside the budget with eight threads: threads, decoders, parts
/// of a page that are read before they are reserved.
const BESIDE: usize = 16 << 20;

/// The time by which a search may end late: a busy machine gives a thread its turn only now and
/// then.
const LATE: Duration = Duration::from_millis(500);

/// Queries of each thread.
const QUERIES: u64 = 60;

/// An index with `threads` that each ask, and a turn of the allocator's count.
fn ask_from(threads: u64, ask: impl Fn(&Snapshot, &mut Random) + Sync) -> (Alone, usize) {
    let mut turn = counting::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    corpus::write(&path).expect("an index");
    turn.begin();
    let options = Index::options().memory(MEMORY).read_only();
    let index = options.open(&path).expect("an index");
    let snapshot = index.snapshot();
    turn.forget_peak();
    thread::scope(|scope| {
        for number in 0..threads {
            let (ask, snapshot) = (&ask, &snapshot);
            scope.spawn(move || ask(snapshot, &mut Random(0x9e37_79b9 + number * 7_919)));
        }
    });
    let peak = turn.peak();
    eprintln!("{threads} threads: {peak} bytes at once, budget {MEMORY}");
    (turn, peak)
}

fn stay_within(threads: u64) {
    let limits = [20, 200, 2_000].map(Duration::from_millis);
    let (_turn, peak) = ask_from(threads, |snapshot, random| {
        for _ in 0..QUERIES {
            let asked = queries::any(snapshot, random);
            check(&ask(snapshot, asked, *random.of(&limits)));
        }
    });
    assert!(
        peak <= MEMORY + BESIDE,
        "{peak} bytes were allocated at once, {} more than the budget",
        peak.saturating_sub(MEMORY)
    );
}

#[test]
fn one_thread_stays_within_the_budget() {
    stay_within(1);
}

#[test]
fn eight_threads_stay_within_the_budget() {
    stay_within(8);
}

/// The end of a search.
struct Ended {
    text: String,
    took: Duration,
    limit: Duration,
    answer: gannet::Result<()>,
}

fn ask(snapshot: &Snapshot, asked: Asked, limit: Duration) -> Ended {
    let options = SearchOptions {
        deadline: Some(limit),
        ..asked.options
    };
    let began = Instant::now();
    let answer = snapshot.search_all(&[asked.query], &options).pop();
    Ended {
        text: asked.text,
        took: began.elapsed(),
        limit,
        answer: answer.expect("one answer").map(|_| ()),
    }
}

/// There is an answer, or an error that says what to do, in time.
fn check(ended: &Ended) {
    let Ended {
        text,
        took,
        limit,
        answer,
    } = ended;
    assert!(
        *took <= *limit + LATE,
        "{text}: {took:?} of {limit:?}: {answer:?}"
    );
    match answer {
        Ok(()) | Err(Error::Timeout { .. } | Error::Memory { .. }) => {}
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn queries_beyond_the_limits_are_rejected_at_once() {
    let (_turn, peak) = ask_from(1, |snapshot, _| {
        for (text, limit) in queries::rejected() {
            let query = snapshot.parse(&text, Operator::Or).expect("a query");
            let began = Instant::now();
            let error = snapshot
                .search(&query)
                .run()
                .expect_err("an error")
                .to_string();
            assert!(error.contains(limit), "{error}");
            assert!(began.elapsed() < LATE, "{limit}: {:?}", began.elapsed());
        }
        // Longer than any term: it is in no document.
        let query = snapshot.parse(&"a".repeat(60_000), Operator::Or);
        let results = snapshot.search(&query.expect("a query")).run();
        assert_eq!(results.expect("an answer").total, 0);
    });
    assert!(peak <= MEMORY + BESIDE, "{peak}");
}

#[test]
fn a_search_without_time_says_what_it_was_at() {
    let (_turn, _) = ask_from(1, |snapshot, _| {
        let text = format!("body:\"{}\"~100", "the of ".repeat(250));
        let query = snapshot.parse(&text, Operator::Or).expect("a query");
        let limit = Duration::from_millis(50);
        let began = Instant::now();
        match snapshot.search(&query).timeout(limit).run() {
            Err(Error::Timeout {
                doing,
                after,
                limit: told,
            }) => {
                assert!(
                    doing.contains("matching") && after > limit && told == limit,
                    "{doing}"
                );
            }
            other => panic!("{:?}", other.map(|results| results.total)),
        }
        assert!(began.elapsed() < limit + LATE, "{:?}", began.elapsed());
    });
}

/// The longest phrase that there may be, of different words.
#[test]
fn the_longest_phrase_of_different_words_is_found_with_little_memory() {
    let _turn = counting::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let words: Vec<String> = (0..1_024).map(|n| format!("w{n}")).collect();
    let options = || Index::options().memory(32 << 20);
    let path = folder.path().join("index");
    let index = options().open(&path).expect("an index");
    let add = |id: &str, words: &[String]| {
        let text = words.join(" ");
        let document = Document::new(id, [("body", text.as_str())]).expect("a document");
        index.add(document).expect("written");
    };
    for number in 0..40 {
        add(&format!("some {number}"), &words[..960]);
    }
    let (mut lacking, mut swapped) = (words.clone(), words.clone());
    lacking[500] = "other".to_owned();
    swapped.swap(10, 11);
    add("whole", &words);
    add("lacking", &lacking);
    add("swapped", &swapped);
    index.close().expect("closed");
    let index = options().read_only().open(&path).expect("an index");
    let snapshot = index.snapshot();
    for (slop, expected) in [(0, &["whole"][..]), (2, &["whole", "swapped"])] {
        let query = Query::Phrase {
            field: Some("body".to_owned()),
            text: words.join(" "),
            slop,
        };
        let results = snapshot.search(&query).run().expect("an answer");
        let found: Vec<&str> = results.hits.iter().map(|hit| hit.id.as_str()).collect();
        assert_eq!(found, expected);
    }
}
