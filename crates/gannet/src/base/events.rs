//! An event count: threads sleep until something has happened that they may wait for.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts events. Clones count together.
///
/// A waiting thread reads the count first, then looks whether it has to wait, then waits for
/// another count. So no event between the look and the wait is lost.
#[derive(Clone, Debug, Default)]
pub struct EventCount {
    shared: Arc<Events>,
}

#[derive(Debug, Default)]
struct Events {
    count: Mutex<u64>,
    changed: Condvar,
}

impl EventCount {
    /// The count now.
    pub fn seen(&self) -> u64 {
        *self.lock()
    }

    /// Something has happened: wakes all who wait.
    pub fn notify(&self) {
        *self.lock() += 1;
        self.shared.changed.notify_all();
    }

    /// Waits until something has happened since the count was `seen`, at most for so long.
    pub fn wait(&self, seen: u64, most: Option<Duration>) {
        let (held, is_same) = (self.lock(), |count: &mut u64| *count == seen);
        match most {
            Some(most) => drop(self.shared.changed.wait_timeout_while(held, most, is_same)),
            None => drop(self.shared.changed.wait_while(held, is_same)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.shared
            .count
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn an_event_before_the_wait_is_not_lost() {
        let events = EventCount::default();
        let seen = events.seen();
        events.notify();
        events.wait(seen, None);
        let seen = events.seen();
        thread::scope(|scope| {
            scope.spawn(|| events.wait(seen, None));
            events.notify();
        });
        events.wait(events.seen(), Some(Duration::from_millis(1)));
    }
}
