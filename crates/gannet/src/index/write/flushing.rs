//! A flush that is under way beside writing.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::base::{Error, Result};
use crate::index::flush::FlushProgress;
use crate::index::owners::Covered;
use crate::index::schedule::Requests;
use crate::index::state::NewIds;

/// A flush that is under way, or done and not ended.
pub(crate) struct Flushing {
    /// IDs written before it began.
    pub(crate) ids: Arc<NewIds>,
    /// The part of the log that its root will cover.
    pub(crate) covered: Covered,
    /// Bytes of source in the buffer, and the work of replaying them.
    pub(crate) source_bytes: u64,
    pub(crate) work: u64,
    /// Bytes of memory that it holds.
    pub(crate) memory_bytes: usize,
    /// Set if there are postings in it.
    pub(crate) has_terms: bool,
    /// Its progress.
    pub(crate) filling: Arc<FlushProgress>,
    /// The requests that it carries out.
    pub(crate) asked: Requests,
    pub(crate) progress: FlushStage,
}

/// The stages of a flush.
pub(crate) enum FlushStage {
    /// Not started, or failed to start: it must not be ended.
    Frozen,
    Running(JoinHandle<Result<Duration>>),
    Done(Result<Duration>),
}

impl Flushing {
    pub(crate) fn is_filled(&self) -> bool {
        self.filling.is_whole()
    }

    pub(crate) fn is_done(&self) -> bool {
        match &self.progress {
            FlushStage::Frozen => false,
            FlushStage::Running(_) => self.filling.has_ended(),
            FlushStage::Done(_) => true,
        }
    }

    /// Gives how long it took.
    pub(crate) fn wait(&mut self) -> Result<Duration> {
        let stopped = |reason: &str| Err(Error::internal(reason));
        match std::mem::replace(&mut self.progress, FlushStage::Frozen) {
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
