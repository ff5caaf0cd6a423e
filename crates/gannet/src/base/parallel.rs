//! Work that is the same for many things, on all cores; and work that nobody waits for, which gives way to the rest.

use std::num::NonZero;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

/// How many shares a core takes on average: what one share takes may be many times what another does.
const SHARES: usize = 8;

/// What is added to the nice value of a thread that gives way: where another wants the core all the time, it has a quarter of it. With
/// 10 it has a tenth, and a write that has to wait for it on a machine that is busy with other things waits far too long.
const GIVEN_WAY: i32 = 5;

/// Has the calling thread, and those that it starts, give way to other threads where there are more than cores. Where it could
/// only be said of the whole process, nothing changes.
pub fn give_way() {
    #[cfg(target_os = "linux")]
    // A system that forbids it has threads take turns, as they would without.
    let _ = rustix::process::nice(GIVEN_WAY);
}

/// Cores that this process may use. Asking anew each time would open files of the system each time.
static CORES: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// Splits `work` into shares, none but the last smaller than `least`, which threads, one for each core, take
/// one after the other and carry `act` out on. The results are in the order of the work.
pub fn on_all_cores<T: Send, R: Send>(
    work: Vec<T>,
    least: usize,
    act: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let cores = *CORES;
    let share = work.len().div_ceil(cores * SHARES).max(least.max(1));
    let shares = work.len().div_ceil(share);
    let mut work = work.into_iter();
    let queue = Mutex::new((0..shares).map(|at| (at, work.by_ref().take(share).collect())));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let drain = || -> Vec<(usize, Vec<R>)> {
        let taken = std::iter::from_fn(next);
        taken.map(|(at, share)| (at, act(share))).collect()
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(shares)).map(|_| scope.spawn(drain)).collect();
        let mut done = drain();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn only_the_thread_that_gives_way_does_and_what_it_starts() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let (own, started) = thread::scope(|scope| {
            let thread = scope.spawn(|| {
                give_way();
                thread::scope(|scope| (nice(), scope.spawn(nice).join().unwrap()))
            });
            thread.join().unwrap()
        });
        let given = (before + GIVEN_WAY).min(19);
        assert_eq!((nice(), own, started), (before, given, given));
    }

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
