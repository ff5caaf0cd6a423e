//! The arguments of `gannet check`, and how long taking in its log may take.

use std::path::PathBuf;

use clap::Args;

use crate::time::TimeLimit;

/// The limit of commands that take as long as an index is large.
#[derive(Clone, Copy, Debug, Args)]
pub struct LogArguments {
    /// Time limit for reading the log that a killed writer has left (500ms, 10s, 2m, none; a number
    /// alone is seconds); beyond it the exit code is 3
    #[arg(
        long = "timeout",
        value_name = "TIME",
        default_value = "1m",
        hide_short_help = true
    )]
    pub log_time: TimeLimit,
}

/// The arguments of `gannet check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The time for its log
    #[command(flatten)]
    pub log: LogArguments,
}
