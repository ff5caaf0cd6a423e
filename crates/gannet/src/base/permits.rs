//! Permits to reserve memory for a while: many at once, or one alone, none longer waited for than a
//! caller has time.
//!
//! Invariants:
//! 1. While one is alone, no other holds a permit.
//! 2. While one waits to be alone, no new permit is given; so it waits for the given ones only.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Interrupt, Result};

/// The interval at which a waiting thread looks at the time.
const LOOK: Duration = Duration::from_millis(10);

/// Hands out memory permits.
#[derive(Debug, Default)]
pub(super) struct MemoryPermits {
    holders: Mutex<Holders>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Holders {
    together: usize,
    waiting_alone: usize,
    alone: bool,
}

/// The right to reserve a little memory for a while, given back when dropped.
#[derive(Debug)]
pub struct MemoryPermit<'a> {
    permits: &'a MemoryPermits,
    alone: bool,
}

impl MemoryPermits {
    /// Takes a permit beside others.
    pub(super) fn take(&self, interrupt: &dyn Interrupt) -> Result<MemoryPermit<'_>> {
        let free = |holders: &Holders| !holders.alone && holders.waiting_alone == 0;
        self.wait(self.lock(), interrupt, free)?.together += 1;
        Ok(MemoryPermit {
            permits: self,
            alone: false,
        })
    }

    /// Takes a permit without others.
    pub(super) fn take_alone(&self, interrupt: &dyn Interrupt) -> Result<MemoryPermit<'_>> {
        let mut holders = self.lock();
        holders.waiting_alone += 1;
        let free = |holders: &Holders| !holders.alone && holders.together == 0;
        let taken = self.wait(holders, interrupt, free);
        let taken = taken.map(|mut holders| {
            holders.waiting_alone -= 1;
            holders.alone = true;
        });
        if taken.is_err() {
            self.lock().waiting_alone -= 1;
            self.changed.notify_all();
        }
        taken.map(|()| MemoryPermit {
            permits: self,
            alone: true,
        })
    }

    fn wait<'a>(
        &'a self,
        mut holders: MutexGuard<'a, Holders>,
        interrupt: &dyn Interrupt,
        free: impl Fn(&Holders) -> bool,
    ) -> Result<MutexGuard<'a, Holders>> {
        while !free(&holders) {
            interrupt.check()?;
            let waited = self.changed.wait_timeout(holders, LOOK);
            holders = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(holders)
    }

    fn lock(&self) -> MutexGuard<'_, Holders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryPermit<'_> {
    fn drop(&mut self) {
        let mut holders = self.permits.lock();
        if self.alone {
            holders.alone = false;
        } else {
            holders.together -= 1;
        }
        // To wake takes a call of the system, also where nobody waits.
        let wakes = self.alone || holders.together == 0 && holders.waiting_alone > 0;
        drop(holders);
        if wakes {
            self.permits.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::base::Error;

    /// Gives up when it is asked after so many times.
    #[derive(Debug)]
    struct TimeLimit(AtomicUsize);

    impl Interrupt for TimeLimit {
        fn check(&self) -> Result<()> {
            let (order, less) = (Ordering::Relaxed, |left: usize| left.checked_sub(1));
            let left = self.0.fetch_update(order, order, less);
            left.map(|_| ()).map_err(|_| Error::invalid("no more time"))
        }
    }

    fn times(times: usize) -> TimeLimit {
        TimeLimit(AtomicUsize::new(times))
    }

    #[test]
    fn one_alone_waits_for_the_others_and_they_for_it() {
        let permits = MemoryPermits::default();
        let (one, other) = (permits.take(&times(0)), permits.take(&times(0)));
        assert!(permits.take_alone(&times(2)).is_err());
        drop((one, other));
        let alone = permits.take_alone(&times(0)).unwrap();
        assert!(permits.take(&times(2)).is_err() && permits.take_alone(&times(2)).is_err());
        thread::scope(|scope| {
            let waits = scope.spawn(|| permits.take(&times(usize::MAX)).is_ok());
            thread::sleep(3 * LOOK);
            assert!(!waits.is_finished());
            drop(alone);
            assert!(waits.join().unwrap());
        });
    }
}
