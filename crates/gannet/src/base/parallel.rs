//! Work on several cores: the same for many things, or two things side by side.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, LocalKey, ScopedJoinHandle};

use super::traffic::Manners;

/// How many shares a core takes on average: what one share takes may be many times what another does.
const SHARES: usize = 8;

thread_local! {
    /// Whether the calling thread does all of its work itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
    /// How many things are done side by side, of which the calling thread does one: they share the cores.
    static SIDES: Cell<usize> = const { Cell::new(1) };
}

/// Does all of `act` on the calling thread, one thing after the other: so what it does with a device is the same each time.
pub fn alone<R>(act: impl FnOnce() -> R) -> R {
    let _before = Restored(&ALONE, ALONE.replace(true));
    act()
}

/// Sets what it was when this goes, be it by a panic.
struct Restored<T: Copy + 'static>(&'static LocalKey<Cell<T>>, T);

impl<T: Copy + 'static> Drop for Restored<T> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

/// Splits `work` into shares, none but the last smaller than `least`, which threads, one for each core, take
/// one after the other and carry `act` out on. The results are in the order of the work. Where the caller gives way, the
/// threads do, and are no more than there are cores left.
pub fn on_all_cores<T: Send, R: Send>(
    work: Vec<T>,
    least: usize,
    act: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let manners = Manners::own();
    let cores = match ALONE.get() {
        true => 1,
        false => (manners.threads() / SIDES.get()).max(1),
    };
    let share = work.len().div_ceil(cores * SHARES).max(least.max(1));
    let shares = work.len().div_ceil(share);
    let mut work = work.into_iter();
    let queue = Mutex::new((0..shares).map(|at| (at, work.by_ref().take(share).collect())));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let drain = || -> Vec<(usize, Vec<R>)> {
        let taken = std::iter::from_fn(next);
        taken.map(|(at, share)| (at, act(share))).collect()
    };
    let help = || {
        manners.take();
        drain()
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(shares)).map(|_| scope.spawn(help)).collect();
        let mut done = drain();
        done.extend(others.into_iter().flat_map(join));
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

/// Does both, side by side, with half of the cores each. Where the caller gives way, so does the thread that does `other`; where
/// it is left one core, one is done after the other.
pub fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    let manners = Manners::own();
    if ALONE.get() || manners.threads() == 1 {
        return (one(), other());
    }
    let sides = SIDES.get();
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            manners.take();
            SIDES.set(2 * sides);
            other()
        });
        let _before = Restored(&SIDES, SIDES.replace(2 * sides));
        let one = one();
        (one, join(other))
    })
}

/// What a thread gave; panics if it did.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_work() {
        for count in [0, 1, 7, 1000] {
            let twice = on_all_cores((0..count).collect(), 3, |share| {
                share.into_iter().map(|n| n * 2).collect()
            });
            assert_eq!(twice, (0..count).map(|n| n * 2).collect::<Vec<i32>>());
        }
    }

    #[test]
    fn alone_all_is_done_in_turn_on_the_calling_thread() {
        let thread = || thread::current().id();
        let own = thread();
        let done = Mutex::new(Vec::new());
        let note = |what| done.lock().unwrap().push((what, thread()));
        alone(|| {
            on_all_cores((0..20).collect(), 1, |share| {
                share.into_iter().map(note).collect::<Vec<()>>()
            });
            both(|| note(20), || note(21));
        });
        assert_eq!(
            *done.lock().unwrap(),
            (0..22).map(|n| (n, own)).collect::<Vec<_>>()
        );
        let (one, other) = both(thread, thread);
        let cores = thread::available_parallelism().unwrap().get();
        assert_eq!(one != other, cores > 1);
        assert_eq!((ALONE.get(), SIDES.get()), (false, 1));
    }
}
