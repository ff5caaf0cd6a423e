//! Questions to the model of solid-state drives ([`gannet_ssd`]).
//!
//! All times and rates that they give are modelled, but for the speed of the model itself
//! (`bench`).

mod amplification;
mod bench;
mod rates;
mod replay;

use gannet::Result;
use gannet_ssd::workload::age;
use gannet_ssd::{Drive, profile};

use crate::Outcome;

/// The arguments of `gannet-lab ssd`.
#[derive(Debug, clap::Subcommand)]
pub enum Arguments {
    /// Rates of sequential and random reads and writes by size, as `disk` measures them
    Rates(rates::Arguments),
    /// Play a trace, and print what it takes and what it writes inside
    Replay(replay::Arguments),
    /// Compare amplification by utilization with closed forms
    Amplification(amplification::Arguments),
    /// Measure how many requests a second the model handles
    Bench(bench::Arguments),
}

/// Which drive, and in which state.
#[derive(Debug, clap::Args)]
pub struct DriveArguments {
    /// The drive: x25-e, pm9a3, smart-ssd, hybrid-cache-table or hybrid-cache-text
    #[arg(long, default_value = profile::X25_E.name)]
    profile: String,
    /// Bytes that the host sees, in place of the drive's own
    #[arg(long)]
    capacity: Option<u64>,
    /// The share that other data takes, from 0 to 1
    #[arg(long, default_value_t = 0.0)]
    filled: f64,
    /// How often all of it was overwritten at random before
    #[arg(long, default_value_t = 3)]
    passes: u32,
    /// What random numbers start from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl DriveArguments {
    /// The drive, aged.
    fn drive(&self) -> Result<Drive> {
        let mut profile = *profile::named(&self.profile)?;
        if let Some(bytes) = self.capacity {
            profile = profile.with_capacity(bytes)?;
        }
        let mut drive = Drive::new(&profile)?;
        age(&mut drive, self.filled, self.passes, self.seed)?;
        Ok(drive)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let report = match arguments {
        Arguments::Rates(arguments) => arguments.report()?,
        Arguments::Replay(arguments) => arguments.report()?,
        Arguments::Amplification(arguments) => arguments.report()?,
        Arguments::Bench(arguments) => arguments.report()?,
    };
    println!("{report}");
    Ok(())
}
