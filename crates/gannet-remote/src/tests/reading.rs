//! Reading: how many requests an opening and a query take, and that memory is set aside for them.

use std::time::Duration;

use super::faulty::Misfortune;
use super::world::{World, agree, found, open, runtime};

#[test]
fn an_opening_takes_two_rounds_of_requests() {
    let world = World::new(3_000);
    world.publish().unwrap();
    let before = world.store.gets();
    let (remote, _) = open(&world.store, Duration::from_secs(10)).unwrap();
    let requests = remote.requests().unwrap();
    assert_eq!((requests.gets, requests.rounds), (2, 2), "{requests:?}");
    assert_eq!(world.store.gets() - before, 2);
    // What is at hand needs no request, and what was read once is in memory.
    found(&remote, "own17 OR own333").unwrap();
    let asked = remote.requests().unwrap().since(&requests);
    assert!(asked.rounds <= 5 && asked.gets > 0, "{asked:?}");
    found(&remote, "own17 OR own333").unwrap();
    assert_eq!(remote.requests().unwrap().since(&requests), asked);
}

#[test]
fn an_opening_takes_no_longer_where_many_words_are_new() {
    let world = World::new(300);
    world.write_long(300..1_500);
    world.publish().unwrap();
    let (remote, _) = open(&world.store, Duration::from_secs(10)).unwrap();
    let requests = remote.requests().unwrap();
    assert_eq!((requests.gets, requests.rounds), (2, 2), "{requests:?}");
    assert_eq!(found(&remote, "own17 OR own1333").unwrap().len(), 2);
}

#[test]
fn the_superblock_is_looked_at_again_only_after_the_refresh() {
    let world = World::new(300);
    world.publish().unwrap();
    let (remote, _) = open(&world.store, Duration::from_millis(300)).unwrap();
    world.write(300..310);
    world.publish().unwrap();
    let before = remote.requests().unwrap();
    (0..50).for_each(|_| assert!(!remote.refresh().unwrap()));
    assert_eq!(remote.requests().unwrap(), before);
    std::thread::sleep(Duration::from_millis(320));
    assert!(remote.refresh().unwrap());
    agree(&world.index, &remote);
}

#[test]
fn memory_for_requests_is_a_part_of_the_budget() {
    let world = World::new(3_000);
    world.publish().unwrap();
    let (remote, device) = world.open().unwrap();
    let taken = gannet::device::Device::memory(&*device);
    let stats = remote.stats().unwrap();
    assert!(taken > 1 << 20);
    assert_eq!(stats.memory.budget, 32 << 20);
    assert!(stats.memory.used >= taken as u64 as _, "{:?}", stats.memory);
}

#[test]
fn requests_that_fail_for_a_while_are_made_again() {
    let world = World::new(1_000);
    world.publish().unwrap();
    for misfortune in [
        Misfortune::Failing,
        Misfortune::Short,
        Misfortune::Wrong,
        Misfortune::Stall,
    ] {
        for first in [0, 1, 2, 3] {
            world.store.harm(first, 1, misfortune);
            // No look at the superblock comes between: "not modified" has no body.
            let (remote, _) = open(&world.store, Duration::from_secs(60)).unwrap();
            agree(&world.index, &remote);
            let retries = remote.requests().unwrap().retries;
            assert_eq!(retries, 1, "{misfortune:?} {first}");
            world.store.heal();
        }
    }
}

#[test]
fn an_index_on_a_store_can_be_searched_from_within_another_runtime() {
    let world = World::new(300);
    world.publish().unwrap();
    runtime().block_on(async {
        let (remote, device) = world.open().unwrap();
        agree(&world.index, &remote);
        drop((remote, device));
    });
}
