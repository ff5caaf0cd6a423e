//! A replay must read the log as it was read the first time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::random::Random;
use super::world::open;
use crate::base::Error;
use crate::device::{Device, MemoryDevice};
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options, Phase};
use crate::search::Operator;

/// The source's member `id` is a field of a document that came with an ID of its own, even with the
/// same one.
#[test]
fn a_member_that_says_the_same_as_the_id_stays_a_field() {
    let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
    let source = br#"{"id":"7","body":"all"}"#;
    let index = open(Arc::clone(&device)).unwrap();
    let named = Document::parse_as(Some("7".to_owned()), source).unwrap();
    index.add(named).unwrap();
    index
        .add(Document::parse(br#"{"id":"8","body":"all"}"#).unwrap())
        .unwrap();
    index.sync().unwrap();
    drop(index);
    let snapshot = open(device).unwrap().snapshot();
    let found = |text: &str| {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let hits = snapshot.search(&query).run().unwrap().hits;
        hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>()
    };
    assert_eq!(found("id:7"), ["7"]);
    assert!(found("id:8").is_empty());
    assert_eq!(found("body:all").len(), 2);
}

/// Long documents fill the buffers beyond what begins a flush. Whenever the process dies, the index
/// opens again with the memory that it was written with.
#[test]
fn long_documents_are_replayed_in_the_memory_that_they_were_written_with() {
    for part in 1..=4 {
        for known in [2, 3_000] {
            replay_long_documents(part, known);
        }
    }
}

/// Documents of a part of what one may have, of so many different words that come again.
fn replay_long_documents(part: usize, known: usize) {
    let device = Arc::new(MemoryDevice::new());
    let options = Options::default().memory(MEMORY_MIN).limits(Limits {
        beside: false,
        ..Limits::default()
    });
    let open = |device| Index::open_on(device, Path::new("test"), options.clone());
    let index = open(device.clone()).unwrap();
    let length = index.document_bytes_max() / part - 64;
    let mut random = Random::new((part + known) as u64);
    let mut written = 0;
    while index.shared().published.get().flushes < 2 {
        let mut line = format!("{{\"id\":\"{written}\",\"body\":\"all");
        while line.len() < length {
            if random.one_in(known) {
                line.push_str(&format!(" w{}", random.below(known)))
            } else {
                line.push_str(&format!(" {:x}", random.next() >> 24))
            }
        }
        line.push_str("\"}");
        match index.write_line(line.as_bytes()) {
            Ok(one) => written += one.added,
            Err(Error::Memory { .. }) => index.checkpoint().unwrap(),
            Err(error) => panic!("{error}"),
        }
        index.sync().unwrap();
        let left = Arc::new(MemoryDevice::from_files(device.files()));
        let again = open(left).unwrap_or_else(|error| {
            panic!("{written} documents of {length} bytes, {known} words: {error}")
        });
        assert_eq!(again.snapshot().documents(), written);
    }
}

/// Tells if a flush is under way, and if it may go on.
static FLUSHES: AtomicBool = AtomicBool::new(false);
static GOES_ON: AtomicBool = AtomicBool::new(false);

fn hold_first_flush(phase: Phase) {
    if phase == Phase::Flush && !FLUSHES.swap(true, Ordering::AcqRel) {
        while !GOES_ON.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A root may know that documents are deleted whose postings are still in the log.
#[test]
fn a_vacuum_waits_for_the_postings_in_the_log() {
    let device = Arc::new(MemoryDevice::new());
    let limits = Limits {
        log_source_bytes: 400 << 10,
        maintain_after: None,
        on_phase: Some(hold_first_flush),
        ..Limits::default()
    };
    let open = |limits| {
        let options = Options::default().memory(MEMORY_MIN).limits(limits);
        Index::open_on(device.clone(), Path::new("test"), options).unwrap()
    };
    let index = open(limits);
    let write = |first: u64| {
        let document = |number: u64| {
            Document::new(number.to_string(), [("body", format!("all t{number}"))]).unwrap()
        };
        let batch = (first..first + 100).map(document);
        index.write(batch.collect()).unwrap();
    };
    let mut before = 0;
    while !FLUSHES.load(Ordering::Acquire) {
        write(before);
        before += 100;
    }
    (0..15).for_each(|batch| write(before + batch * 100));
    let gone = before - before / 4..before + 1_300;
    let gone: Vec<String> = gone.map(|number| number.to_string()).collect();
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    assert_eq!(index.delete(&gone).unwrap().deleted, gone.len() as u64);
    GOES_ON.store(true, Ordering::Release);
    while index.shared().published.get().flushes == 0 {
        index.sync().unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    drop(index);
    let index = open(Limits {
        log_source_bytes: 16 << 10,
        beside: false,
        on_phase: None,
        ..limits
    });
    assert!(index.shared().published.get().flushes > 0);
    for _ in 0..2 {
        let report = index.check(&|_, _| {}).unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        while index.vacuum().unwrap() {}
    }
    let live = before + 1_500 - gone.len() as u64;
    let list = index.list("body", "all").unwrap();
    assert_eq!(index.stats().unwrap().dead_documents, 0);
    assert_eq!(list.map(|list| list.document_frequency), Some(live));
    assert_eq!(index.snapshot().documents(), live);
}
