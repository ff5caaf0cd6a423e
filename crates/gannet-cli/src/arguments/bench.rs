//! The arguments of `gannet bench`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use gannet::diagnostics::Techniques;

use super::cache::{CacheArguments, ResultCacheArguments};
use super::count::count;
use crate::time::TimeLimit;

/// The arguments of `gannet bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "A line of QUERIES is KIND<TAB>WORDS, where KIND is term, and, or, phrase. With --as, it \
                  is words alone, or NAME<TAB>WORDS, where the name is passed over.\n\n\
                  A latency is the time from asking a query to its answer. The queries of a group are \
                  asked and answered together, so each takes as long as its group: the mean latency \
                  is threads times group, divided by the queries a second."
)]
pub struct BenchArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The file of queries, also .gz and .zst; - is standard input
    #[arg(value_name = "QUERIES")]
    pub queries: PathBuf,
    /// Number of threads that ask queries
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// Seconds to measure for; without it, every query is asked once
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// Seconds to ask for before the measurement, which goes on with the next queries
    #[arg(long, value_name = "S")]
    pub warm: Option<f64>,
    /// Number of documents each query asks for
    #[arg(
        short,
        value_name = "K",
        default_value_t = 10,
        value_parser = count,
        allow_negative_numbers = true
    )]
    pub k: usize,
    /// The field that is searched; * stands for all text fields, of which no snippets are made
    #[arg(long, value_name = "FIELD", default_value = "body")]
    pub field: String,
    /// The kind of query that a line of plain words becomes
    #[arg(long = "as", value_name = "KIND")]
    pub plain: Option<PlainKind>,
    /// Never ask the same query twice
    #[arg(long)]
    pub distinct: bool,
    /// Count all matching documents exactly
    #[arg(long)]
    pub count: bool,
    /// Time limit of a query or a group (500ms, 10s, 2m, none; a number alone is seconds); beyond
    /// it the exit code is 3
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: TimeLimit,
    /// Load the stored documents and make snippets
    #[arg(long)]
    pub fetch: bool,
    /// Read the IDs of the documents that are found, and nothing else of them
    #[arg(long, conflicts_with = "fetch")]
    pub ids: bool,
    /// Note in the result that the frames were empty when the measurement began
    #[arg(long)]
    pub cold: bool,
    /// Number of queries that a thread asks together
    #[arg(long, value_name = "G", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub group: u16,
    /// Write the best documents of the first 200 queries to a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub dump: Option<PathBuf>,
    /// Write each page that a query asks for to a file, a line each: query, round, zone, page,
    /// kind, and memory, tier or device. Queries take longer meanwhile: pinned pages are looked up,
    /// and no list is hot
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub trace: Option<PathBuf>,
    /// Search without these techniques, to measure what each saves
    #[arg(long, value_name = "NAME", num_args = 1.., hide_short_help = true, value_parser = PossibleValuesParser::new(Techniques::NAMES))]
    pub without: Vec<String>,
    /// The flash tier
    #[command(flatten)]
    pub cache: CacheArguments,
    /// The result cache
    #[command(flatten)]
    pub results: ResultCacheArguments,
}

/// The meanings of plain words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlainKind {
    /// All of them
    And,
    /// Any of them
    Or,
}
