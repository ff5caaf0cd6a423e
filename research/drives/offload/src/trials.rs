//! Tasks in every way that a drive has for them, each run and counted once: what many profiles make
//! of the counts is then a sum.
//!
//! The engine always does the work itself, so one search gives the answer, what the host read for
//! it and what the drive would have done. Nothing here is used but to measure.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gannet::Result;
use gannet::device::{FileId, PageSpan};
use gannet::diagnostics::OffloadReport;
use gannet::offload::{ListOffload, OffloadFound, OffloadList, OffloadTask};
use gannet_ssd::smart::{PageSource, SmartProfile, SmartSsd, Times, Work};

use crate::estimate::{Cost, Estimate, Steps, Way, in_drive};
use crate::folder::Folder;
use crate::planner::{Plan, Weighed, counted_on_host, operation, plans};
use crate::session::{self, opening_nanos};
use crate::task::Task;

/// Bytes of a page.
const PAGE_BYTES: f64 = 4096.0;

/// A drive that tries all it could do, and leaves the answer to the engine.
pub struct Trials {
    drive: SmartSsd,
    folder: Arc<Recorder>,
    runs: bool,
    last: Mutex<Option<Trial>>,
}

/// The folder of an index, and what was read of it.
struct Recorder {
    folder: Folder,
    spans: Mutex<Vec<PageSpan>>,
}

impl Recorder {
    fn spans(&self) -> MutexGuard<'_, Vec<PageSpan>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageSource for Recorder {
    fn pages(&self, file: FileId) -> Option<u32> {
        self.folder.pages(file)
    }

    fn read(&self, span: &PageSpan, bytes: &mut [u8]) -> Result<()> {
        self.spans().push(*span);
        self.folder.read(span, bytes)
    }
}

/// A task, and what came of it in each way.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What was asked for.
    pub operation: String,
    /// Whether documents of all lists are wanted.
    pub all_required: bool,
    /// Of each list the postings, and the pages of heads and docs.
    pub lists: Vec<(u64, u32)>,
    /// How often each step of the host is estimated to be done.
    pub host: Steps,
    /// The ways that the planner chooses among.
    pub plans: Vec<Plan>,
    /// Why there are none.
    pub reason: String,
    /// What was run.
    pub runs: Vec<Tried>,
}

/// A way that was run.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Which.
    pub way: Way,
    /// Whether bounds were used.
    pub prunes: bool,
    /// What it found.
    pub found: OffloadFound,
    /// Counts.
    pub work: Work,
    /// What it read, in this order.
    reads: Vec<PageSpan>,
}

impl fmt::Debug for Trials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Trials({})", self.drive.profile().name)
    }
}

impl Trials {
    /// A modelled drive on which the index in `folder` stands. It runs nothing unless `runs` says
    /// so: then a trial has estimates alone.
    pub fn new(profile: &SmartProfile, folder: &Path, runs: bool) -> Result<Trials> {
        let folder = Arc::new(Recorder {
            folder: Folder::new(folder),
            spans: Mutex::default(),
        });
        let limits = session::limits(profile);
        let drive = SmartSsd::over(profile, limits, Arc::clone(&folder) as _)?;
        session::load(&drive)?;
        Ok(Trials {
            drive,
            folder,
            runs,
            last: Mutex::new(None),
        })
    }

    /// The run as it would be on this drive, which may have another profile: programs read the same
    /// there, and flash takes another time for it.
    pub fn anew(&self, tried: &Tried) -> Result<Tried> {
        let read = self.drive.read_inside(&tried.reads)?;
        let mut anew = tried.clone();
        anew.work.flash_nanos = read.flash_nanos;
        anew.work.flash_requests = read.flash_requests;
        Ok(anew)
    }

    /// Takes over by what pages prove themselves.
    pub fn prove_by(&self, other: &Trials) {
        self.folder.folder.prove_as(&other.folder.folder);
    }

    /// What came of the last query, once.
    pub fn take_last(&self) -> Option<Trial> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.take()
    }

    fn run(&self, asked: &OffloadTask<'_>, way: Way, prunes: bool) -> Option<Result<Tried>> {
        let ranking = asked.ranking.as_ref().filter(|_| way == Way::Best);
        let task = Task::new(asked, ranking, prunes).ok()?;
        let drive = (&self.drive as _, self.drive.profile());
        self.folder.spans().clear();
        let run = session::run(drive, &task, asked);
        let reads = std::mem::take(&mut *self.folder.spans());
        Some(run.map(|run| Tried {
            way,
            prunes,
            found: run.found,
            work: run.work,
            reads,
        }))
    }

    fn runs(&self, asked: &OffloadTask<'_>, plans: &[Plan]) -> Result<Vec<Tried>> {
        if !self.runs {
            return Ok(Vec::new());
        }
        self.folder.folder.prove_by(asked.identity);
        let ways = plans.iter().flat_map(|plan| match plan.way {
            Way::All => vec![(Way::All, false)],
            Way::Best => vec![(Way::Best, false), (Way::Best, true)],
        });
        ways.filter_map(|(way, prunes)| self.run(asked, way, prunes))
            .collect()
    }
}

impl ListOffload for Trials {
    fn offload(&self, asked: &OffloadTask<'_>) -> (OffloadReport, Option<OffloadFound>) {
        let (plans, mut reason) = match plans(asked) {
            Ok(plans) => (plans, String::new()),
            Err(reason) => (Vec::new(), reason),
        };
        let runs = self.runs(asked, &plans).unwrap_or_else(|error| {
            reason = error.to_string();
            Vec::new()
        });
        let trial = Trial {
            operation: operation(asked),
            all_required: asked.all_required && asked.lists.len() > 1,
            lists: asked.lists.iter().map(sizes).collect(),
            host: Steps::of_host(asked),
            plans,
            reason,
            runs,
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(trial);
        (OffloadReport::default(), None)
    }
}

fn sizes(list: &OffloadList<'_>) -> (u64, u32) {
    (list.document_frequency, list.docs_pages)
}

impl Trial {
    /// What was run in a way.
    pub fn tried(&self, way: Way, prunes: bool) -> Option<&Tried> {
        let mut runs = self.runs.iter();
        runs.find(|run| run.way == way && run.prunes == prunes)
    }

    /// What the planner says with a profile; `in_memory` is the part of the pages of lists that the
    /// host has, that of the frames as they were if there is nothing.
    pub fn weighed(&self, profile: &SmartProfile, in_memory: Option<f64>) -> Weighed {
        let mut host = self.host;
        host.in_memory = in_memory.unwrap_or(host.in_memory);
        Weighed::new(&host, &self.plans, self.lists.len(), profile)
    }
}

impl Tried {
    /// The same with so many pages more, or fewer below 0, which come in order.
    pub fn with_pages(&self, more: f64, profile: &SmartProfile) -> Tried {
        let rate = profile.channels * profile.channel_mb_s;
        let nanos = more * PAGE_BYTES * 1e3 / rate;
        let plus = |count: u64, more: f64| (count as f64 + more).max(0.0) as u64;
        let mut changed = self.clone();
        let work = &mut changed.work;
        work.flash_pages = plus(work.flash_pages, more);
        work.flash_requests = plus(work.flash_requests, more / profile.request_pages);
        work.flash_nanos = plus(work.flash_nanos, nanos);
        changed
    }

    /// The times in the drive of a profile. Those of flash are as counted.
    pub fn times(&self, profile: &SmartProfile) -> Times {
        let running = self.work.running(profile);
        let polls = running.div_ceil(profile.poll_nanos());
        let work = Work { polls, ..self.work };
        let mut times = work.in_device(profile);
        times.sending += opening_nanos(&work, profile);
        times
    }

    /// What it takes in the drive.
    pub fn in_drive(&self, profile: &SmartProfile) -> Cost {
        in_drive(&self.work, &self.times(profile), profile)
    }

    /// What the same takes on the host, which reads `pages` in `rounds`.
    pub fn on_host(&self, pages: f64, rounds: f64, profile: &SmartProfile) -> Estimate {
        counted_on_host(&self.work, pages, rounds, profile)
    }
}
