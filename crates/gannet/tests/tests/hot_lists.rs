//! Queries of words that are asked often find what they find without hot lists, whatever is written
//! between.

use gannet::diagnostics::Techniques;
use gannet::{Document, Index, Operator, Options, Query, SearchOptions, SearchResults, Snapshot};
use tempfile::TempDir;

use super::environment::open;
use gannet_testkit::random::Rng;

const MIB: usize = 1 << 20;

pub(super) const QUERIES: [&str; 15] = [
    "w0",
    "w40",
    "w0 w1",
    "+w0 +w1",
    "w2 w30 w45",
    "+w1 +w20",
    "+w0 +w1 +w2",
    "w3^2 w4^0.5 w41",
    "+w1 -w0",
    "+w2 w5 w44",
    "+w0 +w3 w41 -w1 -w48",
    "w1 w33 -w2",
    "w1 w1 w2",
    "+w3 -w3",
    "+(w0 w20) -w1",
];

fn options() -> Options {
    Index::options().memory(64 * MIB)
}

/// Writes documents in which words of small numbers are frequent.
pub(super) fn write(index: &Index, ids: std::ops::Range<u64>, random: &mut Rng) {
    let documents = ids.map(|id| {
        let words = (0..1 + random.below(30)).map(|_| {
            let most = random.below(50) + 1;
            format!("w{} ", random.below(most))
        });
        let body = words.collect::<String>() + &"w7 ".repeat(random.below(4) * 90);
        Document::new(id.to_string(), [("body", body.as_str())]).expect("a document")
    });
    index.write(documents.collect()).expect("a batch");
}

fn parse(snapshot: &Snapshot, text: &str) -> Query {
    snapshot.parse(text, Operator::Or).expect("a query")
}

/// Asks all queries so often that their lists become hot, and compares each answer with that
/// without.
pub(super) fn check(snapshot: &Snapshot) {
    for (k, count) in [(10, false), (3, true), (0, true), (200, false)] {
        for text in QUERIES.iter().flat_map(|text| [text; 4]) {
            let found = compare(snapshot, text, k, count);
            let unpruned = answer(snapshot, text, k, count, "pruning");
            assert_eq!(hits(&found), hits(&unpruned), "{text} k {k}");
        }
    }
}

/// Asks without a technique.
fn answer(snapshot: &Snapshot, text: &str, k: usize, count: bool, without: &str) -> SearchResults {
    let options = SearchOptions {
        k,
        count,
        fetch: false,
        techniques: Techniques::default().without(without).unwrap(),
        ..SearchOptions::default()
    };
    let query = parse(snapshot, text);
    let queries = std::slice::from_ref(&query);
    let answer = snapshot.search_all(queries, &options).remove(0);
    answer.expect("an answer")
}

/// The documents that were found, with the bits of their scores.
fn hits(answer: &SearchResults) -> Vec<(u32, u32)> {
    let hits = answer.hits.iter();
    hits.map(|hit| (hit.doc, hit.score.to_bits())).collect()
}

/// Compares the answer of a query with that without hot lists, and gives it.
pub(super) fn compare(snapshot: &Snapshot, text: &str, k: usize, count: bool) -> SearchResults {
    let query = parse(snapshot, text);
    let search = snapshot.search(&query).top(k).count(count).fetch(false);
    let found = search.run().expect("an answer");
    let without = answer(snapshot, text, k, count, "hot");
    assert_eq!(hits(&found), hits(&without), "{text} k {k}");
    if count {
        let totals = (found.total, found.total_is_exact);
        assert_eq!(totals, (without.total, true), "{text} k {k}");
    } else if found.total_is_exact {
        assert_eq!(found.total, count_of(snapshot, &query), "{text} k {k}");
    }
    found
}

/// The total as pages have it.
fn count_of(snapshot: &Snapshot, query: &Query) -> u64 {
    snapshot
        .search(query)
        .top(0)
        .count(true)
        .techniques(Techniques::default().without("hot").unwrap())
        .run()
        .expect("a count")
        .total
}

pub(super) fn index() -> (TempDir, Index) {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(options(), folder.path()).expect("an index");
    (folder, index)
}

#[test]
fn hot_lists_answer_as_lists_do_whatever_is_written_between() {
    let (_folder, index) = index();
    let mut random = Rng::new(7);
    write(&index, 0..3_000, &mut random);
    check(&index.snapshot());
    let first = index.snapshot();
    // Behind the lists that are hot, in memory and on the device.
    write(&index, 3_000..3_200, &mut random);
    check(&index.snapshot());
    index.checkpoint().expect("a checkpoint");
    check(&index.snapshot());
    // Some of the best are replaced and deleted.
    delete_best(&index, "w0 w40");
    write(&index, 100..140, &mut random);
    check(&index.snapshot());
    check(&first);
    drop(first);
    index.rebuild(&mut |_, _, _| {}).expect("a rebuild");
    check(&index.snapshot());
}

#[test]
fn a_snapshot_from_before_a_vacuum_does_not_use_lists_from_behind_it() {
    // Which one is asked first decides whose lists are hot.
    for asks_first in [true, false] {
        let (_folder, index) = index();
        let mut random = Rng::new(9);
        write(&index, 0..3_000, &mut random);
        let first = index.snapshot();
        if asks_first {
            check(&first);
        }
        delete_best(&index, "w0 w40");
        while index.vacuum().expect("a vacuum") {}
        check(&index.snapshot());
        write(&index, 3_000..3_010, &mut random);
        check(&index.snapshot());
        check(&first);
    }
}

#[test]
fn hot_lists_read_no_page() {
    let (_folder, index) = index();
    write(&index, 0..3_000, &mut Rng::new(10));
    index.checkpoint().expect("a checkpoint");
    let snapshot = index.snapshot();
    for text in QUERIES {
        let query = parse(&snapshot, text);
        let ask = |count| {
            let search = snapshot.search(&query).fetch(false).count(count);
            search.run().expect("an answer").io.frames_hit
        };
        // A count reads all pages of the lists.
        ask(true);
        for _ in 0..3 {
            ask(false);
        }
        assert_eq!(ask(false), 0, "{text}");
    }
}

#[test]
fn lists_that_boosts_made_hot_answer_without_them() {
    for boost in [
        "^0.00000000000000000000000000000000000000000001",
        "^300000000000000000000",
    ] {
        let (_folder, index) = index();
        write(&index, 0..3_000, &mut Rng::new(11));
        let snapshot = index.snapshot();
        for text in [0, 7, 40].map(|word| format!("w{word}{boost}")) {
            let query = parse(&snapshot, &text);
            for _ in 0..4 {
                snapshot.search(&query).run().expect("an answer");
            }
        }
        check(&snapshot);
    }
}

/// Deletes the documents that answer a query best.
pub(super) fn delete_best(index: &Index, text: &str) {
    let query = parse(&index.snapshot(), text);
    let best = index
        .snapshot()
        .search(&query)
        .top(40)
        .run()
        .expect("an answer");
    let ids = best.hits.iter().map(|hit| hit.id.as_str());
    index
        .delete(&ids.collect::<Vec<&str>>())
        .expect("a deletion");
}

#[test]
fn a_reader_that_moves_on_finds_what_the_writer_finds() {
    let (folder, index) = index();
    let mut random = Rng::new(8);
    write(&index, 0..2_000, &mut random);
    index.checkpoint().expect("a checkpoint");
    let reader = options().read_only().open(folder.path()).expect("a reader");
    check(&reader.snapshot());
    delete_best(&index, "w0");
    // So that there are more documents than the lists were made from, whatever was deleted.
    write(&index, 2_000..2_100, &mut random);
    index.rebuild(&mut |_, _, _| {}).expect("a rebuild");
    assert!(reader.refresh().expect("a refresh"));
    check(&reader.snapshot());
}

#[test]
fn words_of_several_fields_are_answered_as_lists_answer_them() {
    let (_folder, index) = index();
    let mut random = Rng::new(12);
    let mut write = |ids: std::ops::Range<u64>| {
        let documents = ids.map(|id| {
            let mut text = |most: usize, of: usize| -> String {
                let words = (0..1 + random.below(most)).map(|_| {
                    let most = random.below(of) + 1;
                    format!("w{} ", random.below(most))
                });
                words.collect()
            };
            // Many titles are alike, so that scores are.
            let (title, body) = (text(2, 20), text(20, 50));
            let fields = [("title", title.as_str()), ("body", body.as_str())];
            Document::new(id.to_string(), fields).expect("a document")
        });
        index.write(documents.collect()).expect("a batch");
    };
    write(0..3_000);
    check(&index.snapshot());
    write(3_000..3_100);
    check(&index.snapshot());
    for text in [
        "w1 -title:w2",
        "+title:w0 body:w3",
        "+w1 +title:w4 -body:w0",
    ] {
        for (k, count) in [(10, false), (10, true), (200, false), (10, false)] {
            let found = compare(&index.snapshot(), text, k, count);
            let unpruned = answer(&index.snapshot(), text, k, count, "pruning");
            assert_eq!(hits(&found), hits(&unpruned), "{text} k {k}");
        }
    }
    delete_best(&index, "w0 w40");
    index.checkpoint().expect("a checkpoint");
    check(&index.snapshot());
    index.rebuild(&mut |_, _, _| {}).expect("a rebuild");
    check(&index.snapshot());
}
