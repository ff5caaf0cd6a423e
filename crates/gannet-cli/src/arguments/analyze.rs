//! The arguments of `gannet analyze`.

use clap::Args;

use super::long_help::ANALYZERS;

/// The arguments of `gannet analyze`.
#[derive(Debug, Args)]
#[command(after_help = ANALYZERS)]
pub struct AnalyzeArguments {
    /// The analyzer to use
    #[arg(long, value_name = "NAME", default_value = "standard")]
    pub analyzer: String,
    /// The text to analyze
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub input: String,
}
