//! The act under way: what one caller has the writer do.

use std::time::{Duration, Instant};

/// The conditions of the act under way.
pub(super) struct Act {
    /// The time at which it was asked for.
    asked_at: Instant,
    /// Set if it is tried again after a flush if it lacks memory or space.
    retries: bool,
    /// Set if searches held earlier states when memory was last tried for.
    had_earlier: bool,
    /// Set if someone waits for the end of the next act.
    is_watched: bool,
}

impl Act {
    /// None so far.
    pub(super) fn new() -> Act {
        Act {
            asked_at: Instant::now(),
            retries: false,
            had_earlier: false,
            is_watched: false,
        }
    }

    /// One begins that was asked for at this time.
    pub(super) fn begin(&mut self, asked_at: Instant) {
        self.asked_at = asked_at;
    }

    /// An attempt begins, which is made again after a flush if it `retries`.
    pub(super) fn attempt(&mut self, retries: bool) {
        (self.retries, self.had_earlier) = (retries, false);
    }

    /// The attempt has ended.
    pub(super) fn end_attempt(&mut self) {
        self.retries = false;
    }

    /// Returns true if it is tried again after a flush.
    pub(super) fn retries(&self) -> bool {
        self.retries
    }

    /// Returns the time since it was asked for.
    pub(super) fn elapsed(&self) -> Duration {
        self.asked_at.elapsed()
    }

    /// Notes whether searches hold earlier states, where memory was tried for.
    pub(super) fn note_earlier(&mut self, had_earlier: bool) {
        self.had_earlier = had_earlier;
    }

    /// Returns true if searches may give memory back.
    pub(super) fn had_earlier(&self) -> bool {
        self.had_earlier
    }

    /// Notes whether someone waits for the end of the next one.
    pub(super) fn watch(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
    }

    /// Returns true if someone waits for its end, who is told of it then.
    pub(super) fn end_watch(&mut self) -> bool {
        std::mem::take(&mut self.is_watched)
    }
}
