//! Bytes of every strategy against what can be counted beforehand: some lists that all grow by as
//! many postings in each flush.

use std::path::Path;
use std::sync::Arc;

use gannet::device::PAGE_SIZE;
use gannet::offload::Fragment;
use gannet_ssd::Work;

use super::blocks::BLOCK_BYTES;
use super::coding::Coding;
use super::strategy::Lists;
use super::*;
use crate::bytes::put_varint;
use crate::random::Random;

const PAGE: u64 = PAGE_SIZE as u64;

/// Lists that get so many postings in each of so many flushes.
#[derive(Clone, Copy)]
struct Growth {
    lists: u32,
    postings: u32,
    flushes: u32,
}

impl Growth {
    /// Bytes of a flush, eight for each posting.
    fn bytes(self) -> u64 {
        8 * u64::from(self.lists) * u64::from(self.postings)
    }
}

/// The flush with this number, of lists from `first` on. Distances of documents and positions take
/// eight bits.
fn flush(growth: Growth, first: u32, number: u32) -> Flush {
    let mut flush = Flush::default();
    for term in first..first + growth.lists {
        let mut random = Random::new(u64::from(term), "distances");
        let base = number * growth.postings * 256;
        let mut fragment = Fragment {
            count: growth.postings,
            total_frequency: u64::from(growth.postings),
            max_frequency: 1,
            last: base,
            ..Fragment::default()
        };
        let mut before = 0;
        for _ in 0..growth.postings {
            fragment.last += 129 + random.below(127) as u32;
            put_varint(
                &mut fragment.docs,
                u64::from(fragment.last - before) << 1 | 1,
            );
            put_varint(&mut fragment.positions, 128 + random.below(127) as u64);
            before = fragment.last;
        }
        flush.terms.push((term, fragment));
    }
    flush
}

fn keys(count: u32) -> Arc<Vec<Vec<u8>>> {
    let key = |number| [&[0, 0], format!("t{number:05}").as_bytes()].concat();
    Arc::new((0..count).map(key).collect())
}

/// Opens a strategy on files, for terms with these keys.
type Open<'o> = dyn Fn(Arc<Files>, Arc<Vec<Vec<u8>>>) -> Box<dyn Strategy> + 'o;

/// What a strategy does with the device for all flushes.
fn work_of(growth: Growth, open: &Open<'_>) -> Work {
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(Files::open(&folder.path().join("lists"), false).unwrap());
    let mut strategy = open(files, keys(growth.lists));
    for number in 0..growth.flushes {
        strategy.flush(&flush(growth, 0, number)).unwrap();
    }
    strategy.work()
}

#[track_caller]
fn near(what: &str, found: u64, expected: u64) {
    let ratio = found as f64 / expected.max(1) as f64;
    println!("{what}: {found} for {expected}, {ratio:.3}");
    assert!(
        (0.95..1.05).contains(&ratio),
        "{what}: {found} for {expected}"
    );
}

/// The largest power of `base` that divides a number.
fn divisor(number: u64, base: u64) -> u64 {
    let mut power = 1;
    while number.is_multiple_of(power * base) {
        power *= base;
    }
    power
}

#[test]
fn sub_indexes_write_what_their_rule_says() {
    let growth = Growth {
        lists: 20,
        postings: 2_000,
        flushes: 20,
    };
    let (bytes, flushes) = (growth.bytes(), u64::from(growth.flushes));
    let buffer = bytes / 8;
    let sums: [(Rule, u64); 4] = [
        (Rule::Never, flushes),
        (Rule::AtOnce, flushes * (flushes + 1) / 2),
        (
            Rule::Logarithmic,
            (1..=flushes).map(|at| divisor(at, 2)).sum(),
        ),
        (
            Rule::Geometric { ratio: 3, buffer },
            (1..=flushes).map(|at| at % (3 * divisor(at, 3))).sum(),
        ),
    ];
    for (rule, sum) in sums {
        let work = work_of(growth, &|files, keys| {
            Box::new(SubIndexes::new(files, keys, Coding::Plain, rule, [0, 1]))
        });
        near(&format!("{rule:?} writes"), work.written_bytes, sum * bytes);
        // What is written and did not come with the flush was read.
        let read = (sum - flushes) * bytes;
        near(
            &format!("{rule:?} reads"),
            work.read_bytes.max(1),
            read.max(1),
        );
    }
}

/// Blocks read and written by lists in blocks.
fn blocks(growth: Growth) -> [u64; 2] {
    let (mut read, mut written) = (0, 0);
    for before in (0..growth.flushes).map(|flush| u64::from(flush * growth.postings)) {
        let after = before + u64::from(growth.postings);
        read += u64::from(!before.is_multiple_of(1022));
        written += after.div_ceil(1022) - before / 1022;
    }
    [read, written].map(|blocks| blocks * u64::from(growth.lists) * BLOCK_BYTES as u64)
}

#[test]
fn lists_in_blocks_read_and_write_their_last_blocks() {
    for postings in [300, 1022, 2500] {
        let growth = Growth {
            lists: 50,
            postings,
            flushes: 12,
        };
        let [read, written] = blocks(growth);
        let work = |threshold| {
            work_of(growth, &|files, keys| {
                let blocks = Blocks::new(files, 0, keys.len(), Coding::Plain, threshold);
                Box::new(blocks.unwrap())
            })
        };
        let (one_by_one, together) = (work(1), work(16));
        assert_eq!(
            (one_by_one.read_bytes, one_by_one.written_bytes),
            (read, written)
        );
        assert_eq!(
            (together.read_bytes, together.written_bytes),
            (read, written)
        );
        assert!(together.writes <= one_by_one.writes);
    }
}

/// A batch ends with the block that the threshold says: three of four lists have a last block, and
/// 16 of these are read, and written, together with what is new beside them.
#[test]
fn a_threshold_counts_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(Files::open(&folder.path().join("lists"), false).unwrap());
    let mut blocks = Blocks::new(files, 0, 63, Coding::Plain, 16).unwrap();
    let growth = Growth {
        lists: 63,
        postings: 10,
        flushes: 2,
    };
    let mut first = flush(growth, 0, 0);
    first.terms.retain(|(term, _)| term % 4 < 3);
    Lists::add(&mut blocks, &first).unwrap();
    let before = Lists::work(&blocks);
    Lists::add(&mut blocks, &flush(growth, 0, 1)).unwrap();
    let done = Lists::work(&blocks).less(before);
    // The 48 last blocks lie one behind the other, and so do new ones: each batch is two writes.
    assert_eq!(done.writes, 6);
}

/// A large region that was left takes the next one that fits.
#[test]
fn contiguous_lists_use_left_regions_again() {
    let growth = Growth {
        lists: 40,
        postings: 20_000,
        flushes: 20,
    };
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(Files::open(&folder.path().join("lists"), false).unwrap());
    let mut lists = Contiguous::new(Arc::clone(&files), 40, Coding::Plain).unwrap();
    for number in 0..growth.flushes {
        Lists::add(&mut lists, &flush(growth, 0, number)).unwrap();
    }
    let held = growth.bytes() * u64::from(growth.flushes);
    let taken = files.bytes().unwrap();
    assert!(taken < 2 * held, "{taken} bytes for {held}");
}

#[test]
fn contiguous_lists_move_when_their_room_is_full() {
    let growth = Growth {
        lists: 10,
        postings: 20_000,
        flushes: 30,
    };
    let (mut read, mut written, mut room) = (0, 0, 0);
    let one = 8 * u64::from(growth.postings);
    for flush in 1..=u64::from(growth.flushes) {
        if flush * one <= room {
            // The page where the list ends, about half of it new.
            (read, written) = (read + PAGE, written + one + PAGE / 2);
        } else {
            (read, written) = (read + (flush - 1) * one, written + flush * one);
            room = flush * one * 5 / 4;
        }
    }
    let work = work_of(growth, &|files, keys| {
        Box::new(Contiguous::new(files, keys.len(), Coding::Plain).unwrap())
    });
    near(
        "contiguous writes",
        work.written_bytes,
        written * u64::from(growth.lists),
    );
    near(
        "contiguous reads",
        work.read_bytes,
        read * u64::from(growth.lists),
    );
}

#[test]
fn hybrids_write_what_their_parts_do() {
    let long = Growth {
        lists: 10,
        postings: 3_000,
        flushes: 16,
    };
    let short = Growth {
        lists: 400,
        postings: 100,
        ..long
    };
    let flushes = u64::from(long.flushes);
    let run = |open: &Open<'_>| {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(Files::open(&folder.path().join("lists"), false).unwrap());
        let mut strategy = open(files, keys(long.lists + short.lists));
        for number in 0..long.flushes {
            let mut both = flush(long, 0, number);
            both.terms.extend(flush(short, long.lists, number).terms);
            strategy.flush(&both).unwrap();
        }
        strategy.work().written_bytes
    };
    // Short lists come to 1,600 postings.
    let written =
        run(&|files, keys| Box::new(LongInPlace::new(files, keys, Coding::Plain, 2_000).unwrap()));
    let logarithmic: u64 = (1..=flushes).map(|at| divisor(at, 2)).sum();
    near(
        "HLM_NC",
        written,
        blocks(long)[1] + logarithmic * short.bytes(),
    );
    let written = run(&|files, keys| Box::new(LongMerged::new(files, keys, Coding::Plain, 1_000)));
    let at_once = flushes * (flushes + 1) / 2;
    near(
        "SSD_Hybrid",
        written,
        at_once * long.bytes() + flushes * short.bytes(),
    );
}

#[test]
fn gannet_writes_each_posting_of_large_chunks_once() {
    let growth = Growth {
        lists: 20,
        postings: 20_000,
        flushes: 12,
    };
    let written = |flushes: u32| {
        let folder = tempfile::tempdir().unwrap();
        let norms = Arc::new(vec![1; 0]);
        let mut gannet = gannet_in(&folder.path().join("lists"), growth.lists, norms);
        (0..flushes).for_each(|number| gannet.flush(&flush(growth, 0, number)).unwrap());
        gannet.work().written_bytes
    };
    let one = written(1);
    near(
        "Gannet",
        written(growth.flushes),
        u64::from(growth.flushes) * one,
    );
    // Eight bits for a document and eight for a position; heads, maxima, what tells where blocks
    // are, ends of pages, nodes.
    let bare = 2 * u64::from(growth.lists) * u64::from(growth.postings);
    assert!(one > bare && one < bare * 6 / 5, "{one} for {bare}");
}

fn gannet_in(folder: &Path, lists: u32, norms: Arc<Vec<u8>>) -> Gannet {
    Gannet::new(folder, keys(lists), norms, 4 << 20, false).unwrap()
}

#[test]
fn a_list_that_was_never_given_has_no_parts() {
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(Files::open(&folder.path().join("lists"), false).unwrap());
    let lists = Contiguous::new(files, 3, Coding::Packed).unwrap();
    assert!(lists.read(&[0, 2], true).unwrap().iter().all(Vec::is_empty));
}
