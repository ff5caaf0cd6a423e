//! Whether a drive that runs programs would pay for an index and the queries of a log.
//!
//! Each query is answered once by the engine. Before that, a modelled drive runs its lists in every
//! way that it has: all documents, the best without bounds, the best with them. What was counted is
//! priced by profiles (`row`), by a grid of them (`map`), and with each number of them changed
//! (`vary`). Then the same queries are asked with little memory, to know what frames hold. See
//! research/papers/smart-ssd/page.md.

mod map;
mod row;
mod vary;

use std::path::PathBuf;
use std::sync::Arc;

use gannet::{Index, SearchOptions, SearchResults};
use gannet_offload::{HostRead, Trial, Trials, Way};
use gannet_ssd::smart::SmartProfile;
use serde_json::{Value as Json, json};

use crate::Outcome;
use crate::queries::{self, Query};

/// The field of the queries.
const FIELD: &str = "body";

/// The arguments of `gannet-lab offload`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of an index
    index: PathBuf,
    /// Lines of KIND<TAB>WORDS
    queries: PathBuf,
    /// A profile: smart-ssd-2016, smart-pcie4, smart-pcie5, smart-fast, or a file that ends with
    /// .profile; may be repeated
    #[arg(long, default_values_t = ["smart-ssd-2016".to_owned()])]
    profile: Vec<String>,
    /// Ask for all documents rather than for the best
    #[arg(long)]
    all: bool,
    /// Bytes of a memory budget with which the queries are asked again; may be repeated
    #[arg(long, value_name = "BYTES")]
    frames: Vec<usize>,
    /// Queries at the beginning that only fill these frames
    #[arg(long, default_value_t = 0)]
    warm: usize,
    /// Add sums by link, width of postings and cores, with the first profile
    #[arg(long)]
    map: bool,
    /// Add sums with each number of the first profile half and half again as large
    #[arg(long)]
    vary: bool,
}

/// A query, as it was asked.
struct Asked<'a> {
    query: &'a Query,
    trial: Trial,
    read: HostRead,
    total: u64,
    /// Whether all that the drive found is what the engine found.
    agrees: bool,
    /// For each budget what was read then, and the part of its pages that were in memory before.
    frames: Vec<(HostRead, f64)>,
}

/// A profile and a drive of it.
struct Side {
    profile: SmartProfile,
    trials: Arc<Trials>,
}

impl Side {
    fn new(profile: SmartProfile, arguments: &Arguments, runs: bool) -> Outcome<Side> {
        let trials = Arc::new(Trials::new(&profile, &arguments.index, runs)?);
        Ok(Side { profile, trials })
    }
}

/// Asks and prints.
pub fn run(arguments: &Arguments) -> Outcome {
    let profiles = arguments.profile.iter().map(|name| {
        let profile = SmartProfile::find(name)?;
        Side::new(profile, arguments, true)
    });
    let sides: Vec<Side> = profiles.collect::<Outcome<_>>()?;
    let first = sides.first().ok_or("expected a profile")?;
    let queries = queries::read(&arguments.queries)?;
    let (warm, counted) = queries.split_at(arguments.warm.min(queries.len()));
    let mut asked = ask_all(arguments, first, counted)?;
    let all = counted.len() - asked.len();
    for memory in &arguments.frames {
        ask_again(arguments, (first, *memory), warm, &mut asked)?;
    }
    sides
        .iter()
        .for_each(|side| side.trials.prove_by(&first.trials));
    let rows = asked.iter().map(|asked| row::row(asked, &sides));
    let mut report = json!({
        "queries": counted.len(), "stay_with_host": all,
        "differ": asked.iter().filter(|asked| !asked.agrees).count(),
        "rows": rows.collect::<Outcome<Vec<Json>>>()?,
    });
    if arguments.map {
        report["map"] = map::rows(&asked, &first.profile)?.into();
    }
    if arguments.vary {
        report["vary"] = vary::rows(&asked, first, arguments)?.into();
    }
    println!("{report}");
    Ok(())
}

fn open(arguments: &Arguments, trials: &Arc<Trials>, memory: usize) -> Outcome<Index> {
    let options = Index::options().memory(memory).read_only();
    Ok(options
        .offload(Arc::clone(trials) as _)
        .open(&arguments.index)?)
}

/// Asks once, with the drive beside.
fn ask_all<'a>(
    arguments: &Arguments,
    side: &Side,
    queries: &'a [Query],
) -> Outcome<Vec<Asked<'a>>> {
    let index = open(arguments, &side.trials, gannet::MEMORY_DEFAULT)?;
    let mut all = Vec::new();
    for (done, query) in queries.iter().enumerate() {
        if done % 100 == 0 {
            eprintln!("{done} of {}", queries.len());
        }
        let results = ask(&index, query, arguments.all)?;
        let trial = side.trials.take_last();
        if let Some(trial) = trial.filter(|trial| !trial.runs.is_empty()) {
            all.push(Asked::new(query, trial, &results));
        }
    }
    Ok(all)
}

/// Asks again with a budget of memory, first the queries that fill it.
fn ask_again(
    arguments: &Arguments,
    (side, memory): (&Side, usize),
    warm: &[Query],
    asked: &mut [Asked<'_>],
) -> Outcome {
    let quiet = Side::new(side.profile.clone(), arguments, false)?;
    let index = open(arguments, &quiet.trials, memory)?;
    for query in warm {
        ask(&index, query, arguments.all)?;
    }
    for asked in asked {
        let results = ask(&index, asked.query, arguments.all)?;
        let trial = quiet
            .trials
            .take_last()
            .ok_or("the engine asked no drive")?;
        let frames = (HostRead::of(&results), trial.host.in_memory);
        asked.frames.push(frames);
    }
    Ok(())
}

fn ask(index: &Index, query: &Query, all: bool) -> Outcome<SearchResults> {
    let options = SearchOptions {
        count: all,
        explain: true,
        list_pages: true,
        fetch: false,
        ..SearchOptions::default()
    };
    let query = [query.for_field(FIELD)];
    let results = index.snapshot().search_all(&query, &options);
    Ok(results
        .into_iter()
        .next()
        .ok_or("a query without results")??)
}

impl<'a> Asked<'a> {
    fn new(query: &'a Query, trial: Trial, results: &SearchResults) -> Asked<'a> {
        let mut best: Vec<u32> = results.hits.iter().map(|hit| hit.doc).collect();
        best.sort_unstable();
        let agrees = trial.runs.iter().all(|run| match run.way {
            Way::Best => run.found.docs == best,
            Way::All if results.total_is_exact => run.found.docs.len() as u64 == results.total,
            Way::All => run.found.docs.len() as u64 >= results.total,
        });
        Asked {
            query,
            trial,
            read: HostRead::of(results),
            total: results.total,
            agrees,
            frames: Vec::new(),
        }
    }

    /// Pages of heads and docs that the lists have.
    fn list_pages(&self) -> u32 {
        self.trial.lists.iter().map(|list| list.1).sum()
    }

    /// Pages that the host reads with nothing in memory: of a union all of them where it uses no
    /// bounds. Bounds spare an intersection next to nothing.
    fn cold_pages(&self, way: Way, prunes: bool) -> u64 {
        match (way, prunes) {
            (Way::Best, false) if !self.trial.all_required => u64::from(self.list_pages()),
            _ => self.read.used,
        }
    }
}
