//! Every structure against a map in memory, with integers, skewed keys and long ones, opened anew
//! again and again.

use std::collections::BTreeMap;
use std::path::Path;

use gannet::Result;

use super::rolling::PARTS;
use super::*;
use crate::random::Random;

type Open = fn(&Path, &Settings) -> Result<Box<dyn OrderedIndex>>;

const STRUCTURES: [(&str, Open); 8] = [
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
    ("packed, merged at once", |folder, settings| {
        let tree = Packed::open(folder, settings)?;
        Ok(Box::new(Rolling::whole(tree, settings)))
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
    apart: false,
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

/// BFTL: each time the reservation buffer is full of changes of leaves all over, they go to one
/// sector. A leaf that lies in more than three sectors then is gathered, whole, which its third
/// change makes it do. Gathered leaves are packed into sectors, or have one each.
#[test]
fn bftl_writes_what_can_be_counted_beforehand() {
    const FEW: u64 = 3_300;
    for (gathers, apart) in [(false, false), (true, false), (true, true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nodes");
        drop(loaded(STRUCTURES[2].1, &path, FEW));
        let settings = Settings {
            sectors: if gathers { 3 } else { usize::MAX },
            apart,
            ..KNOWN
        };
        let mut index = STRUCTURES[2].1(&path, &settings).unwrap();
        let (mut random, mut value) = (Random::new(1, "BFTL"), FEW);
        let mut change = |count: u64| {
            let before = index.work();
            for _ in 0..count {
                // A value that is there already would be no change.
                value += 1;
                let number = random.below(FEW as usize) as u64;
                index.insert(&spread(number), value).unwrap();
            }
            index.work().less(before).written_bytes / NODE_BYTES as u64
        };
        change(10 * KNOWN.fan_out as u64);
        let commits = 80;
        let written = change(commits * KNOWN.fan_out as u64);
        let expected = match (gathers, apart) {
            (false, _) => commits as f64,
            (true, false) => commits as f64 * (1.0 + gathered_sectors(FEW)),
            (true, true) => commits as f64 * (1.0 + gathered_leaves(FEW)),
        };
        near(written, expected as u64, "BFTL");
    }
}

/// Leaves that one commit gathers, in the mean: a third of those that it changes.
fn gathered_leaves(records: u64) -> f64 {
    let changed =
        |keys: usize| 1.0 - (1.0 - keys as f64 / records as f64).powf(KNOWN.fan_out as f64);
    leaves(records).into_iter().map(changed).sum::<f64>() / 3.0
}

/// Keys of each leaf: of one that is too full the first half stays, and a key more if they are odd.
fn leaves(records: u64) -> Vec<usize> {
    let mut leaves = vec![Vec::new()];
    for key in (0..records).map(spread) {
        let behind =
            leaves.partition_point(|leaf: &Vec<_>| leaf.first().is_some_and(|first| *first <= key));
        let at = behind.saturating_sub(1);
        let place = leaves[at].partition_point(|other| *other < key);
        leaves[at].insert(place, key);
        if leaves[at].len() > KNOWN.fan_out {
            let right = leaves[at].split_off(KNOWN.fan_out / 2 + 1);
            leaves.insert(at + 1, right);
        }
    }
    leaves.iter().map(Vec::len).collect()
}

/// Sectors that the leaves gathered by one commit take if they share them, in the mean: each has a
/// header and its keys in units.
fn gathered_sectors(records: u64) -> f64 {
    let gathered = gathered_leaves(records);
    let units = records as f64 / leaves(records).len() as f64;
    let of_a_sector = NODE_BYTES as f64 / (8.0 + 19.0 * units);
    // The number varies from commit to commit, nearly by a normal distribution.
    let spread = (gathered * 2.0 / 3.0).sqrt();
    let below = |sectors: f64| normal((sectors * of_a_sector - gathered) / spread);
    (0..20).map(|sectors| 1.0 - below(f64::from(sectors))).sum()
}

/// The share of a normal distribution below so many standard deviations.
fn normal(deviations: f64) -> f64 {
    let steps = 2_000;
    let width = (deviations + 8.0).max(0.0) / f64::from(steps);
    let at = |step: i32| -8.0 + (f64::from(step) + 0.5) * width;
    let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    (0..steps).map(|step| density(at(step)) * width).sum()
}

/// An LA-tree that is changed all over: the largest part in memory goes to a page of its buffer
/// again and again, and has twice the mean then. A full buffer changes all leaves below it, each of
/// which is written once.
#[test]
fn an_la_tree_writes_what_can_be_counted_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    drop(loaded(STRUCTURES[4].1, &path, RECORDS));
    let settings = Settings {
        cache: 64,
        buffers: 8,
        buffer_most: 4,
        one_by_one: false,
        ..KNOWN
    };
    let mut index = LaTree::open(&path, &settings).unwrap();
    let children = index.children_of_buffers().unwrap();
    let buffers = children.len() as f64;
    let mut random = Random::new(1, "LA-tree");
    let (mut waiting, mut looks) = (0, 0);
    let mut change = |index: &mut LaTree, count: u64| {
        let before = index.work();
        for number in 0..count {
            let record = spread(random.below(RECORDS as usize) as u64);
            index.insert(&record, number).unwrap();
            if number % 16 == 0 {
                waiting += index.waiting();
                looks += 1;
            }
        }
        index.work().less(before).written_bytes / NODE_BYTES as u64
    };
    let changes = 200_000;
    change(&mut index, changes / 4);
    let written = change(&mut index, changes);
    let waiting = waiting as f64 / looks as f64;
    // A change of a key that waits adds none.
    let added = changes as f64 * (1.0 - waiting / RECORDS as f64);
    let pages = added / (2.0 * waiting / buffers);
    let emptied = pages / settings.buffer_most as f64;
    // Of two buffers the one with more leaves is full more often.
    let squares: usize = children.iter().map(|leaves| leaves * leaves).sum();
    let leaves = squares as f64 / children.iter().sum::<usize>() as f64;
    near(written, (pages + emptied * leaves) as u64, "LA-tree");
}

/// The published rule, with the figures counted by hand.
#[test]
fn an_la_tree_empties_a_buffer_once_that_has_paid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    drop(loaded(STRUCTURES[4].1, &path, RECORDS));
    let settings = Settings {
        cache: 64,
        buffers: 1,
        ..KNOWN
    };
    let mut index = LaTree::open(&path, &settings).unwrap();
    // Changes of neighbours all wait at one node, and are written as one page of its buffer.
    let mut numbers: Vec<u64> = (0..RECORDS).collect();
    numbers.sort_by_key(|number| spread(*number));
    let mut changed = 0;
    while index.flash_pages() == 0 {
        index.insert(&spread(numbers[changed]), RECORDS).unwrap();
        changed += 1;
    }
    let children = index.children_of_first_buffer().unwrap();
    let pages = index.flash_pages();
    assert!(
        changed as u64 <= numbers.len() as u64 / 8,
        "they are of one node"
    );
    // The first search sees the buffer as it is; each one after it would have been spared a page.
    let asked = spread(numbers[changed + 1]);
    let payback = pages + 2 * children;
    for _ in 0..payback.div_ceil(pages) {
        assert_eq!(index.flash_pages(), pages);
        index.search(&asked).unwrap();
    }
    assert_eq!(index.flash_pages(), pages);
    index.search(&asked).unwrap();
    assert_eq!(index.flash_pages(), 0);
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
    let mut change = |numbers: std::ops::Range<u64>| {
        let (before, changes) = (index.work(), numbers.end - numbers.start);
        let (moved, mut waiting) = (index.cleaning().moved, 0);
        for number in numbers {
            index.insert(&spread(number * 7 % RECORDS), number).unwrap();
            waiting += index.waiting();
        }
        let written = index.work().less(before).written_bytes / NODE_BYTES as u64;
        // What cleaning moves is not part of it.
        let moved = index.cleaning().moved - moved;
        ((written - moved) as f64, waiting as f64 / changes as f64)
    };
    // In the first rounds fewer wait.
    change(0..RECORDS);
    let (written, waiting) = change(RECORDS..3 * RECORDS);
    let files = index.cleaning().subfiles;
    let nodes: u64 = files.iter().map(|[_, _, valid]| u64::from(*valid)).sum();
    let leaves = nodes - nodes / 32;
    let rounds = 2.0 * RECORDS as f64 / (2.0 * waiting);
    let expected = rounds * (leaves + 2 * PARTS as u64) as f64;
    near(written as u64, expected as u64, "rolling");
}

/// An FD-tree of several levels: a full head is merged with the first levels into the first that
/// has room for all. That level is written anew with its records, the fences of the level below,
/// and one fence more a page; the levels above it with fences alone.
#[test]
fn an_fd_tree_writes_what_can_be_counted_beforehand() {
    for ratio in [128, 3] {
        let settings = Settings { ratio, ..KNOWN };
        let folder = tempfile::tempdir().unwrap();
        let mut index = FdTree::open(&folder.path().join("runs"), &settings).unwrap();
        // Records of each level; the head takes as many as pages of its size do.
        let mut levels: Vec<u64> = Vec::new();
        let first = (KNOWN.head * NODE_BYTES / 20 * ratio) as u64;
        let (mut pages, mut merges) = (0, 0);
        for number in 0..6 * RECORDS {
            let waited = index.waiting() as u64;
            index.insert(&spread(number), number).unwrap();
            if index.waiting() > 0 {
                continue;
            }
            let (mut all, mut target, mut most) = (waited + 1, 0, first);
            while let Some(records) = levels.get(target) {
                all += records;
                if all <= most {
                    break;
                }
                most *= ratio as u64;
                target += 1;
            }
            levels.resize(levels.len().max(target + 1), 0);
            levels[..target].fill(0);
            levels[target] = all;
            // The manifest is one page more.
            pages += 1 + pages_of(&levels, target);
            merges += 1;
        }
        let depth = levels.len();
        assert!(merges > 20 && (depth > 2) == (ratio == 3), "{depth} levels");
        let written = index.work().written_bytes / NODE_BYTES as u64;
        near(written, pages, "FD-tree");
    }
}

/// Pages of the levels down to `target`, by the records of each level and the pages of all below.
fn pages_of(levels: &[u64], target: usize) -> u64 {
    let (mut written, mut below) = (0, 0);
    for (at, records) in levels.iter().enumerate().rev() {
        let is_inner = at + 1 < levels.len();
        // One entry of a page is the fence that it begins with.
        let room = KNOWN.fan_out as u64 - u64::from(is_inner && *records > 0);
        let pages = (records + below).div_ceil(room);
        written += if at <= target { pages } else { 0 };
        below = pages;
    }
    written
}

/// Without a cache the engine's tree reads its nodes again for each search, as the others do.
#[test]
fn the_engines_tree_reads_each_level_without_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let index = loaded(STRUCTURES[6].1, &folder.path().join("nodes"), RECORDS);
    assert_eq!(reads_of_searches(index), 2 * OPERATIONS);
    let cached = Settings {
        cache: 512,
        ..KNOWN
    };
    let index = STRUCTURES[6].1(&folder.path().join("nodes"), &cached).unwrap();
    assert!(reads_of_searches(index) < OPERATIONS);
}

fn reads_of_searches(mut index: Box<dyn OrderedIndex>) -> u64 {
    let before = index.work();
    for number in 0..OPERATIONS {
        index.search(&spread(number * 7)).unwrap();
    }
    index.work().less(before).reads
}

/// What waits above a tree stays within its share of memory, whatever it is.
#[test]
fn changes_that_wait_keep_to_their_memory() {
    for (name, open) in &STRUCTURES[4..] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nodes");
        drop(loaded(*open, &path, RECORDS));
        let settings = Settings {
            buffers: 8,
            cache: 4,
            ..KNOWN
        };
        let mut index = open(&path, &settings).unwrap();
        let empty = index.memory();
        for number in 0..RECORDS / 4 {
            index.insert(&spread(number * 3), RECORDS).unwrap();
            // Nodes that are changed and read come on top.
            let most = empty + (8 + KNOWN.write_buffer + 4 + 4) * (NODE_BYTES + 64) + (96 << 10);
            assert!(index.memory() <= most, "{name}: {} bytes", index.memory());
        }
    }
}

/// Within five percent.
fn near(got: u64, expected: u64, what: &str) {
    let off = got.abs_diff(expected) as f64 / expected as f64;
    assert!(off <= 0.05, "{what}: expected about {expected}, got {got}");
}
