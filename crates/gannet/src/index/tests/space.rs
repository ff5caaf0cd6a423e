//! Space that is free when a full device rejects documents, and space that deleting and vacuuming
//! give back then.

use std::path::Path;
use std::sync::Arc;

use super::random::Random;
use crate::base::{Error, PAGE_SIZE, Result};
use crate::device::{BoundedDevice, Device};
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options, Written};

const MIB: u64 = 1 << 20;

/// Documents of a batch.
const BATCH: u64 = 50;

fn open(device: &Arc<BoundedDevice>, beside: bool) -> Index {
    let device = Arc::clone(device) as Arc<dyn Device>;
    let limits = Limits {
        maintain_after: None,
        beside,
        ..Default::default()
    };
    let options = Options::default().memory(MEMORY_MIN).limits(limits);
    Index::open_on(device, Path::new("test"), options).expect("opens")
}

/// A device of so many MiB.
fn device(mib: u64) -> Arc<BoundedDevice> {
    Arc::new(BoundedDevice::new(mib * MIB / PAGE_SIZE as u64, true))
}

fn free(device: &BoundedDevice) -> u64 {
    device.free_bytes().expect("told")
}

/// A document of common words and of words of its own, in which its number is one.
fn document(number: u64) -> Result<Document> {
    let mut random = Random::new(number);
    let mut text = format!("all n{number}");
    for _ in 0..250 {
        if random.one_in(3) {
            text.push_str(&format!(" {:x}", random.next() & 0xFFFF_FFFF_FFFF))
        } else {
            text.push_str(&format!(" w{}", random.below(2_000)))
        }
    }
    Document::new(number.to_string(), [("body", text.as_str())])
}

fn write(index: &Index, first: u64) -> Result<Written> {
    let documents = (first..first + BATCH).map(document);
    index.write(documents.collect::<Result<_>>()?)
}

fn expect_full(error: &Error) {
    let text = error.to_string();
    assert!(matches!(error, Error::Device { full: true, .. }), "{text}");
}

/// Writes until a batch is rejected; gives the number of the first document of that.
fn fill(index: &Index, mut first: u64) -> u64 {
    loop {
        match write(index, first) {
            Ok(_) => first += BATCH,
            Err(error) => {
                expect_full(&error);
                return first;
            }
        }
    }
}

fn expect_whole(index: &Index, documents: u64) {
    let snapshot = index.snapshot();
    assert_eq!(snapshot.documents(), documents);
    let report = index.check(&|_, _| ()).expect("a check");
    assert_eq!(report.findings, Vec::<String>::new());
}

/// Deletes these documents; gives how many they were.
fn delete(index: &Index, numbers: impl Iterator<Item = u64>) -> u64 {
    let ids: Vec<String> = numbers.map(|number| number.to_string()).collect();
    let batches = ids.chunks(100).map(|ids| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        index.delete(&ids).expect("deletions").deleted
    });
    batches.sum()
}

/// A device is filled until it rejects documents. Then every second one that lives is deleted and
/// vacuumed, and writing goes on, again and again and without a reopening.
fn fill_and_free(mib: u64, beside: bool, free_max: u64) {
    let device = device(mib);
    let index = open(&device, beside);
    let (mut first, mut live) = (0, Vec::new());
    for round in 0..2 {
        let end = fill(&index, first);
        let rejected_at = free(&device);
        println!("space: {mib} MiB, round {round}: {end} documents, {rejected_at} bytes free");
        assert!(end > first, "{mib} MiB: nothing was taken in round {round}");
        if round == 0 {
            let told = format!("{mib} MiB: {rejected_at} bytes were free");
            assert!(rejected_at <= free_max, "{told}");
        }
        live.extend(first..end);
        // What was taken is there and can be made durable, and searching goes on.
        index.checkpoint().expect("a checkpoint");
        expect_whole(&index, live.len() as u64);
        let count = delete(&index, live.iter().copied().step_by(2));
        live = live.into_iter().skip(1).step_by(2).collect();
        assert!(count.abs_diff(live.len() as u64) <= 1);
        let steps = (0..1_000).find(|_| !index.vacuum().expect("a vacuum"));
        assert!(steps.is_some(), "{mib} MiB: the vacuum does not end");
        let steps = (0..1_000).find(|_| !index.clean().expect("a cleaning"));
        assert!(steps.is_some(), "{mib} MiB: the cleaning does not end");
        let freed = free(&device);
        println!("space: {mib} MiB, round {round}: {freed} bytes free after a vacuum");
        assert!(
            freed > rejected_at + mib * MIB / 16,
            "{mib} MiB: {freed} after {rejected_at}"
        );
        assert_eq!(index.stats().expect("statistics").dead_documents, 0);
        expect_whole(&index, live.len() as u64);
        first = end;
    }
    write(&index, first).expect("space again");
}

#[test]
fn a_full_device_is_freed_by_deleting_and_vacuuming() {
    for (mib, free_max) in [(64, 16 * MIB), (34, 10 * MIB), (21, 13 * MIB / 2)] {
        fill_and_free(mib, false, free_max);
    }
}

/// How much is free when documents are rejected depends on the flush that is under way then.
#[test]
fn a_full_device_is_freed_where_flushes_run_beside_writing() {
    for mib in [34, 21] {
        fill_and_free(mib, true, mib * MIB / 5 * 2);
    }
}

/// No deletion is rejected while there is something to delete, and the vacuum gives its space back.
#[test]
fn all_documents_of_a_full_device_can_be_deleted() {
    for mib in [8, 21] {
        let device = device(mib);
        let index = open(&device, true);
        let end = fill(&index, 0);
        let rejected_at = free(&device);
        let live = index.snapshot().documents();
        assert_eq!(delete(&index, 0..end), live);
        while index.vacuum().expect("a vacuum") {}
        while index.clean().expect("a cleaning") {}
        let freed = free(&device);
        println!("space: {mib} MiB: {end} documents, {rejected_at} bytes free, then {freed}");
        // What is left are zones that are still written to.
        assert!(freed > mib * MIB / 2, "{mib} MiB: {freed} bytes free");
        expect_whole(&index, 0);
        assert!(fill(&index, end) - end >= end / 2, "{mib} MiB");
    }
}

/// A run of batches: the number of documents, the first, and those that come again.
struct Load {
    name: &'static str,
    documents: fn(Random, u64) -> Vec<Document>,
}

const LOADS: [Load; 3] = [
    Load {
        name: "new documents",
        documents: |mut random, round| {
            let count = [2, 20, 100, 600][random.below(4)];
            let first = round * 1_000;
            (first..first + count)
                .map(|n| document(n).expect("one"))
                .collect()
        },
    },
    Load {
        name: "replaced documents",
        documents: |mut random, _| {
            let count = [2, 20, 100, 400][random.below(4)];
            let mut numbers: Vec<u64> = (0..count).map(|_| random.below(3_000) as u64).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
                .into_iter()
                .map(|n| document(n).expect("one"))
                .collect()
        },
    },
    Load {
        name: "small documents",
        documents: |mut random, round| {
            let count = [10, 200, 2_000, 8_000][random.below(4)];
            let mut small = |n| {
                let text = format!("all w{} w{} o{n}", random.below(300), random.below(30_000));
                Document::new(
                    format!("id{}", random.below(40_000)),
                    [("body", text.as_str())],
                )
            };
            (0..count)
                .map(|n| small(round * 10_000 + n).expect("one"))
                .collect()
        },
    },
];

/// The device has as much free as is kept for a checkpoint, and not a page more.
#[test]
fn a_checkpoint_writes_no_more_than_is_kept_for_it() {
    for load in LOADS {
        let device = device(1 << 20);
        let limits = Limits {
            beside: false,
            ..Default::default()
        };
        let options = Options::default().memory(4 * MEMORY_MIN).limits(limits);
        let shared = Arc::clone(&device) as Arc<dyn Device>;
        let index = Index::open_on(shared, Path::new("test"), options).expect("opens");
        let mut most = 0.0_f64;
        for round in 0..60 {
            let documents = (load.documents)(Random::new(round), round);
            index.write(documents).expect("written");
            let kept = index.with_writer(|writer| Ok(writer.kept().bytes()));
            let kept = kept.expect("a writer");
            device.set_pages(device.used_pages() + kept / PAGE_SIZE as u64);
            let written = index.counters().written_bytes;
            index
                .checkpoint()
                .unwrap_or_else(|e| panic!("{}, round {round}: {e}", load.name));
            let written = index.counters().written_bytes - written;
            let share = written as f64 / kept as f64;
            most = most.max(share);
            device.set_pages(1 << 28);
        }
        println!("space: {}: at most {most:.3} of what is kept", load.name);
        assert!(most > 0.2, "{}: {most}", load.name);
    }
}
