//! Times of operations, kept as counts of classes, so that they take no memory from the store.

use std::time::Duration;

/// Bits of a time that its class keeps: classes are at most 1/16 wide.
const BITS: u32 = 4;
const CLASSES: usize = 64 << BITS;

/// How often times of each class were seen.
pub struct Latency {
    classes: Vec<u64>,
    pub count: u64,
}

impl Latency {
    pub fn new() -> Self {
        Self {
            classes: vec![0; CLASSES],
            count: 0,
        }
    }

    pub fn add(&mut self, time: Duration) {
        // Times below 2^(BITS + 1) ns have classes of their own; no time overflows.
        let time = time.as_nanos() as u64;
        let shift = (64 - time.leading_zeros()).saturating_sub(BITS + 1);
        let class = ((shift as u64) << BITS) + (time >> shift);
        self.classes[class as usize] += 1;
        self.count += 1;
    }

    /// The time in microseconds that a share of the times does not exceed, at most 1/32 off; none
    /// without any time.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let rank = (self.count as f64 * share) as u64;
        let mut seen = 0;
        let class = self.classes.iter().position(|count| {
            seen += count;
            seen > rank
        })?;
        let shift = (class >> BITS).saturating_sub(1);
        let least = (class - (shift << BITS)) << shift;
        let width = (1u64 << shift) as f64;
        Some((least as f64 + width / 2.0 - 0.5) / 1e3)
    }
}
