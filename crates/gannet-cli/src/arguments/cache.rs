//! The arguments of the caches, which commands take that read an index, or write documents to one.

use std::path::PathBuf;

use clap::Args;

use super::path::LogArguments;
use crate::size::Size;

/// The folder of the cache on flash, and what of it is for pages.
#[derive(Debug, Args)]
pub struct PageCacheArguments {
    /// Keep pages that leave memory in this folder on a fast device, where later commands find
    /// them; it is made if it is missing. Commands that search keep answers there, too, and reuse
    /// them as with --result-cache
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub cache_dir: Option<PathBuf>,
    /// The most bytes that the pages of --cache-dir may take (10GiB); their map takes a 410th of
    /// them of --memory [default: 1GiB, or less if --memory is below 32MiB]
    #[arg(
        long,
        value_name = "SIZE",
        requires = "cache_dir",
        hide_short_help = true
    )]
    pub cache_size: Option<Size>,
    /// The most bytes that are written to the pages of --cache-dir in a second (50MiB); no limit
    /// unless it is given
    #[arg(
        long,
        value_name = "SIZE",
        requires = "cache_dir",
        hide_short_help = true
    )]
    pub cache_writes: Option<Size>,
}

/// The cache of a command that reads: pages that leave memory, and answers.
#[derive(Debug, Args)]
pub struct CacheArguments {
    /// The pages
    #[command(flatten)]
    pub pages: PageCacheArguments,
    /// The most bytes that the answers of --cache-dir may take; 0 keeps none [default: a sixteenth
    /// of --cache-size, from 2MiB to 256MiB]
    #[arg(
        long,
        value_name = "SIZE",
        requires = "cache_dir",
        hide_short_help = true
    )]
    pub cache_answers: Option<Size>,
}

/// The result cache, for commands that answer the queries of a file.
#[derive(Debug, Default, Args)]
pub struct ResultCacheArguments {
    /// Keep answers in this much of --memory (16MiB, at most a quarter), and reuse them when the
    /// same is asked of the same state of the index; 0 keeps none, in --cache-dir neither
    /// [default: none; with --cache-dir a 64th of --memory]
    #[arg(long, value_name = "SIZE", hide_short_help = true)]
    pub result_cache: Option<Size>,
}

/// The arguments of `gannet stats`.
#[derive(Debug, Args)]
pub struct StatsArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Show this cache, too
    #[command(flatten)]
    pub cache: CacheArguments,
    /// The time for the log
    #[command(flatten)]
    pub log: LogArguments,
}
