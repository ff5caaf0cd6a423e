//! Invariants of all policies, on random traces.

use clap::{Parser, ValueEnum};

use super::misses::Misses;
use super::moment::Moment;
use super::tier::{ModelTier, TierCounts};
use super::trace::Trace;
use super::trace::tests::trace;
use super::{Arguments, Name, policy};
use crate::random::Random;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    arguments: Arguments,
}

/// Queries for pages of which the first ones are asked for most.
fn skewed(seed: u64, queries: usize) -> Trace {
    let mut random = Random::new(seed, "replay");
    let mut page = || {
        let most = 1 + random.below(800);
        random.below(most) as u32
    };
    let queries: Vec<Vec<Vec<u32>>> = (0..queries)
        .map(|_| {
            (0..3)
                .map(|round| (0..=round).map(|_| page()).collect())
                .collect()
        })
        .collect();
    let rounds: Vec<Vec<&[u32]>> = queries
        .iter()
        .map(|query| query.iter().map(Vec::as_slice).collect())
        .collect();
    let queries: Vec<&[&[u32]]> = rounds.iter().map(Vec::as_slice).collect();
    trace(&queries)
}

fn counts(name: Name, trace: &Trace, misses: &Misses, pages: usize) -> TierCounts {
    let arguments = Command::parse_from(["replay", "none", "--region", "8"]).arguments;
    let region = if name.has_regions() {
        arguments.region
    } else {
        1
    };
    let regions = pages / region;
    let moment = Moment::default();
    let of_process = moment.clone();
    let make = || policy(&arguments, name, (trace, misses), regions, &of_process);
    ModelTier::new(trace, Box::new(make), regions, region, moment).run(misses, 0)
}

#[test]
fn no_policy_has_more_hits_than_one_that_knows_the_future() {
    for seed in 0..5 {
        let trace = skewed(seed, 2_000);
        let misses = Misses::of(&trace, 16, usize::MAX);
        for pages in [16, 64, 256] {
            // A page that is gathered can be read, too: a region more at most.
            let most = counts(Name::Belady, &trace, &misses, pages + 8).hits;
            for name in Name::value_variants() {
                let found = counts(*name, &trace, &misses, pages);
                assert!(
                    found.hits <= most,
                    "{name:?} {seed} {pages}: {found:?} {most}"
                );
                assert_eq!(found.requests, misses.pages.len() as u64, "{name:?}");
                let rounds = misses.rounds.len() as u64;
                assert!(found.store_rounds <= rounds, "{name:?}");
                assert!(found.store_rounds <= found.store_requests, "{name:?}");
            }
        }
    }
}

#[test]
fn policies_by_frequency_find_more_and_write_less_than_the_order_of_use() {
    let trace = skewed(9, 5_000);
    let misses = Misses::of(&trace, 16, usize::MAX);
    let lru = counts(Name::Lru, &trace, &misses, 128);
    for name in [Name::Gdsf, Name::Efficiency, Name::Rounds] {
        let found = counts(name, &trace, &misses, 128);
        assert!(
            found.hits > lru.hits && found.written < lru.written,
            "{name:?}: {found:?} {lru:?}"
        );
    }
    assert_eq!(counts(Name::None, &trace, &misses, 128).hits, 0);
}

#[test]
fn a_tier_with_room_for_all_reads_each_page_once_from_the_store() {
    let trace = skewed(3, 3_000);
    let misses = Misses::of(&trace, 1, usize::MAX);
    for name in [Name::Lru, Name::S3Fifo, Name::Gdsf, Name::SecondSighting] {
        let found = counts(name, &trace, &misses, 4_096);
        let pages = trace.addresses.len() as u64;
        // The last page is still in memory.
        assert!(
            found.requests - found.hits <= pages + 1,
            "{name:?}: {found:?}"
        );
        assert!(found.written <= pages, "{name:?}");
    }
}
