//! Cleaning that was asked for gives the space back, joins chunks and leaves the documents.

use gannet::{Document, Index, Limits, Operator, Options, SearchOptions};

use super::environment::open;
use gannet_testkit::random::Rng;

/// Documents, and how often half of them are replaced.
const DOCUMENTS: u64 = 3_000;
const ROUNDS: u64 = 6;

/// More steps than any index of this size can need.
const STEPS_MAX: usize = 100;

#[test]
fn a_cleaned_index_has_little_dead_and_answers_as_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = open(options(), &path).expect("an index");
    let mut random = Rng::new(11);
    for round in 0..ROUNDS {
        let documents = (0..DOCUMENTS).filter(|id| round == 0 || id % 2 == round % 2);
        let documents: Vec<u64> = documents.collect();
        for batch in documents.chunks(500) {
            let batch = batch.iter().map(|id| document(*id, &mut random));
            index.write(batch.collect()).expect("a batch");
            index.checkpoint().expect("a checkpoint");
        }
    }
    // A checkpoint cleans a little. The zones that were being filled are cleaned too: an index that
    // is opened begins others.
    index.checkpoint().expect("a checkpoint");
    index.close().expect("an end");
    let index = open(options(), &path).expect("an index");
    let (answers, before) = (answers(&index), index.stats().expect("figures").bytes);
    let steps = (0..STEPS_MAX).find(|_| !index.clean().expect("a cleaning"));
    let after = index.stats().expect("figures").bytes;
    assert!(steps.is_some(), "{after:?}");
    assert!(before.dead * 3 > before.allocated, "{before:?}");
    assert!(after.dead * 5 <= after.allocated, "{after:?}");
    assert_eq!(self::answers(&index), answers);
    // Lists of so few documents have small chunks only, and each is one now.
    for lists in index.lists().expect("the lists").iter().take(3) {
        assert_eq!(lists.chunks, lists.lists - lists.inline_lists, "{lists:?}");
    }
    let report = index.check(&|_, _| ()).expect("a check");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// Nothing is cleaned that was not asked for.
fn options() -> Options {
    Index::options().limits(Limits {
        maintain_after: None,
        ..Limits::default()
    })
}

fn document(id: u64, random: &mut Rng) -> Document {
    // The smaller the number, the more documents have the word.
    let mut word = || {
        let share = 1 + random.below(40);
        format!("w{}", random.below(1 + 4_000 / share))
    };
    let words = (0..120).map(|_| word());
    let text = words.collect::<Vec<_>>().join(" ");
    Document::new(id.to_string(), [("body", text.as_str())]).expect("a document")
}

/// The IDs and scores of the best documents for some words.
fn answers(index: &Index) -> Vec<Vec<(String, f32)>> {
    let snapshot = index.snapshot();
    let parse = |word: u64| snapshot.parse(&format!("body:w{word} w1"), Operator::Or);
    let queries: Vec<_> = (0..200).map(|n| parse(n * 7).expect("a query")).collect();
    let all = snapshot.search_all(&queries, &SearchOptions::default());
    let hits = |answer: gannet::Result<gannet::SearchResults>| {
        let hits = answer.expect("an answer").hits.into_iter();
        hits.map(|hit| (hit.id, hit.score)).collect()
    };
    all.into_iter().map(hits).collect()
}
