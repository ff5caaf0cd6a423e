//! Records latencies of queries: percentiles from a histogram, mean and maximum from the times
//! themselves.
//!
//! A list of all times could take more memory than the index may have. So times are counted in
//! classes. The histogram never grows: it takes about 100 KiB from the start, and each thread has
//! one.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Times below this share a class.
const SHORTEST: Duration = Duration::from_nanos(100);

/// A longer time counts as this one in percentiles; mean and maximum know it exactly.
const LONGEST: Duration = Duration::from_secs(3600);

/// Significant digits of a percentile, so that it is at most a thousandth off.
const DIGITS: u8 = 3;

/// The latencies of a number of queries.
pub struct Latencies {
    classes: Histogram<u32>,
    count: u64,
    total: Duration,
    longest: Duration,
}

impl Latencies {
    /// None so far.
    pub fn new() -> Latencies {
        let (low, high) = (SHORTEST.as_nanos() as u64, LONGEST.as_nanos() as u64);
        let classes = Histogram::new_with_bounds(low, high, DIGITS);
        Latencies {
            classes: classes.expect("the bounds and the digits are possible"),
            count: 0,
            total: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    /// Adds a query.
    pub fn record(&mut self, took: Duration) {
        self.classes
            .saturating_record(took.min(LONGEST).as_nanos() as u64);
        self.count += 1;
        self.total += took;
        self.longest = self.longest.max(took);
    }

    /// Adds the queries of another thread.
    pub fn add(&mut self, other: &Latencies) {
        let added = self.classes.add(&other.classes);
        added.expect("all histograms have the same bounds");
        self.count += other.count;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }

    /// Returns the number of queries.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The time that a share of the queries did not exceed, in microseconds.
    pub fn quantile_us(&self, share: f64) -> f64 {
        let time = self.classes.value_at_quantile(share) as f64 / 1e3;
        // The longest of a class stands for it, which may be longer than any that was seen.
        time.min(self.max_us())
    }

    /// The mean, in microseconds.
    pub fn mean_us(&self) -> f64 {
        us(self.total) / self.count.max(1) as f64
    }

    /// The longest time, in microseconds.
    pub fn max_us(&self) -> f64 {
        us(self.longest)
    }
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(got: f64, expected: f64) -> bool {
        (got - expected).abs() <= expected / 100.0
    }

    #[test]
    fn times_from_a_microsecond_to_an_hour_are_within_a_hundredth() {
        for us in [1, 3, 49, 2_000, 2_048, 20_408, 10_000_000, 3_600_000_000] {
            let mut latencies = Latencies::new();
            latencies.record(Duration::from_micros(us));
            let expected = us as f64;
            for share in [0.5, 0.95, 0.99] {
                let got = latencies.quantile_us(share);
                assert!(is_near(got, expected), "{share}: {got}, not {expected}");
            }
            assert_eq!(
                (latencies.mean_us(), latencies.max_us()),
                (expected, expected)
            );
        }
    }

    #[test]
    fn queries_of_all_threads_are_counted_together() {
        let mut all = Latencies::new();
        for thread in 0..4u64 {
            let mut one = Latencies::new();
            (1..=250).for_each(|n| one.record(Duration::from_millis(thread * 250 + n)));
            all.add(&one);
        }
        assert_eq!(all.count(), 1_000);
        assert_eq!(all.max_us(), 1e6);
        assert!(is_near(all.mean_us(), 500_500.0), "{}", all.mean_us());
        for (share, expected) in [(0.5, 5e5), (0.95, 9.5e5), (0.99, 9.9e5)] {
            let got = all.quantile_us(share);
            assert!(is_near(got, expected), "{share}: {got}, not {expected}");
        }
    }

    #[test]
    fn a_time_beyond_the_bounds_is_in_mean_and_maximum() {
        let mut latencies = Latencies::new();
        latencies.record(2 * LONGEST);
        assert!(is_near(latencies.quantile_us(0.5), us(LONGEST)));
        assert_eq!(latencies.max_us(), us(2 * LONGEST));
        assert_eq!(latencies.mean_us(), us(2 * LONGEST));
    }

    #[test]
    fn the_memory_is_bounded() {
        let classes = Latencies::new().classes.distinct_values();
        assert!(classes * size_of::<u32>() < 160 << 10, "{classes}");
    }
}
