//! The same input gives the same result, to the nanosecond.

use gannet_ssd::random::Random;
use gannet_ssd::workload::{Order, Stream, age, closed_loop};
use gannet_ssd::{Counts, Drive, Nanos, Operation, Request, profile};

/// A mix of all operations on a drive that collects.
fn run(seed: u64) -> (Nanos, Counts, Vec<Nanos>) {
    let mut profile = profile::PM9A3;
    (profile.geometry.packages, profile.geometry.pages) = (1, 32);
    let mut drive = Drive::new(&profile.with_capacity(64 << 20).unwrap()).unwrap();
    let pages = age(&mut drive, 1.0, 3, seed).unwrap().end;
    let mut random = Random::new(seed, "mix");
    let requests = (0..4_000).map(|_| {
        let page = random.draw() % (pages - 8);
        match random.below(10) {
            0 => Request::trim(page, 8),
            1 => Request::flush(),
            2..6 => Request::read(page, 1 + random.below(8) as u32),
            _ => Request::write(page, 1 + random.below(8) as u32),
        }
    });
    let answered = closed_loop(&mut drive, 32, requests).unwrap();
    (drive.now(), drive.counts().clone(), answered.latencies)
}

#[test]
fn a_seed_gives_the_same_result_each_time() {
    let (first, second, other) = (run(1), run(1), run(2));
    assert_eq!(first, second);
    assert_ne!(first.0, other.0, "another seed gives another result");
    assert!(first.1.moved_units > 0, "it has collected");
}

#[test]
fn a_stream_of_a_seed_is_the_same_each_time() {
    let stream = |seed| Stream::new(Operation::Read, Order::Random, 2, 1_000, seed).take(50);
    assert!(stream(1).eq(stream(1)));
    assert!(!stream(1).eq(stream(2)));
    assert!(stream(1).all(|request| request.page % 2 == 0 && request.page < 1_000));
}
