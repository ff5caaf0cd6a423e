//! The queue of an index's writers: one after the other, in the order in which they came.

use std::sync::{Condvar, Mutex, MutexGuard};

use crate::fault::{Fault, Outcome};

/// Writers that may wait for one index.
const WAITING_MAX: u64 = 64;

/// Hands out turns.
#[derive(Default)]
pub struct Turns {
    tickets: Mutex<Tickets>,
    called: Condvar,
}

#[derive(Default)]
struct Tickets {
    given: u64,
    served: u64,
}

/// The turn of one writer; the next one begins when it is dropped.
pub struct Turn<'t>(&'t Turns);

impl Turns {
    /// Waits for the turn of the caller.
    ///
    /// # Errors
    ///
    /// 429 if too many wait already.
    pub fn wait(&self) -> Outcome<Turn<'_>> {
        let mut tickets = self.lock();
        let waiting = tickets.given - tickets.served;
        if waiting > WAITING_MAX {
            return Err(Fault::busy(format!(
                "{waiting} writes wait for this index already: send it again later"
            )));
        }
        let own = tickets.given;
        tickets.given += 1;
        while tickets.served != own {
            let woken = self.called.wait(tickets);
            tickets = woken.unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        Ok(Turn(self))
    }

    fn lock(&self) -> MutexGuard<'_, Tickets> {
        let locked = self.tickets.lock();
        locked.unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().served += 1;
        self.0.called.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn writers_take_turns_and_none_is_lost() {
        let turns = Arc::new(Turns::default());
        let count = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let (turns, count) = (Arc::clone(&turns), Arc::clone(&count));
                thread::spawn(move || {
                    for _ in 0..100 {
                        let _turn = turns.wait().unwrap();
                        // Nobody else may be here.
                        *count.try_lock().unwrap() += 1;
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(*count.lock().unwrap(), 800);
    }
}
