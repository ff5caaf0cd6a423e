//! Names what maintenance in the checkpoint behind a flush may change: vacuum and cleaning are done
//! with it (see `maintenance`).

use crate::index::flush::Flusher;
use crate::index::owners::{CheckpointParts, OwnedPages};
use crate::index::schedule::Scheduler;
use crate::index::state::{Shared, State};
use crate::storage::Log;

/// The structures of a flush, those of the writer that a checkpoint writes, and the scheduler,
/// which is told what is left to do.
pub(crate) struct CheckpointMaintenance<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) flusher: &'a mut Flusher,
    pub(super) log: &'a mut Log,
    pub(crate) state: &'a mut State,
    pub(crate) owned: &'a mut OwnedPages,
    pub(crate) scheduler: &'a mut Scheduler,
}

impl CheckpointMaintenance<'_> {
    /// Hands the structures to owners of pages.
    pub(crate) fn parts(&mut self) -> CheckpointParts<'_> {
        CheckpointParts {
            flushed: self.flusher.parts(self.shared),
            log: self.log,
            state: self.state,
            owned: self.owned,
        }
    }
}
