//! The work of a query grows with its text, and not beyond: however clauses are nested, and however
//! many words are joined.
//!
//! Processor time of the calling thread is measured, so that a busy machine changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gannet::{Document, Index, Operator, SearchOptions, Snapshot};

use super::environment::open;

/// Documents: each has a word of its own.
const DOCUMENTS: usize = 1_100;

/// Of these the small index for nested queries has so many.
const FEW: usize = 40;

/// Parentheses that may be open at once.
const DEPTH_MAX: usize = 32;

/// The time that a nested query may take, which is many times what it takes.
const NESTED_MAX: Duration = Duration::from_millis(500);

/// The most times that a search may ask whether to go on: once in some thousand steps.
const ASKED_MAX: usize = 2_000;

/// The beginnings and ends of a level, with one parenthesis each.
const CONSTRUCTS: [(&str, &str); 20] = [
    ("(", ")"),
    ("NOT (", ")"),
    ("-(", ")"),
    ("!(", ")"),
    ("+(", ")"),
    ("#(", ")"),
    ("(a AND ", ")"),
    ("(a AND NOT ", ")"),
    ("(a OR ", ")"),
    ("(a OR NOT ", ")"),
    ("(+a ", ")"),
    ("(+a -", ")"),
    ("(a ", ")"),
    ("(a b ", ")~2"),
    ("(*:* ", ")"),
    ("(*:* NOT ", ")"),
    ("(#(b) ", ")"),
    ("(NOT a AND NOT ", ")"),
    ("body:(a b ", ")"),
    ("(\"a b\" OR ", ")"),
];

#[test]
fn nested_queries_cost_no_more_than_their_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = indexed(folder.path(), FEW);
    let snapshot = index.snapshot();
    let mut searched = 0;
    for one in CONSTRUCTS {
        for other in CONSTRUCTS {
            // Deeper only while it was cheap: what doubles with each level ends here, not in hours.
            for depth in [12, 22, 26, DEPTH_MAX] {
                searched += usize::from(is_cheap(&snapshot, &nested(one, other, depth)));
            }
        }
    }
    // A boost or a sign may not stand before every construct.
    assert!(searched > CONSTRUCTS.len() * CONSTRUCTS.len(), "{searched}");
}

/// A query of so many levels, in which both constructs take turns.
fn nested(one: (&str, &str), other: (&str, &str), depth: usize) -> String {
    let level = |at: usize| if at.is_multiple_of(2) { one } else { other };
    let open: String = (0..depth).map(|at| level(at).0).collect();
    let close: String = (0..depth).rev().map(|at| level(at).1).collect();
    format!("{open}a{close}")
}

/// Searches within the limits. Tells whether the text is a query.
fn is_cheap(snapshot: &Snapshot, text: &str) -> bool {
    let before = processor_time();
    let Ok(query) = snapshot.parse(text, Operator::Or) else {
        return false;
    };
    let asked = Arc::new(AtomicUsize::new(0));
    for (count, explain) in [(true, false), (false, true)] {
        let asked = Arc::clone(&asked);
        let gives_up = move || asked.fetch_add(1, Ordering::Relaxed) > ASKED_MAX;
        let options = SearchOptions {
            count,
            explain,
            k: 3,
            highlight: vec!["body".to_owned()],
            cancelled: Some(Arc::new(gives_up)),
            ..SearchOptions::default()
        };
        search(snapshot, &query, &options).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let took = processor_time() - before;
    assert!(took < NESTED_MAX, "{text}: {took:?}");
    true
}

#[test]
fn words_that_are_joined_cost_as_much_each_however_many_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = indexed(folder.path(), DOCUMENTS);
    let snapshot = index.snapshot();
    for (before, behind) in [("", ""), ("+a +(", ")"), ("+a -(", ")"), ("+a #(", ")")] {
        for count in [false, true] {
            let few = time_of_words(&snapshot, before, behind, 250, count);
            let many = time_of_words(&snapshot, before, behind, 1_000, count);
            // Windows for each word, and all words bounded in each, would make it 64 times.
            assert!(
                many < 20 * few,
                "{before}...{behind}: 250 words take {few:?}, 1,000 take {many:?}"
            );
        }
    }
}

#[test]
fn a_word_scores_the_same_beside_many_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(Index::options(), &folder.path().join("index")).expect("an index");
    let document = |id: usize| {
        let (own, title) = (format!("a own{id} b"), format!("own{id}"));
        // Every third has its word in both fields.
        let title = if id.is_multiple_of(3) {
            title
        } else {
            "c".to_owned()
        };
        Document::new(id.to_string(), [("title", &title[..]), ("body", &own[..])])
    };
    let documents = (0..200).map(document).collect::<gannet::Result<_>>();
    index.write(documents.expect("documents")).expect("written");
    index.checkpoint().expect("a checkpoint");
    let snapshot = index.snapshot();
    let scores = |text: &str| {
        let query = snapshot.parse(text, Operator::Or).expect("a query");
        let found = snapshot.search(&query).top(200).run().expect("an answer");
        let scores = found.hits.into_iter().map(|hit| (hit.id, hit.score));
        scores.collect::<std::collections::BTreeMap<_, _>>()
    };
    let words: Vec<String> = (0..100).map(|word| format!("own{word}")).collect();
    let together = scores(&words.join(" "));
    assert_eq!(together.len(), words.len());
    for word in words {
        let alone = scores(&word);
        let (id, score) = alone.first_key_value().expect("one document has the word");
        assert_eq!(together.get(id), Some(score), "{word}");
    }
}

/// Many ticks of the clock that counts processor time.
const TICKS: Duration = Duration::from_millis(100);

/// The least processor time of some attempts to search for so many words.
fn time_of_words(
    snapshot: &Snapshot,
    before: &str,
    behind: &str,
    words: usize,
    count: bool,
) -> Duration {
    let words: String = (0..words).map(|word| format!("own{word} ")).collect();
    let options = SearchOptions {
        count,
        ..SearchOptions::default()
    };
    let query = snapshot.parse(&format!("{before}{words}{behind}"), Operator::Or);
    let query = query.expect("a query");
    let attempt = |_| {
        // The system counts in ticks, so that a single search may take none.
        let (start, mut searches) = (processor_time(), 0);
        while processor_time() - start < TICKS {
            search(snapshot, &query, &options).expect("an answer");
            searches += 1;
        }
        (processor_time() - start) / searches
    };
    (0..3).map(attempt).min().expect("attempts")
}

fn search(
    snapshot: &Snapshot,
    query: &gannet::Query,
    options: &SearchOptions,
) -> gannet::Result<gannet::SearchResults> {
    let answers = snapshot.search_all(std::slice::from_ref(query), options);
    answers.into_iter().next().expect("one answer")
}

fn indexed(folder: &std::path::Path, documents: usize) -> Index {
    let index = open(Index::options(), &folder.join("index")).expect("an index");
    let document = |id: usize| {
        let b = if id.is_multiple_of(3) { "b" } else { "" };
        Document::new(
            id.to_string(),
            [("body", format!("a {b} own{id}").as_str())],
        )
    };
    let documents = (0..documents).map(document).collect::<gannet::Result<_>>();
    index.write(documents.expect("documents")).expect("written");
    index.checkpoint().expect("a checkpoint");
    index
}

/// The processor time that the calling thread has taken.
fn processor_time() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let nanoseconds = times.split(' ').next().and_then(|time| time.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}
