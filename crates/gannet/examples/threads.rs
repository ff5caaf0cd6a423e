//! Several threads search while another one writes.
//!
//! ```text
//! cargo run --release --example threads
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gannet::{Document, Index, Operator, Result};

const DOCUMENTS: usize = 20_000;
const READERS: usize = 4;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let index = Index::options()
        .memory(64 << 20)
        .open(folder.path().join("threads.gnt"))?;
    let written = AtomicBool::new(false);

    // An index is `Sync`: threads share a reference, and none waits for another's search.
    let searches = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| scope.spawn(|| search_until(&index, &written)))
            .collect();
        let wrote = write(&index);
        written.store(true, Ordering::Release);
        wrote?;
        readers
            .into_iter()
            .map(|reader| reader.join().expect("a reader panicked"))
            .sum::<Result<u64>>()
    })?;

    println!(
        "{READERS} threads searched {searches} times while {DOCUMENTS} documents were written"
    );
    index.close()?;
    Ok(())
}

/// Writes documents in batches; each batch can be found when `write` returns.
fn write(index: &Index) -> Result<()> {
    let numbers: Vec<usize> = (0..DOCUMENTS).collect();
    for batch in numbers.chunks(500) {
        let lines = batch
            .iter()
            .map(|n| format!(r#"{{"id": "{n}", "body": "wave {} of {n}"}}"#, n % 100));
        let documents: Result<Vec<Document>> =
            lines.map(|line| Document::parse(line.as_bytes())).collect();
        index.write(documents?)?;
    }
    // Durable from here on.
    index.sync()
}

/// Searches until all is written; gives how often.
fn search_until(index: &Index, written: &AtomicBool) -> Result<u64> {
    let mut searches = 0;
    while !written.load(Ordering::Acquire) {
        // A snapshot does not change. Take a new one to see what was written since.
        let snapshot = index.snapshot();
        if snapshot.documents() == 0 {
            thread::yield_now();
            continue;
        }
        let query = snapshot.parse("body:wave +42", Operator::Or)?;
        snapshot.search(&query).top(10).run()?;
        searches += 1;
    }
    Ok(searches)
}
