//! The arguments of `gannet fields`.

use std::path::PathBuf;

use clap::Args;

use crate::time::TimeLimit;

/// The arguments of `gannet fields`.
#[derive(Debug, Args)]
#[command(
    after_help = "For each field: its analyzer, or `exact` for numbers and booleans; the types of the values that are kept, \
                  for ranges, orders and counts, and how many values fit none; how many documents have it; and a value of \
                  one of them. Objects in documents give names with dots.\n\n\
                  Example: gannet fields wiki.gnt"
)]
pub struct FieldsArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Time limit of the look-up of all fields (500ms, 10s, 2m, none; a number alone is seconds);
    /// beyond it the exit code is 3
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: TimeLimit,
}
