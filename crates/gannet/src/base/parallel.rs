//! Work on several cores: the same for many things, or two things side by side.
//!
//! A thread that cannot be had is done without: the calling thread works in any case.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use super::traffic::Foreground;

/// The number of shares for each core, on average: one share may take many times as long as
/// another.
const SHARES: usize = 8;

thread_local! {
    /// Set if the calling thread does all of its work itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
    /// The workers that share its work; just itself if it has never shared any.
    static WORKERS: RefCell<Workers> = RefCell::new(Workers::default());
}

/// Threads that carry out parts of one work. Those that wait for others do not count, so the others
/// may take their cores.
#[derive(Clone)]
struct Workers(Arc<AtomicUsize>);

/// One of a workers that works; counted for as long as it lives.
struct Working(Workers);

impl Default for Workers {
    /// The calling thread.
    fn default() -> Workers {
        Workers(Arc::new(AtomicUsize::new(1)))
    }
}

impl Workers {
    fn own() -> Workers {
        WORKERS.with_borrow(Clone::clone)
    }

    /// One more.
    fn join(&self) -> Working {
        self.0.fetch_add(1, Ordering::Relaxed);
        Working(self.clone())
    }

    /// One more if no more than so many work then.
    fn join_up_to(&self, most: usize) -> Option<Working> {
        let more = |working: usize| (working < most).then_some(working + 1);
        let joined = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        joined.ok().map(|_| Working(self.clone()))
    }

    /// The calling thread, one of the workers, does not work while it waits.
    fn rest<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.0.fetch_sub(1, Ordering::Relaxed);
        let waited = wait();
        self.0.fetch_add(1, Ordering::Relaxed);
        waited
    }
}

impl Working {
    /// Makes the calling thread this one of the workers.
    fn take(&self) {
        WORKERS.set(self.0.clone());
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        (self.0).0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does all of `act` on the calling thread, one thing after the other: so what it does with a
/// device is the same each time.
pub fn alone<R>(act: impl FnOnce() -> R) -> R {
    let _before = WasAlone(ALONE.replace(true));
    act()
}

/// Sets what it was when this goes, be it by a panic.
struct WasAlone(bool);

impl Drop for WasAlone {
    fn drop(&mut self) {
        ALONE.set(self.0);
    }
}

/// Splits `work` into shares, none but the last smaller than `least`, which threads take one after
/// the other and carry `act` out on. The results are in the order of the work. As many threads take
/// part as there are cores without a thread of the same work; when others of it end, more do. If
/// the caller yields to foreground load, the threads do, and take only free cores.
pub fn on_all_cores<T: Send, R: Send>(
    work: Vec<T>,
    least: usize,
    act: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let (foreground, workers) = (Foreground::own(), Workers::own());
    let cores = if ALONE.get() { 1 } else { foreground.threads() };
    let share = work.len().div_ceil(cores * SHARES).max(least.max(1));
    let shares = work.len().div_ceil(share);
    let mut work = work.into_iter();
    let queue = Mutex::new((0..shares).map(|at| (at, work.by_ref().take(share).collect())));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let help = |working: Working| -> Vec<(usize, Vec<R>)> {
        foreground.take();
        working.take();
        let taken = std::iter::from_fn(next);
        taken.map(|(at, share)| (at, act(share))).collect()
    };
    let help = &help;
    let mut done = thread::scope(|scope| {
        let (mut done, mut others) = (Vec::with_capacity(shares), Vec::new());
        while let Some((at, share)) = next() {
            // Of the shares behind this one, each may be another's.
            while others.len() < shares - at - 1
                && let Some(working) = workers.join_up_to(cores)
                && let Ok(other) = thread::Builder::new().spawn_scoped(scope, move || help(working))
            {
                others.push(other);
            }
            done.push((at, act(share)));
        }
        let others: Vec<_> =
            workers.rest(|| others.into_iter().map(ScopedJoinHandle::join).collect());
        done.extend(others.into_iter().flat_map(given));
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

/// Does both, side by side. Where the caller yields, so does the thread that does `other`; where
/// it is left one core, or there is no thread to be had, one is done after the other.
pub fn both<A, B: Send, O: FnOnce() -> B + Send>(one: impl FnOnce() -> A, other: O) -> (A, B) {
    let (foreground, workers) = (Foreground::own(), Workers::own());
    if ALONE.get() || foreground.threads() == 1 {
        return (one(), other());
    }
    // Handed over once there is a thread: what one is started with is lost if it cannot start.
    let (hand_over, handed_over) = mpsc::channel::<O>();
    thread::scope(|scope| {
        let working = workers.join();
        let help = move || {
            foreground.take();
            working.take();
            handed_over.recv().map(|other| other())
        };
        let Ok(helper) = thread::Builder::new().spawn_scoped(scope, help) else {
            return (one(), other());
        };
        if let Err(SendError(other)) = hand_over.send(other) {
            return (one(), other());
        }
        let one = one();
        let other = workers.rest(|| helper.join());
        let never = |lost| Box::new(lost) as Box<dyn Any + Send>;
        (one, given(other.and_then(|other| other.map_err(never))))
    })
}

/// Returns the result of a thread; panics if it did.
fn given<T>(thread: thread::Result<T>) -> T {
    match thread {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const TIME_MAX: Duration = Duration::from_secs(60);

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
        assert!(!ALONE.get());
    }

    #[test]
    fn whoever_is_done_leaves_a_core_to_the_others() {
        let cores = Foreground::own().threads();
        let (at_once, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let count = |act: &dyn Fn()| {
            most.fetch_max(
                1 + at_once.fetch_add(1, Ordering::Relaxed),
                Ordering::Relaxed,
            );
            act();
            at_once.fetch_sub(1, Ordering::Relaxed);
            vec![()]
        };
        let caller = thread::current().id();
        let can_spawn =
            || thread::current().id() == caller && Workers::own().0.load(Ordering::Relaxed) < cores;
        let all = |act: &(dyn Fn() + Sync)| on_all_cores(vec![0; 8 * cores], 1, |_| count(act));
        // A share lasts until as many threads as cores have one; the caller's until it can start
        // another.
        let start = Instant::now();
        let wait = || {
            while most.load(Ordering::Relaxed) < cores && !can_spawn() && start.elapsed() < TIME_MAX
            {
                thread::sleep(Duration::from_millis(1));
            }
        };
        both(|| all(&wait), || thread::sleep(Duration::from_millis(10)));
        assert_eq!(most.swap(0, Ordering::Relaxed), cores);
        // Two sides that work all the time have no more threads than cores, but for a side's own.
        let work = || thread::sleep(Duration::from_millis(1));
        both(|| all(&work), || all(&work));
        assert!(most.into_inner() <= cores.max(2));
        assert_eq!(Workers::own().0.load(Ordering::Relaxed), 1);
    }
}
