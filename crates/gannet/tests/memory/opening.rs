//! An index opens in little memory, whatever memory its log was written with.

use gannet::{Document, Index, Operator};

use crate::corpus::Random;
use crate::counting;
use crate::writing::BESIDE;

const LITTLE: usize = 16 << 20;
const MUCH: usize = 64 << 20;

/// Documents of a batch, and batches.
const BATCH: u64 = 200;
const BATCHES: u64 = 75;

/// A document with words that no other has, the first of which can be told from its number.
fn document(number: u64, version: u64, random: &mut Random) -> Document {
    let mut text = format!("all v{version}n{number}");
    for _ in 0..8 {
        text += &format!(" {:x}", random.below(u64::MAX));
    }
    Document::new(number.to_string(), [("body", text)]).expect("a document")
}

/// Documents in small batches, some of which are replaced, and then some deleted.
fn write(index: &Index) {
    let mut random = Random(31);
    let mut write = |numbers: &mut dyn Iterator<Item = u64>, version| {
        let documents = numbers.map(|number| document(number, version, &mut random));
        index.write(documents.collect()).expect("written");
    };
    for batch in 0..BATCHES {
        write(&mut (batch * BATCH..(batch + 1) * BATCH), 1);
    }
    write(&mut (0..BATCH * BATCHES).step_by(29), 2);
    let gone: Vec<String> = (0..BATCH * BATCHES)
        .step_by(7)
        .map(|number| number.to_string())
        .collect();
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    index.delete(&gone).expect("deleted");
}

/// Each document that lives is found by its word, and no other.
fn expect_all(index: &Index) {
    let snapshot = index.snapshot();
    let live = (0..BATCH * BATCHES).filter(|number| number % 7 > 0).count();
    assert_eq!(snapshot.documents(), live as u64);
    for number in (0..BATCH * BATCHES).step_by(13) {
        for version in [1, 2] {
            let query = snapshot.parse(&format!("v{version}n{number}"), Operator::Or);
            let query = query.expect("a query");
            let hits = snapshot.search(&query).run().expect("an answer").hits;
            let ids: Vec<String> = hits.into_iter().map(|hit| hit.id).collect();
            let lives = number % 7 > 0 && (number % 29 == 0) == (version == 2);
            let expected: Vec<String> = lives.then(|| number.to_string()).into_iter().collect();
            assert_eq!(ids, expected, "v{version}n{number}");
        }
    }
}

#[test]
fn a_log_that_was_written_with_much_memory_is_opened_with_little() {
    let mut turn = counting::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let index = Index::options().memory(MUCH).open(&path).expect("an index");
    write(&index);
    index.sync().expect("a sync");
    drop(index);
    let little = || Index::options().memory(LITTLE);
    // Who only reads flushes nothing.
    let error = little().read_only().open(&path).err().expect("too much");
    let told = error.to_string();
    assert!(told.contains("documents wait in the log"), "{told}");
    turn.begin();
    let index = little().open(&path).expect("an index");
    let peak = turn.peak();
    eprintln!("opening a long log: {peak} bytes at once, budget {LITTLE}");
    assert!(peak <= LITTLE + BESIDE, "{peak} bytes");
    expect_all(&index);
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    drop(index);
    expect_all(&little().read_only().open(&path).expect("an index"));
    expect_all(&little().open(&path).expect("an index"));
    drop(turn);
}
