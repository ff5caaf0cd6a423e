//! Maintenance on request: a task is done a step at a time, each step in a flush.

use crate::base::Result;
use crate::index::handle::Index;
use crate::index::schedule::{CLEAN, MaintenanceTask, VACUUM};
use crate::index::write::MaintenanceTurn;

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
        match self.with_writer(|writer| Ok(MaintenanceTurn::of(writer).next_idle()))? {
            None => Ok(false),
            Some(task) => self.step(task).map(|_| true),
        }
    }

    /// Returns true if enough documents are deleted for [`Index::vacuum`] to be worth what it
    /// writes: one in a hundred.
    pub fn needs_vacuum(&self) -> Result<bool> {
        self.after_flush(|writer| {
            MaintenanceTurn::of(writer).is_worth(|task| task.vacuum().is_some())
        })
    }

    /// Returns true if [`Index::clean`] has enough to do to be worth what it writes. Either a
    /// sixty-fourth of the index, and 64 KiB, come back from zones of which a tenth is dead. Or
    /// lists have many delta postings, or small chunks that can be joined.
    pub fn needs_cleaning(&self) -> Result<bool> {
        self.after_flush(|writer| {
            let mut turn = MaintenanceTurn::of(writer);
            let is_worth = turn.is_worth(|task| task.cleaning().is_some())?;
            Ok(is_worth || turn.has_chunks_to_join()?)
        })
    }

    /// Has a flush do the next step of a task, and waits for it. Others write meanwhile. Tells
    /// whether there is more to do.
    fn step(&self, task: MaintenanceTask) -> Result<bool> {
        let before = self.with_writer(|writer| MaintenanceTurn::of(writer).ask(task))?;
        loop {
            let (more, flush) = self.patiently(|writer| {
                let more = MaintenanceTurn::of(writer).poll_task(task, before)?;
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
