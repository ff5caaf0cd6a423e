//! Faults of a store, of a URL or of an index there are told with the URL, the object and a remedy.

use std::time::{Duration, Instant};

use gannet::Error;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::faulty::Misfortune;
use super::world::{TIMEOUT, URL, World, agree, found, open, runtime};
use crate::publication::Publication;

fn told(error: &Error, words: &[&str]) {
    let text = error.to_string();
    words
        .iter()
        .for_each(|word| assert!(text.contains(word), "{word}: {text}"));
}

fn change(world: &World, name: &str, change: impl Fn(Vec<u8>) -> Option<Vec<u8>>) {
    runtime().block_on(async {
        let path = Path::from(format!("wiki/{name}"));
        let store = world.store.plain();
        let bytes = match store.get(&path).await {
            Ok(got) => got.bytes().await.unwrap().to_vec(),
            Err(_) => Vec::new(),
        };
        match change(bytes) {
            Some(bytes) => drop(store.put(&path, bytes.into()).await.unwrap()),
            None => store.delete(&path).await.unwrap(),
        }
    });
}

#[test]
fn what_never_answers_well_ends_in_time_with_an_error() {
    let world = World::new(1_000);
    world.publish().unwrap();
    for (misfortune, words) in [
        (Misfortune::Failing, "503"),
        (Misfortune::Stall, "nothing came"),
        (Misfortune::Short, "bytes, got"),
        (Misfortune::Wrong, "checksum"),
    ] {
        let (remote, _) = open(&world.store, Duration::from_secs(60)).unwrap();
        world.store.harm(0, u64::MAX, misfortune);
        let started = Instant::now();
        let error = found(&remote, "own17 OR own333").unwrap_err();
        let took = started.elapsed();
        assert!(took < TIMEOUT * 2, "{misfortune:?}: {took:?}");
        told(
            &error,
            &[URL, "zone-", words, "attempts", "--remote-timeout"],
        );
        if misfortune != Misfortune::Wrong {
            let error = world.open().map(|_| ()).unwrap_err();
            told(&error, &[URL, "superblock", words]);
        }
        world.store.heal();
        // The index works again as soon as its store does.
        agree(&world.index, &remote);
    }
}

#[test]
fn denied_requests_end_at_once() {
    let world = World::new(300);
    world.publish().unwrap();
    let (remote, _) = open(&world.store, Duration::from_secs(60)).unwrap();
    world.store.harm(0, u64::MAX, Misfortune::Denied);
    let started = Instant::now();
    let error = found(&remote, "own17").unwrap_err();
    told(&error, &[URL, "403", "credentials"]);
    told(
        &world.open().map(|_| ()).unwrap_err(),
        &[URL, "superblock", "403"],
    );
    told(&world.publish().unwrap_err(), &[URL, "403", "credentials"]);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn nothing_published_is_told() {
    let world = World::new(10);
    let error = world.open().map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Format { .. }), "{error}");
    told(&error, &[URL, "nothing is published"]);
}

#[test]
fn vanished_objects_are_told() {
    let world = World::new(1_000);
    world.publish().unwrap();
    let (remote, _) = open(&world.store, Duration::from_secs(60)).unwrap();
    let remove = |folder: &str| {
        let of_folder = |name: &String| name.starts_with(folder);
        let names = world.names().into_iter().filter(of_folder);
        names.for_each(|name| change(&world, &name, |_| None));
    };
    remove("zone-");
    let error = found(&remote, "own17 OR own333").unwrap_err();
    told(&error, &[URL, "zone-", "404", "publish the index again"]);
    remove("packs");
    told(
        &world.open().map(|_| ()).unwrap_err(),
        &[URL, "packs", "404"],
    );
    change(&world, "superblock", |_| None);
    let error = world.open().map(|_| ()).unwrap_err();
    told(&error, &[URL, "nothing is published"]);
}

#[test]
fn damaged_and_foreign_objects_are_told() {
    let world = World::new(1_000);
    world.publish().unwrap();
    for (name, harm) in [
        ("superblock", 3_usize),
        ("superblock", 8_230),
        ("superblock", 8_192),
    ] {
        change(&world, name, |mut bytes| {
            bytes[harm] ^= 1;
            Some(bytes)
        });
        let error = world.open().map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        told(&error, &[URL, "superblock", "checksum"]);
        change(&world, name, |mut bytes| {
            bytes[harm] ^= 1;
            Some(bytes)
        });
    }
    agree(&world.index, &world.open().unwrap().0);
    change(&world, "superblock", |_| Some(vec![7; 100_000]));
    told(
        &world.open().map(|_| ()).unwrap_err(),
        &[URL, "superblock", "not of an index"],
    );

    let other = World::new(10);
    change(&other, "photos/1.jpg", |_| Some(vec![1, 2, 3]));
    told(
        &other.publish().unwrap_err(),
        &[URL, "photos/1.jpg", "empty place"],
    );
}

#[test]
fn another_index_is_not_published_over_one() {
    let (world, other) = (World::new(100), World::new(100));
    world.publish().unwrap();
    told(
        &other.publish_to(&world.store).unwrap_err(),
        &[URL, "another index"],
    );
    agree(&world.index, &world.open().unwrap().0);
}

#[test]
fn no_memory_is_taken_for_what_a_publication_says() {
    let world = World::new(300);
    world.publish().unwrap();
    let (reader, _) = world.open().unwrap();
    for head_bytes in [u32::MAX, 1 << 30, 100 << 20, 8 << 20] {
        change(&world, "superblock", |bytes| {
            let mut publication = Publication::decode(&bytes).unwrap();
            publication.packs.last_mut().unwrap().head_bytes = head_bytes;
            Some(publication.encode())
        });
        let gets = world.store.gets();
        let error = world.open().map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        told(&error, &[URL, "the list of objects", "give more memory"]);
        // The superblock alone was read.
        assert_eq!(world.store.gets(), gets + 1);
        told(
            &reader.refresh().unwrap_err(),
            &[URL, "the list of objects"],
        );
    }
}

/// Returns true if a check finds the fault: a sentence that names the object, or an error that
/// does. An opening that lacks a pack names their folder.
fn is_found(world: &World, name: &str) -> bool {
    let name = if name.starts_with("packs/") {
        "packs"
    } else {
        name
    };
    let checked = match world.open() {
        Ok((remote, _)) => remote.check(&|_, _| ()),
        Err(error) => Err(error),
    };
    match checked {
        Ok(report) => report.findings.iter().any(|finding| finding.contains(name)),
        Err(error) => error.to_string().contains(name),
    }
}

#[test]
fn a_check_finds_each_object_that_is_missing_short_or_damaged() {
    let world = World::new(1_000);
    world.publish().unwrap();
    let sound = world.open().unwrap().0.check(&|_, _| ()).unwrap();
    assert!(sound.findings.is_empty(), "{:?}", sound.findings);
    let names = world.names().into_iter().filter(|name| name.contains('/'));
    for name in names {
        let bytes = std::cell::RefCell::new(Vec::new());
        change(&world, &name, |found| {
            *bytes.borrow_mut() = found;
            None
        });
        assert!(is_found(&world, &name), "{name} is missing");
        let bytes = bytes.into_inner();
        for (what, harmed) in [
            ("short", bytes[..bytes.len() - 4_096].to_vec()),
            ("long", [&bytes[..], &[0; 4_096]].concat()),
            ("flipped at its begin", flipped(&bytes, 100)),
            ("flipped at its end", flipped(&bytes, bytes.len() - 100)),
        ] {
            change(&world, &name, |_| Some(harmed.clone()));
            assert!(is_found(&world, &name), "{name} is {what}");
        }
        change(&world, &name, |_| Some(bytes.clone()));
    }
    assert!(!is_found(&world, ""));
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes
}

#[test]
fn what_a_store_has_not_kept_is_told_by_who_publishes() {
    for misfortune in [Misfortune::Lost, Misfortune::Halved] {
        let mut told_of = 0;
        for first in 0..12 {
            let world = World::new(300);
            world.store.harm(first, 1, misfortune);
            let published = world.publish();
            world.store.heal();
            match published {
                // It was a request that reads.
                Ok(_) => agree(&world.index, &world.open().unwrap().0),
                Err(error) => {
                    let is_superblock = error.to_string().contains("superblock");
                    let words = ["does not hold what was sent", "publish again"];
                    told(&error, if is_superblock { &[URL] } else { &words });
                    if is_superblock {
                        change(&world, "superblock", |_| None);
                    }
                    world.publish().unwrap();
                    agree(&world.index, &world.open().unwrap().0);
                    told_of += 1;
                }
            }
        }
        assert!(told_of > 3, "{misfortune:?}: {told_of}");
    }
}

#[test]
fn what_a_store_has_lost_since_is_told_by_who_publishes() {
    let world = World::new(300);
    world.publish().unwrap();
    let object = world
        .names()
        .into_iter()
        .find(|name| name.starts_with("zone-"));
    change(&world, &object.unwrap(), |_| None);
    told(
        &world.publish().unwrap_err(),
        &[URL, "zone-", "is not there"],
    );
}

#[test]
fn a_publication_of_an_earlier_format_is_rejected_with_the_way_out() {
    let world = World::new(100);
    world.publish().unwrap();
    change(&world, "superblock", |mut bytes| {
        bytes[8_200] = 1;
        let end = bytes.len() - 4;
        let sum = crc32c::crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
        Some(bytes)
    });
    let words = [
        URL,
        "format 2, found 1",
        "publish the index again to an empty place",
    ];
    told(&world.open().map(|_| ()).unwrap_err(), &words);
    told(&world.publish().unwrap_err(), &words);
}
