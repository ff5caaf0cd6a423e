//! Publications: what is copied, who wins, what is left of a publisher that dies, what is removed.

use std::time::Duration;

use gannet::Error;

use super::faulty::Misfortune;
use super::world::{World, agree, found, open, publish_from};

#[test]
fn a_published_index_answers_and_the_next_publication_copies_what_is_new() {
    let world = World::new(3_000);
    let first = world.publish().unwrap();
    assert_eq!((first.publication, first.copied.incremental), (1, false));
    let (remote, _) = world.open().unwrap();
    agree(&world.index, &remote);
    assert!(remote.check(&|_, _| ()).unwrap().findings.is_empty());

    let same = world.publish().unwrap();
    assert_eq!((same.publication, same.is_new), (1, false));

    world.write(3_000..3_100);
    let next = world.publish().unwrap();
    assert_eq!((next.publication, next.copied.incremental), (2, true));
    assert!(next.copied.bytes_copied < next.copied.bytes / 2, "{next:?}");
    assert!(remote.refresh().unwrap());
    agree(&world.index, &remote);
    assert_eq!(found(&remote, "own3050").unwrap(), ["3050"]);
}

#[test]
fn a_snapshot_stays_what_it_was_while_publications_come() {
    let world = World::new(1_000);
    world.publish().unwrap();
    let (remote, _) = world.open().unwrap();
    let before = remote.snapshot();
    for round in 0..12 {
        world.write(1_000 + round * 20..1_020 + round * 20);
        world.index.delete(&[&round.to_string()]).unwrap();
        world.publish().unwrap();
        assert!(remote.refresh().unwrap());
        agree(&world.index, &remote);
        assert_eq!(before.documents(), 1_000);
        let (fresh, device) = open(&world.store, Duration::from_secs(10)).unwrap();
        agree(&world.index, &fresh);
        assert_eq!(device.publication().unwrap().0, u64::from(round) + 2);
    }
}

#[test]
fn small_publications_do_not_send_a_large_pack_again() {
    let world = World::new(1_000);
    // Tables of documents are most of a large pack.
    for thousand in 1..640 {
        world.write(thousand * 1_000..(thousand + 1) * 1_000);
    }
    let large = world.publish().unwrap().packed_bytes;
    let mut small = Vec::new();
    for id in 640_000..640_012 {
        world.write(id..id + 1);
        small.push(world.publish().unwrap().packed_bytes);
        agree(&world.index, &world.open().unwrap().0);
    }
    // At first lists and trees are put in order.
    let most = small[4..].iter().max();
    assert!(most < Some(&(large / 4)), "{small:?}, not {large}");
}

#[test]
fn of_two_publishers_one_wins_and_the_other_is_told() {
    let world = World::new(500);
    world.publish().unwrap();
    let copy = world.copy();
    // Both go on from publication 1: the one that replaces the superblock later finds another.
    let requests = world.store.requests();
    world.write(500..600);
    world.publish().unwrap();
    let of_publisher = world.store.requests() - requests;
    assert!(of_publisher > 5);
    copy.write(vec![super::world::document(9_000)]).unwrap();
    let error = publish_from(&copy, &world.store, world.keep).unwrap_err();
    assert!(error.to_string().contains("does not go on"), "{error}");

    for first in 0..3 {
        let world = World::new(300);
        world.publish().unwrap();
        world.write(300..400);
        let (index, store, keep) = (world.index.clone(), world.store.clone(), world.keep);
        let other = std::thread::spawn(move || publish_from(&index, &store, keep));
        std::thread::sleep(Duration::from_millis(first));
        let mine = world.publish();
        let outcomes = [mine, other.join().unwrap()];
        let won = outcomes
            .iter()
            .filter(|of| of.as_ref().is_ok_and(|of| of.is_new))
            .count();
        assert!(won >= 1);
        for outcome in outcomes {
            if let Err(error) = outcome {
                let told = error.to_string();
                assert!(told.contains("published by somebody else"), "{told}");
            }
        }
        agree(&world.index, &world.open().unwrap().0);
    }
}

#[test]
fn a_publisher_that_dies_at_any_request_leaves_the_last_publication_whole() {
    let world = World::new(400);
    world.publish().unwrap();
    let mut deaths = 0;
    for at in 0.. {
        world.write(400 + at * 10..410 + at * 10);
        let before = world.open().unwrap().0;
        world.store.harm(at.into(), u64::MAX, Misfortune::Dead);
        let died = world.publish();
        world.store.heal();
        let (after, _) = world.open().unwrap();
        assert!(after.check(&|_, _| ()).unwrap().findings.is_empty());
        match &died {
            Err(_) => agree(&before, &after),
            // It died after the superblock was replaced.
            Ok(_) => agree(&world.index, &after),
        }
        if died
            .as_ref()
            .is_ok_and(|report| report.not_removed.is_none())
        {
            break;
        }
        deaths += 1;
        world.publish().unwrap();
        agree(&world.index, &world.open().unwrap().0);
    }
    assert!(deaths > 6, "{deaths}");
}

#[test]
fn a_first_publisher_that_dies_leaves_nothing_to_read_and_no_hindrance() {
    let world = World::new(400);
    for at in [0, 1, 2, 5, 9] {
        world.store.harm(at, u64::MAX, Misfortune::Dead);
        world.publish().unwrap_err();
        world.store.heal();
        let error = world.open().map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{error}");
    }
    world.publish().unwrap();
    agree(&world.index, &world.open().unwrap().0);
}

#[test]
fn what_no_publication_names_goes_after_the_time_to_keep() {
    let mut world = World::new(400);
    world.publish().unwrap();
    let first = world.names();
    // A publisher that died leaves an orphan.
    world.write(400..500);
    world.store.harm(4, u64::MAX, Misfortune::Dead);
    world.publish().unwrap_err();
    world.store.heal();
    let orphans = world.names().difference(&first).count();
    assert!(orphans > 0);

    let kept = world.publish().unwrap();
    assert_eq!(kept.removed, 0);
    world.delete(0..300);
    while world.index.clean().unwrap() {}
    world.publish().unwrap();
    assert!(
        world.names().is_superset(&first),
        "objects that are kept are gone"
    );

    world.keep = Duration::ZERO;
    world.write(500..510);
    let swept = world.publish().unwrap();
    assert!(swept.removed > orphans as u64, "{swept:?}");
    let (remote, _) = world.open().unwrap();
    agree(&world.index, &remote);
    assert!(remote.check(&|_, _| ()).unwrap().findings.is_empty());
}

#[test]
fn a_reader_whose_objects_are_gone_is_told_and_goes_on_after_a_refresh() {
    let mut world = World::new(10);
    world.write_long(10..3_000);
    world.keep = Duration::ZERO;
    world.publish().unwrap();
    let (remote, _) = world.open().unwrap();
    world.delete(10..2_900);
    while world.index.clean().unwrap() {}
    world.write(3_000..3_010);
    assert!(world.publish().unwrap().removed > 0);
    let mut expired = 0;
    for id in 10..2_900 {
        match found(&remote, &format!("own{id}")) {
            Ok(ids) => assert_eq!(ids, [id.to_string()]),
            Err(Error::Expired { .. }) => expired += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(expired > 0);
    assert!(remote.refresh().unwrap());
    agree(&world.index, &remote);
}
