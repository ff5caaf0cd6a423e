//! The total of matching documents is exact if that is asked for, and for a single word as long as
//! nothing was deleted.

use gannet::{Document, Index, Operator, SearchOptions, Snapshot, SortKey};

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

#[test]
fn a_least_score_leaves_out_what_scores_less() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = open(Index::options(), &folder.path().join("index")).expect("an index");
    let documents = (0..DOCUMENTS).map(document);
    index.write(documents.collect()).expect("a batch");
    let snapshot = index.snapshot();
    let found = |text: &str, min_score, by: &str| {
        let query = snapshot.parse(text, Operator::Or).expect("a query");
        let options = SearchOptions {
            k: SearchOptions::RANKED_MAX,
            min_score,
            count: true,
            fetch: false,
            sort: by
                .split_whitespace()
                .map(|key| SortKey::parse(key).expect("a key"))
                .collect(),
            ..SearchOptions::default()
        };
        let answer = snapshot.search_all(&[query], &options).remove(0);
        let answer = answer.expect("an answer");
        let hits = answer.hits.iter().map(|hit| (hit.doc, hit.score));
        (answer.total, hits.collect::<Vec<_>>())
    };
    for text in [
        "body:all",
        "body:third body:rare",
        "+body:all body:rare",
        "*:*",
    ] {
        let (_, all) = found(text, None, "");
        for least in [0.0, all[all.len() / 3].1, all[0].1, all[0].1 + 1.0] {
            let kept = all.iter().copied().filter(|(_, score)| *score >= least);
            let kept: Vec<_> = kept.collect();
            let (total, hits) = found(text, Some(least), "");
            assert_eq!(total, kept.len() as u64, "{text} {least}");
            assert_eq!(hits, kept, "{text} {least}");
            let mut docs: Vec<u32> = kept.iter().map(|(doc, _)| *doc).collect();
            docs.sort_unstable();
            let (_, by_place) = found(text, Some(least), "_doc");
            let by_place: Vec<u32> = by_place.iter().map(|(doc, _)| *doc).collect();
            assert_eq!(by_place, docs, "{text} {least}");
        }
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
