//! Writing stays within the budget, whatever documents come and however many threads bring them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use gannet::{Document, Error, Index, Operator, PhraseFilters, Workbench};

use crate::corpus::{Random, word};
use crate::counting;

/// Bytes that the process may have allocated beside the budget: a compressor and scratch of each
/// thread, and the lines that this test makes.
pub const BESIDE: usize = 16 << 20;

/// Bytes of lines that the threads of a test write together.
const BYTES: u64 = 24 << 20;

/// Documents written, and those rejected.
#[derive(Default)]
struct Told {
    written: AtomicU64,
    rejected: AtomicU64,
    bytes: AtomicU64,
}

/// A line of about so many bytes: words that come again, or of which each is new.
fn line(number: u64, bytes: usize, random: &mut Random) -> String {
    let mut text = format!("{{\"id\":\"{number}\",\"body\":\"");
    let distinct = random.below(3) == 0;
    while text.len() < bytes {
        if distinct {
            text += &format!("{:x} ", random.0 >> 12);
        } else {
            text += &word(random.below(3_000));
        }
        random.below(2);
        text.push(' ');
    }
    text += "\"}";
    text
}

/// The bytes of a line: many are short, some as long as a document may be, and some longer.
fn length(index: &Index, random: &mut Random) -> usize {
    let most = index.document_bytes_max() as u64;
    let length = match random.below(40) {
        0 => most * 4 / 5 + random.below(most * 2 / 5),
        1..4 => 1 + random.below(most / 4),
        4..12 => 1 + random.below(20_000),
        _ => 1 + random.below(600),
    };
    length as usize
}

/// Writes batches of random lines until all threads together have written enough.
fn write(index: &Index, thread: u64, told: &Told) {
    let (mut random, mut bench) = (Random(thread * 7_919 + 17), Workbench::default());
    while told.bytes.load(Ordering::Relaxed) < BYTES {
        let mut lines = Vec::new();
        for _ in 0..1 + random.below(12) {
            let number = random.below(60_000);
            let bytes = length(index, &mut random);
            lines.push(line(number, bytes, &mut random));
            if bytes > 20_000 {
                break;
            }
        }
        let bytes: usize = lines.iter().map(String::len).sum();
        told.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let whole = index
            .prepare_lines(&mut bench, lines.iter().map(String::as_bytes))
            .and_then(|batch| index.write_prepared(batch));
        match whole {
            Ok(written) => drop(told.written.fetch_add(written.added, Ordering::Relaxed)),
            Err(Error::Memory { .. }) => lines.iter().for_each(|line| alone(index, line, told)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Writes a line by itself, or is told why it cannot be.
fn alone(index: &Index, line: &str, told: &Told) {
    match index.write_line(line.as_bytes()) {
        Ok(written) => drop(told.written.fetch_add(written.added, Ordering::Relaxed)),
        Err(Error::Memory { .. } | Error::Invalid(_)) => {
            told.rejected.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => panic!("{error}"),
    }
}

/// All that is done with an index in its life: writing, deleting, vacuuming, opening it again.
/// Tells for each part the most bytes that were allocated at once.
fn live(memory: usize, threads: u64) -> Vec<(&'static str, usize)> {
    let mut turn = counting::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    turn.begin();
    let open = || {
        let options = Index::options().memory(memory);
        let options = options.phrase_filters(PhraseFilters::Common);
        options.open(&path).expect("an index")
    };
    let (index, told) = (open(), Told::default());
    thread::scope(|scope| {
        for thread in 0..threads {
            let (index, told) = (&index, &told);
            scope.spawn(move || write(index, thread, told));
        }
    });
    let mut peaks = vec![("writing", turn.next_peak())];
    let written = told.written.load(Ordering::Relaxed);
    assert!(written > 100, "{written} documents");
    // What is in the log is replayed.
    index.sync().expect("a sync");
    drop(index);
    let index = open();
    peaks.push(("opening", turn.next_peak()));
    let query = index
        .snapshot()
        .parse(&word(3), Operator::Or)
        .expect("a query");
    let deleted = index.delete_matching(&query, &|_| {}).expect("deleted");
    while index.vacuum().expect("a vacuum") {}
    peaks.push(("a vacuum", turn.next_peak()));
    index.rebuild(&mut |_, _, _| {}).expect("written anew");
    peaks.push(("a rebuild", turn.next_peak()));
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    peaks.push(("a check", turn.next_peak()));
    index.close().expect("closed");
    peaks.push(("closing", turn.next_peak()));
    let rejected = told.rejected.load(Ordering::Relaxed);
    eprintln!(
        "{memory} bytes, {threads} threads: {written} documents, {rejected} rejected, \
         {} deleted, at most allocated: {peaks:?}",
        deleted.deleted
    );
    peaks
}

#[test]
fn writing_stays_within_the_budget() {
    for (memory, threads) in [(16 << 20, 1), (16 << 20, 8), (32 << 20, 2), (64 << 20, 8)] {
        for (what, peak) in live(memory, threads) {
            assert!(
                peak <= memory + BESIDE,
                "{memory} bytes, {threads} threads: {what} allocated {peak} bytes at once"
            );
        }
    }
}

/// A batch that was written with much memory is replayed with little, or the error says that it
/// needs more; either way the budget holds.
#[test]
fn opening_reserves_the_records_of_a_large_batch() {
    const LITTLE: usize = 16 << 20;
    const DOCUMENTS: u64 = 180;
    const MUCH: usize = 2 << 30;
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789  ";
    let mut turn = counting::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let much = || Index::options().memory(MUCH).open(&path);
    let index = much().expect("an index");
    let mut random = Random(17);
    let document = |id: u64, random: &mut Random| {
        let mut text = String::new();
        while text.len() < 200_000 {
            text.push(char::from(*random.of(LETTERS)));
        }
        Document::new(id.to_string(), [("body", text.as_str())]).expect("a document")
    };
    let batch = (0..DOCUMENTS).map(|id| document(id, &mut random)).collect();
    index.write(batch).expect("written");
    index.sync().expect("a sync");
    drop(index);
    turn.begin();
    let opened = Index::options().memory(LITTLE).open(&path);
    let peak = turn.peak();
    eprintln!("opening a large batch: {peak} bytes at once, budget {LITTLE}");
    assert!(
        peak <= LITTLE + BESIDE,
        "{peak} bytes were allocated at once"
    );
    match opened {
        Ok(index) => assert_eq!(index.snapshot().documents(), DOCUMENTS),
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains("a batch in the log"), "{error}");
            assert!(error.contains("give more memory"), "{error}");
        }
    }
    let index = much().expect("an index");
    assert_eq!(index.snapshot().documents(), DOCUMENTS);
    drop(turn);
}
