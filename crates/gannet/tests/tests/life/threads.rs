//! Threads that change the same documents while another does all maintenance there is: no change is
//! lost, and none made twice.
//!
//! `GANNET_THREAD_CHANGES` is how often each thread changes something (600 if nothing is said).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::setup::Setup;
use crate::environment::number;
use gannet::Error;
use gannet::device::Device;
use gannet::{Document, Expected, StoredDocument};
use gannet::{Index, Written};
use gannet_testkit::devices::MemoryDevice;
use gannet_testkit::random::Rng;

const THREADS: u64 = 4;

/// Documents that all threads change.
const COUNTERS: u64 = 7;

/// The work of all threads.
#[derive(Debug, Default)]
struct Done {
    conflicts: AtomicU64,
    /// Tickets that were made, and that were taken.
    made: AtomicU64,
    taken: AtomicU64,
    over: AtomicBool,
}

#[test]
fn no_change_of_four_threads_is_lost_beside_maintenance() {
    let changes = number("GANNET_THREAD_CHANGES", 600);
    let setup = Setup::beside(number("GANNET_SEED", 1));
    let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
    let open = || setup.options().open_on(Arc::clone(&device), "test");
    let index = open().expect("an index");
    let done = Done::default();
    let rounds = thread::scope(|scope| {
        let maintenance = scope.spawn(|| maintain(&index, &done.over));
        let threads = (0..THREADS).map(|thread| {
            let (index, done) = (&index, &done);
            scope.spawn(move || change(index, thread, changes, done))
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().expect("a thread"));
        done.over.store(true, Ordering::Relaxed);
        maintenance.join().expect("maintenance")
    });
    println!(
        "threads: {changes} changes by each of {THREADS}, {rounds} rounds of maintenance, {done:?}"
    );
    compare(&index, changes, &done);
    index.sync().expect("a sync");
    drop(index);
    let index = open().expect("an index");
    compare(&index, changes, &done);
    let report = index.check(&|_, _| ()).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert!(rounds > 0 && done.conflicts.load(Ordering::Relaxed) > 0);
}

/// Each change is one more of a counter, or a ticket that several try to make and to take.
fn change(index: &Index, thread: u64, changes: u64, done: &Done) {
    let mut rng = Rng::new(thread + 1);
    for change in 0..changes {
        let id = format!("counter{}", rng.below(COUNTERS as usize));
        match change % 3 {
            0 => drop(
                index
                    .update(&id, |found| Ok(Some(counter(&id, next(found)))))
                    .expect("a change"),
            ),
            _ => add_one(index, &id, done),
        }
        let ticket = format!("ticket{change}");
        let made = counter(&ticket, 1).expecting(Expected::Absent);
        if change % 2 == 0 && won(index.add(made), done) {
            done.made.fetch_add(1, Ordering::Relaxed);
        }
        let early = format!("ticket{}", change / 2);
        if won(index.delete_expecting(&early, Expected::Version(1)), done) {
            done.taken.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Adds one to a counter by hand: reads it, writes it if it is still the same, else again.
fn add_one(index: &Index, id: &str, done: &Done) {
    loop {
        let found = index.get(id).expect("a read");
        let expected = match &found {
            None => Expected::Absent,
            Some(found) => Expected::Version(found.version),
        };
        let more = counter(id, next(found.as_ref())).expecting(expected);
        if won(index.add(more), done) {
            return;
        }
    }
}

/// Returns true if a write found what it expected.
fn won(written: gannet::Result<Written>, done: &Done) -> bool {
    match written {
        Ok(written) => written.added + written.deleted == 1,
        Err(Error::Conflict { .. }) => {
            done.conflicts.fetch_add(1, Ordering::Relaxed);
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// All there is, over and over; counts never go back meanwhile.
fn maintain(index: &Index, over: &AtomicBool) -> u64 {
    let (mut rounds, mut seen) = (0, 0);
    while !over.load(Ordering::Relaxed) {
        index.vacuum().expect("a slice");
        index.checkpoint().expect("a checkpoint");
        index.clean().expect("a cleaning");
        index.sync().expect("a sync");
        let now = counts(index).iter().sum();
        assert!(now >= seen, "{seen} changes were there, now {now}");
        (rounds, seen) = (rounds + 1, now);
    }
    rounds
}

fn compare(index: &Index, changes: u64, done: &Done) {
    let made = done.made.load(Ordering::Relaxed);
    let taken = done.taken.load(Ordering::Relaxed);
    assert_eq!(counts(index).iter().sum::<u64>(), THREADS * changes);
    // One that was taken is absent again, and may be made by the next.
    assert!(made >= changes.div_ceil(2), "{made} tickets");
    assert_eq!(index.snapshot().documents(), COUNTERS + made - taken);
    let left = (0..changes).filter_map(|n| index.get(&format!("ticket{n}")).expect("a read"));
    assert_eq!(left.count() as u64, made - taken);
}

/// All counters, each of which is its document's version too.
fn counts(index: &Index) -> Vec<u64> {
    let counters = (0..COUNTERS).map(|n| index.get(&format!("counter{n}")).expect("a read"));
    let found = counters.flatten().map(|found| {
        assert_eq!(next(Some(&found)) - 1, found.version, "{}", found.id);
        found.version
    });
    found.collect()
}

fn counter(id: &str, count: u64) -> Document {
    Document::new(id, [("year", count as i64)]).expect("a document")
}

/// One more than a counter has.
fn next(found: Option<&StoredDocument>) -> u64 {
    let Some(found) = found else {
        return 1;
    };
    let source: serde_json::Value = serde_json::from_slice(&found.source).expect("an object");
    source["year"].as_u64().expect("a number") + 1
}
