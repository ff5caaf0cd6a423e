//! Maintenance on request: a task is done a step at a time, each step in a flush.

use crate::base::Result;
use crate::index::flush::lock;
use crate::index::handle::Index;
use crate::index::schedule::{CLEAN, MaintenanceTask, Occasion, VACUUM, due};
use crate::index::write::Writer;

impl Index {
    /// Takes the next slice of what deleted documents have left out of lists, tables and
    /// statistics, 32 MiB of lists and a checkpoint at a time. Tells whether there is more: called
    /// until there is not, nothing is left of the documents that had been deleted before the first
    /// call; who joins others that call it shares their sweep. Their space comes back by
    /// [`Index::clean`]. Others read and write meanwhile.
    ///
    /// Beside writing that happens by itself once a quarter of the documents with postings are
    /// deleted.
    pub fn vacuum(&self) -> Result<bool> {
        self.step(VACUUM)
    }

    /// Gives space back: a checkpoint that moves what lives out of zones where anything is dead and
    /// joins small chunks of lists, 32 MiB at most of each. Tells whether calling it again would do
    /// more; at the end at most a twenty-fifth of the index is dead, or a tenth of each zone, as
    /// long as no snapshot holds what was given up. Documents can be written between the calls.
    pub fn clean(&self) -> Result<bool> {
        self.step(CLEAN)
    }

    /// Does the next step of idle maintenance now. By itself the index does it once nobody has
    /// written for a second. A step takes out what deleted documents have left, joins delta
    /// postings and small chunks to their lists, or empties sparse zones. It does nothing where
    /// that is not worth what it writes. Tells whether there is more.
    pub fn maintain(&self) -> Result<bool> {
        match self.with_writer(|writer| Ok(writer.next_idle()))? {
            None => Ok(false),
            Some(task) => self.step(task).map(|_| true),
        }
    }

    /// Returns true if enough documents are deleted for [`Index::vacuum`] to be worth what it
    /// writes: one in a hundred.
    pub fn needs_vacuum(&self) -> Result<bool> {
        self.after_flush(|writer| writer.is_worth(|task| task.vacuum().is_some()))
    }

    /// Returns true if [`Index::clean`] has enough to do to be worth what it writes. Either a
    /// sixty-fourth of the index, and 64 KiB, come back from zones of which a tenth is dead. Or
    /// lists have many delta postings, or small chunks that can be joined.
    pub fn needs_cleaning(&self) -> Result<bool> {
        self.after_flush(|writer| {
            let is_worth = writer.is_worth(|task| task.cleaning().is_some())?;
            Ok(is_worth || lock(&writer.flusher).has_chunks_to_join(&writer.shared)?)
        })
    }

    /// Has a flush do the next step of a task, and waits for it. Others write meanwhile. Tells
    /// whether there is more to do.
    fn step(&self, task: MaintenanceTask) -> Result<bool> {
        let before = self.with_writer(|writer| writer.ask(task))?;
        loop {
            let (more, flush) = self.patiently(|writer| {
                let more = writer.poll_task(task, before)?;
                Ok((more, writer.flush_progress()))
            })?;
            match (more, flush) {
                (Some(more), _) => return Ok(more),
                (None, Some(flush)) => flush.wait_for_end(None),
                // Another has ended the flush meanwhile, so the step is done or asked for again.
                (None, None) => {}
            }
        }
    }
}

impl Writer {
    /// Returns true if a request for a task would be worth what it writes.
    fn is_worth(&mut self, is_task: impl Fn(MaintenanceTask) -> bool) -> Result<bool> {
        self.check_running()?;
        self.wait_for_flush()?;
        Ok(due(Occasion::Request, &self.condition_with_log()).any(is_task))
    }

    /// Begins the flush that was asked if nobody else does. Tells whether there is more to do, once
    /// it has ended.
    fn poll_task(&mut self, task: MaintenanceTask, before: u64) -> Result<Option<bool>> {
        self.check_running()?;
        self.poll_flush()?;
        if self.scheduler.is_asked(task) && self.flushing.is_none() {
            self.begin_flush()?;
        }
        self.scheduler.answer(task, before)
    }

    /// Returns the next task of idle maintenance.
    pub(crate) fn next_idle(&mut self) -> Option<MaintenanceTask> {
        let mut scheduler = std::mem::take(&mut self.scheduler);
        let task = scheduler.next_idle(self.state.sequence, &self.condition_with_log());
        self.scheduler = scheduler;
        task
    }
}
