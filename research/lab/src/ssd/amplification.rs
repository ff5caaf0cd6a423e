//! Amplification of uniform random writes by utilization, beside the closed forms.

use gannet_ssd::random::Random;
use gannet_ssd::workload::age;
use gannet_ssd::{Collection, Drive, closed_forms, profile};
use serde_json::{Value as Json, json};

use crate::Outcome;

/// The arguments of `gannet-lab ssd amplification`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The shares of the flash memory that have content
    #[arg(long, num_args = 1.., default_values_t = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9])]
    utilizations: Vec<f64>,
    /// Pages of a block
    #[arg(long, default_value_t = 64)]
    pages: u32,
    /// Blocks
    #[arg(long, default_value_t = 1_000)]
    blocks: u32,
    /// What random numbers start from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Arguments {
    /// The table as JSON.
    pub fn report(&self) -> Outcome<Json> {
        let mut rows = Vec::new();
        for utilization in &self.utilizations {
            if !(0.05..=0.98).contains(utilization) {
                return Err(
                    format!("--utilizations: expected 0.05 to 0.98, found {utilization}").into(),
                );
            }
            rows.push(json!({
                "utilization": utilization,
                "fifo": self.amplification(Collection::Fifo, *utilization)?,
                "fifo_closed_form": closed_forms::fifo(*utilization),
                "greedy": self.amplification(Collection::Greedy, *utilization)?,
                "greedy_closed_form": closed_forms::greedy(*utilization, self.pages),
            }));
        }
        Ok(json!({
            "pages": self.pages, "blocks": self.blocks, "seed": self.seed, "rows": rows,
        }))
    }

    fn amplification(&self, collection: Collection, utilization: f64) -> Outcome<Option<f64>> {
        let mut profile = profile::HYBRID_CACHE_TABLE;
        let geometry = &mut profile.geometry;
        (geometry.page_bytes, geometry.unit_bytes) = (4 << 10, 4 << 10);
        // The blocks that are kept free do not count: closed forms know none.
        (geometry.pages, geometry.blocks) =
            (self.pages, self.blocks + profile.cleaning.free_blocks);
        let share = f64::from(geometry.blocks) / f64::from(self.blocks);
        geometry.over_provisioning = share / utilization - 1.0;
        profile.cleaning.collection = collection;
        let mut drive = Drive::new(&profile)?;
        let end = age(&mut drive, 1.0, 5, self.seed)?.end;
        let mut random = Random::new(self.seed, "amplification");
        for _ in 0..4 * end {
            drive.preload(random.draw() % end, 1)?;
        }
        Ok(drive.counts().device_write_amplification())
    }
}
