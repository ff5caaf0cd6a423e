//! Policies of the flash tier on traces of the engine's own page requests.
//!
//! `gannet-lab trace` writes the pages that each query asks for, round by round. `gannet-lab
//! replay` sends a trace through frames and a flash tier and counts what is left to the store. It
//! is a simulation: pages have no content, nothing takes time, and a query asks for the same rounds
//! whatever it finds. The rest is the engine's: the trace, the frames, and the policies, which
//! implement its `TierPolicy`.
//!
//! Frames leave over the same [`misses`] whatever is below them, so these are made once. A
//! [`tier::ModelTier`] writes regions as the engine's does, or single pages for policies that order
//! these: [`lru`], [`s3_fifo`], [`greedy_dual`], those of the hybrid cache paper in [`counted`],
//! and [`belady`], which knows the future. [`second_sighting`] writes regions, too: it was the
//! engine's before.

mod belady;
mod counted;
mod greedy_dual;
mod lru;
mod misses;
mod moment;
mod ranking;
mod s3_fifo;
mod second_sighting;
#[cfg(test)]
mod tests;
mod tier;
mod trace;

use std::path::PathBuf;

use clap::ValueEnum;
use gannet::lab::RoundShares;
use serde_json::{Value, json};

use crate::Outcome;
use greedy_dual::{GreedyDual, GreedyDualSettings};
use misses::Misses;
use moment::Moment;
use ranking::Ranked;
use second_sighting::SecondSighting;
use tier::{MakePolicy, ModelTier, ReplayPolicy, TierCounts};
use trace::Trace;
pub use trace::{TraceArguments, write as write_trace};

/// The arguments of `gannet-lab replay`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The trace
    trace: PathBuf,
    /// Pages of the index [default: the distinct pages of the trace]
    #[arg(long)]
    pages: Option<usize>,
    /// Memory is one of so many parts of the index
    #[arg(long, default_value_t = 64)]
    frames: usize,
    /// The tier is one of so many parts of the index
    #[arg(long, num_args = 1.., default_values_t = [64, 16, 4, 2])]
    tiers: Vec<usize>,
    /// Pages of a region
    #[arg(long, default_value_t = 16)]
    region: usize,
    /// A process ends after so many queries, and the next one begins with empty memory [default:
    /// one process]
    #[arg(long)]
    process: Option<usize>,
    /// The policies
    #[arg(long, value_enum, num_args = 1.., default_values_t = Name::value_variants().to_vec())]
    policies: Vec<Name>,
    /// Accesses from which the paper's policies admit a page
    #[arg(long, default_value_t = 2)]
    threshold: u32,
    /// Microseconds that a round to the store takes, beside the bytes
    #[arg(long, default_value_t = 20_000.0)]
    delay_us: f64,
    /// Bytes that the store sends in a second
    #[arg(long, default_value_t = 100e6)]
    bandwidth: f64,
}

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Nothing enters
    None,
    /// The engine's: the requests of a page by the share of a round, in regions
    RoundShares,
    /// The one that the engine had before: at the second sighting, the region that is read least
    SecondSighting,
    /// Least recently used
    Lru,
    /// S3-FIFO
    S3Fifo,
    /// Frequency with ageing: GDSF on pages of one cost
    Gdsf,
    /// GDSF by the share of a round
    GdsfRounds,
    /// The requests of a page by the share of a round, from the second on, without ageing
    Rounds,
    /// The paper's efficiency value with its threshold
    Efficiency,
    /// The paper's CBLRU
    Cblru,
    /// The paper's CBSLRU, whose static half is learned on the first half of the trace
    Cbslru,
    /// The pages that are missed most in the second half, and nothing else: it knows the future
    MostMissed,
    /// Belady's: it knows the future
    Belady,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let trace = Trace::read(&arguments.trace)?;
    let pages = arguments.pages.unwrap_or(trace.addresses.len());
    let process = arguments.process.unwrap_or(usize::MAX);
    let misses = Misses::of(&trace, (pages / arguments.frames).max(1), process);
    let mut rows = Vec::new();
    for part in &arguments.tiers {
        for name in &arguments.policies {
            rows.push(row(arguments, *name, pages / part, (&trace, &misses))?);
        }
    }
    let about = json!({
        "queries": trace.queries, "index_pages": pages, "asked_pages": trace.addresses.len(),
        "asked_bytes": trace.bytes(), "frames": pages / arguments.frames,
        "requests": trace.rounds.iter().map(|round| round.pages.len()).sum::<usize>(),
        "rounds": trace.rounds.len(), "misses": misses.pages.len(), "region": arguments.region,
    });
    println!("{}", json!({"trace": about, "rows": rows}));
    Ok(())
}

/// One policy at one size: warmed by the first half of the queries, measured on the second.
fn row(
    arguments: &Arguments,
    name: Name,
    tier_pages: usize,
    (trace, misses): (&Trace, &Misses),
) -> Outcome<Value> {
    let region = if name.has_regions() {
        arguments.region
    } else {
        1
    };
    let regions = (tier_pages / region).max(2);
    let moment = Moment::default();
    let half = trace.queries / 2;
    let of_process = moment.clone();
    let make: MakePolicy<'_> =
        Box::new(move || policy(arguments, name, (trace, misses), regions, &of_process));
    let counts = ModelTier::new(trace, make, regions, region, moment).run(misses, half);
    let TierCounts {
        queries,
        requests,
        hits,
        store_requests,
        store_rounds,
        written,
        writes,
    } = counts;
    let store_pages = requests - hits;
    let waited = store_rounds as f64 * arguments.delay_us
        + store_pages as f64 * 4096.0 / arguments.bandwidth * 1e6;
    let name = name.to_possible_value();
    Ok(json!({
        "policy": name.map(|name| name.get_name().to_owned()), "tier_pages": tier_pages,
        "queries": queries, "requests": requests, "hits": hits, "store_pages": store_pages,
        "store_requests": store_requests, "store_rounds": store_rounds,
        "written_pages": written, "writes": writes,
        "modelled_wait_us_per_query": waited / queries as f64,
    }))
}

fn policy(
    arguments: &Arguments,
    name: Name,
    (trace, misses): (&Trace, &Misses),
    regions: usize,
    moment: &Moment,
) -> Box<dyn ReplayPolicy> {
    let (all, threshold) = (trace.addresses.len(), arguments.threshold);
    let half = trace.queries / 2;
    let greedy = |by_rounds, ages, least| -> Box<dyn ReplayPolicy> {
        let settings = GreedyDualSettings {
            by_rounds,
            ages,
            least,
        };
        let order = GreedyDual::new(all, settings, moment.clone());
        Box::new(Ranked::new(order, regions))
    };
    match name {
        Name::None => Box::new(Ranked::new(counted::Cblru::new(all, u32::MAX), regions)),
        Name::RoundShares => Box::new(RoundShares::new(regions, arguments.region)),
        Name::SecondSighting => Box::new(SecondSighting::new(regions, arguments.region)),
        Name::Lru => Box::new(Ranked::new(lru::LastUse::default(), regions)),
        Name::S3Fifo => Box::new(s3_fifo::S3Fifo::new(regions, all)),
        Name::Gdsf => greedy(false, true, 1.0),
        Name::GdsfRounds => greedy(true, true, 1.0),
        Name::Rounds => greedy(true, false, 2.0),
        Name::Efficiency => Box::new(Ranked::new(
            counted::Efficiency::new(all, threshold),
            regions,
        )),
        Name::Cblru => Box::new(Ranked::new(counted::Cblru::new(all, threshold), regions)),
        Name::Cbslru => {
            let policy = counted::Cblru::new(all, threshold);
            Box::new(Ranked::new(
                policy.with_static(misses, 0..half, regions / 2),
                regions,
            ))
        }
        Name::MostMissed => {
            let policy = counted::Cblru::new(all, u32::MAX);
            let second = half..trace.queries;
            Box::new(Ranked::new(
                policy.with_static(misses, second, regions),
                regions,
            ))
        }
        Name::Belady => {
            let order = belady::NextUse::new(misses, moment.clone());
            Box::new(Ranked::new(order, regions))
        }
    }
}

impl Name {
    /// Returns true if it writes whole regions.
    fn has_regions(self) -> bool {
        matches!(self, Name::RoundShares | Name::SecondSighting)
    }
}
