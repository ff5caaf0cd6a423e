//! An index by its path.

use std::path::PathBuf;

use clap::Args;

/// An index and nothing else.
#[derive(Debug, Args)]
pub struct IndexPath {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
}
