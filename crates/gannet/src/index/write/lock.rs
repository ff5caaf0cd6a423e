//! The writer lock: whoever changes an index waits until nobody else does.
//!
//! A caller that has to wait for a flush or for memory says so as a [`Pause`], lets go of the lock,
//! and begins anew then. The holder of the lock waits in three cases only:
//!
//! 1. A full vacuum waits for its flushes: all writing waits for it anyway.
//! 2. Where memory is too little, searches under way end before it is tried again, so that no other
//!    takes what was given back.
//! 3. Where the device is full, a request for maintenance ends the flush under way.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::gate::Gate;
use super::writer::Writer;
use crate::base::{Error, EventCount, Result};
use crate::index::flush::Pause;
use crate::index::state::Shared;

/// The writer of an index, if it was opened for writing and is not closed.
pub(crate) struct WriterLock {
    writer: Mutex<Option<Writer>>,
    /// Held by one batch after the other, also while it waits.
    batches: Mutex<()>,
    /// Told after an act that may have brought something, if anybody waits for that.
    events: EventCount,
}

impl WriterLock {
    pub(crate) fn new(writer: Option<Writer>, events: &EventCount) -> WriterLock {
        WriterLock {
            writer: Mutex::new(writer),
            batches: Mutex::new(()),
            events: events.clone(),
        }
    }

    /// Has `act` change the index.
    pub(crate) fn take<T>(&self, act: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.take_since(Instant::now(), act)
    }

    /// Has `act` change the index as a batch, of which the next waits until this one
    /// ends.
    pub(crate) fn take_as_batch<T>(
        &self,
        shared: &Shared,
        gate: Gate,
        act: impl FnMut(&mut Writer) -> Result<T>,
    ) -> Result<T> {
        let asked_at = Instant::now();
        let _batch = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_behind(shared, asked_at, gate, act)
    }

    /// Has `act` change the index once `gate` lets it, for which it waits without the lock.
    pub(crate) fn take_behind<T>(
        &self,
        shared: &Shared,
        asked_at: Instant,
        mut gate: Gate,
        mut act: impl FnMut(&mut Writer) -> Result<T>,
    ) -> Result<T> {
        loop {
            let done: Result<std::result::Result<T, Pause>> =
                self.take_since(asked_at, |writer| match writer.pause(&mut gate)? {
                    Some(pause) => Ok(Err(pause)),
                    None => writer.try_act(&mut gate, &mut act),
                });
            match done? {
                Ok(done) => return Ok(done),
                Err(pause) => pause.wait(shared),
            }
        }
    }

    fn take_since<T>(
        &self,
        asked_at: Instant,
        act: impl FnOnce(&mut Writer) -> Result<T>,
    ) -> Result<T> {
        let mut taken = self.lock();
        let Some(writer) = &mut *taken else {
            return Err(Error::invalid(
                "the index was opened for reading only; open it for writing to change it",
            ));
        };
        writer.begin_act(asked_at);
        let done = act(writer);
        if writer.end_watch() {
            self.events.notify();
        }
        done
    }

    /// Has `act` change the index and ends writing, with nobody in between, if it has not ended.
    /// Waits without the lock until no flush is under way.
    pub(crate) fn end_after(
        &self,
        shared: &Shared,
        act: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Result<()> {
        let _batch = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self.lock();
        while let Some(writer) = &mut *taken
            && let Some(pause) = writer.pause(&mut Gate::NoFlush)?
        {
            drop(taken);
            pause.wait(shared);
            taken = self.lock();
        }
        if let Some(writer) = &mut *taken {
            act(writer)?;
        }
        *taken = None;
        self.events.notify();
        Ok(())
    }

    /// Wakes up who watches.
    pub(crate) fn wake(&self) {
        self.events.notify();
    }

    /// Has `watch` look at the writer. Then waits for as long as it says, or until the next act
    /// where it does not, or until a flush ends, a reader lets go, or memory that was wanted is
    /// free. Ends, with `false`, when writing has ended.
    pub(crate) fn watch(&self, watch: impl FnOnce(&mut Writer) -> Option<Duration>) -> bool {
        let seen = self.events.seen();
        let mut taken = self.lock();
        let Some(writer) = &mut *taken else {
            return false;
        };
        let most = watch(writer);
        writer.watch(most.is_none());
        drop(taken);
        self.events.wait(seen, most);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(|panicked| {
            let mut taken = panicked.into_inner();
            if let Some(writer) = &mut *taken {
                writer.stop("a thread panicked while it changed the index");
            }
            taken
        })
    }
}
