//! Backpressure: many writes wait briefly beside a flush, and none for long.
//!
//! The time that a flush still takes is spread over the room that the buffers still have. How far
//! it is with its terms tells most of that time. What follows the terms (delta postings join
//! lists, cleaning, syncing) shows no progress and is expected to take as long as it did of late.
//!
//! A write reckons its pause under the writer lock and waits without it. Batches wait for each
//! other: the next reckons after the one before has been written, so however many threads write,
//! each batch is paid for once. Deletions do not wait for batches. They pay for what was written
//! since the last reckoning, which is little.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::progress::{FlushProgress, KnownProgress};
use crate::index::state::{Phase, Shared};

/// The greatest wait of a write, unless the buffers are full.
const PAUSE: Duration = Duration::from_millis(120);

/// Shorter pauses are added to the next.
const PAUSE_STEP: Duration = Duration::from_millis(2);

/// The part of what followed the terms of a flush that is expected behind the next, at least.
const REMEMBERED: f64 = 0.98;

/// Bytes of postings buffers that the first flush is expected to write in a second until its
/// progress tells more: fewer than most do.
const FIRST_BYTES_A_SECOND: f64 = 16e6;

/// The part of the terms from which on progress tells how long the others take.
const TELLING: f64 = 0.05;

/// The greatest fill of the buffers when a flush takes no longer than expected. The rest is for the
/// time that it takes beyond.
const FULL_ON_TIME: f64 = 0.9;

/// A wait of the writer, without the writer lock.
pub(crate) enum Pause {
    /// A flush, at most for so long; until it is carried out if nothing is said.
    Flush(Arc<FlushProgress>, Option<Duration>),
    /// Memory, since so many events, at most for so long.
    Memory(u64, Duration),
}

impl Pause {
    pub(crate) fn wait(&self, shared: &Shared) {
        match self {
            Pause::Flush(flush, most) => {
                shared.options.limits.enter(Phase::Backpressure);
                // A flush that somebody waits for does not yield to searches.
                let _waiting = most.is_none().then(|| shared.traffic.wait());
                flush.wait_for_end(*most);
            }
            Pause::Memory(seen, most) => shared.budget.events().wait(*seen, Some(*most)),
        }
    }
}

/// Slows writing down while a flush runs.
#[derive(Default)]
pub(crate) struct Backpressure {
    /// The time that the terms of a flush take.
    terms: Duration,
    /// The time that the work behind them takes.
    rest: Duration,
    /// The fill of the buffers at the last write.
    fill: f64,
    /// The part of earlier waits that was too short to wait for.
    owed: Duration,
    /// The time at which the last write went on.
    went_on: Option<Instant>,
}

impl Backpressure {
    /// A flush of buffers of so many bytes begins.
    pub(crate) fn begin(&mut self, bytes: usize) {
        if self.terms.is_zero() {
            self.terms = Duration::from_secs(1).mul_f64(bytes as f64 / FIRST_BYTES_A_SECOND);
        }
    }

    /// A flush is done.
    pub(crate) fn learn(&mut self, flush: &FlushProgress, took: Duration) {
        let terms = flush.took.get().copied().unwrap_or(took);
        let rest = took.saturating_sub(terms);
        (self.terms, self.rest) = (terms, rest.max(self.rest.mul_f64(REMEMBERED)));
    }

    /// Returns the time that a write should wait that finds the buffers so full beside `flush`.
    /// After it has waited, it calls [`Backpressure::go_on`].
    pub(crate) fn pause(&mut self, fill: f64, flush: Option<&FlushProgress>) -> Duration {
        let now = Instant::now();
        let went_on = self.went_on.replace(now).unwrap_or(now);
        match flush {
            Some(flush) => self.pause_beside(fill, flush.progress(), now - went_on),
            None => {
                self.fill = fill;
                Duration::ZERO
            }
        }
    }

    /// A write goes on that has waited.
    pub(crate) fn go_on(&mut self) {
        self.went_on = Some(Instant::now());
    }

    /// The time since the last write, `passed`, counts: where documents come no faster than a flush
    /// makes room for them, none waits. A flush that is late may take as long again.
    fn pause_beside(&mut self, fill: f64, flush: KnownProgress, passed: Duration) -> Duration {
        let grown = (fill - self.fill).max(0.0);
        self.fill = fill;
        let (left, full) = match self.left(flush) {
            Duration::ZERO => (self.terms + self.rest, 1.0),
            left => (left, FULL_ON_TIME),
        };
        let share = grown / (full - fill).max(grown).max(f64::MIN_POSITIVE);
        let apart = self.owed + left.mul_f64(share);
        let pause = apart.saturating_sub(passed);
        self.owed = if pause < PAUSE_STEP {
            pause
        } else {
            Duration::ZERO
        };
        (pause - self.owed).min(PAUSE)
    }

    /// Returns the time that a flush still takes; zero if it is late.
    fn left(&self, flush: KnownProgress) -> Duration {
        let KnownProgress {
            running,
            share,
            took,
        } = flush;
        match took {
            Some(took) => (took + self.rest).saturating_sub(running),
            None if share < TELLING => (self.terms + self.rest).saturating_sub(running),
            None => running.mul_f64((1.0 - share).max(0.0) / share) + self.rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Returns the number of writes of a size before a flush is done, and their waits. The buffers
    /// are half full when it begins; earlier ones took `expected` for their terms and half as long
    /// for the rest.
    fn writes(size: f64, apart: Duration, expected: Duration, took: Duration) -> (u32, Duration) {
        let terms = took.mul_f64(2.0 / 3.0);
        let mut pace = Backpressure {
            terms: expected.mul_f64(2.0 / 3.0),
            rest: expected.mul_f64(1.0 / 3.0),
            fill: 0.5,
            ..Backpressure::default()
        };
        let (mut now, mut waited, mut count) = (apart, Duration::ZERO, 0);
        while now < took {
            count += 1;
            let flush = KnownProgress {
                running: now,
                share: (now.as_secs_f64() / terms.as_secs_f64()).min(1.0),
                took: (now >= terms).then_some(terms),
            };
            let pause = pace.pause_beside(0.5 + size * count as f64, flush, apart);
            assert!(pause <= PAUSE, "{pause:?}");
            (now, waited) = (now + pause + apart, waited + pause);
        }
        (count, waited)
    }

    #[test]
    fn writes_wait_for_what_a_flush_takes_beyond_them() {
        let second = 1000 * MS;
        for apart in [MS, 20 * MS, 50 * MS] {
            let (count, waited) = writes(0.025, apart, second, second);
            assert!((14..20).contains(&count), "{count} writes");
            assert!(waited > 900 * MS - count * apart, "{waited:?}");
        }
        assert_eq!(writes(0.025, 70 * MS, second, second), (14, Duration::ZERO));
    }

    #[test]
    fn a_flush_that_takes_twice_as_long_leaves_room() {
        for apart in [MS, 10 * MS, 20 * MS] {
            let (count, _) = writes(0.01, apart, 1000 * MS, 2000 * MS);
            assert!(count < 50, "{count} writes");
        }
    }

    #[test]
    fn writes_wait_no_longer_where_a_flush_is_faster_than_expected() {
        let (count, waited) = writes(0.002, 10 * MS, 4000 * MS, 1000 * MS);
        assert!(
            count > 50 && waited < 500 * MS,
            "{count} writes, {waited:?}"
        );
    }

    #[test]
    fn the_first_flush_is_expected_to_be_slow() {
        let mut first = Backpressure::default();
        first.begin(16_000_000);
        assert_eq!(first.terms, 1000 * MS);
    }
}
