//! Work that is the same for many things, on all cores.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use super::traffic::Manners;

/// How many shares a core takes on average: what one share takes may be many times what another does.
const SHARES: usize = 8;

/// Splits `work` into shares, none but the last smaller than `least`, which threads, one for each core, take
/// one after the other and carry `act` out on. The results are in the order of the work. Where the caller gives way, the
/// threads do, and are no more than there are cores left.
pub fn on_all_cores<T: Send, R: Send>(
    work: Vec<T>,
    least: usize,
    act: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let manners = Manners::own();
    let cores = manners.threads();
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

/// Does both, side by side; where the caller gives way, so does the thread that does `other`.
pub fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    let manners = Manners::own();
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            manners.take();
            other()
        });
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
}
