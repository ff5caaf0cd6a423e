//! Maintenance tasks: what a flush can be asked for beside what it brings, a step at a time.

use std::thread;
use std::time::Duration;

use crate::base::Result;
use crate::index::flush::{MaintenanceTask, THOROUGH};
use crate::index::handle::Index;
use crate::index::write::Writer;

/// After how long someone who waits for a step looks again, though no flush has ended.
const WAIT_MAX: Duration = Duration::from_secs(1);

impl Index {
    /// Has a flush do the next step of a maintenance task, and waits for it. Others write
    /// meanwhile. Tells whether there is more to do.
    pub(crate) fn step(&self, task: MaintenanceTask) -> Result<bool> {
        let before = self.with_writer(|writer| writer.ask(task))?;
        loop {
            let (more, flush) = self.with_writer(|writer| {
                let more = writer.poll_task(task, before)?;
                Ok((more, writer.flush_progress()))
            })?;
            match (more, flush) {
                (Some(more), _) => return Ok(more),
                (None, Some(flush)) => flush.wait_for_end(WAIT_MAX),
                (None, None) => thread::yield_now(),
            }
        }
    }
}

impl Writer {
    /// Asks the next flush for a step. Gives how many steps that were asked for before are done.
    pub(crate) fn ask(&mut self, task: MaintenanceTask) -> Result<u64> {
        self.check_running()?;
        self.check_space_now()?;
        let tasks = &mut self.tasks;
        match task {
            MaintenanceTask::Vacuum => {
                tasks.asked.vacuum = true;
                if self.state.vacuumed.documents >= tasks.wanted {
                    tasks.wanted = self.state.tables.deleted_count();
                }
            }
            MaintenanceTask::Cleaning(worth) => {
                let other = tasks.asked.cleaning.take();
                tasks.asked.cleaning = Some(other.map_or(worth, |other| other.or_less(worth)));
            }
        }
        // A step that is under way began before what was deleted of late.
        let flushing = self.flushing.as_ref();
        let under_way = flushing.is_some_and(|flushing| flushing.asked().has(task));
        Ok(tasks.steps(task).done + u64::from(under_way))
    }

    /// Begins the flush that was asked if nobody else does. Tells whether there is more to do, once
    /// it has ended.
    fn poll_task(&mut self, task: MaintenanceTask, before: u64) -> Result<Option<bool>> {
        self.check_running()?;
        self.poll_flush()?;
        if self.tasks.asked.has(task) && self.flushing.is_none() {
            self.begin_flush()?;
        }
        if let MaintenanceTask::Vacuum = task
            && let Some(error) = self.tasks.rejected.take()
        {
            return Err(error);
        }
        let steps = self.tasks.steps(task);
        Ok((steps.done > before).then_some(steps.go_on))
    }
}

impl Index {
    /// Gives space back: a checkpoint that moves what lives out of zones where anything is dead and
    /// joins small chunks of lists, 32 MiB at most of each. Tells whether calling it again would do
    /// more; at the end at most a twenty-fifth of the index is dead, or a tenth of each zone, as
    /// long as no snapshot holds what was given up. Documents can be written between the calls.
    pub fn clean(&self) -> Result<bool> {
        self.step(MaintenanceTask::Cleaning(THOROUGH))
    }
}
