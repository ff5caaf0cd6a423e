//! Threads share a writer: one of them fails, ends it, or has all of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::base::{Error, PageAddress};
use crate::device::{BoundedDevice, Device, MemoryDevice};
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options};
use crate::storage::Zone;

const TIME_MAX: Duration = Duration::from_secs(60);

fn open(device: &Arc<impl Device + 'static>, limits: Limits) -> Index {
    let device = Arc::clone(device) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN).limits(limits);
    Index::open_on(device, Path::new("test"), options).unwrap()
}

fn document(id: u64, version: u64) -> Document {
    let text = format!("common own{id} version{version}");
    Document::new(id.to_string(), [("body", text.as_str())]).unwrap()
}

fn write(index: &Index, ids: std::ops::Range<u64>, version: u64) {
    let documents = ids.map(|id| document(id, version));
    index.write(documents.collect()).unwrap();
}

#[test]
fn a_writer_waits_for_frames_that_searches_hold() {
    let index = open(&Arc::new(MemoryDevice::new()), Limits::default());
    write(&index, 0..3_000, 1);
    index.checkpoint().unwrap();
    let pool = &index.shared.pool;
    let written = |(number, zone): (u32, &Zone)| (zone.pages > 0).then_some(number);
    let zone = index.shared.store.zones().iter().find_map(written);
    let page = PageAddress {
        zone: zone.unwrap(),
        page: 0,
    };
    let replace = || {
        index
            .write((0..200).map(|id| document(id, 2)).collect())
            .map(drop)
    };
    let waits = |change: &(dyn Fn() -> crate::base::Result<()> + Sync)| {
        let mut held = Vec::new();
        while let Ok((frames, _)) = pool.read(&[page]) {
            held.push(frames);
        }
        thread::scope(|scope| {
            let changed = scope.spawn(change);
            thread::sleep(Duration::from_millis(100));
            assert!(!changed.is_finished());
            held.clear();
            changed.join().unwrap().unwrap();
        });
    };
    waits(&replace);
    waits(&|| index.checkpoint());
    let report = index.check(&|_, _| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn a_panic_while_an_index_is_changed_stops_the_writer() {
    let device = Arc::new(MemoryDevice::new());
    let index = open(&device, Limits::default());
    write(&index, 0..200, 1);
    index.checkpoint().unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        index.rebuild(&mut |what, _, _| {
            assert!(what != "documents", "the caller's own fault");
        })
    }));
    assert!(panicked.is_err());
    let rejected = index.add(document(500, 1));
    assert!(matches!(rejected, Err(Error::Stopped(_))), "{rejected:?}");
    drop(index);
    let index = open(&device, Limits::default());
    assert_eq!(index.stats().unwrap().documents, 200);
    let report = index.check(&|_, _| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn what_was_written_before_another_thread_closes_an_index_is_in_it() {
    for round in 0..30 {
        let device = Arc::new(MemoryDevice::new());
        let index = open(&device, Limits::default());
        let writer = index.clone();
        let written = thread::spawn(move || {
            let all = (0..).take_while(|id| writer.add(document(*id, 1)).is_ok());
            all.count() as u64
        });
        thread::sleep(Duration::from_millis(round % 7));
        index.close().unwrap();
        let written = written.join().unwrap();
        let index = open(&device, Limits::default());
        assert_eq!(index.stats().unwrap().documents, written);
    }
}

#[test]
fn maintenance_that_was_rejected_goes_on_when_there_is_space() {
    let device = Arc::new(BoundedDevice::new(1 << 20, true));
    let limits = Limits {
        maintain_after: Some(Duration::from_millis(300)),
        ..Limits::default()
    };
    let index = open(&device, limits);
    write(&index, 0..600, 1);
    write(&index, 0..300, 2);
    index.checkpoint().unwrap();
    device.set_pages(device.used_pages() + 8);
    thread::sleep(Duration::from_millis(900));
    assert_eq!(index.stats().unwrap().dead_documents, 300);
    device.set_pages(1 << 20);
    let start = Instant::now();
    while index.stats().unwrap().dead_documents > 0 {
        assert!(start.elapsed() < TIME_MAX);
        thread::sleep(Duration::from_millis(10));
    }
}
