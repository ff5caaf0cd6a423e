//! Limits the bytes that are written to a tier in a second.

use std::time::Instant;

/// The limit. What was not written in one second may be written in the next one, but not later.
#[derive(Debug)]
pub(super) struct WriteLimit {
    bytes_per_second: u64,
    /// Bytes that may be written at `since`.
    left: f64,
    since: Instant,
}

impl WriteLimit {
    /// So many bytes a second from now on.
    pub(super) fn new(bytes_per_second: u64, now: Instant) -> WriteLimit {
        WriteLimit {
            bytes_per_second,
            left: bytes_per_second as f64,
            since: now,
        }
    }

    /// Takes so many bytes of the limit, if they are left.
    pub(super) fn take(&mut self, bytes: usize, now: Instant) -> bool {
        let rate = self.bytes_per_second as f64;
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        self.left = (self.left + passed * rate).min(rate);
        self.since = now;
        let is_left = self.left >= bytes as f64;
        if is_left {
            self.left -= bytes as f64;
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_second_has_more_than_twice_the_limit_and_all_together_no_more_than_it() {
        let start = Instant::now();
        let mut limit = WriteLimit::new(1000, start);
        let mut taken = Vec::new();
        for millis in 0..10_000 {
            let now = start + Duration::from_millis(millis);
            // Nothing is asked for in the second half of each pair of seconds.
            if millis / 1000 % 2 == 0 && limit.take(7, now) {
                taken.push(millis);
            }
        }
        let of = |second: u64| taken.iter().filter(|at| **at / 1000 == second).count() * 7;
        assert!((0..10).all(|second| of(second) <= 2_000));
        assert!((1_900..=2_000).contains(&of(4)), "{}", of(4));
        assert!(taken.len() * 7 <= 1_000 + 10_000);
    }
}
