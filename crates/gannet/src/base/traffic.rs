//! Schedules threads where there are more than cores: background work yields to foreground load.
//!
//! A nice value alone does not do: a thread that wakes up waits until the one that runs has had its
//! slice, of some milliseconds, ten times as long as a query takes. So a thread that yields
//! sleeps now and then by itself.

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

/// The number added to the nice value of a thread that yields to foreground load. Beside another
/// thread that wants the core all the time, it has a quarter of it. With 10 it has a tenth, and a
/// write that waits for it on a busy machine waits far too long.
const NICENESS: i32 = 5;

/// The time that a yielding thread works without a pause, and then pauses: a query takes about as
/// long.
const STINT: Duration = Duration::from_micros(100);
const REST: Duration = Duration::from_micros(100);

/// Cores that this process may use. Asking anew each time would open files of the system each time.
static CORES: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

thread_local! {
    static YIELDS: RefCell<Option<Giving>> = const { RefCell::new(None) };
}

/// Counts those that go first. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct ForegroundLoad {
    counts: Arc<TrafficCounts>,
}

#[derive(Debug, Default)]
struct TrafficCounts {
    going: AtomicUsize,
    waiting: AtomicUsize,
}

/// Counts for as long as it lives.
#[derive(Debug)]
pub struct Counted<'a>(&'a AtomicUsize);

#[derive(Clone)]
struct Giving {
    to: ForegroundLoad,
    rested: Instant,
}

impl ForegroundLoad {
    /// The caller goes first, as long as what this gives lives.
    pub fn go(&self) -> Counted<'_> {
        Counted::new(&self.counts.going)
    }

    /// The caller waits for those that yield, who do not as long as what this gives lives.
    pub fn wait(&self) -> Counted<'_> {
        Counted::new(&self.counts.waiting)
    }

    /// Cores that those that go first leave, if one of them is the writer's.
    fn cores_left(&self) -> usize {
        match self.counts.waiting.load(Ordering::Relaxed) {
            0 => CORES.saturating_sub(1 + self.counts.going.load(Ordering::Relaxed)),
            _ => *CORES,
        }
    }

    fn goes(&self) -> bool {
        self.counts.going.load(Ordering::Relaxed) > 0
    }
}

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Counted<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Has the calling thread, and those that carry out parts of its work (see `parallel`), yield to
/// the foreground load.
pub fn yield_to_foreground(traffic: &ForegroundLoad) {
    // Not where it would count for the whole process. A system that forbids it lets threads run
    // with the same priority.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICENESS);
    let to = traffic.clone();
    let rested = Instant::now();
    YIELDS.set(Some(Giving { to, rested }));
}

/// To be called every few microseconds of work that may yield: rests if it is time to.
pub fn back_off() {
    YIELDS.with_borrow_mut(|giving| {
        if let Some(giving) = giving {
            giving.back_off();
        }
    });
}

impl Giving {
    fn back_off(&mut self) {
        if !self.to.goes() || self.rested.elapsed() < STINT {
            return;
        }
        if self.to.cores_left() == 0 {
            thread::sleep(REST);
        }
        self.rested = Instant::now();
    }
}

/// To whom the calling thread yields, for a thread that takes a part of its work.
pub(super) struct Foreground(Option<Giving>);

impl Foreground {
    /// Returns the foreground load of the calling thread.
    pub(super) fn own() -> Foreground {
        Foreground(YIELDS.with_borrow(Clone::clone))
    }

    /// Makes them the calling thread's. Its nice value is that of the thread that started it.
    pub(super) fn take(&self) {
        YIELDS.set(self.0.clone());
    }

    /// Threads that may work together.
    pub(super) fn threads(&self) -> usize {
        match &self.0 {
            Some(giving) if giving.to.goes() => giving.to.cores_left().max(1),
            _ => *CORES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::parallel::{both, on_all_cores};

    /// Measures the time in which a yielding thread does the work of 40 stints.
    fn time_to_work(traffic: &ForegroundLoad) -> Duration {
        thread::scope(|scope| {
            let work = scope.spawn(|| {
                yield_to_foreground(traffic);
                let start = Instant::now();
                for _ in 0..40 {
                    thread::sleep(STINT);
                    back_off();
                }
                start.elapsed()
            });
            work.join().unwrap()
        })
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_the_thread_that_gives_way_does_and_those_with_parts_of_its_work() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let gives = || YIELDS.with_borrow(Option::is_some);
        let before = nice();
        let parts = thread::scope(|scope| {
            let thread = scope.spawn(|| {
                yield_to_foreground(&ForegroundLoad::default());
                let all = on_all_cores((0..100).collect(), 1, |share: Vec<u8>| {
                    share.iter().map(|_| (nice(), gives())).collect()
                });
                let (one, other) = both(|| (nice(), gives()), || (nice(), gives()));
                [all, vec![one, other]].concat()
            });
            thread.join().unwrap()
        });
        let given = (before + NICENESS).min(19);
        assert_eq!(parts, vec![(given, true); 102]);
        assert_eq!((nice(), gives()), (before, false));
    }

    #[test]
    fn it_rests_beside_traffic_unless_somebody_waits_for_it() {
        let traffic = ForegroundLoad::default();
        let all: Vec<_> = (0..*CORES).map(|_| traffic.go()).collect();
        assert!(time_to_work(&traffic) >= 40 * (STINT + REST));
        assert_eq!(traffic.cores_left(), 0);
        let waiting = traffic.wait();
        assert_eq!(traffic.cores_left(), *CORES);
        drop((waiting, all));
        assert!(!traffic.goes());
    }
}
