//! The arguments of the flash tier, which commands take that read an index.

use std::path::PathBuf;

use clap::Args;

use super::path::LogArguments;
use crate::size::Size;

/// The folder and the size of the flash tier, which keeps pages that leave memory.
#[derive(Debug, Args)]
pub struct CacheArguments {
    /// Keep pages that leave memory in this folder, on a faster device than the index is on; it is
    /// made if it is missing, and outlives the command
    #[arg(
        long,
        value_name = "DIR",
        requires = "cache_size",
        hide_short_help = true
    )]
    pub cache_dir: Option<PathBuf>,
    /// The most bytes that --cache-dir may take (10GiB); its map takes a 512th of them of --memory
    #[arg(
        long,
        value_name = "SIZE",
        requires = "cache_dir",
        hide_short_help = true
    )]
    pub cache_size: Option<Size>,
}

/// The result cache, for commands that answer the queries of a file.
#[derive(Debug, Default, Args)]
pub struct ResultCacheArguments {
    /// Keep answers in this much of --memory (16MiB, at most a quarter), and reuse them when the
    /// same is asked of the same state of the index
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
