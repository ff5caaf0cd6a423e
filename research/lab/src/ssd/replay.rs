//! What a trace costs on a modelled drive or disk.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use gannet_ssd::hdd::{DESKSTAR, WD3200AAJS};
use gannet_ssd::{Counts, Disk, Medium, Player, entries};
use serde_json::{Value as Json, json};

use super::DriveArguments;
use crate::Outcome;

/// The arguments of `gannet-lab ssd replay`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The trace, as `--trace` of other commands writes it
    trace: PathBuf,
    #[command(flatten)]
    drive: DriveArguments,
    /// A disk in place of a drive
    #[arg(long, value_enum, conflicts_with_all = ["profile", "capacity", "filled"])]
    disk: Option<DiskName>,
}

/// A disk.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum DiskName {
    /// The disk of the paper of MFIS
    Deskstar,
    /// The disk of the hybrid cache paper
    Wd3200aajs,
}

impl Arguments {
    /// What it took, as JSON.
    pub fn report(&self) -> Outcome<Json> {
        let mut player = Player::new(self.medium()?);
        let trace = File::open(&self.trace);
        let trace = trace.map_err(|error| format!("{}: {error}", self.trace.display()))?;
        player.play(entries(BufReader::new(trace)))?;
        let (work, medium) = (player.work(), player.medium());
        let wear = match medium {
            Medium::Drive(drive) => Some(drive.wear()),
            Medium::Disk(_) => None,
        };
        Ok(json!({
            "model": medium.name(),
            "filled": self.drive.filled, "passes": self.drive.passes, "seed": self.drive.seed,
            "reads": work.reads, "read_bytes": work.read_bytes,
            "writes": work.writes, "written_bytes": work.written_bytes,
            "modelled_read_seconds": work.modelled_read_seconds(),
            "modelled_write_seconds": work.modelled_write_seconds(),
            "drive": medium.counts().map(counts), "blocks_by_erases": wear,
        }))
    }

    fn medium(&self) -> Outcome<Medium> {
        Ok(match self.disk {
            Some(DiskName::Deskstar) => Disk::new(DESKSTAR).into(),
            Some(DiskName::Wd3200aajs) => Disk::new(WD3200AAJS).into(),
            None => self.drive.drive()?.into(),
        })
    }
}

fn counts(counts: &Counts) -> Json {
    json!({
        "device_write_amplification": counts.device_write_amplification(),
        "host_written_units": counts.host_written_units,
        "host_read_units": counts.host_read_units,
        "unmapped_read_units": counts.unmapped_read_units,
        "trimmed_units": counts.trimmed_units,
        "moved_units": counts.moved_units,
        "padded_units": counts.padded_units,
        "programmed_pages": counts.programmed_pages,
        "read_pages": counts.read_pages,
        "erased_blocks": counts.erased_blocks,
    })
}
