//! Chores: what a flush can be asked for beside what it brings, a step at a time.

use std::thread;
use std::time::Duration;

use super::Index;
use super::clean::Worth;
use super::writer::Writer;
use crate::base::{Error, Result};

/// How often someone who waits for a step looks whether it is done.
const WAIT_STEP: Duration = Duration::from_millis(2);

/// What a flush can be asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chore {
    /// The next slice of what deleted documents have left.
    Vacuum,
    /// Cleaning, as long as it is worth so much.
    Cleaning(Worth),
}

/// What one flush is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    pub(super) vacuum: bool,
    pub(super) cleaning: Option<Worth>,
}

/// What came of the steps of a chore that were asked for.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// How many are done.
    pub(super) done: u64,
    /// Whether there is more to do behind the last.
    pub(super) go_on: bool,
}

/// What those who ask for chores want, and what became of it.
#[derive(Debug, Default)]
pub(super) struct Chores {
    /// What the next flush is asked for.
    pub(super) asked: Asked,
    pub(super) vacuum: Steps,
    pub(super) cleaning: Steps,
    /// How many deleted documents are to be taken out.
    pub(super) wanted: u64,
    /// Why a sweep could not begin.
    pub(super) refused: Option<Error>,
}

impl Asked {
    fn has(&self, chore: Chore) -> bool {
        match chore {
            Chore::Vacuum => self.vacuum,
            Chore::Cleaning(_) => self.cleaning.is_some(),
        }
    }
}

impl Steps {
    /// Whether another is due, when so many were done before the last was asked for.
    pub(super) fn are_due(&self, before: u64) -> bool {
        self.done == before || self.go_on
    }
}

impl Chores {
    pub(super) fn steps(&self, chore: Chore) -> &Steps {
        match chore {
            Chore::Vacuum => &self.vacuum,
            Chore::Cleaning(_) => &self.cleaning,
        }
    }

    /// A flush that was asked for these is done.
    pub(super) fn count(&mut self, asked: Asked) {
        self.vacuum.done += u64::from(asked.vacuum);
        self.cleaning.done += u64::from(asked.cleaning.is_some());
    }
}

impl Index {
    /// Has a flush do the next step of a maintenance task, and waits for it. Others write
    /// meanwhile. Tells whether there is more to do.
    pub(super) fn step(&self, chore: Chore) -> Result<bool> {
        let before = self.with_writer(|writer| writer.ask(chore))?;
        loop {
            match self.with_writer(|writer| writer.poll_chore(chore, before))? {
                Some(more) => return Ok(more),
                None => thread::sleep(WAIT_STEP),
            }
        }
    }
}

impl Writer {
    /// Asks the next flush for a step. Gives how many steps that were asked for before are done.
    pub(super) fn ask(&mut self, chore: Chore) -> Result<u64> {
        self.check_running()?;
        self.check_space_now()?;
        let chores = &mut self.chores;
        match chore {
            Chore::Vacuum => {
                chores.asked.vacuum = true;
                if self.state.vacuumed.documents >= chores.wanted {
                    chores.wanted = self.state.tables.deleted_count();
                }
            }
            Chore::Cleaning(worth) => {
                let other = chores.asked.cleaning.take();
                chores.asked.cleaning = Some(other.map_or(worth, |other| other.or_less(worth)));
            }
        }
        // A step that is under way began before what was deleted of late.
        let flushing = self.flushing.as_ref();
        let under_way = flushing.is_some_and(|flushing| flushing.asked().has(chore));
        Ok(chores.steps(chore).done + u64::from(under_way))
    }

    /// Begins the flush that was asked if nobody else does. Tells whether there is more to do, once
    /// it has ended.
    fn poll_chore(&mut self, chore: Chore, before: u64) -> Result<Option<bool>> {
        self.check_running()?;
        self.poll_flush()?;
        if self.chores.asked.has(chore) && self.flushing.is_none() {
            self.begin_flush()?;
        }
        if let Chore::Vacuum = chore
            && let Some(error) = self.chores.refused.take()
        {
            return Err(error);
        }
        let steps = self.chores.steps(chore);
        Ok((steps.done > before).then_some(steps.go_on))
    }
}
