//! The writer's side of the scheduler: what it is asked about, and tasks for the writer.

use super::writer::Writer;
use crate::base::Result;
use crate::index::owners::KeptSpace;
use crate::index::schedule::{Condition, MaintenanceTask, Occasion, due};

impl Writer {
    /// Returns the condition about which the scheduler is asked.
    pub(crate) fn condition(&self) -> Condition<'_> {
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
    pub(crate) fn condition_with_log(&mut self) -> Condition<'_> {
        let log = Some(self.log.end());
        Condition {
            log,
            ..self.condition()
        }
    }

    /// Returns true if the next flush is to begin before the buffers are full.
    pub(crate) fn is_due_early(&mut self) -> bool {
        let now = self.condition_with_log();
        due(Occasion::Write, &now).next().is_some()
    }

    /// Does a task now, or has a flush begin that does it.
    pub(crate) fn carry_out(&mut self, task: MaintenanceTask) -> Result<()> {
        match task {
            MaintenanceTask::RemoveZones => self.give_up_zones(),
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
    pub(crate) fn ask(&mut self, task: MaintenanceTask) -> Result<u64> {
        self.check_running()?;
        self.check_space_now()?;
        let flushing = self.flushing.as_ref().map(|flushing| flushing.asked);
        let flushing = flushing.unwrap_or_default();
        let state = &self.state;
        let (vacuumed, deleted) = (state.vacuumed.documents, state.tables.deleted_count());
        Ok(self.scheduler.ask(task, flushing, vacuumed, deleted))
    }
}
