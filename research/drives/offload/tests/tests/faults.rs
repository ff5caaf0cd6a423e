//! A drive that fails at each call: answers are exact, by the host.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gannet::device::{Offload, Poll, SessionId, Task};
use gannet::{Error, Index, Result};
use gannet_offload::{Choice, Drive, Planner};
use gannet_ssd::random::Random;
use gannet_ssd::smart::{Report, SmartProfile, SmartSsd};

use super::world::{Asked, World, ask, scores, small_limits};

/// What a drive does wrong at a call.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The call fails.
    Fails,
    /// A GET from this call on says that the program runs.
    Runs,
    /// A GET leaves out the last byte of its results.
    Shortens,
    /// A GET says that there is more, and gives nothing.
    Stalls,
}

const FAULTS: [Fault; 4] = [Fault::Fails, Fault::Runs, Fault::Shortens, Fault::Stalls];

/// Counts calls and does the one at `at` wrong.
struct Faulty {
    drive: SmartSsd,
    calls: Arc<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    made: AtomicUsize,
    open: AtomicUsize,
    at: usize,
    fault: Option<Fault>,
}

impl Calls {
    /// The fault of this call, if it has one.
    fn next(&self) -> Option<Fault> {
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        let lasts = matches!(self.fault, Some(Fault::Runs)) && made > self.at;
        self.fault.filter(|_| made == self.at || lasts)
    }

    fn fails(&self) -> Result<()> {
        match self.next() {
            Some(Fault::Fails) => Err(Error::Device {
                operation: "call",
                file: "drive".to_owned(),
                reason: "injected".to_owned(),
                full: false,
            }),
            _ => Ok(()),
        }
    }
}

impl Offload for Faulty {
    fn open(&self, task: &Task<'_>) -> Result<SessionId> {
        self.calls.fails()?;
        let session = self.drive.open(task)?;
        self.calls.open.fetch_add(1, Ordering::Relaxed);
        Ok(session)
    }

    fn get(&self, session: SessionId, most_bytes: usize) -> Result<Poll> {
        let fault = self.calls.next();
        let found = self.drive.get(session, most_bytes)?;
        Ok(match (fault, found) {
            (Some(Fault::Fails), _) => {
                return Err(Error::invalid("injected"));
            }
            (Some(Fault::Runs), _) => Poll::Running,
            (Some(Fault::Stalls), _) => Poll::Results {
                bytes: Vec::new(),
                more: true,
            },
            (Some(Fault::Shortens), Poll::Results { mut bytes, more }) => {
                bytes.pop();
                Poll::Results { bytes, more }
            }
            (_, found) => found,
        })
    }

    fn put(&self, session: SessionId, span: usize, page: u32, bytes: &[u8]) -> Result<()> {
        self.calls.fails()?;
        self.drive.put(session, span, page, bytes)
    }

    fn close(&self, session: SessionId) -> Result<()> {
        // A drive that fails here has freed the session or has not; the host cannot know.
        let closed = self.drive.close(session);
        self.calls.open.fetch_sub(1, Ordering::Relaxed);
        self.calls.fails().and(closed)
    }
}

impl Drive for Faulty {
    fn report(&self, session: SessionId) -> Result<Report> {
        self.drive.report(session)
    }
}

/// Asks with a drive that does the call `at` wrong. Gives the answer, how many calls there were,
/// and whether the drive answered.
fn faulty(path: &Path, asked: &Asked, calls: Calls) -> (Vec<(u32, f32)>, usize, bool) {
    let mut profile = SmartProfile::named("smart-ssd-2016").unwrap();
    // A poll that takes long, so that a program which never ends is soon given up.
    profile = profile.with("poll_us=1000000").unwrap();
    let calls = Arc::new(calls);
    let make = |drive| {
        let calls = Arc::clone(&calls);
        Box::new(Faulty { drive, calls }) as Box<dyn Drive>
    };
    let planner = Arc::new(Planner::over(&profile, path, Choice::Drive, make).unwrap());
    let options = Index::options().memory(24 << 20).read_only();
    let index = options.offload(Arc::clone(&planner) as _).open(path);
    let answer = scores(&ask(&index.unwrap(), asked));
    let decision = planner.take_last();
    let in_drive = decision.is_some_and(|decision| decision.run.is_some());
    assert_eq!(calls.open.load(Ordering::Relaxed), 0, "a session is left");
    (answer, calls.made.load(Ordering::Relaxed), in_drive)
}

#[test]
fn a_drive_that_fails_at_any_call_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let mut random = Random::new(9, "faults");
    let options = Index::options().memory(24 << 20);
    let index = options.limits(small_limits(&mut random));
    let index = index.open(&path).unwrap();
    World::default().write(&index, 3_000, 12, &mut random);
    index.close().unwrap();
    let plain = Index::options().memory(24 << 20).read_only();
    let plain = plain.open(&path).unwrap();
    let (mut injected, mut by_host) = (0, 0);
    for _ in 0..12 {
        let asked = Asked::random(&mut random, 12);
        let expected = scores(&ask(&plain, &asked));
        let (answer, calls, in_drive) = faulty(&path, &asked, Calls::default());
        assert_eq!(answer, expected, "{asked:?}");
        for at in 0..calls {
            for fault in FAULTS {
                let calls = Calls {
                    at,
                    fault: Some(fault),
                    ..Calls::default()
                };
                let (answer, _, still) = faulty(&path, &asked, calls);
                assert_eq!(answer, expected, "{asked:?}, {fault:?} at call {at}");
                injected += 1;
                by_host += usize::from(in_drive && !still);
            }
        }
    }
    println!("{injected} faults, {by_host} of them left the work to the host");
    assert!(injected > 60 && by_host > 20, "{by_host} of {injected}");
}
