//! Caches of a search engine in tiers, as the hybrid cache paper compares them (Li et al., 2012),
//! and beside them a policy of the lab's own, called `gannet`. The engine does not have it.
//!
//! `gannet-lab tiers` asks the queries of a log through a cache of results and a cache of lists,
//! each in memory over flash, with the index on a slow store. Entries have keys and sizes but no
//! content. The devices are modelled by `gannet-ssd`; the time of the policies is measured.
//!
//! From top to bottom: `tune` chooses the values of a policy on the first half of the log, and
//! `system` runs the second. A [`policies::Settings`] makes two [`tier::Tier`]s. A tier is a
//! [`Cache`] in memory, ordered by a [`Policy`] ([`Lru`], [`Efficiency`], [`GreedyDual`]), over a
//! [`Flash`]: [`Direct`] for LRU, [`ResultBlocks`] and [`ListBlocks`] for CBLRU and CBSLRU, and for
//! the lab's own a [`shared::Shared`] [`Log`]. The [`Workload`] is a log with the lists that its
//! queries use, and what was [`Learned`] from a part of it.
//!
//! Those of the lab's own differ in what they cache of a list. A query asks for what it uses, flash
//! reads that part alone, and what is cached grows with the longest use. `lru-grows` does that
//! alone, in LRU order. The block that its log fills counts in its memory, and one block of flash
//! is spare; the buffer of CBLRU's results does not count, as the paper has it.
//!
//! Where the paper is ambiguous, this is how it is read:
//! - S_I is the whole list and P_U the share of it that queries use, so that S_I * P_U is the used
//!   prefix. The paper's example agrees with it (1,000 KB and 50 % are four blocks); its text calls
//!   S_I the size of the used list. P_U is learned as the mean, or the longest prefix.
//! - Memory holds the prefix in bytes, flash in whole blocks. A query that needs more than the
//!   prefix reads the rest from the slow store and does not cache it.
//! - EV counts all accesses so far. In memory it is the order of lists. On flash the order is LRU,
//!   and EV decides with T_EV what is written at all.
//! - W is a share of the entries, for lists in memory too. T_EV is one for results and lists.
//! - An entry that does not fit into memory passes through it to flash.
//! - The baseline LRU writes an entry again only if flash does not hold it, like the others.

mod cache;
mod direct;
mod efficiency;
mod figures;
mod flash;
mod ghost;
mod greedy_dual;
mod learned;
mod list_blocks;
mod log;
mod lru;
mod pattern;
mod policies;
mod policy;
mod prices;
mod ranked;
mod result_blocks;
mod shared;
mod space;
mod system;
mod tier;
mod trace;
mod tune;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use gannet::{Index, Operator, Query, SearchOptions};
use gannet_ssd::hdd::WD3200AAJS;
use gannet_ssd::{Disk, Profile, profile};
use serde_json::{Value, json};

use crate::Outcome;
use crate::process::cpu_time;
use cache::Cache;
use direct::Direct;
use efficiency::Efficiency;
#[cfg(test)]
use flash::BLOCK_BYTES;
use flash::{Flash, blocks};
use greedy_dual::GreedyDual;
use learned::Learned;
use list_blocks::ListBlocks;
use log::Log;
use lru::Lru;
use policies::{Name, Settings, Sizes, Tuned};
use policy::{Entry, Key, Policy};
use prices::Price;
use ranked::Ranked;
use result_blocks::ResultBlocks;
use space::Space;
use system::{Slow, System};
use tier::{Scheme, Tier};
use workload::Workload;

/// The least queries that a log must have, so that each quarter of it has some.
const QUERIES_MIN: usize = 8;

/// Megabytes, as the paper counts capacities.
const MB: u64 = 1_000_000;

/// The arguments of `gannet-lab tiers`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of an index, which says how frequent terms are
    index: PathBuf,
    /// The log: lines of NAME<TAB>WORDS, in the order in which they were asked
    log: PathBuf,
    /// The field of the index that is searched
    #[arg(long, default_value = "body")]
    field: String,
    /// Documents of the modelled collection, with the index's shares [default: the index's]
    #[arg(long)]
    documents: Option<u64>,
    /// The policies
    #[arg(long, value_enum, num_args = 1.., default_values_t = Name::value_variants().to_vec())]
    policies: Vec<Name>,
    /// Megabytes of both caches in memory
    #[arg(long, num_args = 1.., default_values_t = [1, 5, 20])]
    capacities: Vec<u64>,
    /// The share of memory that results get
    #[arg(long, default_value_t = 0.2, value_parser = share)]
    results: f64,
    /// Flash for results, as a multiple of their memory; 0 for one level
    #[arg(long, default_value_t = 10.0, value_parser = multiple)]
    flash_results: f64,
    /// Flash for lists, as a multiple of their memory; 0 for one level
    #[arg(long, default_value_t = 100.0, value_parser = multiple)]
    flash_lists: f64,
    /// What flash holds of what memory holds
    #[arg(long, value_enum, default_value = "hybrid")]
    scheme: Scheme,
    /// Queries after which a cached entry is too old
    #[arg(long)]
    ttl: Option<u64>,
    /// The drive under the caches
    #[arg(long, default_value = "hybrid-cache-table")]
    profile: String,
    /// Where the index lies: on a WD3200AAJS, or on a drive of the same profile
    #[arg(long, value_enum, default_value = "disk")]
    store: Store,
    /// Draw this many queries from those of the log, their popularity by Zipf's law
    #[arg(long)]
    zipf: Option<usize>,
    /// The exponent of Zipf's law
    #[arg(long, default_value_t = 0.8)]
    exponent: f64,
    /// What the drawing starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Take the default values of each policy rather than choose them on the first half
    #[arg(long)]
    untuned: bool,
    /// Write the queries with the sizes of their entries to a file too, for other caches
    #[arg(long)]
    trace: Option<PathBuf>,
    /// Measure the CPU time of every distinct query in the index, twice, and count the second
    #[arg(long)]
    search: bool,
}

/// Where the index lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Store {
    /// On the disk of the paper.
    Disk,
    /// On a solid-state drive.
    Drive,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a share from 0 to 1".to_owned()),
    }
}

fn multiple(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(multiple) if (0.0..=10_000.0).contains(&multiple) => Ok(multiple),
        _ => Err("expected a number from 0 to 10000".to_owned()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let profile = profile::named(&arguments.profile)?;
    let index = Index::options().read_only().open(&arguments.index)?;
    let workload = workload(arguments, &index)?;
    if let Some(path) = &arguments.trace {
        std::fs::write(path, trace::lines(&workload))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let search = if arguments.search {
        searches(&index, &arguments.field, &workload)?
    } else {
        Vec::new()
    };
    let mut rows = Vec::new();
    for capacity in &arguments.capacities {
        for name in &arguments.policies {
            rows.push(row(
                arguments, *name, *capacity, &workload, profile, &search,
            )?);
        }
    }
    let report = json!({
        "workload": about(&workload), "modelled_prices": prices(profile)?, "rows": rows,
    });
    println!("{report}");
    Ok(())
}

fn workload(arguments: &Arguments, index: &Index) -> Outcome<Workload> {
    let log = &arguments.log;
    let workload = Workload::read(log, index, &arguments.field, arguments.documents)?;
    let found = workload.asked.len();
    if found < QUERIES_MIN {
        let (log, field) = (log.display(), &arguments.field);
        return Err(format!(
            "{log}: {found} queries have terms in the field {field} of the index: expected at \
             least {QUERIES_MIN}"
        )
        .into());
    }
    Ok(match arguments.zipf {
        Some(queries) if queries < QUERIES_MIN => {
            return Err(format!("--zipf {queries}: expected at least {QUERIES_MIN}").into());
        }
        Some(queries) => workload.redrawn(arguments.exponent, queries, arguments.seed),
        None => workload,
    })
}

/// One policy at one capacity: tuned and warmed on the first half of the log, measured on the
/// second.
fn row(
    arguments: &Arguments,
    name: Name,
    capacity: u64,
    workload: &Workload,
    profile: &Profile,
    search: &[Duration],
) -> Outcome<Value> {
    let (results, lists) = (arguments.flash_results, arguments.flash_lists);
    let sizes = Sizes::split(capacity * MB, arguments.results, results, lists);
    let slow = match arguments.store {
        Store::Disk => Slow::Disk(WD3200AAJS),
        Store::Drive => Slow::Drive,
    };
    let mut settings = Settings {
        name,
        tuned: Tuned::default(),
        sizes,
        scheme: arguments.scheme,
        ttl: arguments.ttl,
    };
    if !arguments.untuned {
        settings.tuned = tune::tune(workload, &settings, profile, slow)?;
    }
    let half = workload.asked.len() / 2;
    let learned = Learned::from(workload, &workload.asked[..half], settings.tuned.statistic);
    let mut system = System::new(workload, settings, learned, profile, slow)?;
    let figures = system.run(&workload.asked, half, search)?;
    let mut row = json!({
        "policy": name_of(&name), "capacity_mb": capacity, "results_share": arguments.results,
        "flash_results": results, "flash_lists": lists, "flash_bytes": sizes.flash_bytes(),
        "scheme": name_of(&arguments.scheme), "ttl": arguments.ttl, "profile": profile.name,
        "store": name_of(&arguments.store), "documents": workload.documents,
        "zipf": arguments.zipf, "exponent": arguments.zipf.map(|_| arguments.exponent),
        "seed": arguments.zipf.map(|_| arguments.seed), "is_tuned": !arguments.untuned,
        "tuned": settings.tuned.to_json(name), "repeated": workload.repeated(half),
    });
    if let (Some(row), Value::Object(figures)) = (row.as_object_mut(), figures.to_json()) {
        row.extend(figures);
    }
    Ok(row)
}

fn name_of(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or(String::new(), |value| value.get_name().to_owned())
}

/// The CPU time of each distinct query in the index, with what it needs in memory.
fn searches(index: &Index, field: &str, workload: &Workload) -> Outcome<Vec<Duration>> {
    let snapshot = index.snapshot();
    let options = SearchOptions {
        k: 50,
        fetch: false,
        ..SearchOptions::default()
    };
    let mut times = Vec::with_capacity(workload.words.len());
    for words in &workload.words {
        let query = [Query::Text {
            field: Some(field.to_owned()),
            text: words.join(" "),
            operator: Operator::Or,
        }];
        snapshot.search_all(&query, &options).swap_remove(0)?;
        let start = cpu_time();
        snapshot.search_all(&query, &options).swap_remove(0)?;
        times.push(cpu_time() - start);
    }
    Ok(times)
}

/// What reads and writes take, for the model of caches of other programs.
fn prices(profile: &Profile) -> Outcome<Value> {
    Ok(json!({
        "flash_read": Price::of_drive(profile)?.to_json(),
        "flash_write": Price::of_writes(profile)?.to_json(),
        "disk_read": Price::of_disk(Disk::new(WD3200AAJS))?.to_json(),
    }))
}

/// What a reader needs to know of the log and its lists.
fn about(workload: &Workload) -> Value {
    let used: Vec<&Vec<workload::Use>> = workload
        .asked
        .iter()
        .map(|query| &workload.queries[*query as usize])
        .collect();
    let lists: u64 = used.iter().map(|query| query.len() as u64).sum();
    let bytes = used
        .iter()
        .flat_map(|query| query.iter())
        .map(|used| used.bytes);
    let whole = used
        .iter()
        .flat_map(|query| query.iter())
        .map(|used| workload.lists[used.term as usize]);
    let (bytes, whole): (u64, u64) = (bytes.sum(), whole.sum());
    json!({
        "queries": workload.asked.len(),
        "distinct_queries": workload.queries.len(),
        "terms": workload.lists.len(),
        "without_terms": workload.without_terms,
        "documents": workload.documents,
        "lists_per_query": lists as f64 / workload.asked.len().max(1) as f64,
        "list_bytes": workload.lists.iter().sum::<u64>(),
        "used_bytes_per_query": bytes as f64 / workload.asked.len().max(1) as f64,
        "modelled_utilization": bytes as f64 / whole.max(1) as f64,
        "repeated": workload.repeated(0),
        "repeated_in_second_half": workload.repeated(workload.asked.len() / 2),
        "bytes_needed_before_in_second_half":
            pattern::needed_before(workload, workload.asked.len() / 2),
        "pattern": pattern::pattern(workload),
        "curves": curves(workload),
    })
}

/// The paper's figures 3 and 4: terms by rank.
fn curves(workload: &Workload) -> Value {
    let learned = Learned::from(workload, &workload.asked, learned::Statistic::Mean);
    let mut terms: Vec<Term> = learned
        .terms
        .iter()
        .map(|(term, asked)| {
            let (whole, prefix) = (workload.lists[*term as usize], learned.known_prefix(*term));
            let (asked, used) = (f64::from(*asked), prefix as f64 / whole.max(1) as f64);
            (
                whole as f64,
                asked,
                used,
                asked / blocks(prefix).max(1) as f64,
            )
        })
        .collect();
    // The order of a map is not the same in every run; that of terms with equal values follows it.
    terms.sort_by(|left, right| left.partial_cmp(right).unwrap_or(std::cmp::Ordering::Equal));
    json!({
        "utilization_of_longest": curve(&mut terms, |term| term.0, |term| term.2),
        "accesses_by_rank": curve(&mut terms, |term| term.1, |term| term.1),
        "efficiency_by_rank": curve(&mut terms, |term| term.3, |term| term.3),
    })
}

/// Whole bytes of a list, accesses, the used share, EV.
type Term = (f64, f64, f64, f64);

/// The terms in descending order of `by`: the mean of `of` over ranks 1, 2 to 3, 4 to 7, and so on.
fn curve(terms: &mut [Term], by: fn(&Term) -> f64, of: fn(&Term) -> f64) -> Vec<Value> {
    terms.sort_by(|left, right| by(right).total_cmp(&by(left)));
    let ranks = (0..usize::BITS).map(|power| 1usize << power);
    let ranks = ranks.take_while(|rank| *rank <= terms.len());
    let points = ranks.map(|rank| {
        let some = &terms[rank - 1..terms.len().min(2 * rank - 1)];
        let sum: f64 = some.iter().map(of).sum();
        json!([rank, sum / some.len() as f64])
    });
    points.collect()
}
