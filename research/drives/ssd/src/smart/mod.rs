//! A Smart SSD: a modelled drive that runs programs in sessions.
//!
//! A program is WebAssembly. It gets counters when it is loaded (`meter`, `body`) and runs in an
//! interpreter with limits (`runtime`, `limits`). Its calls of the drive (`calls`) read the pages
//! of its session through the model's channels (`files`). A `profile` turns what was counted
//! into times and energy (`work`).
//!
//! Each session has its own virtual time. It begins at OPEN; a GET that finds the program running
//! lets the poll interval pass. The program runs in reality at the first GET, on the caller's
//! thread.
//!
//! What always holds: results and counts depend on program, parameters and pages alone, not on the
//! machine or other sessions. A program that fails ends its own session and nothing else.

mod body;
mod calls;
mod files;
mod leb;
mod limits;
mod meter;
mod profile;
mod runtime;
mod session;
mod work;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use gannet::device::{FileId, Offload, PageSpan, Poll, SessionId, Task};
use gannet::{Error, Result};
use wasmi::Module;

use crate::request::PAGE_BYTES;

pub use files::PageSource;
use files::{Files, Way};
pub use limits::Limits;
pub use profile::{DeviceSide, HostSide, SmartProfile};
use runtime::Runtime;
use session::Session;
pub use work::{Times, Work};

/// What a session did so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Counts.
    pub work: Work,
    /// Modelled times.
    pub times: Times,
}

/// A drive that runs programs.
pub struct SmartSsd {
    profile: SmartProfile,
    limits: Limits,
    runtime: Runtime,
    state: Mutex<State>,
}

struct State {
    programs: BTreeMap<String, Module>,
    sessions: BTreeMap<SessionId, Session>,
    opened: u64,
    /// Nothing only while a program runs.
    files: Option<Files>,
}

impl SmartSsd {
    /// An empty drive without programs.
    pub fn new(profile: &SmartProfile, limits: Limits) -> Result<SmartSsd> {
        SmartSsd::with_files(profile, limits, None)
    }

    /// A drive without programs on which the files of a source stand, which it only reads.
    pub fn over(
        profile: &SmartProfile,
        limits: Limits,
        source: Arc<dyn PageSource>,
    ) -> Result<SmartSsd> {
        SmartSsd::with_files(profile, limits, Some(source))
    }

    fn with_files(
        profile: &SmartProfile,
        limits: Limits,
        source: Option<Arc<dyn PageSource>>,
    ) -> Result<SmartSsd> {
        Ok(SmartSsd {
            profile: profile.clone(),
            limits,
            runtime: Runtime::new(),
            state: Mutex::new(State {
                programs: BTreeMap::new(),
                sessions: BTreeMap::new(),
                opened: 0,
                files: Some(Files::new(profile, source)?),
            }),
        })
    }

    /// What it was made of.
    pub fn profile(&self) -> &SmartProfile {
        &self.profile
    }

    /// Loads a program under a name.
    pub fn load(&self, name: &str, code: &[u8]) -> Result<()> {
        let limits = &self.limits;
        if code.len() > limits.program_bytes {
            return Err(Error::invalid(format!(
                "program {name} has {} bytes: expected at most {}",
                code.len(),
                limits.program_bytes
            )));
        }
        let sram = self.profile.device.sram_kib as u32 * 1024;
        let metered = meter::metered(name, code, sram)?;
        let module = self.runtime.compile(&metered);
        let module = module
            .map_err(|problem| Error::invalid(format!("program {name} is rejected: {problem}")))?;
        let mut state = self.state();
        if state.programs.len() >= limits.programs && !state.programs.contains_key(name) {
            return Err(Error::invalid(format!(
                "the device has {} programs, which is its limit",
                limits.programs
            )));
        }
        state.programs.insert(name.to_owned(), module);
        Ok(())
    }

    /// Gives a file its content without any time, as the state that a run begins with.
    pub fn store(&self, file: FileId, bytes: &[u8]) -> Result<PageSpan> {
        let mut state = self.state();
        let pages = state.files()?.store(file, bytes)?;
        Ok(PageSpan {
            file,
            page: 0,
            pages,
        })
    }

    /// What the host does to bring spans to its own memory: counts, as it would read them all.
    pub fn read_by_host(&self, spans: &[PageSpan]) -> Result<Work> {
        let work = self.read(spans, Way::Host)?;
        let link_bytes = work.flash_pages * u64::from(PAGE_BYTES);
        Ok(Work { link_bytes, ..work })
    }

    /// What a program does to read spans one after the other, beside what it does with them.
    pub fn read_inside(&self, spans: &[PageSpan]) -> Result<Work> {
        self.read(spans, Way::Inside)
    }

    fn read(&self, spans: &[PageSpan], way: Way) -> Result<Work> {
        let request_pages = self.profile.request_pages as u32;
        let mut state = self.state();
        let mut work = Work::default();
        for span in spans {
            state.files()?.check(span)?;
            work.flash_nanos += state.files()?.read(span, way)?.1;
            work.flash_pages += u64::from(span.pages);
            work.flash_requests += u64::from(span.pages.div_ceil(request_pages));
        }
        Ok(work)
    }

    /// What a session did so far.
    pub fn report(&self, session: SessionId) -> Result<Report> {
        let mut state = self.state();
        let work = state.session(session)?.work;
        let times = work.in_device(&self.profile);
        Ok(Report { work, times })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }

    fn check(&self, task: &Task<'_>, state: &mut State) -> Result<()> {
        let limits = &self.limits;
        let too_many = |what: &str, found: usize, most: usize| {
            Error::invalid(format!(
                "{found} {what} of a session: expected at most {most}"
            ))
        };
        if state.sessions.len() >= limits.sessions {
            return Err(Error::invalid(format!(
                "all {} sessions of the device are open: close one first",
                limits.sessions
            )));
        }
        if task.parameters.len() > limits.parameter_bytes {
            let found = task.parameters.len();
            return Err(too_many(
                "bytes of parameters",
                found,
                limits.parameter_bytes,
            ));
        }
        if task.spans.len() > limits.spans {
            return Err(too_many("spans", task.spans.len(), limits.spans));
        }
        let files = state.files()?;
        task.spans.iter().try_for_each(|span| files.check(span))
    }

    /// Runs the program of a session that was not polled yet.
    fn run(&self, state: &mut State, id: SessionId) -> Result<()> {
        let files = state.files.take();
        let files = files.ok_or_else(|| Error::internal("a drive without files"))?;
        let session = state.session(id)?;
        let ended = self
            .runtime
            .run(session, files, &self.profile, &self.limits);
        session.work = ended.work;
        session.outcome = Some(ended.results);
        state.files = Some(ended.files);
        Ok(())
    }
}

impl State {
    fn files(&mut self) -> Result<&mut Files> {
        let files = self.files.as_mut();
        files.ok_or_else(|| Error::internal("a drive without files"))
    }

    fn session(&mut self, id: SessionId) -> Result<&mut Session> {
        self.sessions.get_mut(&id).ok_or_else(|| {
            Error::invalid(format!(
                "session {} is not open: open one and use its number",
                id.0
            ))
        })
    }
}

impl Offload for SmartSsd {
    fn open(&self, task: &Task<'_>) -> Result<SessionId> {
        let mut state = self.state();
        self.check(task, &mut state)?;
        let module = state.programs.get(task.program).cloned().ok_or_else(|| {
            let known: Vec<&str> = state.programs.keys().map(String::as_str).collect();
            let (name, known) = (task.program, known.join(", "));
            Error::invalid(format!(
                "the device has no program {name}: expected one of {known}"
            ))
        })?;
        let id = SessionId(state.opened);
        state.opened += 1;
        state.sessions.insert(id, Session::new(task, module));
        Ok(id)
    }

    fn get(&self, id: SessionId, most_bytes: usize) -> Result<Poll> {
        let mut state = self.state();
        if state.session(id)?.outcome.is_none() {
            self.run(&mut state, id)?;
        }
        state.session(id)?.poll(&self.profile, most_bytes)
    }

    fn put(&self, id: SessionId, span: usize, page: u32, bytes: &[u8]) -> Result<()> {
        let mut state = self.state();
        let session = state.session(id)?;
        let target = session.target(span, page, bytes.len())?;
        let nanos = state.files()?.write(&target, bytes)?;
        let session = state.session(id)?;
        session.work.link_bytes += bytes.len() as u64;
        session.work.flash_nanos += nanos;
        Ok(())
    }

    fn close(&self, id: SessionId) -> Result<()> {
        let mut state = self.state();
        state.session(id)?;
        state.sessions.remove(&id);
        Ok(())
    }
}
