//! The arguments of modelled drives that run programs, for the feature `ssd`.

use clap::Args;

/// The drive of a search.
#[derive(Debug, Args)]
pub struct DeviceArguments {
    /// Let a modelled drive read lists where a planner finds that this pays: smart-ssd-2016,
    /// smart-pcie4, smart-pcie5, smart-fast, or a file that ends with .profile. --explain tells
    /// what it decided; no answer depends on it
    #[arg(long, value_name = "PROFILE", hide_short_help = true)]
    pub device: Option<String>,
}

/// The drive of a benchmark, which is then one of the model.
#[derive(Debug, Args)]
pub struct DrivenArguments {
    /// Tell whether a drive that reads lists itself would pay for these queries, all times and
    /// energies modelled, and measure nothing: smart-ssd-2016, smart-pcie4, smart-pcie5,
    /// smart-fast, or a file that ends with .profile
    #[arg(
        long,
        value_name = "PROFILE",
        hide_short_help = true,
        conflicts_with_all = ["threads", "seconds", "warm", "group", "dump", "cold", "fetch", "ids", "cache_dir", "result_cache"]
    )]
    pub device: Option<String>,
}
