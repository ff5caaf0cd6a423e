//! The total of matching documents is exact if that is asked for, and for a single word as long as
//! nothing was deleted.

use gannet::{Document, Index, Operator, SearchOptions, Snapshot};

use super::environment::open;

/// Documents, in batches of which every other is on flash when the next comes.
const DOCUMENTS: u64 = 6_000;
const BATCH: usize = 500;

#[test]
fn the_total_of_a_word_is_exact_and_takes_no_look_at_its_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(Index::options(), &folder.path().join("index")).expect("an index");
    let documents: Vec<u64> = (0..DOCUMENTS).collect();
    for (number, batch) in documents.chunks(BATCH).enumerate() {
        let batch = batch.iter().map(|id| document(*id));
        index.write(batch.collect()).expect("a batch");
        if number % 2 == 0 {
            index.checkpoint().expect("a checkpoint");
        }
    }
    let whole = index.snapshot();
    for (word, every) in [("all", 1), ("third", 3), ("rare", 600)] {
        let total = (DOCUMENTS.div_ceil(every), true);
        assert_eq!(total_of(&whole, word, false), total, "{word}");
        assert_eq!(total_of(&whole, word, true), total, "{word}");
    }
    index.delete(&["0", "1", "3"]).expect("a deletion");
    let less = index.snapshot();
    for (word, gone) in [("all", 3), ("third", 2), ("rare", 1)] {
        let (before, _) = total_of(&whole, word, true);
        assert_eq!(total_of(&less, word, true), (before - gone, true), "{word}");
    }
}

fn document(id: u64) -> Document {
    let third = if id.is_multiple_of(3) { "third" } else { "" };
    let rare = if id.is_multiple_of(600) { "rare" } else { "" };
    let text = format!("all {third} {rare} {}", "more ".repeat(id as usize % 50));
    Document::new(id.to_string(), [("body", text.as_str())]).expect("a document")
}

/// The number of documents that have a word, and true if it is exact.
fn total_of(snapshot: &Snapshot, word: &str, count: bool) -> (u64, bool) {
    let query = snapshot.parse(&format!("body:{word}"), Operator::Or);
    let options = SearchOptions {
        count,
        ..SearchOptions::default()
    };
    let answers = snapshot.search_all(&[query.expect("a query")], &options);
    let answer = answers
        .into_iter()
        .next()
        .expect("one answer")
        .expect("an answer");
    (answer.total, answer.total_is_exact)
}
