//! Turns of those who share memory: many at once, or one alone, none longer waited for than a
//! caller has time.
//!
//! Invariants:
//! 1. While one is alone, no other has a turn.
//! 2. While one waits to be alone, no new turn begins; so it waits for those under way only.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Interrupt, Result};

/// How often one who waits looks at the time.
const LOOK: Duration = Duration::from_millis(10);

/// Who has a turn.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<TurnState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct TurnState {
    together: usize,
    waiting_alone: usize,
    alone: bool,
}

/// A turn, ended when dropped.
#[derive(Debug)]
pub struct Turn<'a> {
    turns: &'a Turns,
    alone: bool,
}

impl Turns {
    /// A turn beside others.
    pub(super) fn take(&self, interrupt: &dyn Interrupt) -> Result<Turn<'_>> {
        let free = |state: &TurnState| !state.alone && state.waiting_alone == 0;
        self.wait(self.lock(), interrupt, free)?.together += 1;
        Ok(Turn {
            turns: self,
            alone: false,
        })
    }

    /// A turn without others.
    pub(super) fn take_alone(&self, interrupt: &dyn Interrupt) -> Result<Turn<'_>> {
        let mut state = self.lock();
        state.waiting_alone += 1;
        let free = |state: &TurnState| !state.alone && state.together == 0;
        let taken = self.wait(state, interrupt, free);
        let taken = taken.map(|mut state| {
            state.waiting_alone -= 1;
            state.alone = true;
        });
        if taken.is_err() {
            self.lock().waiting_alone -= 1;
            self.changed.notify_all();
        }
        taken.map(|()| Turn {
            turns: self,
            alone: true,
        })
    }

    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, TurnState>,
        interrupt: &dyn Interrupt,
        free: impl Fn(&TurnState) -> bool,
    ) -> Result<MutexGuard<'a, TurnState>> {
        while !free(&state) {
            interrupt.check()?;
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state)
    }

    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        match self.alone {
            true => state.alone = false,
            false => state.together -= 1,
        }
        let wakes = self.alone || state.together == 0;
        drop(state);
        if wakes {
            self.turns.changed.notify_all();
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
        let turns = Turns::default();
        let (one, other) = (turns.take(&times(0)), turns.take(&times(0)));
        assert!(turns.take_alone(&times(2)).is_err());
        drop((one, other));
        let alone = turns.take_alone(&times(0)).unwrap();
        assert!(turns.take(&times(2)).is_err() && turns.take_alone(&times(2)).is_err());
        thread::scope(|scope| {
            let waits = scope.spawn(|| turns.take(&times(usize::MAX)).is_ok());
            thread::sleep(3 * LOOK);
            assert!(!waits.is_finished());
            drop(alone);
            assert!(waits.join().unwrap());
        });
    }
}
