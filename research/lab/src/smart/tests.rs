//! Programs in the drive against the host and against an oracle that knows no lists.

use std::collections::BTreeMap;

use gannet_ssd::random::Random;
use gannet_ssd::smart::{Limits, SmartProfile};

use super::lists::{List, Posting, list, score, with_score};
use super::operation::{Operation, Query};
use super::session::Bench;

/// The largest number of results that the heap in SRAM takes.
const TOP_LIMIT: usize = 1024;

/// Rounds of the random test; seven operations each.
const ROUNDS: usize = 500;

/// All combinations.
fn all(top: usize) -> [Query; 7] {
    use Operation::*;
    let of = |operation, top| Query { operation, top };
    [
        of(Intersection, None),
        of(Intersection, Some(top)),
        of(Difference, None),
        of(Difference, Some(top)),
        of(Union, None),
        of(Union, Some(top)),
        of(EarlyUnion, Some(top)),
    ]
}

fn profile() -> SmartProfile {
    SmartProfile::named("smart-ssd-2016").unwrap()
}

/// What a query answers, from sets of documents.
fn oracle(query: &Query, lists: &[List]) -> Vec<u8> {
    let mut found: BTreeMap<u32, (usize, Posting)> = BTreeMap::new();
    for (at, list) in lists.iter().enumerate() {
        for posting in list {
            let entry = found.entry(posting[0] as u32);
            let is_new = matches!(entry, std::collections::btree_map::Entry::Vacant(_));
            let (count, kept) = entry.or_insert((0, *posting));
            *count += if at == 0 && query.operation == Operation::Difference {
                100
            } else {
                1
            };
            if !is_new {
                let sum = score(kept[0]).saturating_add(score(posting[0]));
                kept[0] = with_score(kept[0], sum);
            }
        }
    }
    let is_result = |count: usize| match query.operation {
        Operation::Intersection => count == lists.len(),
        Operation::Difference => count == 100,
        Operation::Union | Operation::EarlyUnion => true,
    };
    if query.operation == Operation::Intersection {
        keep_shortest(&mut found, lists);
    }
    let results = found.into_values().filter(|(count, _)| is_result(*count));
    let mut results: Vec<Posting> = results.map(|(_, posting)| posting).collect();
    let Some(top) = query.top else {
        return super::lists::bytes(&results);
    };
    results.sort_by_key(|posting| std::cmp::Reverse(score(posting[0])));
    results
        .iter()
        .take(top)
        .flat_map(|posting| posting[0].to_le_bytes())
        .collect()
}

/// Results of an intersection are postings of the shortest list.
fn keep_shortest(found: &mut BTreeMap<u32, (usize, Posting)>, lists: &[List]) {
    let shortest = lists.iter().min_by_key(|list| list.len());
    for posting in shortest.into_iter().flatten() {
        let kept = &mut found.get_mut(&(posting[0] as u32)).unwrap().1;
        *kept = [kept[0], posting[1], posting[2], posting[3]];
    }
}

/// Lists of random lengths and densities; some empty, some equal, some far apart. Many scores of
/// some are equal, and those of one list may be far above those of another.
fn random_lists(random: &mut Random) -> Vec<List> {
    let count = 2 + random.below(4);
    let span = [3, 40, 600, 20_000][random.below(4)];
    let make = |_| {
        let share = [0, 1, 4, 16, 64, 256, 1024][random.below(7)];
        let start = random.below(2) * random.below(span);
        let documents: Vec<u32> = (start..span)
            .filter(|_| random.below(1024) < share)
            .map(|one| one as u32)
            .collect();
        let scores = [2, 16, 1 << 10, 1 << 20][random.below(4)];
        let mut made = list(&documents, random);
        for posting in &mut made {
            posting[0] = with_score(posting[0], score(posting[0]) % scores);
        }
        made
    };
    (0..count).map(make).collect()
}

/// The lists that a query takes: a difference takes two.
fn taken(query: &Query, lists: &[List]) -> Vec<List> {
    match query.operation {
        Operation::Difference => lists[..2].to_vec(),
        _ => lists.to_vec(),
    }
}

/// A drive whose memory holds all lists, and one whose memory is a few pages, so that both ways
/// for large lists are taken.
fn benches() -> Vec<Bench> {
    let limits = Limits::of(&profile());
    let small = Limits {
        dram_bytes: 20 * 4096,
        ..limits
    };
    let bench = |limits| Bench::new(&profile(), limits, Vec::new()).unwrap();
    vec![bench(limits), bench(small)]
}

#[test]
fn drive_host_and_oracle_agree_on_random_lists() {
    let rounds = std::env::var("GANNET_SMART_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let seed = std::env::var("GANNET_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let mut random = Random::new(seed, "offload");
    let mut benches = benches();
    let mut outgrown = 0;
    for round in 0..rounds.unwrap_or(ROUNDS) {
        let lists = random_lists(&mut random);
        for query in all(1 + random.below(30)) {
            let lists = taken(&query, &lists);
            let expected = oracle(&query, &lists);
            for (at, bench) in benches.iter_mut().enumerate() {
                bench.replace(lists.clone()).unwrap();
                let what = format!("seed {seed}, round {round}, {query:?}, drive {at}");
                assert_eq!(
                    bench.on_host(&query).unwrap().answer,
                    expected,
                    "{what}: host"
                );
                match bench.in_device(&query) {
                    Ok(plan) => assert_eq!(plan.answer, expected, "{what}: drive"),
                    Err(error) => {
                        let fits = at == 0 || query.operation != Operation::Union;
                        assert!(!fits, "{what}: {error}");
                        outgrown += 1;
                    }
                }
            }
        }
    }
    assert!(
        outgrown > 0,
        "a union that does not fit is left to the host"
    );
}

#[test]
fn counts_are_the_same_each_time_and_accesses_near_those_of_the_host() {
    for query in all(10) {
        for sizes in [[3_000, 40_000], [9_000, 10_000]] {
            let lists = super::lists::lists(&sizes, 300, 5);
            let bench = Bench::new(&profile(), Limits::of(&profile()), lists).unwrap();
            let (one, two) = (
                bench.in_device(&query).unwrap(),
                bench.in_device(&query).unwrap(),
            );
            assert_eq!(one.work, two.work);
            let host = bench.on_host(&query).unwrap();
            assert_eq!(one.answer, host.answer);
            if query.operation != Operation::Union && query.top.is_none() {
                let results = one.answer.len() as f64 / 32.0;
                // Of a result the host stores four words, the drive moves two bursts.
                let host_accesses = host.work.dram_accesses as f64 - 4.0 * results;
                let extra = if query.operation == Operation::Intersection {
                    3.0
                } else {
                    2.0
                };
                let device_accesses = one.work.dram_accesses as f64 - extra * results;
                let ratio = device_accesses / host_accesses;
                assert!(
                    (0.98..1.02).contains(&ratio),
                    "{query:?} {sizes:?}: {ratio}"
                );
            }
        }
    }
}

#[test]
fn a_union_looks_at_each_list_twice_for_each_result() {
    let query = all(10)[4];
    let lists = super::lists::lists(&[9_000, 10_000], 300, 5);
    let bench = Bench::new(&profile(), Limits::of(&profile()), lists).unwrap();
    let plan = bench.in_device(&query).unwrap();
    let results = plan.answer.len() as u64 / 32;
    // 2u, and of each result a store and two bursts; a little less once a list has ended.
    let expected = results * (4 + 3);
    let found = plan.work.dram_accesses;
    assert!(
        (expected * 95 / 100..=expected).contains(&found),
        "{found} of {expected}"
    );
}

#[test]
fn early_termination_reads_the_same_pages_on_both_sides_and_fewer_than_without() {
    let early = all(10)[6];
    for sizes in [vec![3_000, 400_000], vec![9_000, 40_000, 90_000, 100_000]] {
        let lists = super::lists::lists(&sizes, 300, 5);
        let bench = Bench::new(&profile(), Limits::of(&profile()), lists).unwrap();
        let (drive, host) = (
            bench.in_device(&early).unwrap(),
            bench.on_host(&early).unwrap(),
        );
        let plain = bench.in_device(&all(10)[5]).unwrap();
        assert_eq!(drive.answer, host.answer);
        assert_eq!(drive.answer, plain.answer);
        assert_eq!(drive.work.flash_pages, host.work.flash_pages);
        assert_eq!(drive.work.flash_requests, host.work.flash_requests);
        assert!(drive.work.flash_pages < plain.work.flash_pages, "{sizes:?}");
        let ratio = drive.work.dram_accesses as f64 / host.work.dram_accesses as f64;
        assert!((0.98..1.02).contains(&ratio), "{sizes:?}: {ratio}");
    }
}

#[test]
fn what_the_heap_does_not_hold_stays_with_the_host() {
    let mut bench = benches().remove(0);
    bench
        .replace(super::lists::lists(&[2_000, 2_000], 1_500, 1))
        .unwrap();
    let query = all(TOP_LIMIT)[1];
    let answer = bench.in_device(&query).unwrap().answer;
    assert_eq!(answer, bench.on_host(&query).unwrap().answer);
    let error = bench
        .in_device(&all(TOP_LIMIT + 1)[1])
        .unwrap_err()
        .to_string();
    assert!(error.contains("gave up with code 1"), "{error}");
}

/// Pages, link bytes and flash time of lists that are read in order are what arithmetic says.
#[test]
fn simple_lists_cost_what_closed_forms_say() {
    for megabytes in [1, 4, 16] {
        let postings = megabytes * 32_768;
        let lists = super::lists::lists(&[postings, postings], 100, 1);
        let bench = Bench::new(&profile(), Limits::of(&profile()), lists).unwrap();
        let query = all(10)[0];
        let device = bench.in_device(&query).unwrap();
        let host = bench.on_host(&query).unwrap();
        let bytes = 2.0 * (megabytes << 20) as f64;
        let near = |what: &str, found: f64, expected: f64| {
            let ratio = found / expected;
            assert!(
                (0.95..1.05).contains(&ratio),
                "{megabytes} MB, {what}: {found}, {expected}"
            );
        };
        near("pages", device.work.flash_pages as f64, bytes / 4096.0);
        // Parameters of two lists, two spans, and a hundred results.
        near(
            "link of the drive",
            device.work.link_bytes as f64,
            16.0 + 24.0 + 3_200.0,
        );
        near("link of the host", host.work.link_bytes as f64, bytes);
        // Two reads, each of which waits for its first pages: 50 us, and those of its planes.
        let inside = bytes / 2.2e9 * 1e9 + 2.0 * 50e3;
        near("flash time inside", device.work.flash_nanos as f64, inside);
        near(
            "flash time of the host",
            host.work.flash_nanos as f64,
            bytes / 550e6 * 1e9 + 2.0 * 50e3,
        );
    }
}
