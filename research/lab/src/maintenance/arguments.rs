//! What a run is asked for: a strategy, a setting, how much.

use std::path::PathBuf;

use clap::ValueEnum;

/// The arguments of `gannet-lab maintenance run`.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArguments {
    /// The stream
    pub(super) stream: PathBuf,
    /// The folder of the lists, which must not be there
    pub(super) folder: PathBuf,
    /// The strategy
    #[arg(long, value_enum)]
    pub(super) strategy: Name,
    /// What lists hold, and which there are
    #[arg(long, value_enum, default_value_t = Setting::Full)]
    pub(super) setting: Setting,
    /// Only the first so many flushes
    #[arg(long, default_value_t = usize::MAX)]
    pub(super) flushes: usize,
    /// Take no flush in after so many seconds of maintenance, and ask of what is there
    #[arg(long, default_value_t = f64::INFINITY)]
    pub(super) most_seconds: f64,
    /// Last blocks that MFIS reads together
    #[arg(long, default_value_t = 1024)]
    pub(super) threshold: usize,
    /// In the paper's setting a list is kept if more than one of so many documents has its term in
    /// the end
    #[arg(long, default_value_t = 10)]
    pub(super) kept_share: u32,
    /// A list is long among queries if more than one of so many documents has its term in the end
    #[arg(long, default_value_t = 50)]
    pub(super) long_share: u32,
    /// r of Geometric Partitioning
    #[arg(long, default_value_t = 3)]
    pub(super) ratio: u64,
    /// MiB for frames of Gannet's dictionary; the others' vocabulary is in memory whole, and what
    /// they merge with takes no more
    #[arg(long, default_value_t = 32)]
    pub(super) memory: usize,
    /// Lists, and pairs of lists, that are asked for after some flushes
    #[arg(long, default_value_t = 200)]
    pub(super) queries: usize,
    /// After every so many flushes
    #[arg(long, default_value_t = 5)]
    pub(super) query_every: usize,
    /// Lists, and pairs of lists, that are asked for in the end
    #[arg(long, default_value_t = 2_000)]
    pub(super) last_queries: usize,
    /// Threads that ask for pairs at the same time in the end
    #[arg(long, default_value_t = 8)]
    pub(super) threads: usize,
    /// Seconds in which they do
    #[arg(long, default_value_t = 2.0)]
    pub(super) seconds: f64,
    /// What the choice of queries starts from
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Keep a trace of all that is done in the folder
    #[arg(long)]
    pub(super) trace: bool,
}

/// A strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// No-Merge: a sub-index for each flush
    NoMerge,
    /// Immediate Merge: one sub-index, made anew by each flush
    ImmediateMerge,
    /// Geometric Partitioning
    Geometric,
    /// Logarithmic Merge
    Logarithmic,
    /// In-place contiguous
    InPlaceC,
    /// In-place non-contiguous, one transfer at a time
    InPlaceNc,
    /// HLM_NC
    HlmNc,
    /// SSD_Hybrid
    SsdHybrid,
    /// MFIS as printed
    Mfis,
    /// Gannet's own
    Gannet,
}

/// What lists hold, and which there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Setting {
    /// Long lists only, postings of eight bytes without positions; Gannet's as it codes them, with
    /// positions that are all 0
    Paper,
    /// The same lists, coded, with positions, so that all have the same codes
    Long,
    /// All terms, coded, with positions
    Full,
}

#[cfg(test)]
impl RunArguments {
    /// Those of a test.
    pub(super) fn of_test(
        folder: &std::path::Path,
        strategy: Name,
        setting: Setting,
    ) -> RunArguments {
        RunArguments {
            stream: PathBuf::new(),
            folder: folder.to_owned(),
            strategy,
            setting,
            flushes: usize::MAX,
            most_seconds: f64::INFINITY,
            threshold: 32,
            kept_share: 500,
            long_share: 50,
            ratio: 3,
            memory: 4,
            queries: 0,
            query_every: 1,
            last_queries: 0,
            threads: 0,
            seconds: 0.0,
            seed: 1,
            trace: false,
        }
    }
}
