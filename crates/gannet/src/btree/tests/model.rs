//! Random changes, with the answers of a plain map beside.

use std::collections::BTreeMap;

use super::{Bed, Dice, Map};
use crate::btree::value_max;

/// The shapes of the keys of a run.
#[derive(Clone, Copy, Debug)]
enum Keys {
    Random,
    Sequential,
    Skewed,
    Long,
    Nested,
}

fn key(kind: Keys, dice: &mut Dice, counter: &mut u64) -> Vec<u8> {
    *counter += 1;
    match kind {
        Keys::Random => format!("{:08x}", dice.roll(60_000) * 7919).into_bytes(),
        Keys::Sequential => counter.to_be_bytes().to_vec(),
        Keys::Skewed => {
            let most = 1 << (2 + dice.roll(14));
            format!("term{:05}", dice.roll(most)).into_bytes()
        }
        Keys::Long => {
            let mut key = vec![b'k'; dice.roll(1000)];
            key.extend(dice.roll(300).to_be_bytes());
            key
        }
        Keys::Nested => vec![b'a' + dice.roll(2) as u8; dice.roll(800)],
    }
}

fn value(kind: Keys, dice: &mut Dice, key: &[u8]) -> Vec<u8> {
    let most = value_max(key.len());
    let length = match (kind, dice.roll(20)) {
        (_, 0) => most,
        (Keys::Long, _) => dice.roll(most + 1),
        _ => dice.roll(60.min(most)),
    };
    dice.bytes(length)
}

/// A batch of changes: mostly puts, or mostly removals when the tree is to shrink.
fn batch(
    kind: Keys,
    dice: &mut Dice,
    counter: &mut u64,
    map: &Map,
    shrink: bool,
) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
    let mut changes = BTreeMap::new();
    if shrink && !map.is_empty() {
        let (start, count) = (dice.roll(map.len()), dice.roll(map.len() + 1));
        let every = 1 + dice.roll(3);
        for key in map.keys().skip(start).take(count).step_by(every) {
            changes.insert(key.clone(), None);
        }
    }
    let most = [1, 10, 300, 3000][dice.roll(4)];
    for _ in 0..1 + dice.roll(most) {
        let key = key(kind, dice, counter);
        let put = dice.roll(10) > 0;
        let value = put.then(|| value(kind, dice, &key));
        changes.insert(key, value);
    }
    changes
}

fn run(kind: Keys, frames: usize, seed: u64, rounds: usize) {
    println!("{kind:?}, {frames} frames, seed {seed}");
    let mut dice = Dice(seed);
    let (mut bed, mut map, mut counter) = (Bed::new(frames), Map::new(), 0);
    let mut old = Vec::new();
    for round in 0..rounds {
        let changes = batch(kind, &mut dice, &mut counter, &map, round % 7 >= 5);
        bed.change(&changes).unwrap();
        for (key, value) in changes {
            match value {
                Some(value) => map.insert(key, value),
                None => map.remove(&key),
            };
        }
        if round % 5 == 4 {
            bed.reopen();
        }
        if round % 6 == 3 {
            clean(&mut bed, &mut dice);
        }
        let view = bed.tree.view().clone();
        bed.compare(&view, &map);
        let from = key(kind, &mut dice, &mut counter);
        bed.compare_scan(&view, &map, &from, 500);
        assert_eq!(bed.get(&view, &from).unwrap().as_ref(), map.get(&from));
        let keys: Vec<Vec<u8>> = map.keys().cloned().chain([from.clone()]).collect();
        bed.compare_near(&view, &map, &keys, &mut dice);
        for bound in [b"", from.as_slice(), &[u8::MAX]] {
            let last = map.range(..bound.to_vec()).next_back();
            let found = bed.last_below(&view, bound).unwrap();
            assert_eq!(found.as_ref(), last.map(|(key, _)| key));
        }
        if round % 4 == 0 {
            old.push((view, map.clone()));
        }
    }
    for (view, map) in &old {
        bed.compare(view, map);
        bed.compare_scan(view, map, b"", usize::MAX);
    }
}

/// Moves the nodes out of some of the closed zones.
fn clean(bed: &mut Bed, dice: &mut Dice) {
    bed.tree.stream().close_zone().unwrap();
    let odd = dice.roll(2) as u32;
    let before = bed.store.zones().next_number();
    let is_victim = |zone| zone < before && zone % 2 == odd;
    bed.tree.move_out_of(&bed.pool, &is_victim).unwrap();
    bed.tree.flush().unwrap();
    let mut places = bed.tree.view().mapping.places();
    assert!(places.all(|(_, place)| !is_victim(place.zone)));
}

#[test]
fn random_keys_match_a_map() {
    run(Keys::Random, 64, 1, 40);
    run(Keys::Random, 4096, 2, 40);
}

#[test]
fn sequential_keys_match_a_map() {
    run(Keys::Sequential, 64, 3, 40);
}

#[test]
fn skewed_keys_match_a_map() {
    run(Keys::Skewed, 64, 4, 40);
}

#[test]
fn long_keys_match_a_map() {
    run(Keys::Long, 64, 5, 40);
    run(Keys::Nested, 64, 6, 60);
}
