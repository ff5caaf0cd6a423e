//! The arguments of `gannet vacuum` and `gannet rebuild`.

use std::path::PathBuf;

use clap::Args;

use super::cache::PageCacheArguments;

/// The arguments of the commands that maintain an index.
#[derive(Debug, Args)]
pub struct MaintenanceArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The cache
    #[command(flatten)]
    pub cache: PageCacheArguments,
}
