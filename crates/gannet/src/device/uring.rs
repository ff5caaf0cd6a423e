//! Batches through io_uring: one submission for each transfer, up to 64 in flight, one system call
//! for many.
//!
//! Figures (2 busy cores, ext4 on a virtio disk, 4 KiB random O_DIRECT reads by one thread, the
//! best of six runs of 0.8 s each; thousands of reads a second, and CPU microseconds a read):
//!
//! | reads in a batch | ring | `pread` pool | `pread` one by one |
//! |---|---|---|---|
//! | 1 | 44 k/s, 5.7 us | - | 46 k/s, 5.4 us |
//! | 8 | 91 k/s, 1.9 us | 83 k/s, 6.2 us | 47 k/s, 5.5 us |
//! | 32 | 98 k/s, 1.7 us | 103 k/s, 3.9 us | - |
//!
//! A batch of one gains nothing from the ring, so `file_device` carries it out by a plain `pread`.
//!
//! Each batch checks a ring out of a pool, so threads never wait for each other's batches.
//! Invariants:
//!
//! 1. A request's memory (pages and vector) is not freed while the kernel may use it: a `Round`
//!    holds its flights in `ManuallyDrop` and gives them up only when none is in flight. If even
//!    waiting fails, or the thread panics, they are leaked, and the ring is closed rather than used
//!    again.
//! 2. A ring in the pool is empty: nothing in flight, no completion unread. So a completion's user
//!    data, the flight's index in its round, cannot come from another batch.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use io_uring::{IoUring, Probe, opcode, squeue, types};

use super::Backend;
use super::failure::failure;
use super::file_device::Engine;
use super::request::{Direction, Request};
use crate::base::{Error, Result};

/// The most requests of one batch in flight at once: where flash stops gaining from more.
const QUEUE_DEPTH: usize = 64;

/// Rings kept for later batches; each costs a descriptor and some 10 KiB of the kernel's memory.
const RINGS_KEPT: usize = 32;

/// The time that completions are waited for after waiting itself has failed.
const LINGER: Duration = Duration::from_secs(5);

/// The time for which the kernel may reject calls for reasons that go away, such as signals; after
/// this many rejections in a row, each is followed by a pause.
const REJECTED_MAX: Duration = Duration::from_secs(10);
const REJECTIONS_AT_ONCE: u32 = 64;
const PAUSE: Duration = Duration::from_millis(1);

/// The pool of rings.
pub struct Uring {
    rings: Mutex<Vec<IoUring>>,
}

/// One batch on one ring.
struct Round {
    direction: Direction,
    flights: ManuallyDrop<Vec<Flight>>,
    /// Flights to be submitted, last first.
    waiting: Vec<usize>,
    in_flight: usize,
    failure: Option<Error>,
}

/// The rejections of the kernel in a row, and the time of the first.
#[derive(Default)]
struct Rejections {
    count: u32,
    since: Option<Instant>,
}

struct Flight {
    request: Request,
    vector: Vec<IoVec>,
    submitted: bool,
}

/// The kernel's `struct iovec`.
#[repr(C)]
struct IoVec {
    base: *mut u8,
    length: usize,
}

impl Uring {
    /// A pool with its first ring.
    ///
    /// Fails with [`Error::Invalid`] where the kernel has no io_uring or a sandbox forbids it.
    pub fn open() -> Result<Uring> {
        let ring = new_ring().and_then(checked).map_err(|error| {
            Error::invalid(format!(
                "io_uring cannot be used here ({error}): choose the backend pread, or allow io_uring"
            ))
        })?;
        Ok(Uring {
            rings: Mutex::new(vec![ring]),
        })
    }

    fn check_out(&self) -> io::Result<IoUring> {
        let kept = self.rings().pop();
        kept.map_or_else(new_ring, Ok)
    }

    fn check_in(&self, ring: IoUring) {
        let mut rings = self.rings();
        if rings.len() < RINGS_KEPT {
            rings.push(ring);
        }
    }

    fn rings(&self) -> MutexGuard<'_, Vec<IoUring>> {
        self.rings.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Engine for Uring {
    fn backend(&self) -> Backend {
        Backend::Uring
    }

    fn run(&self, requests: &mut Vec<Request>, direction: Direction) -> Result<()> {
        let Ok(mut ring) = self.check_out() else {
            // Out of descriptors or locked memory: slower is better than failed.
            return requests.iter_mut().try_for_each(|r| r.run(direction));
        };
        let mut round = Round::new(std::mem::take(requests), direction);
        match round.drive(&mut ring) {
            Ok(()) => self.check_in(ring),
            Err(error) => round.survive(&mut ring, error),
        }
        round.finish(requests)
    }
}

impl std::fmt::Debug for Uring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Uring({} idle rings)", self.rings().len())
    }
}

impl Round {
    fn new(requests: Vec<Request>, direction: Direction) -> Round {
        let waiting = (0..requests.len()).rev().collect();
        let flights = requests.into_iter().map(Flight::new).collect();
        Round {
            direction,
            flights: ManuallyDrop::new(flights),
            waiting,
            in_flight: 0,
            failure: None,
        }
    }

    /// Submits and reaps until nothing is left; an error means that the ring itself has failed.
    fn drive(&mut self, ring: &mut IoUring) -> io::Result<()> {
        let mut rejections = Rejections::default();
        while self.in_flight > 0 || !self.waiting.is_empty() {
            self.submit(ring);
            // May return early.
            let entered = ring.submit_and_wait(self.wanted());
            rejections.take(entered, Instant::now)?;
            self.reap(ring)?;
        }
        Ok(())
    }

    /// Returns the number of completions to wait for: all at the end, before that so many that the
    /// queue stays half full.
    fn wanted(&self) -> usize {
        if self.waiting.is_empty() {
            self.in_flight
        } else {
            self.in_flight.div_ceil(2)
        }
    }

    fn submit(&mut self, ring: &mut IoUring) {
        let mut queue = ring.submission();
        while self.in_flight < QUEUE_DEPTH
            && let Some(index) = self.waiting.pop()
        {
            let flight = &mut self.flights[index];
            let entry = flight.entry(self.direction).user_data(index as u64);
            // SAFETY: the entry points to pages and a vector that `flight` owns; `flights` is freed
            // only when nothing is in flight. The descriptor is held open by the flight's request.
            if unsafe { queue.push(&entry) }.is_err() {
                self.waiting.push(index);
                break;
            }
            flight.submitted = true;
            self.in_flight += 1;
        }
    }

    fn reap(&mut self, ring: &mut IoUring) -> io::Result<()> {
        for completion in ring.completion() {
            let index = completion.user_data() as usize;
            let flight = self.flights.get_mut(index).filter(|f| f.submitted);
            let flight = flight.ok_or_else(|| io::Error::other("an unknown completion"))?;
            flight.submitted = false;
            self.in_flight -= 1;
            let outcome = flight.land(completion.result(), self.direction);
            self.conclude(index, outcome);
        }
        Ok(())
    }

    fn conclude(&mut self, index: usize, outcome: Result<()>) {
        match outcome {
            Ok(()) if self.failure.is_some() || self.flights[index].request.is_complete() => {}
            Ok(()) => self.waiting.push(index),
            Err(error) => {
                self.failure.get_or_insert(error);
                // The batch has failed: what has not started need not start.
                self.waiting.clear();
            }
        }
    }

    /// After the ring has failed with `error`: lets what is in flight land, for a while.
    fn survive(&mut self, ring: &mut IoUring, error: io::Error) {
        self.failure = Some(failure(self.direction.name(), "the ring", error));
        self.waiting.clear();
        let end = Instant::now() + LINGER;
        while self.in_flight > 0 && Instant::now() < end && self.reap(ring).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Gives the requests back, unless the kernel still holds some: then all are leaked.
    fn finish(self, requests: &mut Vec<Request>) -> Result<()> {
        if self.in_flight == 0 {
            let flights = ManuallyDrop::into_inner(self.flights);
            requests.extend(flights.into_iter().map(|flight| flight.request));
        }
        self.failure.map_or(Ok(()), Err)
    }
}

impl Flight {
    fn new(request: Request) -> Flight {
        Flight {
            request,
            vector: Vec::new(),
            submitted: false,
        }
    }

    /// The submission for what is left of the request.
    fn entry(&mut self, direction: Direction) -> squeue::Entry {
        let file = types::Fd(self.request.file.file.as_raw_fd());
        let offset = self.request.offset();
        self.vector.clear();
        self.vector.extend(self.request.parts().map(IoVec::new));
        if let [one] = self.vector.as_slice() {
            return one.entry(file, offset, direction);
        }
        let (vector, length) = (self.vector.as_ptr().cast(), self.vector.len() as u32);
        match direction {
            Direction::Read => opcode::Readv::new(file, vector, length)
                .offset(offset)
                .build(),
            Direction::Write => opcode::Writev::new(file, vector, length)
                .offset(offset)
                .build(),
        }
    }

    /// Takes in a completion's result: a number of bytes, or an error number below zero.
    fn land(&mut self, result: i32, direction: Direction) -> Result<()> {
        let outcome = match usize::try_from(result) {
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(io::Error::from_raw_os_error(-result)),
        };
        self.request.advance(outcome, direction)
    }
}

impl IoVec {
    fn new(part: &mut [u8]) -> IoVec {
        IoVec {
            base: part.as_mut_ptr(),
            length: part.len(),
        }
    }

    /// The submission for a single part, which the kernel handles with less work than a vector of
    /// one.
    fn entry(&self, file: types::Fd, offset: u64, direction: Direction) -> squeue::Entry {
        let length = self.length as u32;
        match direction {
            Direction::Read => opcode::Read::new(file, self.base, length)
                .offset(offset)
                .build(),
            Direction::Write => opcode::Write::new(file, self.base, length)
                .offset(offset)
                .build(),
        }
    }
}

/// A ring whose completions are handled when the thread enters the kernel anyway, where that
/// exists.
fn new_ring() -> io::Result<IoUring> {
    let cooperative = IoUring::builder()
        .setup_coop_taskrun()
        .build(QUEUE_DEPTH as u32);
    cooperative.or_else(|_| IoUring::new(QUEUE_DEPTH as u32))
}

/// Rejects a ring that lacks an operation, as those of early kernels and of emulations do.
fn checked(ring: IoUring) -> io::Result<IoUring> {
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let needed = [
        opcode::Read::CODE,
        opcode::Write::CODE,
        opcode::Readv::CODE,
        opcode::Writev::CODE,
    ];
    if needed.iter().all(|code| probe.is_supported(*code)) {
        return Ok(ring);
    }
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

impl Rejections {
    /// Counts what came of entering the kernel. Fails where that fails for a reason that stays, or
    /// for too long.
    fn take(&mut self, entered: io::Result<usize>, now: impl Fn() -> Instant) -> io::Result<()> {
        let error = match entered {
            Ok(_) => {
                *self = Rejections::default();
                return Ok(());
            }
            Err(error) if is_passing(&error) => error,
            Err(error) => return Err(error),
        };
        let since = *self.since.get_or_insert_with(&now);
        if now().saturating_duration_since(since) >= REJECTED_MAX {
            return Err(io::Error::other(format!(
                "the kernel has rejected io_uring_enter for {REJECTED_MAX:?}, at last with: {error}; \
                 choose the backend pread"
            )));
        }
        self.count += 1;
        if self.count > REJECTIONS_AT_ONCE {
            std::thread::sleep(PAUSE)
        } else {
            std::thread::yield_now()
        }
        Ok(())
    }
}

/// Returns true if waiting failed for a reason that goes away: a signal, or the kernel being short
/// of something.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::directory::Directory;
    use crate::device::{Access, BackendChoice, FileId, OpenOptions, PagePool, Transfer};

    fn request(pool: &PagePool) -> Vec<Request> {
        let folder = tempfile::tempdir().unwrap();
        let options = OpenOptions {
            backend: BackendChoice::Auto,
            access: Access::Write,
            create: true,
        };
        let directory = Directory::open(folder.path(), &options).unwrap();
        directory.create(FileId::Superblock).unwrap();
        let mut batch = [Transfer {
            file: FileId::Superblock,
            page: 0,
            buffers: vec![pool.take().unwrap()],
        }];
        Request::take_all(&mut batch, &directory, Direction::Read).unwrap()
    }

    #[test]
    fn what_the_kernel_still_holds_is_never_given_back() {
        let pool = PagePool::new(1);
        let mut round = Round::new(request(&pool), Direction::Read);
        round.in_flight = 1;
        round.failure = Some(Error::invalid("the ring failed"));
        let mut requests = Vec::new();
        assert!(round.finish(&mut requests).is_err());
        assert!(requests.is_empty() && pool.take().is_none());
    }

    #[test]
    fn the_kernel_may_reject_for_a_while_and_not_for_ever() {
        let start = Instant::now();
        let kinds = [
            io::ErrorKind::Interrupted,
            io::ErrorKind::WouldBlock,
            io::ErrorKind::ResourceBusy,
        ];
        for kind in kinds {
            let rejected = || Err(io::Error::from(kind));
            let mut rejections = Rejections::default();
            let at = |time: Duration| move || start + time;
            assert!(rejections.take(rejected(), at(Duration::ZERO)).is_ok());
            let late = REJECTED_MAX - Duration::from_millis(1);
            assert!(rejections.take(rejected(), at(late)).is_ok());
            // Who was let in once may be rejected anew.
            assert!(rejections.take(Ok(1), at(late)).is_ok());
            assert!(rejections.take(rejected(), at(REJECTED_MAX)).is_ok());
            let given_up = rejections
                .take(rejected(), at(2 * REJECTED_MAX))
                .unwrap_err();
            assert!(
                given_up.to_string().contains("io_uring_enter"),
                "{given_up}"
            );
        }
        let stays = Err(io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(Rejections::default().take(stays, Instant::now).is_err());
    }

    #[test]
    fn a_round_that_has_landed_gives_everything_back() {
        let pool = PagePool::new(1);
        let mut requests = Vec::new();
        let round = Round::new(request(&pool), Direction::Read);
        round.finish(&mut requests).unwrap();
        drop(requests);
        assert!(pool.take().is_some());
    }
}
