//! The arguments of `gannet man`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `gannet man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The folder to write into
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}
