//! Queries that find too little memory beside what a flush holds.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::device::{Device, RecordingDevice};
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options, Phase};
use crate::search::Operator;

/// Whether a flush is under way, and whether it may go on.
static FLUSHES: AtomicBool = AtomicBool::new(false);
static GOES_ON: AtomicBool = AtomicBool::new(false);

fn hold_flushes_up(phase: Phase) {
    if phase == Phase::Flush {
        FLUSHES.store(true, Ordering::Release);
        wait_for(&GOES_ON);
    }
}

fn wait_for(event: &AtomicBool) {
    while !event.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_query_without_memory_waits_for_a_flush() {
    let device = Arc::new(RecordingDevice::new()) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN).limits(Limits {
        log_source_bytes: 12 << 10,
        on_phase: Some(hold_flushes_up),
        ..Limits::default()
    });
    let index = Index::open_on(device, Path::new("test"), options).unwrap();
    for number in 0.. {
        let text = format!("the sea beside stone {number}");
        let document = Document::new(number.to_string(), [("body", text)]);
        index.write(vec![document.unwrap()]).unwrap();
        if FLUSHES.load(Ordering::Acquire) {
            break;
        }
    }
    let snapshot = index.snapshot();
    let query = snapshot.parse("body:sea", Operator::Or).unwrap();
    thread::scope(|scope| {
        let budget = &index.shared.budget;
        let free = budget.total() - budget.used();
        let held = budget.reserve("what a flush holds", free - 1024).unwrap();
        let asked = scope.spawn(|| snapshot.search(&query).count(true).run());
        thread::sleep(Duration::from_millis(50));
        let waits = !asked.is_finished();
        drop(held);
        GOES_ON.store(true, Ordering::Release);
        let results = asked.join().unwrap().unwrap();
        assert!(waits);
        assert_eq!(results.total, snapshot.documents());
    });
}
