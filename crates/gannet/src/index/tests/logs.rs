//! A log that nobody flushed: how long it gets, and what readers say that do not take it in.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::base::{Error, Result};
use crate::device::MemoryDevice;
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options};
use crate::search::Operator;

const WORDS: u64 = 100;

fn open(device: &Arc<MemoryDevice>, options: Options) -> Result<Index> {
    Index::open_on(device.clone(), Path::new("test"), options)
}

/// A document of words that no other has.
fn document(number: u64) -> Document {
    let words = number * WORDS..(number + 1) * WORDS;
    let words: Vec<String> = words.map(|word| format!("w{word:x}")).collect();
    Document::new(number.to_string(), [("body", words.join(" "))]).unwrap()
}

fn write(index: &Index, documents: u64) {
    for first in (0..documents).step_by(50) {
        let batch = first..documents.min(first + 50);
        index.write(batch.map(document).collect()).unwrap();
    }
}

/// Returns the device of a process that was killed after a sync: these documents in the log, none
/// flushed.
fn killed(documents: u64) -> Arc<MemoryDevice> {
    let device = Arc::new(MemoryDevice::new());
    let index = open(&device, Options::default().memory(256 << 20)).unwrap();
    write(&index, documents);
    index.sync().unwrap();
    assert_eq!(index.shared().published.get().flushes, 0);
    let left = Arc::new(MemoryDevice::from_files(device.files()));
    drop(index);
    left
}

/// Flushes of some documents that fit the buffers, and of their deletions.
fn flushes(log_time: Duration) -> (u64, u64) {
    let options = Options::default().memory(256 << 20).limits(Limits {
        log_time,
        beside: false,
        maintain_after: None,
        ..Limits::default()
    });
    let index = open(&Arc::new(MemoryDevice::new()), options).unwrap();
    write(&index, 1_000);
    let written = index.shared().published.get().epoch.generation;
    for number in 0..1_000 {
        index.delete(&[&number.to_string()]).unwrap();
    }
    let deleted = index.shared().published.get().epoch.generation;
    (written - 1, deleted - written)
}

#[test]
fn the_work_of_a_replay_bounds_the_log_whatever_the_budget() {
    // A document has a hundred new words, each of which takes most of a microsecond.
    let (written, deleted) = flushes(Duration::from_millis(5));
    assert!((5..=40).contains(&written), "{written} checkpoints");
    let (with_fewer, _) = flushes(Duration::from_millis(20));
    assert!(with_fewer < written, "{with_fewer} of {written}");
    assert!(deleted > 0, "no checkpoint of deletions");
    assert_eq!(flushes(Duration::from_secs(60)), (0, 0));
}

#[test]
fn a_reader_without_the_memory_for_a_log_says_what_is_enough() {
    const DOCUMENTS: u64 = 1_600;
    let device = killed(DOCUMENTS);
    let reading = |memory| Options::default().memory(memory).read_only();
    let error = open(&device, reading(MEMORY_MIN)).err().unwrap();
    let Error::LogMemory {
        documents, enough, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(documents, DOCUMENTS);
    assert!(enough <= 16 * MEMORY_MIN, "{enough}");
    let said = error.to_string();
    let told = format!("{}MiB of memory", enough >> 20);
    for part in ["1600 documents wait in the log", &told, "for writing once"] {
        assert!(said.contains(part), "{said}");
    }
    let index = open(&device, reading(enough)).unwrap();
    assert_eq!(index.snapshot().documents(), DOCUMENTS);
    let report = index.check(&|_, _| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.terms >= DOCUMENTS * WORDS, "{} terms", report.terms);
    drop(index);
    let writing = Options::default().memory(MEMORY_MIN);
    open(&device, writing).unwrap().close().unwrap();
    let index = open(&device, reading(MEMORY_MIN)).unwrap();
    let snapshot = index.snapshot();
    let query = snapshot.parse("body:w7", Operator::Or).unwrap();
    assert_eq!(snapshot.search(&query).run().unwrap().total, 1);
}

#[test]
fn a_reader_gives_a_log_up_after_its_time() {
    let device = killed(1_000);
    let reading = |limit| Options::default().read_only().log_time(limit);
    let error = open(&device, reading(Duration::ZERO)).err().unwrap();
    assert!(matches!(error, Error::LogTimeout { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("give it more time"), "{said}");
    assert!(said.contains("for writing once"), "{said}");
    let index = open(&device, reading(Duration::from_secs(600))).unwrap();
    assert_eq!(index.snapshot().documents(), 1_000);
}
