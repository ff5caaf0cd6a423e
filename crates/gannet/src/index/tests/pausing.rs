//! Writes that are slowed down beside a flush: who else gets the writer meanwhile, and in which
//! order batches are slowed down.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::device::{Device, RecordingDevice};
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options, Phase};

/// The longest wait for anything that has to happen.
const TIME_MAX: Duration = Duration::from_secs(60);

/// The first flush takes so long, so that writes beside the next are slowed down.
const FIRST_FLUSH: Duration = Duration::from_millis(300);

static FLUSHES: AtomicUsize = AtomicUsize::new(0);
static WAITS: AtomicBool = AtomicBool::new(false);
static CALLS_ARE_DONE: AtomicBool = AtomicBool::new(false);
static HELD_MS: AtomicU64 = AtomicU64::new(0);

/// Holds the second flush up, and a write in its pause beside it, until the calls are done.
fn hold_up(phase: Phase) {
    match phase {
        Phase::Flush => match FLUSHES.fetch_add(1, Ordering::AcqRel) {
            0 => thread::sleep(FIRST_FLUSH),
            _ => wait_for(&CALLS_ARE_DONE),
        },
        Phase::Backpressure if FLUSHES.load(Ordering::Acquire) > 1 => {
            let start = Instant::now();
            WAITS.store(true, Ordering::Release);
            wait_for(&CALLS_ARE_DONE);
            HELD_MS.fetch_max(start.elapsed().as_millis() as u64, Ordering::AcqRel);
        }
        _ => {}
    }
}

fn wait_for(event: &AtomicBool) {
    let start = Instant::now();
    while !event.load(Ordering::Acquire) && start.elapsed() < TIME_MAX {
        thread::sleep(Duration::from_millis(1));
    }
}

fn open(on_phase: fn(Phase)) -> Index {
    let device = Arc::new(RecordingDevice::new()) as Arc<dyn Device>;
    let options = Options::default().memory(MEMORY_MIN).limits(Limits {
        log_source_bytes: 12 << 10,
        maintain_after: None,
        on_phase: Some(on_phase),
        ..Limits::default()
    });
    Index::open_on(device, Path::new("test"), options).unwrap()
}

fn batch(number: u64) -> Vec<Document> {
    let ids = number * 10..number * 10 + 10;
    let document =
        |id: u64| Document::new(id.to_string(), [("body", format!("sea {id}"))]).unwrap();
    ids.map(document).collect()
}

#[test]
fn calls_go_on_while_a_batch_is_slowed_down() {
    let index = open(hold_up);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut batches = 0..;
            while !CALLS_ARE_DONE.load(Ordering::Acquire) {
                index.write(batches.next().map(batch).unwrap()).unwrap();
            }
        });
        wait_for(&WAITS);
        let (tell, told) = mpsc::channel();
        let calls = &index;
        scope.spawn(move || {
            let found = calls.snapshot().documents();
            assert!(calls.stats().unwrap().documents >= found);
            assert!(calls.contains("1").unwrap());
            assert_eq!(calls.delete(&["1"]).unwrap().deleted, 1);
            calls.sync().unwrap();
            tell.send(()).unwrap();
        });
        let have_returned = told.recv_timeout(TIME_MAX / 2).is_ok();
        CALLS_ARE_DONE.store(true, Ordering::Release);
        assert!(have_returned);
    });
    index.checkpoint().unwrap();
    let stall = index.stats().unwrap().lifetime.longest_stall;
    assert!(stall >= Duration::from_millis(HELD_MS.load(Ordering::Acquire)));
    assert!(WAITS.load(Ordering::Acquire));
}

static PAUSES: AtomicUsize = AtomicUsize::new(0);
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn count_pauses(phase: Phase) {
    match phase {
        Phase::Flush => thread::sleep(FIRST_FLUSH / 3),
        Phase::Backpressure => {
            let under_way = UNDER_WAY.fetch_add(1, Ordering::AcqRel) + 1;
            MOST.fetch_max(under_way, Ordering::AcqRel);
            PAUSES.fetch_add(1, Ordering::AcqRel);
            thread::sleep(Duration::from_millis(2));
            UNDER_WAY.fetch_sub(1, Ordering::AcqRel);
        }
        _ => {}
    }
}

/// Else four threads would wait at the same time and be slowed down a quarter as much.
#[test]
fn batches_of_many_threads_are_slowed_down_one_after_the_other() {
    let index = open(count_pauses);
    thread::scope(|scope| {
        for thread in 0..4 {
            let index = &index;
            scope.spawn(move || {
                for number in 0..50 {
                    index.write(batch(thread * 50 + number)).unwrap();
                }
            });
        }
    });
    assert!(PAUSES.load(Ordering::Acquire) > 4);
    assert_eq!(MOST.load(Ordering::Acquire), 1);
    index.close().unwrap();
}
