//! The writer's side of the scheduler: what it is asked about, and tasks for the writer.

use std::sync::Arc;
use std::time::Duration;

use super::Writer;
use crate::base::Result;
use crate::index::flush::lock;
use crate::index::owners::KeptSpace;
use crate::index::schedule::{Condition, MaintenanceTask, Occasion, due};

impl Writer {
    /// Returns the condition about which the scheduler is asked.
    pub(in crate::index::write) fn condition(&self) -> Condition<'_> {
        let gone = self.state.vacuumed.documents;
        Condition {
            shared: &self.shared,
            terms: self.state.terms.clone(),
            documents: (self.state.below as u64).saturating_sub(gone),
            dead: self.state.dead_documents(),
            is_sweeping: false,
            is_unseen: false,
            log: None,
            kept: KeptSpace::NONE,
            lacking: 0,
        }
    }

    /// The same with the end of the log, which ends its page.
    pub(in crate::index::write) fn condition_with_log(&mut self) -> Condition<'_> {
        let log = Some(self.log.end());
        Condition {
            log,
            ..self.condition()
        }
    }

    /// Returns true if the next flush is to begin before the buffers are full.
    pub(super) fn is_due_early(&mut self) -> bool {
        let now = self.condition_with_log();
        due(Occasion::Write, &now).next().is_some()
    }

    /// Does a task now, or has a flush begin that does it.
    pub(in crate::index::write) fn carry_out(&mut self, task: MaintenanceTask) -> Result<()> {
        match task {
            MaintenanceTask::RemoveZones => self.leases.remove_zones(&self.shared),
            MaintenanceTask::EndFlush => self.wait_for_flush(),
            MaintenanceTask::Checkpoint => self.checkpoint(),
            MaintenanceTask::Flush => self.begin_flush(),
            MaintenanceTask::Vacuum(_)
            | MaintenanceTask::Clean(_)
            | MaintenanceTask::MergeDeltas => {
                self.ask(task)?;
                self.begin_flush()
            }
        }
    }

    /// Asks the next flush for a step. Gives how many steps that were asked for before are done.
    pub(in crate::index::write) fn ask(&mut self, task: MaintenanceTask) -> Result<u64> {
        self.check_running()?;
        self.check_space_now()?;
        let (flushing, state) = (self.flushes.asked(), &self.state);
        let (vacuumed, deleted) = (state.vacuumed.documents, state.tables.deleted_count());
        Ok(self.scheduler.ask(task, flushing, vacuumed, deleted))
    }

    /// Begins the flush that was asked for a task if nobody else does. Tells whether there is more
    /// to do, once more steps are done than `before`.
    pub(in crate::index::write) fn poll_task(
        &mut self,
        task: MaintenanceTask,
        before: u64,
    ) -> Result<Option<bool>> {
        self.check_running()?;
        self.poll_flush()?;
        if self.scheduler.is_asked(task) && !self.flushes.is_under_way() {
            self.begin_flush()?;
        }
        self.scheduler.answer(task, before)
    }

    /// Returns the next task if nobody writes.
    pub(in crate::index::write) fn next_idle(&mut self) -> Option<MaintenanceTask> {
        let mut scheduler = std::mem::take(&mut self.scheduler);
        let task = scheduler.next_idle(self.state.sequence, &self.condition_with_log());
        self.scheduler = scheduler;
        task
    }

    /// Returns true if a flush is under way, or done and not ended.
    pub(in crate::index::write) fn is_flushing(&self) -> bool {
        self.flushes.is_under_way()
    }

    /// Has memory that is given back set aside for a flush, and takes it if there is enough. Tells
    /// whether it has.
    pub(in crate::index::write) fn want_flush_memory(&mut self) -> bool {
        let wanted = self.shared.memory.flush.bytes() + self.state.tree_bytes();
        self.shared.budget.want(wanted);
        self.hold_flush_memory().is_ok()
    }

    /// Returns the time for which the last writes need not be shown to other processes; nothing if
    /// they were.
    pub(in crate::index::write) fn unseen_left(&self) -> Option<Duration> {
        let after = self.shared.options.limits.visible_after?;
        let is_known = self.roots.know(self.state.sequence);
        (!is_known).then(|| after.saturating_sub(self.roots.age()))
    }

    /// Returns true if a flush can begin for other processes that read, or have of late.
    pub(in crate::index::write) fn can_show(&mut self) -> bool {
        let device = Arc::clone(self.shared.store.device());
        let after = self.shared.options.limits.visible_after.unwrap_or_default();
        !self.is_flushing()
            && self.leases.are_read(&*device, after)
            && self.hold_flush_memory().is_ok()
    }

    /// Returns the time until zones may have to be removed that wait for readers.
    pub(in crate::index::write) fn next_removal(&self) -> Option<Duration> {
        self.leases.next_removal(&self.shared)
    }

    /// Returns true if lists have small chunks that can be joined.
    pub(in crate::index::write) fn has_chunks_to_join(&self) -> Result<bool> {
        let flusher = self.flushes.flusher();
        lock(&flusher).has_chunks_to_join(&self.shared)
    }
}
