//! The arguments of `gannet update`.

use std::path::PathBuf;

use clap::Args;

use super::cache::PageCacheArguments;
use super::sources::{FORMATS, SourceArguments};

/// The long help on changes.
const UPDATING: &str = "A document of the file has an ID and the fields that change: they take the place of those of the document with this \
                  ID, objects in them likewise, and all others stay as they are. An ID that the index does not have is \
                  rejected, unless --upsert adds it. `gannet index` replaces whole documents.\n\n\
                  Examples:\n  echo '{\"id\":\"T1\",\"priority\":\"urgent\"}' | gannet update tickets.gnt -\n  \
                  gannet update shop.gnt prices.csv --id sku --upsert";

/// The arguments of `gannet update`.
#[derive(Debug, Args)]
#[command(after_help = UPDATING, after_long_help = format!("{FORMATS}\n\n{UPDATING}"))]
pub struct UpdateArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The files with the changes
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Add documents whose IDs the index does not have
    #[arg(long)]
    pub upsert: bool,
    /// The cache
    #[command(flatten)]
    pub cache: PageCacheArguments,
}
