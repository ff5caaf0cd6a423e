//! The life cycle of a writer: what is done with what it writes, and whether it may go on.
//!
//! ```text
//! replaying ──▶ writing ◀──▶ writing anew, unseen
//!     each ── a failure once something has begun to change ──▶ stopped
//! ```

use crate::base::{Error, Result};

/// The stage of a writer.
#[derive(Default)]
pub(crate) struct LifeCycle {
    stage: WritingStage,
    /// Why it has stopped.
    stopped: Option<String>,
}

/// The fate of what is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WritingStage {
    /// The log is being replayed: a root does not have all of it then.
    Replaying,
    /// Readers see it.
    #[default]
    Writing,
    /// An index is written that readers are not to see yet.
    Unseen,
}

impl LifeCycle {
    /// A replay of the log begins.
    pub(super) fn begin_replay(&mut self) {
        self.stage = WritingStage::Replaying;
    }

    /// An index is begun that readers are not to see yet.
    pub(super) fn begin_unseen(&mut self) {
        self.stage = WritingStage::Unseen;
    }

    /// Has readers see what is written from now on.
    pub(super) fn write(&mut self) {
        self.stage = WritingStage::Writing;
    }

    /// Returns true if a root would not have all of the log.
    pub(super) fn is_replaying(&self) -> bool {
        self.stage == WritingStage::Replaying
    }

    /// Returns true if readers are not to see what is written.
    pub(super) fn is_unseen(&self) -> bool {
        self.stage == WritingStage::Unseen
    }

    /// Fails once it has stopped.
    pub(super) fn check(&self) -> Result<()> {
        match &self.stopped {
            None => Ok(()),
            Some(reason) => Err(Error::Stopped(reason.clone())),
        }
    }

    /// Remembers a failure of storage: what was written is unknown, so nothing more may be.
    pub(super) fn stop_on_error<T>(&mut self, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            self.stopped = Some(error.to_string());
        }
        done
    }

    /// Stops it, if it has not stopped for another reason.
    pub(super) fn stop(&mut self, reason: &str) {
        self.stopped.get_or_insert_with(|| reason.to_owned());
    }

    /// Goes on after all is put back that a failure may have changed.
    pub(super) fn go_on(&mut self) {
        self.stopped = None;
    }
}
