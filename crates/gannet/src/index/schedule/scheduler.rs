//! Keeps the requests to flushes, their results, and the progress of idle maintenance.

use super::condition::Condition;
use super::policies::{POLICIES, due};
use super::task::{CleaningPolicy, MaintenanceTask, Occasion, VacuumPolicy};
use crate::base::{Error, Result, Sequence};

/// The requests to one flush beside its postings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Requests {
    vacuum: Option<VacuumPolicy>,
    cleaning: Option<CleaningPolicy>,
}

/// The steps of a task that was asked for.
#[derive(Clone, Copy, Debug, Default)]
struct TaskSteps {
    /// The number of steps that are done.
    done: u64,
    /// Set if there is more to do behind the last.
    go_on: bool,
}

/// The requests for tasks, and their results.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    /// The requests to the next flush.
    requests: Requests,
    vacuum: TaskSteps,
    cleaning: TaskSteps,
    /// The number of deleted documents that are to be taken out.
    wanted: u64,
    /// Why a sweep could not begin.
    rejected: Option<Error>,
    /// Set if the next flush begins before the buffers are full.
    pub(crate) flushes_early: bool,
    idle: IdleProgress,
}

/// The progress of idle maintenance.
#[derive(Debug, Default)]
struct IdleProgress {
    /// The row under way, and how many of its steps were done before.
    row: Option<(usize, u64)>,
    /// The last operation before the tasks under way.
    began: Sequence,
    /// The last that all is done for.
    done: Option<Sequence>,
}

impl Requests {
    fn has(&self, task: MaintenanceTask) -> bool {
        match task {
            MaintenanceTask::Vacuum(_) => self.vacuum.is_some(),
            _ => self.cleaning.is_some(),
        }
    }

    /// Returns true if somebody waits for cleaning.
    pub(crate) fn cleans(&self) -> bool {
        self.cleaning.is_some()
    }

    /// The slice of vacuum that a flush does.
    pub(crate) fn vacuum(&self, now: &Condition<'_>) -> Option<VacuumPolicy> {
        let due = || due(Occasion::Flush, now).find_map(MaintenanceTask::vacuum);
        self.vacuum.or_else(due)
    }

    /// The cleaning that a flush does.
    pub(crate) fn cleaning(&self, now: &Condition<'_>) -> Option<CleaningPolicy> {
        let due = || due(Occasion::Flush, now).find_map(MaintenanceTask::cleaning);
        self.cleaning.or_else(due)
    }
}

impl Scheduler {
    /// Asks the next flush for a step, where `deleted` documents are deleted and `vacuumed` of them
    /// taken out. Gives the number of steps after which it is done: one that is under way, as of
    /// `flushing`, began before what was deleted of late.
    pub(crate) fn ask(
        &mut self,
        task: MaintenanceTask,
        flushing: Requests,
        vacuumed: u64,
        deleted: u64,
    ) -> u64 {
        match task {
            MaintenanceTask::Vacuum(policy) => {
                self.requests.vacuum = Some(policy);
                if vacuumed >= self.wanted {
                    self.wanted = deleted;
                }
            }
            MaintenanceTask::Clean(policy) => {
                let other = self.requests.cleaning;
                self.requests.cleaning = Some(other.map_or(policy, |other| other.or_less(policy)));
            }
            _ => {}
        }
        self.steps(task).done + u64::from(flushing.has(task))
    }

    /// Returns true if the next flush is asked for a step.
    pub(crate) fn is_asked(&self, task: MaintenanceTask) -> bool {
        self.requests.has(task)
    }

    /// Takes the requests to a flush that begins.
    pub(crate) fn take_requests(&mut self) -> Requests {
        std::mem::take(&mut self.requests)
    }

    /// Notes the result of the vacuum of a flush that ends.
    pub(crate) fn note_vacuum(&mut self, is_sweeping: bool, gone: u64, rejected: Option<Error>) {
        self.rejected = rejected;
        // Who asked while a sweep was under way that had begun before is owed another.
        self.vacuum.go_on = is_sweeping || self.wanted > gone;
    }

    /// A flush that was asked for `requests` is done; another step of cleaning would do `more`.
    pub(crate) fn count(&mut self, requests: Requests, more: bool) {
        self.vacuum.done += u64::from(requests.vacuum.is_some());
        if requests.cleaning.is_some() {
            self.cleaning.done += 1;
            self.cleaning.go_on = more;
        }
    }

    /// Drops requests for vacuum that are met by other means.
    pub(crate) fn forget_vacuum(&mut self) {
        self.wanted = 0;
        self.vacuum.go_on = false;
    }

    /// Returns true if there is more to do, once more steps of a task are done than `before`.
    pub(crate) fn answer(&mut self, task: MaintenanceTask, before: u64) -> Result<Option<bool>> {
        if let (MaintenanceTask::Vacuum(_), Some(error)) = (task, self.rejected.take()) {
            return Err(error);
        }
        let steps = self.steps(task);
        Ok((steps.done > before).then_some(steps.go_on))
    }

    /// Returns the next task if nobody writes, behind the operation `sequence`: the row under way,
    /// or the next that is due.
    pub(crate) fn next_idle(
        &mut self,
        sequence: Sequence,
        now: &Condition<'_>,
    ) -> Option<MaintenanceTask> {
        if self.idle.began != sequence {
            // What came since may ask for what was done or passed over before.
            (self.idle.began, self.idle.row) = (sequence, None);
        }
        if self.idle.done == Some(sequence) {
            return None;
        }
        let rejected = self.rejected.take().is_some();
        let under_way = self.idle.row.filter(|(row, before)| {
            let steps = self.steps(POLICIES[*row].task);
            !rejected && (steps.done == *before || steps.go_on)
        });
        let row = under_way.map(|(row, _)| row).or_else(|| {
            let first = self.idle.row.map_or(0, |(row, _)| row + 1);
            let is_next = |row: &usize| {
                let policy = &POLICIES[*row];
                policy.occasion == Occasion::Idle && (policy.is_due)(now)
            };
            (first..POLICIES.len()).find(is_next)
        });
        let task = row.map(|row| POLICIES[row].task);
        self.idle.row = row.map(|row| (row, self.steps(POLICIES[row].task).done));
        if row.is_none() {
            self.idle.done = Some(sequence);
        }
        task
    }

    fn steps(&self, task: MaintenanceTask) -> TaskSteps {
        match task {
            MaintenanceTask::Vacuum(_) => self.vacuum,
            _ => self.cleaning,
        }
    }
}
