//! Every structure against a map in memory, with integers, skewed keys and long ones, opened anew
//! again and again.

use std::collections::BTreeMap;
use std::path::Path;

use gannet::Result;

use super::rolling::PARTS;
use super::*;
use crate::random::Random;

type Open = fn(&Path, &Settings) -> Result<Box<dyn OrderedIndex>>;

const STRUCTURES: [(&str, Open); 7] = [
    ("in place", |folder, settings| {
        let nodes = InPlace::open(folder, settings)?;
        Ok(Box::new(BTree::new(nodes, settings.fan_out)?))
    }),
    ("sequential", |folder, settings| {
        let nodes = Sequential::open(folder, settings)?;
        Ok(Box::new(BTree::new(nodes, settings.fan_out)?))
    }),
    ("units", |folder, settings| {
        let nodes = Units::open(folder, settings)?;
        Ok(Box::new(BTree::new(nodes, settings.fan_out)?))
    }),
    ("FD-tree", |folder, settings| {
        Ok(Box::new(FdTree::open(folder, settings)?))
    }),
    ("LA-tree", |folder, settings| {
        Ok(Box::new(LaTree::open(folder, settings)?))
    }),
    ("rolling", |folder, settings| {
        let nodes = Sequential::open(folder, settings)?;
        let tree = BTree::new(nodes, settings.fan_out)?;
        Ok(Box::new(Rolling::new(tree, settings)))
    }),
    ("packed", |folder, settings| {
        let tree = Packed::open(folder, settings)?;
        Ok(Box::new(Rolling::new(tree, settings)))
    }),
];

/// Keys that are drawn: integers all over, integers near each other, and byte strings of all
/// lengths.
const KEYS: [fn(&mut Random) -> Vec<u8>; 3] = [
    |random| (random.below(4000) as u64 * 7919).to_be_bytes().to_vec(),
    |random| {
        let reach = 1 + random.below(60);
        let near = random.below(reach);
        (near as u64 * near as u64).to_be_bytes().to_vec()
    },
    |random| {
        let reach = 1 + random.below(KEY_MAX);
        let length = 1 + random.below(reach);
        let letter = b'a' + random.below(5) as u8;
        let mut key = vec![letter; length.min(KEY_MAX)];
        key[length / 2] = b'a' + random.below(26) as u8;
        key
    },
];

#[test]
fn structures_do_what_a_map_does() {
    for (name, open) in STRUCTURES {
        for (which, draw) in KEYS.into_iter().enumerate() {
            for (fan_out, cache) in [(4, 0), (64, 3), (256, 20)] {
                let settings = Settings {
                    fan_out,
                    cache,
                    write_buffer: 1 + fan_out / 16,
                    subfile: 32,
                    valid_percent: 40,
                    one_by_one: fan_out == 64,
                    ratio: 1 + fan_out / 4,
                    head: 2,
                    buffered_every: 1 + which,
                    buffers: 2,
                    buffer_most: 1 + cache,
                    ..Settings::default()
                };
                let what = format!("{name}, keys {which}, fan-out {fan_out}");
                verify(open, draw, &settings, &what);
            }
        }
    }
}

fn verify(open: Open, draw: fn(&mut Random) -> Vec<u8>, settings: &Settings, what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    let mut index = open(&path, settings).unwrap();
    let mut random = Random::new(1, what);
    let mut model: BTreeMap<Vec<u8>, Value> = BTreeMap::new();
    for number in 0..1500u64 {
        let key = draw(&mut random);
        match random.below(100) {
            0..55 => {
                index.insert(&key, number).unwrap();
                model.insert(key, number);
            }
            55..75 => {
                let found = index.search(&key).unwrap();
                assert_eq!(found, model.get(&key).copied(), "{what}, {number}");
            }
            75..95 => {
                index.delete(&key).unwrap();
                model.remove(&key);
            }
            95..98 => {
                let most = random.below(50);
                let expected = model.range(key.clone()..).take(most);
                let expected: Vec<_> = expected.map(|(key, value)| (key.clone(), *value)).collect();
                assert_eq!(
                    index.range(&key, most).unwrap(),
                    expected,
                    "{what}, {number}"
                );
            }
            _ => {
                index.settle().unwrap();
                drop(index);
                index = open(&path, settings).unwrap();
            }
        }
    }
    let all: Vec<_> = model.into_iter().collect();
    assert_eq!(index.range(&[], usize::MAX).unwrap(), all, "{what}");
    index.settle().unwrap();
    assert!(index.file_bytes() > 0, "{what}");
}

#[test]
fn what_does_not_fit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    for (name, open) in STRUCTURES {
        let mut index = open(&folder.path().join(name), &Settings::default()).unwrap();
        let rejected = index.insert(&[1; KEY_MAX + 1], 1);
        assert!(
            rejected.is_err_and(|error| error.to_string().contains("too long")),
            "{name}"
        );
        let rejected = index.insert(&[1], VALUE_END);
        assert!(
            rejected.is_err_and(|error| error.to_string().contains("too large")),
            "{name}"
        );
        assert_eq!(index.search(&[1; KEY_MAX + 1]).unwrap(), None, "{name}");
    }
}

/// Records and operations of the streams whose cost is known beforehand.
const RECORDS: u64 = 20_000;
const OPERATIONS: u64 = 2_000;

const KNOWN: Settings = Settings {
    fan_out: 64,
    write_buffer: 8,
    cache: 0,
    subfile: 8192,
    valid_percent: 5,
    sectors: 3,
    ratio: 128,
    head: 4,
    buffered_every: 2,
    buffers: 32,
    buffer_most: 256,
    one_by_one: true,
    trace: false,
};

/// A key of its own for each number, all over.
fn spread(number: u64) -> [u8; 8] {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()
}

fn loaded(open: Open, folder: &Path, records: u64) -> Box<dyn OrderedIndex> {
    let mut index = open(folder, &KNOWN).unwrap();
    for number in 0..records {
        index.insert(&spread(number), number).unwrap();
    }
    index.settle().unwrap();
    index
}

/// Searches and updates of a B+-tree with three levels, no cache, and so many leaves that few are
/// met again while they wait: a search reads three nodes, an update reads three and writes one.
#[test]
fn b_trees_do_what_can_be_counted_beforehand() {
    for (name, open) in &STRUCTURES[..2] {
        let folder = tempfile::tempdir().unwrap();
        let mut index = loaded(*open, &folder.path().join("nodes"), RECORDS);
        let before = index.work();
        for number in 0..OPERATIONS {
            index.search(&spread(number * 7)).unwrap();
        }
        let searched = index.work().less(before);
        assert_eq!(
            (searched.reads, searched.writes),
            (3 * OPERATIONS, 0),
            "{name}"
        );
        let before = index.work();
        for number in 0..OPERATIONS {
            index.insert(&spread(number * 7), 1).unwrap();
        }
        index.settle().unwrap();
        let updated = index.work().less(before);
        let written = updated.written_bytes / NODE_BYTES as u64;
        near(updated.reads, 3 * OPERATIONS, name);
        near(written, OPERATIONS, name);
        let together = if *name == "sequential" {
            KNOWN.write_buffer as u64
        } else {
            1
        };
        near(updated.writes, OPERATIONS / together, name);
    }
}

/// BFTL that gathers no nodes: each time the reservation buffer is full of changes of leaves all
/// over, it goes to one sector.
#[test]
fn bftl_writes_what_can_be_counted_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    drop(loaded(STRUCTURES[2].1, &path, OPERATIONS));
    let settings = Settings {
        sectors: usize::MAX,
        ..KNOWN
    };
    let mut index = STRUCTURES[2].1(&path, &settings).unwrap();
    let before = index.work();
    for number in 0..OPERATIONS {
        index.insert(&spread(number), RECORDS).unwrap();
    }
    index.settle().unwrap();
    let written = index.work().less(before).written_bytes / NODE_BYTES as u64;
    let full = OPERATIONS.div_ceil(KNOWN.fan_out as u64);
    near(written, full, "BFTL");
}

/// An LA-tree whose operations all wait in memory, and are then so many that each leaf has some:
/// each is written once, or twice if it is the one that fills the write buffer while more of its
/// own follow.
#[test]
fn an_la_tree_writes_what_can_be_counted_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = loaded(STRUCTURES[4].1, &folder.path().join("nodes"), RECORDS);
    let nodes = index.file_bytes() / NODE_BYTES as u64;
    let before = index.work();
    for number in 0..RECORDS / 2 {
        index.insert(&spread(number * 2), RECORDS).unwrap();
    }
    assert_eq!(index.work().less(before).writes, 0);
    index.settle().unwrap();
    let written = index.work().less(before).written_bytes / NODE_BYTES as u64;
    let leaves = nodes - nodes / 32;
    near(
        written,
        leaves + leaves / KNOWN.write_buffer as u64,
        "LA-tree",
    );
}

/// Changes that go round a tree: of those that wait, a leaf has twice the mean when its turn comes.
/// Between two parts a leaf is written twice.
#[test]
fn changes_that_wait_write_what_can_be_counted_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    drop(loaded(STRUCTURES[5].1, &path, RECORDS));
    let settings = Settings {
        buffers: 8,
        ..KNOWN
    };
    let mut index = STRUCTURES[5].1(&path, &settings).unwrap();
    let waiting = (settings.buffers * NODE_BYTES / (8 + 12)) as u64;
    let mut change = |numbers: std::ops::Range<u64>| {
        let before = index.work();
        for number in numbers {
            index.insert(&spread(number * 7 % RECORDS), number).unwrap();
        }
        index.work().less(before).written_bytes / NODE_BYTES as u64
    };
    // In the first rounds fewer wait.
    change(0..6 * waiting);
    let written = change(6 * waiting..14 * waiting);
    let files = index.cleaning().subfiles;
    let nodes: u64 = files.iter().map(|[_, _, valid]| u64::from(*valid)).sum();
    let leaves = nodes - nodes / 32;
    near(written, 4 * (leaves + 2 * PARTS as u64), "rolling");
}

/// An FD-tree of one level: each time the head is full, the level is written anew with what it had.
#[test]
fn an_fd_tree_writes_what_can_be_counted_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = FdTree::open(&folder.path().join("runs"), &KNOWN).unwrap();
    let (mut pages, mut head, mut records) = (0, 0, 0u64);
    for number in 0..RECORDS {
        index.insert(&spread(number), number).unwrap();
        head += 20;
        records += 1;
        if head > KNOWN.head * NODE_BYTES {
            let level: u64 = records.div_ceil(KNOWN.fan_out as u64);
            // The manifest is one page more.
            pages += level + 1;
            head = level as usize * 20;
        }
    }
    near(
        index.work().written_bytes / NODE_BYTES as u64,
        pages,
        "FD-tree",
    );
}

/// Within five percent.
fn near(got: u64, expected: u64, what: &str) {
    let off = got.abs_diff(expected) as f64 / expected as f64;
    assert!(off <= 0.05, "{what}: expected about {expected}, got {got}");
}
