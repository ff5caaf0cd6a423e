//! The arguments of `gannet get` and `gannet export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cache::CacheArguments;
use crate::time::TimeLimit;

/// The arguments of `gannet get`.
#[derive(Debug, Args)]
#[command(after_help = "Example: gannet get wiki.gnt 17 --fields id,title")]
pub struct GetArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// External IDs. One that the index does not have is told on standard error, and the exit code
    /// is 1
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Fields of the documents to print, separated by commas [default: all]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// The flash tier
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// The arguments of `gannet export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gannet export wiki.gnt | zstd > wiki.jsonl.zst\n  \
                  gannet export wiki.gnt title:whale --fields id,title --format csv > whales.csv\n  \
                  gannet export shop.gnt --columns id,price,added --format csv > prices.csv\n\n\
                  JSON lines can be indexed again. In CSV several values of a field are a JSON array."
)]
pub struct ExportArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The query that selects documents; one that begins with - comes after -- [default: all]
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Fields of the documents to write, separated by commas [default: all]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// Columns whose values are written in place of documents, separated by commas; id is the
    /// external ID. No document is read but for its ID
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        conflicts_with = "fields"
    )]
    pub columns: Vec<String>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub format: ExportFormat,
    /// Time limit of each search for the next documents (500ms, 10s, 2m, none; a number alone is
    /// seconds); beyond it the exit code is 3
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: TimeLimit,
    /// The flash tier
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
}
