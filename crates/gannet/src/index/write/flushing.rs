//! The flushes of a writer: the one that is under way beside writing, and what is learnt from those
//! before it.

use std::sync::mpsc::{self, SendError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::log::Backlog;
use crate::base::{Error, ForegroundLoad, Result, yield_to_foreground};
use crate::index::flush::{Backpressure, Flush, FlushProgress, Flusher};
use crate::index::owners::Covered;
use crate::index::schedule::Requests;
use crate::index::state::NewIds;

/// The flushes of a writer, one at a time.
pub(crate) struct Flushes {
    /// Locked by the flush under way, or by the checkpoint that ends it.
    flusher: Arc<Mutex<Flusher>>,
    under_way: Option<Flushing>,
    pace: Backpressure,
}

/// A flush that is under way, or done and not ended.
pub(super) struct Flushing {
    /// IDs written before it began.
    ids: Arc<NewIds>,
    /// The part of the log that its root will cover.
    covered: Covered,
    /// The part of the log that it takes.
    backlog: Backlog,
    /// Bytes of memory that it holds.
    memory_bytes: usize,
    /// Set if there are postings in it.
    has_terms: bool,
    progress: Arc<FlushProgress>,
    /// The requests that it carries out.
    asked: Requests,
    stage: FlushStage,
}

/// The stages of a flush.
enum FlushStage {
    /// Not started, or failed to start: it must not be ended.
    Frozen,
    Running(JoinHandle<Result<Duration>>),
    Done(Result<Duration>),
}

impl Flushes {
    /// None so far.
    pub(crate) fn new(flusher: Flusher) -> Flushes {
        Flushes {
            flusher: Arc::new(Mutex::new(flusher)),
            under_way: None,
            pace: Backpressure::default(),
        }
    }

    /// Returns the structures that flushes change.
    pub(super) fn flusher(&self) -> Arc<Mutex<Flusher>> {
        Arc::clone(&self.flusher)
    }

    /// Goes on with other structures, and gives those from before.
    pub(super) fn go_on_with(&mut self, flusher: Arc<Mutex<Flusher>>) -> Arc<Mutex<Flusher>> {
        std::mem::replace(&mut self.flusher, flusher)
    }

    /// Notes a flush of part of the log, up to what its root will cover. It is not started yet.
    pub(super) fn note(&mut self, flush: &Flush, covered: Covered, backlog: Backlog) {
        let (buffer, ids) = (&flush.buffer, &flush.ids);
        self.pace.begin(buffer.memory_bytes());
        self.under_way = Some(Flushing {
            ids: Arc::clone(ids),
            covered,
            backlog,
            memory_bytes: buffer.memory_bytes() + ids.memory_bytes(),
            has_terms: buffer.terms() > 0,
            progress: Arc::clone(&flush.filling),
            asked: flush.asked,
            stage: FlushStage::Frozen,
        });
    }

    /// Carries out what was noted.
    pub(super) fn carry_out(&mut self, flush: Flush) {
        self.enter(FlushStage::Done(timed(flush)));
    }

    /// Carries out what was noted beside writing, or here if there is no thread to be had.
    pub(super) fn start(&mut self, flush: Flush, traffic: &ForegroundLoad) {
        self.enter(start(flush, traffic));
    }

    fn enter(&mut self, stage: FlushStage) {
        if let Some(flushing) = &mut self.under_way {
            flushing.stage = stage;
        }
    }

    /// Returns true if one is under way, or done and not ended.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Returns true if one is done and not ended.
    pub(super) fn is_done(&self) -> bool {
        self.under_way.as_ref().is_some_and(Flushing::is_done)
    }

    /// Returns the progress of the one under way.
    pub(super) fn progress(&self) -> Option<Arc<FlushProgress>> {
        let flushing = self.under_way.as_ref();
        flushing.map(|flushing| Arc::clone(&flushing.progress))
    }

    /// Returns the requests that the one under way carries out.
    pub(super) fn asked(&self) -> Requests {
        let flushing = self.under_way.as_ref();
        flushing.map(|flushing| flushing.asked).unwrap_or_default()
    }

    /// Returns the IDs of the one under way if they are not written yet, nor its postings.
    pub(super) fn unwritten_ids(&self) -> Option<&NewIds> {
        let flushing = self.under_way.as_ref();
        let flushing = flushing.filter(|flushing| !flushing.progress.is_whole());
        Some(&*flushing?.ids)
    }

    /// Returns the bytes of memory that the one under way holds.
    pub(super) fn memory_bytes(&self) -> usize {
        let flushing = self.under_way.as_ref();
        flushing.map_or(0, |flushing| flushing.memory_bytes)
    }

    /// Returns the part of the log that the one under way takes.
    pub(super) fn backlog(&self) -> Backlog {
        let flushing = self.under_way.as_ref();
        flushing.map_or(Backlog::default(), |flushing| flushing.backlog)
    }

    /// Takes the one under way, to end it.
    pub(super) fn take(&mut self) -> Option<Flushing> {
        self.under_way.take()
    }

    /// Learns from one how long the next will take.
    pub(super) fn learn(&mut self, flushing: &Flushing, took: Duration) {
        if flushing.has_terms {
            self.pace.learn(&flushing.progress, took);
        }
    }

    /// Returns the time that a write should wait that finds the buffers so full.
    pub(super) fn pause(&mut self, fill: f64) -> Duration {
        let progress = self.under_way.as_ref();
        let progress = progress.map(|flushing| &*flushing.progress);
        self.pace.pause(fill, progress)
    }

    /// A write goes on that has waited.
    pub(super) fn go_on(&mut self) {
        self.pace.go_on();
    }
}

impl Flushing {
    /// Returns the part of the log that its root will cover.
    pub(super) fn covered(&self) -> Covered {
        self.covered
    }

    /// Returns true if there are postings in it.
    pub(super) fn has_terms(&self) -> bool {
        self.has_terms
    }

    /// Returns the requests that it carries out.
    pub(super) fn asked(&self) -> Requests {
        self.asked
    }

    fn is_done(&self) -> bool {
        match &self.stage {
            FlushStage::Frozen => false,
            FlushStage::Running(_) => self.progress.has_ended(),
            FlushStage::Done(_) => true,
        }
    }

    /// Gives how long it took.
    pub(super) fn wait(&mut self) -> Result<Duration> {
        let stopped = |reason: &str| Err(Error::internal(reason));
        match std::mem::replace(&mut self.stage, FlushStage::Frozen) {
            FlushStage::Frozen => stopped("a flush was not carried out"),
            FlushStage::Running(thread) => thread
                .join()
                .unwrap_or_else(|_| stopped("a flush panicked")),
            FlushStage::Done(done) => done,
        }
    }
}

impl Drop for Flushing {
    /// The files and the lock are free when the index is gone.
    fn drop(&mut self) {
        // What it says no longer matters: without its root nothing of it counts.
        let _ = self.wait();
    }
}

/// Carries a flush out and gives how long it took.
fn timed(flush: Flush) -> Result<Duration> {
    let _end = flush.filling.end_of(flush.shared.budget.events());
    // A query that finds too little memory beside it waits until it has given its own back.
    let budget = flush.shared.budget.clone();
    let _permit = budget.permit(&())?;
    let start = Instant::now();
    flush.run().map(|()| start.elapsed())
}

/// Carries a flush out on a thread of its own, or here if there is none to be had.
fn start(flush: Flush, traffic: &ForegroundLoad) -> FlushStage {
    let (hand_over, handed_over) = mpsc::channel();
    let traffic = traffic.clone();
    let carry_out = move || {
        yield_to_foreground(&traffic);
        let lost = |_| Error::internal("a flush was not handed over to its thread");
        timed(handed_over.recv().map_err(lost)?)
    };
    let name = "gannet-flush".to_owned();
    let Ok(thread) = thread::Builder::new().name(name).spawn(carry_out) else {
        return FlushStage::Done(timed(flush));
    };
    match hand_over.send(flush) {
        Ok(()) => FlushStage::Running(thread),
        Err(SendError(flush)) => FlushStage::Done(timed(flush)),
    }
}
