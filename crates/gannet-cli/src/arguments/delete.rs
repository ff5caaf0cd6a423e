//! The arguments of `gannet delete`.

use std::path::PathBuf;

use clap::Args;

use super::cache::PageCacheArguments;
use crate::time::TimeLimit;

/// The arguments of `gannet delete`.
#[derive(Debug, Args)]
#[command(
    group(clap::ArgGroup::new("what").required(true)),
    override_usage = "gannet delete [OPTIONS] <INDEX> <ID>...\n       gannet delete [OPTIONS] <INDEX> --query <QUERY>",
    after_help = "Examples:\n  gannet delete wiki.gnt 17 42\n  gannet delete wiki.gnt --query title:draft --dry-run"
)]
pub struct DeleteArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// External IDs. The answer names those that the index does not have; the exit code stays 0
    #[arg(value_name = "ID", group = "what")]
    pub ids: Vec<String>,
    /// Delete all documents that this query finds
    #[arg(long, value_name = "QUERY", group = "what", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Only say how many documents would be deleted, and name ten of them
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run, name all documents that would be deleted
    #[arg(long = "ids", requires = "dry_run")]
    pub name_all: bool,
    /// Let --query delete every document of the index
    #[arg(long, requires = "query")]
    pub all: bool,
    /// Time limit of each search for the next 1,000 documents of --query (500ms, 10s, 2m, none; a
    /// number alone is seconds); beyond it the exit code is 3
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: TimeLimit,
    /// The cache
    #[command(flatten)]
    pub cache: PageCacheArguments,
}
