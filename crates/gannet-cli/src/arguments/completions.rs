//! The arguments of `gannet completions`.

use clap::Args;
use clap_complete::Shell;

/// The arguments of `gannet completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell to complete for
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}
