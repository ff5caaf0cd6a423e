//! Pruning changes no answer: the best documents of queries of several words, with all pages at
//! hand and with none, are those that a search finds that scores everything.

use gannet::diagnostics::Techniques;
use gannet::{Document, Hit, Index, Operator, Query, SearchOptions, Snapshot};

use super::environment::open;
use gannet_testkit::random::Rng;

/// Documents in parts that lie on flash.
const DOCUMENTS: u64 = 16_000;
const BATCH: usize = 4_000;

/// Words of which the first is in half of the documents, and each other in fewer: a block of the
/// first ones is short in documents, and one of the last ones spans many pages of norms.
const WORDS: usize = 40;

/// Queries that are asked of an index that was just opened, and how often.
const QUERIES: usize = 12;
const ROUNDS: usize = 25;

#[test]
fn what_is_passed_over_changes_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let mut rng = Rng::new(7);
    {
        let index = open(Index::options(), &path).expect("an index");
        let documents: Vec<u64> = (0..DOCUMENTS).collect();
        for batch in documents.chunks(BATCH) {
            let batch = batch.iter().map(|id| document(*id, &mut rng));
            index.write(batch.collect()).expect("a batch");
            index.checkpoint().expect("a checkpoint");
        }
    }
    for _ in 0..ROUNDS {
        let index = open(Index::options(), &path).expect("an index");
        let snapshot = index.snapshot();
        for _ in 0..QUERIES {
            let text = query(&mut rng);
            let query = snapshot.parse(&text, Operator::Or).expect("a query");
            compare(&snapshot, &query, &text);
        }
    }
}

fn compare(snapshot: &Snapshot, query: &Query, text: &str) {
    // What is asked first finds the pages of the query unread.
    let (hits, total) = best(snapshot, query, false, true);
    let (counted, count) = best(snapshot, query, true, true);
    let (expected, all) = best(snapshot, query, true, false);
    assert_eq!(hits, expected, "{text}");
    assert_eq!(counted, expected, "{text}, counted");
    assert_eq!(count, all, "{text}");
    assert!(total <= all, "{text}: {total} of {all}");
}

/// The best documents, and how many there are at least.
fn best(snapshot: &Snapshot, query: &Query, count: bool, pruning: bool) -> (Vec<(u32, f32)>, u64) {
    let options = SearchOptions {
        count,
        techniques: Techniques {
            pruning,
            ..Techniques::default()
        },
        ..SearchOptions::default()
    };
    let answers = snapshot.search_all(std::slice::from_ref(query), &options);
    let answer = answers.into_iter().next().expect("one answer");
    let answer = answer.expect("an answer");
    let hits = answer.hits.iter().map(|hit: &Hit| (hit.doc, hit.score));
    (hits.collect(), answer.total)
}

fn document(id: u64, rng: &mut Rng) -> Document {
    let mut text = String::new();
    for word in 0..WORDS {
        if rng.below(word + 2) == 0 {
            let times = 1 + rng.below(6) / 4 + rng.below(20) / 19 * rng.below(9);
            text += &format!("w{word} ").repeat(times);
        }
    }
    text += &"filling ".repeat(rng.below(40));
    Document::new(id.to_string(), [("body", text.as_str())]).expect("a document")
}

/// Two to six words, of which the first must match at times, or a word that must beside others.
fn query(rng: &mut Rng) -> String {
    let count = 2 + rng.below(5);
    let word = |rng: &mut Rng| format!("body:w{}", rng.below(WORDS));
    let words: Vec<String> = (0..count).map(|_| word(rng)).collect();
    let signs = ["", "", "+", "+"];
    let first = *rng.pick(&signs);
    let second = *rng.pick(&["", if first == "+" { "+" } else { "" }]);
    format!("{first}{} {second}{}", words[0], words[1..].join(" "))
}
