//! The writer as maintenance has it in its turn, when nobody writes or a task was asked for: it may
//! ask for tasks and carry them out, and changes nothing else.

use std::time::Duration;

use super::writer::Writer;
use crate::base::Result;
use crate::index::schedule::{Condition, MaintenanceTask, Occasion, due};

/// A turn of maintenance.
pub(crate) struct MaintenanceTurn<'w> {
    writer: &'w mut Writer,
}

impl<'w> MaintenanceTurn<'w> {
    /// A turn with the writer.
    pub(crate) fn of(writer: &'w mut Writer) -> MaintenanceTurn<'w> {
        MaintenanceTurn { writer }
    }

    /// Fails once the writer has stopped.
    pub(crate) fn check_running(&self) -> Result<()> {
        self.writer.check_running()
    }

    /// Ends a flush that is done. Fails once the writer has stopped.
    pub(crate) fn poll_flush(&mut self) -> Result<()> {
        self.writer.check_running()?;
        self.writer.poll_flush()
    }

    /// Returns true if a flush is under way.
    pub(crate) fn is_flushing(&self) -> bool {
        self.writer.is_flushing()
    }

    /// Returns the time since documents were last written or deleted.
    pub(crate) fn idle_for(&self) -> Duration {
        self.writer.idle_for()
    }

    /// Returns the next task if nobody writes.
    pub(crate) fn next_idle(&mut self) -> Option<MaintenanceTask> {
        self.writer.next_idle()
    }

    /// Takes the memory of a flush, without which no task can be done. Nobody who wants to write is
    /// to wait until searches give it back.
    pub(crate) fn take_flush_memory(&mut self) -> bool {
        self.writer.want_flush_memory()
    }

    /// Gives the memory of a flush back if nothing is to be flushed.
    pub(crate) fn give_back_flush_memory(&mut self) {
        self.writer.release_flush_memory();
    }

    /// Does a task now, or has a flush begin that does it.
    pub(crate) fn carry_out(&mut self, task: MaintenanceTask) -> Result<()> {
        self.writer.carry_out(task)
    }

    /// Does what readers wait for or hold up; `is_unseen` says that other processes have waited for
    /// long. The writer stops where that fails.
    pub(crate) fn serve_readers(&mut self, is_unseen: bool) -> Result<()> {
        let condition = Condition {
            is_unseen,
            ..self.writer.condition()
        };
        let tasks: Vec<MaintenanceTask> = due(Occasion::Readers, &condition).collect();
        for task in tasks {
            let done = self.writer.carry_out(task);
            self.writer.stop_on_error(done)?;
        }
        Ok(())
    }

    /// Returns the time for which the last writes need not be shown to other processes; nothing if
    /// they were.
    pub(crate) fn unseen_left(&self) -> Option<Duration> {
        self.writer.unseen_left()
    }

    /// Returns true if a flush can begin for other processes that read, or have of late.
    pub(crate) fn can_show(&mut self) -> bool {
        self.writer.can_show()
    }

    /// Returns the interval after which the last writes are to be shown.
    pub(crate) fn visible_after(&self) -> Duration {
        let limits = &self.writer.shared().options.limits;
        limits.visible_after.unwrap_or_default()
    }

    /// Returns the time until zones may have to be removed that wait for readers.
    pub(crate) fn next_removal(&self) -> Option<Duration> {
        self.writer.next_removal()
    }

    /// Asks the next flush for a step. Gives how many steps that were asked for before are done.
    pub(crate) fn ask(&mut self, task: MaintenanceTask) -> Result<u64> {
        self.writer.ask(task)
    }

    /// Begins the flush that was asked if nobody else does. Tells whether there is more to do, once
    /// it has ended.
    pub(crate) fn poll_task(&mut self, task: MaintenanceTask, before: u64) -> Result<Option<bool>> {
        self.writer.poll_task(task, before)
    }

    /// Returns true if a request for a task would be worth what it writes.
    pub(crate) fn is_worth(&mut self, is_task: impl Fn(MaintenanceTask) -> bool) -> Result<bool> {
        self.writer.check_running()?;
        self.writer.wait_for_flush()?;
        Ok(due(Occasion::Request, &self.writer.condition_with_log()).any(is_task))
    }

    /// Returns true if lists have small chunks that can be joined.
    pub(crate) fn has_chunks_to_join(&self) -> Result<bool> {
        self.writer.has_chunks_to_join()
    }
}
