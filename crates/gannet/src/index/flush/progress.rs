//! Tracks the progress of a flush, for threads that wait for its end or write beside it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use crate::base::EventCount;

/// The progress of a flush through the terms of its buffer.
pub(crate) struct FlushProgress {
    began: Instant,
    terms: usize,
    done: AtomicUsize,
    /// The time that all of them took.
    pub(super) took: OnceLock<Duration>,
    /// Set once the flush is carried out; threads wait for it.
    has_ended: Mutex<bool>,
    ended: Condvar,
}

/// Tells those who wait for a flush that it is carried out, however that ends.
pub(crate) struct FlushEnd(Arc<FlushProgress>, EventCount);

impl Drop for FlushEnd {
    fn drop(&mut self) {
        *self.0.end_lock() = true;
        self.0.ended.notify_all();
        self.1.notify();
    }
}

impl FlushProgress {
    /// A flush of so many terms begins.
    pub(crate) fn begin(terms: usize) -> FlushProgress {
        FlushProgress {
            began: Instant::now(),
            terms,
            done: AtomicUsize::new(0),
            took: OnceLock::new(),
            has_ended: Mutex::new(false),
            ended: Condvar::new(),
        }
    }

    /// Returns a guard that tells waiting threads and `events`, when it is dropped, that the flush
    /// is carried out.
    pub(crate) fn end_of(self: &Arc<FlushProgress>, events: &EventCount) -> FlushEnd {
        FlushEnd(Arc::clone(self), events.clone())
    }

    /// Returns true if the flush is carried out.
    pub(crate) fn has_ended(&self) -> bool {
        *self.end_lock()
    }

    /// Waits until the flush is carried out, at most for so long.
    pub(crate) fn wait_for_end(&self, most: Option<Duration>) {
        let (held, goes_on) = (self.end_lock(), |ended: &mut bool| !*ended);
        match most {
            Some(most) => drop(self.ended.wait_timeout_while(held, most, goes_on)),
            None => drop(self.ended.wait_while(held, goes_on)),
        }
    }

    fn end_lock(&self) -> MutexGuard<'_, bool> {
        self.has_ended.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// So many terms, in the order of their keys, are under way or done. Each may be told of twice:
    /// a flush looks at the next terms while it adds those before to their lists.
    pub(crate) fn reach(&self, terms: usize) {
        self.done.fetch_max(terms, Ordering::Relaxed);
    }

    /// All that was in the buffer is written.
    pub(crate) fn end(&self) {
        let _ = self.took.set(self.began.elapsed());
    }

    /// Returns true if all that was in the buffer is written.
    pub(crate) fn is_whole(&self) -> bool {
        self.took.get().is_some()
    }

    /// Returns the time since the flush began.
    pub(crate) fn running(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn progress(&self) -> KnownProgress {
        let done = self.done.load(Ordering::Relaxed);
        KnownProgress {
            running: self.running(),
            share: done as f64 / self.terms.max(1) as f64,
            took: self.took.get().copied(),
        }
    }
}

/// The known progress of a flush that runs.
#[derive(Clone, Copy)]
pub(super) struct KnownProgress {
    pub(super) running: Duration,
    /// The part of its terms that it has begun with.
    pub(super) share: f64,
    /// The time that all of them took.
    pub(super) took: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_are_told_of_twice_count_once() {
        let filling = FlushProgress::begin(100);
        for terms in [40, 80, 40, 60] {
            filling.reach(terms);
        }
        assert_eq!(filling.progress().share, 0.8);
    }
}
