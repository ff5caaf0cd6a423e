//! Snapshots that hold back too much are given up, the oldest first, with an error that says so.

use std::thread;
use std::time::{Duration, Instant};

use gannet::{Document, Error, Index, Limits, Operator, SearchResults, Snapshot};

use super::environment::open;
use gannet_testkit::random::Rng;

fn limits() -> Limits {
    Limits {
        buffer_bytes: Some(64 << 10),
        snapshot_bytes: Some(1 << 20),
        snapshot_age: Duration::ZERO,
        // What is looked at stays as it was written.
        maintain_after: None,
        ..Limits::default()
    }
}

/// Writes all documents anew, with words of this round.
fn write(index: &Index, documents: u64, round: u64) {
    for first in (0..documents).step_by(100) {
        let documents = (first..documents.min(first + 100)).map(|id| {
            let mut random = Rng::new(id * 1_000 + round);
            let words = (0..60).map(|_| format!("w{}", random.below(5_000)));
            let text = format!("round{round} {}", words.collect::<Vec<_>>().join(" "));
            Document::new(id.to_string(), [("body", text.as_str())]).expect("a document")
        });
        index.write(documents.collect()).expect("a batch");
    }
}

fn of_round(snapshot: &Snapshot, round: u64) -> gannet::Result<SearchResults> {
    let query = snapshot.parse(&format!("body:round{round}"), Operator::Or);
    snapshot.search(&query?).count(true).run()
}

#[test]
fn the_oldest_snapshots_are_given_up_when_they_hold_back_too_much() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(
        Index::options().limits(limits()),
        &folder.path().join("index"),
    );
    let index = index.expect("an index");
    write(&index, 1_000, 0);
    index.checkpoint().expect("a checkpoint");
    let old = index.snapshot();
    let copy = old.clone();
    assert_eq!(of_round(&old, 0).expect("an answer").total, 1_000);
    let mut most = 0;
    for round in 1..=8 {
        write(&index, 1_000, round);
        while index.vacuum().expect("a slice") {}
        while index.clean().expect("a cleaning") {}
        let files = std::fs::read_dir(folder.path().join("index")).expect("the folder");
        let sizes = files.map(|file| file.expect("a file").metadata().expect("its size").len());
        let (files, own) = (sizes.sum::<u64>(), index.stats().expect("figures").bytes);
        most = most.max(files.saturating_sub(own.allocated));
    }
    // What may be held back, the zones of a checkpoint or two, and the root slots.
    assert!(most < 4 << 20, "{most} bytes held back");
    for old in [old, copy] {
        let error = of_round(&old, 0).expect_err("it was given up");
        assert!(matches!(error, Error::Expired { .. }), "{error}");
        assert!(error.to_string().contains("take a new one"), "{error}");
        assert_eq!(old.documents(), 1_000);
    }
    let young = index.snapshot();
    assert_eq!(of_round(&young, 8).expect("an answer").total, 1_000);
}

#[test]
fn a_snapshot_that_holds_back_little_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits {
        snapshot_bytes: Some(1 << 30),
        ..limits()
    };
    let index = open(
        Index::options().limits(limits),
        &folder.path().join("index"),
    );
    let index = index.expect("an index");
    write(&index, 500, 0);
    let old = index.snapshot();
    (1..=4).for_each(|round| write(&index, 500, round));
    assert_eq!(of_round(&old, 0).expect("an answer").total, 500);
}

#[test]
fn a_snapshot_is_given_up_in_time_though_nobody_writes_any_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits {
        snapshot_bytes: Some(32 << 10),
        snapshot_age: Duration::from_secs(30),
        ..limits()
    };
    let path = folder.path().join("index");
    let index = open(Index::options().limits(limits), &path).expect("an index");
    (0..=8).for_each(|round| write(&index, 1_000, round));
    let (old, start) = (index.snapshot(), Instant::now());
    while index.vacuum().expect("a slice") {}
    while index.clean().expect("a cleaning") {}
    // It holds back far more than it may, and was too young for that when the cleaning ended.
    loop {
        assert!(start.elapsed() < Duration::from_secs(60), "it is held");
        match of_round(&old, 8) {
            Ok(found) => assert_eq!(found.total, 1_000),
            Err(Error::Expired { .. }) => break,
            Err(error) => panic!("{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn snapshots_give_their_memory_to_new_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits {
        snapshot_bytes: Some(1 << 30),
        buffer_bytes: None,
        ..limits()
    };
    let options = Index::options().memory(gannet::MEMORY_MIN).limits(limits);
    let index = open(options, &folder.path().join("index")).expect("an index");
    let snapshots: Vec<Snapshot> = (0..40)
        .map(|round| {
            write(&index, 1_000, round);
            // A search finds memory too.
            let young = index.snapshot();
            assert_eq!(of_round(&young, round).expect("an answer").total, 1_000);
            young
        })
        .collect();
    let answers: Vec<bool> = (0..40)
        .map(|round| of_round(&snapshots[round as usize], round).is_ok())
        .collect();
    println!("{answers:?}");
    assert!(answers[39], "the newest is there");
    assert!(!answers[0], "the oldest is given up");
    let error = of_round(&snapshots[0], 0).expect_err("it was given up");
    assert!(error.to_string().contains("memory"), "{error}");
}
