//! Too little memory, and what else an act of the writer waits for: what it gives back, and when it
//! is tried again. `write/shortage.rs` tells how that goes on from where documents come.
//!
//! The writer says what is to be waited for; `WriterLock` waits without the lock and tries again.

use std::sync::Arc;
use std::time::Duration;

use super::{Writer, Written};
use crate::base::{Error, Result};
use crate::index::flush::Pause;
use crate::index::ingest::{Input, Workbench};
use crate::index::state::{Relief, SEARCHES_END, with_relief};
use crate::index::write::gate::Gate;

/// The interval of looks for more memory: what was given back between an attempt and the wait is
/// not told.
const LOOK: Duration = Duration::from_millis(20);

impl Writer {
    /// Returns the wait before `gate` lets an act have the writer.
    pub(crate) fn pause(&mut self, gate: &mut Gate) -> Result<Option<Pause>> {
        self.check_running()?;
        self.poll_flush()?;
        let fill = self.fill();
        let flush = self.flush_progress();
        let paced = match gate {
            Gate::Backpressure => self.flushes.pause(fill),
            _ => Duration::ZERO,
        };
        if *gate == Gate::Room {
            self.flushes.go_on();
        }
        let is_open = match gate {
            Gate::Open => true,
            Gate::Backpressure | Gate::Room => fill < 1.0,
            Gate::NoFlush => false,
        };
        let waits = |flush| match paced {
            Duration::ZERO => (!is_open).then_some(Pause::Flush(flush, None)),
            paced => {
                *gate = Gate::Room;
                Some(Pause::Flush(flush, Some(paced)))
            }
        };
        Ok(flush.and_then(waits))
    }

    /// Has `act` change the index. Gives what to wait for if it lacks memory or space and may find
    /// some then.
    pub(crate) fn try_act<T>(
        &mut self,
        gate: &mut Gate,
        act: &mut impl FnMut(&mut Writer) -> Result<T>,
    ) -> Result<std::result::Result<T, Pause>> {
        self.act.attempt(*gate != Gate::NoFlush);
        let done = match act(self) {
            Ok(done) => Ok(Ok(done)),
            Err(error) => self.pause_after(error, gate).map(Err),
        };
        self.act.end_attempt();
        done
    }

    /// Returns the wait before a failed act is tried again, if that may help.
    fn pause_after(&mut self, error: Error, gate: &mut Gate) -> Result<Pause> {
        if self.check_running().is_err() {
            return Err(error);
        }
        let lacks = matches!(
            error,
            Error::Memory { .. } | Error::Device { full: true, .. }
        );
        if let Some(flush) = self
            .flush_progress()
            .filter(|_| lacks && self.act.retries())
        {
            *gate = Gate::NoFlush;
            return Ok(Pause::Flush(flush, None));
        }
        let left = SEARCHES_END.saturating_sub(self.act.elapsed());
        match error {
            Error::Memory { needed, .. } if self.act.had_earlier() && !left.is_zero() => {
                let budget = &self.shared.budget;
                budget.want(needed);
                Ok(Pause::Memory(budget.events().seen(), left.min(LOOK)))
            }
            error => Err(error),
        }
    }

    /// Attempts what takes memory, and gives back what may help where there is too little.
    pub(crate) fn with_memory<T>(
        &mut self,
        order: &[Relief],
        mut attempt: impl FnMut(&mut Writer) -> Result<T>,
    ) -> Result<T> {
        let budget = self.shared.budget.clone();
        // Held while it is tried again: no search takes what another has given back.
        let mut context = (self, None);
        with_relief(
            &mut context,
            order,
            |(writer, permit), relief| match relief {
                // It is waited for without the lock.
                Relief::Buffers if writer.waits_for_flush() => Ok(false),
                Relief::Buffers => writer.free_buffers().map(|()| true),
                Relief::EarlierStates => {
                    let (published, newest) = (&writer.shared.published, &writer.roots);
                    published.give_up_older(newest.generation());
                    // Asked before: who lets go in between may have made room.
                    writer
                        .act
                        .note_earlier(published.has_older(newest.generation()));
                    *permit = Some(budget.permit_alone(&())?);
                    Ok(true)
                }
            },
            |(writer, _)| attempt(writer),
        )
    }

    /// Prepares and writes documents, none of which may be rejected, with all the memory that is
    /// left when nothing waits for a flush.
    pub(crate) fn write_alone<'i, I: Iterator<Item = Input<'i>>>(
        &mut self,
        bench: &mut Workbench,
        inputs: &dyn Fn() -> I,
    ) -> Result<Written> {
        self.check_running()?;
        let shared = Arc::clone(&self.shared);
        let mut prepare = || {
            let (preparation, budget) = (&shared.preparation, &shared.budget);
            preparation.prepare(bench, budget, &mut inputs())
        };
        let order = [Relief::Buffers, Relief::EarlierStates];
        let batch = self.with_memory(&order, |_| prepare())?;
        batch.check_whole()?;
        self.write(&batch)
    }

    /// Gives back what postings and IDs take that are not on flash yet, and what their flush would
    /// take.
    pub(crate) fn free_buffers(&mut self) -> Result<()> {
        if self.state.buffers.has_news() {
            self.checkpoint()?
        } else {
            self.wait_for_flush()?
        }
        self.memory.charge_tables(&self.state)
    }

    /// Returns true if the act is tried again after the flush under way.
    fn waits_for_flush(&self) -> bool {
        self.act.retries() && self.flushes.is_under_way()
    }
}
