//! An index on a modelled drive that runs programs: what a planner decides for a query, and whether
//! the drive would pay for a set of queries.
//!
//! No answer depends on the drive. All times and energies are modelled and say so; counts are of
//! programs that ran. See research/papers/smart-ssd/page.md.

mod bench;
mod queries;
mod search;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gannet::{Index, Options};
use gannet_offload::{Choice, Planner};
use gannet_ssd::smart::SmartProfile;

use crate::Outcome;

pub use bench::BenchArguments;
pub use search::SearchArguments;

pub use bench::run as bench;
pub use search::run as search;

/// Which index is opened, and how an answer is printed.
#[derive(Debug, clap::Args)]
struct Asked {
    /// The folder of the index
    index: PathBuf,
    /// The memory budget in bytes
    #[arg(long, default_value_t = gannet::MEMORY_DEFAULT)]
    memory: usize,
    /// Seconds that a query may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

impl Asked {
    fn options(&self, memory: usize) -> Options {
        Index::options().memory(memory).read_only()
    }

    fn deadline(&self) -> Option<Duration> {
        Some(Duration::from_secs(self.timeout))
    }
}

/// Makes a planner for the drive of a profile, on which the index in `folder` stands.
fn planner(choice: Choice, profile: &str, folder: &Path) -> Outcome<Arc<Planner>> {
    let profile = SmartProfile::find(profile)?;
    if folder.to_string_lossy().contains("://") {
        return Err(format!(
            "--device models a drive that has the index, and {} is a URL: give the folder of an index",
            folder.display()
        )
        .into());
    }
    Ok(Arc::new(Planner::new(&profile, folder, choice)?))
}
