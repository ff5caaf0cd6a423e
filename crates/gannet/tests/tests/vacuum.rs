//! Vacuum: what deleted documents have left goes, by itself and when it is asked for, while others
//! write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gannet::diagnostics::BytesByPart;
use gannet::{Document, Index, Limits, Operator, SearchOptions};

use super::environment::open;
use gannet_testkit::random::Rng;

const DOCUMENTS: u64 = 3_000;

/// Small buffers and slices, so that a sweep takes many flushes.
fn limits() -> Limits {
    Limits {
        buffer_bytes: Some(128 << 10),
        vacuum_bytes: Some(48 << 10),
        // What is looked at stays as it was written.
        maintain_after: None,
        ..Limits::default()
    }
}

fn document(id: u64, version: u64) -> Document {
    let mut random = Rng::new(id * 1_000 + version);
    // The smaller the number, the more documents have the word.
    let words = (0..60).map(|_| {
        let share = 1 + random.below(40);
        format!("w{}", random.below(1 + 4_000 / share))
    });
    let text = words.collect::<Vec<_>>().join(" ");
    let title = format!("title {} v{version}", id % 50);
    Document::new(id.to_string(), [("body", text.as_str()), ("title", &title)]).expect("a document")
}

/// Writes a version of the documents of some IDs, in an order that has nothing to do with that
/// before.
fn write(index: &Index, ids: impl Iterator<Item = u64>, version: u64) {
    let mut ids: Vec<u64> = ids.collect();
    ids.sort_unstable_by_key(|id| Rng::new(id * 7 + version).next());
    for batch in ids.chunks(100) {
        let batch = batch.iter().map(|id| document(*id, version));
        index.write(batch.collect()).expect("a batch");
    }
}

/// IDs and scores for some words and phrases, in an order that does not depend on doc IDs.
fn answers(index: &Index) -> Vec<Vec<(String, f32)>> {
    let snapshot = index.snapshot();
    let texts = (0..150).map(|n| match n % 3 {
        0 => format!("body:w{}", n * n / 7),
        1 => format!("title:\"title {}\"", n % 50),
        _ => format!("body:w{} w{n}", n / 9),
    });
    let parse = |text: String| snapshot.parse(&text, Operator::Or).expect("a query");
    let queries: Vec<_> = texts.map(parse).collect();
    let options = SearchOptions {
        k: DOCUMENTS as usize,
        ..SearchOptions::default()
    };
    let all = snapshot.search_all(&queries, &options);
    let hits = |answer: gannet::Result<gannet::SearchResults>| {
        let hits = answer.expect("an answer").hits.into_iter();
        let mut hits: Vec<(String, f32)> = hits.map(|hit| (hit.id, hit.score)).collect();
        hits.sort_by(|a, b| a.0.cmp(&b.0));
        hits
    };
    all.into_iter().map(hits).collect()
}

/// Versions and sequence numbers by ID, in the form of answers.
fn versions(index: &Index) -> Vec<Vec<(String, f32)>> {
    let snapshot = index.snapshot();
    let query = snapshot.parse("*:*", Operator::Or).expect("a query");
    let all = snapshot
        .search(&query)
        .top(DOCUMENTS as usize)
        .run()
        .expect("an answer");
    let documents = all.hits.iter().map(|hit| {
        let found = index.get(&hit.id).expect("an answer").expect("a document");
        vec![
            (hit.id.clone(), found.version as f32),
            (String::new(), found.sequence as f32),
        ]
    });
    let mut documents: Vec<_> = documents.collect();
    documents.sort_by(|a, b| a[0].0.cmp(&b[0].0));
    documents
}

fn assert_whole(index: &Index) {
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

#[test]
fn an_index_whose_documents_were_replaced_is_like_a_fresh_one_after_a_vacuum() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    write(&index, 0..DOCUMENTS, 1);
    write(&index, 0..DOCUMENTS, 2);
    let halves: Vec<String> = (0..DOCUMENTS).step_by(2).map(|id| id.to_string()).collect();
    for ids in halves.chunks(100) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        index.delete(&ids).expect("a batch");
    }
    let slices = (1..10_000).find(|_| !index.vacuum().expect("a slice"));
    assert!(slices.is_some_and(|slices| slices > 5), "{slices:?}");
    let cleanings = (1..100).find(|_| !index.clean().expect("a cleaning"));
    assert!(cleanings.is_some());
    assert_eq!(index.stats().expect("figures").dead_documents, 0);
    assert_whole(&index);
    // Nothing found is deleted, and so the total of a word is known without counting; that of all
    // documents is not.
    let snapshot = index.snapshot();
    let total = |text: &str| {
        let query = snapshot.parse(text, Operator::Or).expect("a query");
        let results = snapshot.search(&query).run().expect("an answer");
        (results.total, results.total_is_exact)
    };
    let wanted = (0..DOCUMENTS)
        .filter(|id| id % 2 == 1 && id % 50 == 7)
        .count() as u64;
    assert_eq!(total("title:7"), (wanted, true));
    let query = snapshot.parse("*:*", Operator::Or).expect("a query");
    let all = snapshot
        .search(&query)
        .count(true)
        .run()
        .expect("an answer");
    assert_eq!((all.total, all.hits.len()), (DOCUMENTS / 2, 10));
    assert!(all.hits.iter().all(|hit| hit.source.is_some()));
    // The zones that were being filled are cleaned too: an index that is opened begins others.
    drop(snapshot);
    index.close().expect("an end");
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    while index.clean().expect("a cleaning") {}

    let fresh = open(Index::options(), &folder.path().join("fresh")).expect("an index");
    write(&fresh, (0..DOCUMENTS).filter(|id| id % 2 == 1), 2);
    while fresh.clean().expect("a cleaning") {}
    assert_eq!(answers(&index), answers(&fresh));
    let [after, fresh] = [&index, &fresh].map(|index| index.stats().expect("figures"));
    assert_eq!(after.documents, fresh.documents);
    assert_eq!(after.terms, fresh.terms);
    // So small an index has more in zones that are being filled than in others, so only what lives
    // is compared.
    let live = |bytes: BytesByPart| bytes.nodes + bytes.postings + bytes.documents + bytes.tables;
    let [after, fresh] = [after, fresh].map(|stats| live(stats.bytes));
    assert!(
        after * 10 <= fresh * 12,
        "{after} bytes, {fresh} of a fresh index"
    );
    assert_whole(&index);
}

#[test]
fn sweeps_begin_by_themselves_while_documents_are_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(
        Index::options().limits(limits()),
        &folder.path().join("index"),
    );
    let index = index.expect("an index");
    for version in 1..=6 {
        write(&index, 0..DOCUMENTS, version);
        let stats = index.stats().expect("figures");
        // A quarter when a sweep begins, and what is replaced until it ends.
        let (dead, all) = (stats.dead_documents, stats.dead_documents + DOCUMENTS);
        assert!(dead * 3 < all * 2, "{dead} of {all} are dead");
    }
    index.checkpoint().expect("a checkpoint");
    let stats = index.stats().expect("figures");
    assert!(
        stats.dead_documents < 5 * DOCUMENTS / 2,
        "{}",
        stats.dead_documents
    );
    assert_whole(&index);
}

#[test]
fn a_vacuum_that_is_asked_for_lets_others_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    write(&index, 0..DOCUMENTS, 1);
    write(&index, 0..DOCUMENTS / 3, 2);
    let before = index.stats().expect("figures").dead_documents;
    let done = AtomicBool::new(false);
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut written = 0;
            while !done.load(Ordering::Relaxed) {
                let ids = (0..20).map(|n| DOCUMENTS / 2 + (written * 20 + n) % 500);
                write(&index, ids, 3 + written);
                written += 1;
            }
            written
        });
        while index.vacuum().expect("a slice") {}
        done.store(true, Ordering::Relaxed);
        writer.join().expect("the writer")
    });
    let after = index.stats().expect("figures").dead_documents;
    println!("{before} dead before, {after} after, {written} batches meanwhile");
    assert!(written > 0);
    assert!(after <= written * 20 + 20, "{after} dead");
    assert_whole(&index);
    assert_eq!(index.snapshot().documents(), DOCUMENTS);
}

#[test]
fn an_interrupted_sweep_begins_anew_and_counts_what_it_took_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    write(&index, 0..DOCUMENTS, 1);
    write(&index, 0..DOCUMENTS / 4, 2);
    for _ in 0..3 {
        assert!(index.vacuum().expect("a slice"));
    }
    // Without an end: what is in the log is replayed, and the sweep is forgotten.
    write(&index, DOCUMENTS / 2..DOCUMENTS, 2);
    index.sync().expect("a sync");
    drop(index);
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    assert_whole(&index);
    while index.vacuum().expect("a slice") {}
    assert_eq!(index.stats().expect("figures").dead_documents, 0);
    assert_whole(&index);
    let fresh = open(Index::options(), &folder.path().join("fresh")).expect("an index");
    write(&fresh, DOCUMENTS / 4..DOCUMENTS / 2, 1);
    write(&fresh, 0..DOCUMENTS / 4, 2);
    write(&fresh, DOCUMENTS / 2..DOCUMENTS, 2);
    assert_eq!(answers(&index), answers(&fresh));
}

/// A sweep that began by itself, or for others, before the documents were deleted is not all that
/// is done.
#[test]
fn a_vacuum_takes_out_what_was_deleted_before_it_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    write(&index, 0..DOCUMENTS, 1);
    // More than a quarter: the next flush begins a sweep.
    write(&index, 0..DOCUMENTS / 2, 2);
    index.checkpoint().expect("a checkpoint");
    write(&index, DOCUMENTS / 2..DOCUMENTS / 2 + 100, 2);
    while index.vacuum().expect("a slice") {}
    assert_eq!(index.stats().expect("figures").dead_documents, 0);
    assert_whole(&index);
}

#[test]
fn a_rebuild_leaves_what_a_fresh_index_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    write(&index, 0..DOCUMENTS, 1);
    write(&index, 0..DOCUMENTS / 2, 2);
    let gone: Vec<String> = (0..DOCUMENTS).step_by(3).map(|id| id.to_string()).collect();
    index
        .delete(&gone.iter().map(String::as_str).collect::<Vec<_>>())
        .expect("a batch");
    let before = [answers(&index), versions(&index)];
    let snapshot = index.snapshot();
    let mut told = 0;
    let mut progress = |_: &str, done, all| {
        assert!(done <= all);
        told += 1;
    };
    index.rebuild(&mut progress).expect("a rebuild");
    assert!(told > 0);
    assert_eq!(snapshot.documents(), DOCUMENTS / 3 * 2);
    assert!(
        snapshot
            .search(&snapshot.parse("body:w1", Operator::Or).unwrap())
            .run()
            .is_ok()
    );
    drop(snapshot);
    let fresh = open(Index::options(), &folder.path().join("fresh")).expect("an index");
    let left = |ids: std::ops::Range<u64>| ids.filter(|id| id % 3 != 0);
    write(&fresh, left(0..DOCUMENTS / 2), 2);
    write(&fresh, left(DOCUMENTS / 2..DOCUMENTS), 1);
    fresh.checkpoint().expect("a checkpoint");
    assert_whole(&index);
    assert_eq!(answers(&index), answers(&fresh));
    assert_eq!(versions(&index), before[1]);
    let stats = index.stats().expect("figures");
    assert_eq!(
        (stats.dead_documents, stats.documents),
        (0, DOCUMENTS / 3 * 2)
    );
    // Writing goes on, and what it logged is replayed behind the new numbers.
    write(&index, 0..30, 3);
    index.delete(&["31", "32"]).expect("a batch");
    index.sync().expect("a sync");
    let after = [answers(&index), versions(&index)];
    drop(index);
    let index = open(Index::options().limits(limits()), &path).expect("an index");
    assert_eq!([answers(&index), versions(&index)], after);
    assert_whole(&index);
    assert_ne!(before, after);
}

#[test]
fn vacuum_ends_after_a_full_one() {
    let limits = Limits {
        vacuum_bytes: None,
        ..limits()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(
        Index::options().limits(limits),
        &folder.path().join("index"),
    );
    let index = index.expect("an index");
    write(&index, 0..300, 1);
    let ids: Vec<String> = (0..200).map(|id: u64| id.to_string()).collect();
    let delete = |ids: &[String]| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        index.delete(&ids).expect("deletions");
    };
    delete(&ids);
    while index.vacuum().expect("a step") {}
    index.rebuild(&mut |_, _, _| {}).expect("a rebuild");
    assert!((0..50).any(|_| !index.vacuum().expect("a step")));
    let ids: Vec<String> = (200..230).map(|id: u64| id.to_string()).collect();
    delete(&ids);
    assert!((0..200).any(|_| !index.maintain().expect("a step")));
    assert_eq!(index.stats().expect("figures").dead_documents, 0);
}

/// Documents with values: numbers, few strings, strings of their own, addresses.
fn valued(id: u64) -> Document {
    let json = serde_json::json!({
        "id": id.to_string(),
        "size": id * 7 % 1_000,
        "kind": format!("kind {}", id % 9),
        "own": [format!("own {id}"), format!("pair {}", id / 2)],
        "ip": format!("10.{}.{}.7", id / 256 % 256, id % 256),
    });
    Document::parse(json.to_string().as_bytes()).expect("a document")
}

fn of_values() -> gannet::Options {
    let mapping = gannet::FieldMapping::from_json(
        r#"{"size": "long", "kind": "keyword", "own": "keyword", "ip": "ip"}"#,
    );
    let limits = Limits {
        buffer_bytes: Some(512 << 10),
        ..limits()
    };
    let options = Index::options().memory(32 << 20).limits(limits);
    options.mapping(mapping.expect("a mapping"))
}

/// Compares values of documents that live with what was written, and counts all that have some.
fn check_values(index: &Index, ids: &[u64]) {
    let snapshot = index.snapshot();
    let some: Vec<u64> = ids.iter().copied().step_by(7).collect();
    let names: Vec<String> = some.iter().map(ToString::to_string).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (column, wanted) in [
        (
            "size",
            (|id| vec![(id * 7 % 1_000).to_string()]) as fn(u64) -> Vec<String>,
        ),
        ("kind", |id| vec![format!("kind {}", id % 9)]),
        ("own", |id| {
            vec![format!("own {id}"), format!("pair {}", id / 2)]
        }),
        ("ip", |id| {
            vec![format!("10.{}.{}.7", id / 256 % 256, id % 256)]
        }),
    ] {
        let found = snapshot.values(&names, column).expect("values");
        for (id, found) in some.iter().zip(found) {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, wanted(*id), "{column} of {id}");
        }
    }
    for (text, is_wanted) in [
        (
            "size:[100 TO 200]",
            (|id| (100..=200).contains(&(id * 7 % 1_000))) as fn(u64) -> bool,
        ),
        ("kind:=\"kind 3\"", |id| id % 9 == 3),
        ("own:=(\"own 77\" \"pair 9000\" \"own 11\")", |id| {
            [77, 11].contains(&id) || id / 2 == 9_000
        }),
        ("ip:10.40.0.0/16", |id| id / 256 % 256 == 40),
        ("size:*", |_| true),
    ] {
        let query = snapshot.parse(text, Operator::Or).expect("a query");
        let found = snapshot
            .search(&query)
            .top(1)
            .count(true)
            .run()
            .expect("an answer");
        let wanted = ids.iter().filter(|id| is_wanted(**id)).count();
        assert_eq!(found.total, wanted as u64, "{text}");
    }
}

fn column_bytes(index: &Index) -> std::collections::BTreeMap<String, u64> {
    index.column_bytes().expect("figures").into_iter().collect()
}

fn keywords(index: &Index, column: &str) -> u64 {
    let columns = index.snapshot().columns().expect("columns");
    let own = columns.into_iter().find(|own| own.name == column);
    own.expect("a column").keywords
}

fn vacuum(index: &Index) {
    assert!((1..10_000).any(|_| !index.vacuum().expect("a slice")));
}

/// Groups without a live document leave the columns, those of which less than half live are written
/// anew, and strings that no document has lose their numbers.
#[test]
fn values_of_deleted_documents_leave_the_columns() {
    const ALL: u64 = 24_000;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(of_values(), &path).expect("an index");
    for first in (0..ALL).step_by(400) {
        let batch = (first..first + 400).map(valued);
        index.write(batch.collect()).expect("a batch");
    }
    index.checkpoint().expect("a checkpoint");
    let before = column_bytes(&index);
    let reader = index.snapshot();
    // None of the first third lives, a quarter of the second, and nine tenths of the last.
    let lives = |id: &u64| match id * 3 / ALL {
        0 => false,
        1 => id.is_multiple_of(4),
        _ => !id.is_multiple_of(10),
    };
    let (live, dead): (Vec<u64>, Vec<u64>) = (0..ALL).partition(lives);
    for ids in dead.chunks(500) {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        index.delete(&ids).expect("a batch");
    }
    check_values(&index, &live);
    vacuum(&index);
    index.checkpoint().expect("a checkpoint");
    let after = column_bytes(&index);
    for (column, bytes) in &before {
        // What lives is under half of what was there; maps and blocks have some of their own.
        let share = after[column] as f64 / *bytes as f64;
        assert!(
            share < 0.6,
            "{column}: {bytes} bytes, then {}",
            after[column]
        );
    }
    // Of the last third nothing was taken out, so that its strings stay; the last span stays too.
    let most = live.len() as u64 + ALL / 30 + 8 * 1_024;
    assert!(
        keywords(&index, "ip") <= most,
        "{} of {most}",
        keywords(&index, "ip")
    );
    assert!(keywords(&index, "own") <= 2 * most);
    assert_eq!(keywords(&index, "kind"), 9);
    assert_whole(&index);
    check_values(&index, &live);
    // A state from before has all that it had.
    let found = reader.values(&["5", "4321"], "own").expect("values");
    assert_eq!((found[0].len(), found[1].len()), (2, 2));
    drop(reader);
    drop(index);
    let index = open(of_values(), &path).expect("the index opens");
    assert_whole(&index);
    check_values(&index, &live);
    // Strings whose numbers were given up come again, with other numbers.
    let again: Vec<u64> = (0..2_000).collect();
    for ids in again.chunks(400) {
        index
            .write(ids.iter().map(|id| valued(*id)).collect())
            .expect("a batch");
        index.checkpoint().expect("a checkpoint");
    }
    let live: Vec<u64> = again.into_iter().chain(live).collect();
    check_values(&index, &live);
    assert_whole(&index);
    index.rebuild(&mut |_, _, _| ()).expect("a rebuild");
    assert_eq!(keywords(&index, "ip"), live.len() as u64);
    check_values(&index, &live);
    assert_whole(&index);
}
