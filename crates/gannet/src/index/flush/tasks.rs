//! Maintenance tasks: what a flush can be asked for beside what it brings, a step at a time.

use super::policy::CleaningPolicy;
use crate::base::{Error, Sequence};

/// What a flush can be asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MaintenanceTask {
    /// The next slice of what deleted documents have left.
    Vacuum,
    /// Cleaning, as long as it is worth so much.
    Cleaning(CleaningPolicy),
}

/// What one flush is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestedTasks {
    pub(crate) vacuum: bool,
    pub(crate) cleaning: Option<CleaningPolicy>,
}

/// What came of the steps of a task that were asked for.
#[derive(Debug, Default)]
pub(crate) struct TaskSteps {
    /// How many are done.
    pub(crate) done: u64,
    /// Whether there is more to do behind the last.
    pub(crate) go_on: bool,
}

/// What those who ask for tasks want, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct TaskBoard {
    /// What the next flush is asked for.
    pub(crate) asked: RequestedTasks,
    pub(crate) vacuum: TaskSteps,
    pub(crate) cleaning: TaskSteps,
    /// How many deleted documents are to be taken out.
    pub(crate) wanted: u64,
    /// Why a sweep could not begin.
    pub(crate) rejected: Option<Error>,
}

/// How far idle maintenance has come.
#[derive(Debug, Default)]
pub(crate) struct IdleProgress {
    /// The task under way, and how many of its steps were done before.
    pub(crate) task: Option<(MaintenanceTask, u64)>,
    /// The last operation before the tasks under way.
    pub(crate) began: Sequence,
    /// The last that all is done for.
    pub(crate) done: Option<Sequence>,
}

impl RequestedTasks {
    pub(crate) fn has(&self, task: MaintenanceTask) -> bool {
        match task {
            MaintenanceTask::Vacuum => self.vacuum,
            MaintenanceTask::Cleaning(_) => self.cleaning.is_some(),
        }
    }
}

impl TaskSteps {
    /// Whether another is due, when so many were done before the last was asked for.
    pub(crate) fn are_due(&self, before: u64) -> bool {
        self.done == before || self.go_on
    }
}

impl TaskBoard {
    pub(crate) fn steps(&self, task: MaintenanceTask) -> &TaskSteps {
        match task {
            MaintenanceTask::Vacuum => &self.vacuum,
            MaintenanceTask::Cleaning(_) => &self.cleaning,
        }
    }

    /// A flush that was asked for these is done.
    pub(crate) fn count(&mut self, asked: RequestedTasks) {
        self.vacuum.done += u64::from(asked.vacuum);
        self.cleaning.done += u64::from(asked.cleaning.is_some());
    }
}
