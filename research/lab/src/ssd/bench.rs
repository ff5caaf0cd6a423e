//! How fast the model itself is: half reads, half writes of 4 KiB, at random, on a drive that
//! collects. The rate is measured, not modelled.

use std::time::Instant;

use gannet_ssd::Request;
use gannet_ssd::random::Random;
use gannet_ssd::workload::closed_loop;
use serde_json::{Value as Json, json};

use super::DriveArguments;
use crate::Outcome;

/// The arguments of `gannet-lab ssd bench`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    drive: DriveArguments,
    /// Requests
    #[arg(long, default_value_t = 1_000_000)]
    requests: usize,
    /// Requests under way
    #[arg(long, default_value_t = 32)]
    depth: usize,
}

impl Arguments {
    /// The rate as JSON.
    pub fn report(&self) -> Outcome<Json> {
        let mut drive = self.drive.drive()?;
        let (pages, mut random) = (drive.pages(), Random::new(self.drive.seed, "bench"));
        let requests = (0..self.requests).map(|_| {
            let page = random.draw() % pages;
            match random.below(2) {
                0 => Request::read(page, 1),
                _ => Request::write(page, 1),
            }
        });
        let started = Instant::now();
        let answered = closed_loop(&mut drive, self.depth, requests)?;
        let seconds = started.elapsed().as_secs_f64();
        Ok(json!({
            "model": drive.profile().name, "requests": answered.requests, "seconds": seconds,
            "requests_per_second": answered.requests as f64 / seconds,
            "events_per_second": drive.events() as f64 / seconds,
            "modelled_seconds": answered.nanos as f64 / 1e9,
            "device_write_amplification": drive.counts().device_write_amplification(),
        }))
    }
}
