//! Rates of a modelled drive (table 1 of the AS B-tree's paper), at any queue depth.
//!
//! Random writes are to a drive that is full and was overwritten at random; all else to one that
//! was filled in order.

use gannet_ssd::workload::{Order, Stream, age, closed_loop};
use gannet_ssd::{Drive, Operation, PAGE_BYTES, Profile, profile};
use serde_json::{Value as Json, json};

use crate::Outcome;

/// The arguments of `gannet-lab ssd rates`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The drive: x25-e, pm9a3, smart-ssd, hybrid-cache-table or hybrid-cache-text
    #[arg(long, default_value = profile::X25_E.name)]
    profile: String,
    /// Bytes that the host sees
    #[arg(long, default_value_t = 1 << 30)]
    capacity: u64,
    /// Requests under way
    #[arg(long, num_args = 1.., default_values_t = [1, 32])]
    depths: Vec<usize>,
    /// Pages of 4 KiB of a request
    #[arg(long, num_args = 1.., default_values_t = [1, 2, 4, 8, 32])]
    sizes: Vec<u32>,
    /// MiB that each rate is taken over
    #[arg(long, default_value_t = 128)]
    mebibytes: u64,
    /// What random numbers start from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What is asked for, by the name of its rate.
const KINDS: [(&str, Operation, Order); 4] = [
    ("sequential_read", Operation::Read, Order::Sequential),
    ("sequential_write", Operation::Write, Order::Sequential),
    ("random_read", Operation::Read, Order::Random),
    ("random_write", Operation::Write, Order::Random),
];

impl Arguments {
    /// The rates as JSON.
    pub fn report(&self) -> Outcome<Json> {
        let profile = profile::named(&self.profile)?.with_capacity(self.capacity)?;
        let mut rates = Vec::new();
        for depth in &self.depths {
            for pages in &self.sizes {
                let bytes = u64::from(*pages) * u64::from(PAGE_BYTES);
                let mut row = json!({ "depth": depth, "bytes": bytes });
                for (name, operation, order) in KINDS {
                    row[name] = self.rate(&profile, operation, order, *depth, *pages)?;
                }
                rates.push(row);
            }
        }
        Ok(json!({
            "model": profile.name, "capacity": self.capacity, "seed": self.seed,
            "mebibytes": self.mebibytes, "unit": "MB/s", "rates": rates,
        }))
    }

    fn rate(
        &self,
        profile: &Profile,
        operation: Operation,
        order: Order,
        depth: usize,
        pages: u32,
    ) -> Outcome<Json> {
        let mut drive = Drive::new(profile)?;
        let is_random_write = (operation, order) == (Operation::Write, Order::Random);
        let passes = if is_random_write { 3 } else { 0 };
        let span = age(&mut drive, 1.0, passes, self.seed)?.end;
        let stream = Stream::new(operation, order, pages, span, self.seed);
        let requests = (self.mebibytes << 8) / u64::from(pages.max(1));
        let answered = closed_loop(&mut drive, depth, stream.take(requests as usize))?;
        Ok(json!({
            "rate": answered.rate(),
            "requests_per_second": answered.requests_per_second(),
            "p50_us": answered.percentile(50.0) as f64 / 1e3,
            "p99_us": answered.percentile(99.0) as f64 / 1e3,
            "device_write_amplification": drive.counts().device_write_amplification(),
        }))
    }
}
