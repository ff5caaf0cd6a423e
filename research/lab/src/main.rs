//! `gannet-lab`: what measuring Gannet beside other engines needs and a user of it does not.
//!
//! - `wsbench` makes sets of queries from a corpus.
//! - `index` builds an index by many flushes; `churn` replaces its documents; `during` asks while
//!   it is written.
//! - `answers` shows that no technique changes an answer; `pages` compares what is read with the
//!   least that could be.
//! - `trees` runs the ordered indexes of the literature and Gannet's, `maintenance` the strategies
//!   that maintain lists.
//! - `disk` tells what the device does, `ssd` what a modelled one would do. `smart-ssd` tells what
//!   one that runs programs would do, `offload` the same for an index and a log. `bench` and
//!   `search` tell what a planner makes of such a drive. `tiers` tells what caches in tiers would
//!   save.
//! - `trace` writes which pages queries ask for, and `replay` simulates policies of caches on them.
//! - `wiser` is the engine of the WiSER paper as published, with each technique on and off.
//!
//! Running engines in turns, under memory limits, is the work of `research/peers/run.py`; see
//! `research/peers/page.md`.

mod answers;
mod bytes;
mod churn;
mod corpus;
#[cfg(test)]
mod counting;
mod disk;
mod during;
mod index;
mod logs;
mod maintenance;
mod modelled;
mod offload;
mod offsets;
mod pages;
mod prepared;
mod process;
mod queries;
mod replay;
mod smart;
mod ssd;
mod tiers;
mod trees;
mod wiser;
mod wsbench;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use gannet::PhraseFilters;
use gannet_ssd::random;
#[cfg(not(test))]
use tikv_jemallocator::Jemalloc;

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// What a command gives: nothing, or why it could not.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Workloads and indexes for measuring Gannet beside other engines.
#[derive(Debug, Parser)]
#[command(name = "gannet-lab", version)]
enum Command {
    /// Write sets of queries that are made from a corpus
    Wsbench(WsbenchArguments),
    /// Index JSON lines with a checkpoint after every N documents, and print figures
    Index(IndexArguments),
    /// Replace all documents of an index, delete half, vacuum it, and compare it with a fresh one
    Churn(churn::Arguments),
    /// Ask queries while documents are added at full speed, and while none are, and print how long
    /// they take
    During(during::Arguments),
    /// Write the queries of logs as sets for every engine
    #[command(subcommand)]
    Log(LogCommand),
    /// Compare the answers with every technique to those without each, and to those of a naive
    /// engine
    Answers(answers::Arguments),
    /// Count what offsets for snippets would take, and time the snippets that are made without
    Offsets(offsets::Arguments),
    /// Record the pages that queries use, and print what is read beside what could not be less
    Pages(pages::Arguments),
    /// Run a mix of operations on an ordered index, of the literature or Gannet's, and print what
    /// it did with the device
    Trees(trees::Arguments),
    /// Maintain lists of postings by a strategy of the literature or Gannet's, and print what it
    /// did with the device
    Maintenance(maintenance::Arguments),
    /// Measure rates of sequential and random reads and writes by size
    Disk(disk::Arguments),
    /// Ask the model of a drive: its rates, what a trace costs, its amplification, its own speed
    #[command(subcommand)]
    Ssd(ssd::Arguments),
    /// Run the experiments of the Smart SSD paper: each query as a program in a modelled drive and
    /// on the host
    SmartSsd(smart::Arguments),
    /// Ask queries of an index, each in every way that a drive which runs programs has for it, and
    /// print what a profile makes of the counts
    Offload(offload::Arguments),
    /// Tell whether a modelled drive that reads lists itself would pay for the queries of a file
    Bench(modelled::BenchArguments),
    /// Ask one query, and tell what a planner decided for its lists
    Search(modelled::SearchArguments),
    /// Ask the queries of a log through caches in memory and on a modelled drive, and print what
    /// each policy saves
    Tiers(tiers::Arguments),
    /// Write the pages that the queries of a log ask for, round by round
    Trace(replay::TraceArguments),
    /// Replay a trace of page requests through frames and a flash tier under each policy, and print
    /// what it saves; a simulation
    Replay(replay::Arguments),
    /// Build the techniques of the WiSER paper as published, and ask queries with each of them on
    /// and off
    Wiser(wiser::Arguments),
}

/// Which log is read.
#[derive(Debug, Subcommand)]
enum LogCommand {
    /// Lines of NAME<TAB>WORDS, as people typed them
    Web {
        /// The log
        file: PathBuf,
        /// The folder of the sets
        folder: PathBuf,
    },
    /// JSON lines with `query` and `tags`, as the search benchmark game has them
    Game {
        /// The queries
        file: PathBuf,
        /// The folder of the sets
        folder: PathBuf,
    },
}

/// The arguments of `gannet-lab wsbench`.
#[derive(Debug, clap::Args)]
struct WsbenchArguments {
    /// The corpus: JSON lines
    corpus: PathBuf,
    /// The folder of the sets
    folder: PathBuf,
    /// What the choice of queries starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Queries of each set; fewer where the corpus has no more that differ
    #[arg(long, default_value_t = 2_000)]
    queries: usize,
    /// The field that words are taken from
    #[arg(long, default_value = "body")]
    field: String,
}

/// How an index is left.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Left {
    /// As the last checkpoint left it
    Written,
    /// As it is after its idle maintenance, once nobody writes
    Kept,
    /// As it is after a thorough cleaning
    Cleaned,
}

/// The arguments of `gannet-lab index`.
#[derive(Debug, clap::Args)]
struct IndexArguments {
    /// The folder of the index, which must not be there
    index: PathBuf,
    /// JSON lines
    corpus: PathBuf,
    /// The memory budget in bytes
    #[arg(long, default_value_t = gannet::MEMORY_DEFAULT)]
    memory: usize,
    /// Documents between two commits
    #[arg(long)]
    commit_every: usize,
    /// Every so many commits is a checkpoint, the others make the log durable; with 0 all do
    #[arg(long, default_value_t = 1)]
    flush_every: usize,
    /// Threads that prepare documents, beside the one that writes them
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The phrase filters of text fields
    #[arg(long, value_name = "KIND", default_value = "common", value_parser = phrase_filters)]
    phrase_filters: PhraseFilters,
    /// How the index is left
    #[arg(long, value_enum, default_value = "kept")]
    left: Left,
}

fn phrase_filters(name: &str) -> Result<PhraseFilters, String> {
    let known = PhraseFilters::NAMES.join(", ");
    PhraseFilters::named(name).ok_or_else(|| format!("expected one of {known}"))
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Wsbench(arguments) => run_wsbench(&arguments),
        Command::Index(arguments) => index::run(&arguments),
        Command::Churn(arguments) => churn::run(&arguments),
        Command::During(arguments) => during::run(&arguments),
        Command::Answers(arguments) => answers::run(&arguments),
        Command::Offsets(arguments) => offsets::run(&arguments),
        Command::Pages(arguments) => pages::run(&arguments),
        Command::Trees(arguments) => trees::run(&arguments),
        Command::Maintenance(arguments) => maintenance::run(&arguments),
        Command::Disk(arguments) => disk::run(&arguments),
        Command::Ssd(arguments) => ssd::run(&arguments),
        Command::SmartSsd(arguments) => smart::run(&arguments),
        Command::Offload(arguments) => offload::run(&arguments),
        Command::Bench(arguments) => modelled::bench(&arguments),
        Command::Search(arguments) => modelled::search(&arguments),
        Command::Tiers(arguments) => tiers::run(&arguments),
        Command::Trace(arguments) => replay::write_trace(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Wiser(arguments) => wiser::run(&arguments),
        Command::Log(LogCommand::Web { file, folder }) => run_log(&file, &folder, logs::web),
        Command::Log(LogCommand::Game { file, folder }) => run_log(&file, &folder, logs::game),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gannet-lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_wsbench(arguments: &WsbenchArguments) -> Outcome {
    let file = std::io::BufReader::new(std::fs::File::open(&arguments.corpus)?);
    let corpus = corpus::Corpus::read(file, &arguments.field)?;
    let sets = wsbench::sets(&corpus, arguments.seed, arguments.queries);
    queries::write(&arguments.folder, &sets)
}

fn run_log(
    file: &std::path::Path,
    folder: &std::path::Path,
    sets: fn(&str) -> Outcome<Vec<queries::Set>>,
) -> Outcome {
    queries::write(folder, &sets(&std::fs::read_to_string(file)?)?)
}
