//! The writer lock: whoever changes an index waits until nobody else does.
//!
//! Nobody who holds it waits for a flush or for memory, but for a full vacuum, for which all writing
//! waits. Who has to wait says so as a [`Pause`], lets go of the lock, and begins anew then.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::writer::Writer;
use crate::base::{Error, Result};
use crate::index::flush::Pause;
use crate::index::state::Shared;

/// The writer of an index, if it was opened for writing and is not closed.
pub(crate) struct WriterLock {
    writer: Mutex<Option<Writer>>,
    /// Held by the batch whose turn it is, also while it waits.
    batches: Mutex<()>,
    /// Told after a turn that may have brought something, if anybody waits for that.
    news: Condvar,
}

/// What must be so before an act has the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The flush under way leaves room for a write.
    Backpressure,
    /// The same for a write that has waited for its pace.
    Room,
    /// No flush is under way.
    NoFlush,
}

impl WriterLock {
    pub(crate) fn new(writer: Option<Writer>) -> WriterLock {
        WriterLock {
            writer: Mutex::new(writer),
            batches: Mutex::new(()),
            news: Condvar::new(),
        }
    }

    /// Has `act` change the index.
    pub(crate) fn take<T>(&self, act: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.take_since(Instant::now(), act)
    }

    /// Has `act` change the index in the turn of batches, of which the next waits until this one
    /// ends.
    pub(crate) fn take_in_turn<T>(
        &self,
        shared: &Shared,
        gate: Gate,
        act: impl FnMut(&mut Writer) -> Result<T>,
    ) -> Result<T> {
        let asked_at = Instant::now();
        let _turn = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
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
            let turn = self.take_since(asked_at, |writer| match writer.pause(&mut gate)? {
                Some(pause) => Ok(Err(pause)),
                None => act(writer).map(Ok),
            });
            match turn? {
                Ok(done) => return Ok(done),
                Err(pause) => Pause::wait(&pause, shared),
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
        writer.asked_at = asked_at;
        let done = act(writer);
        if std::mem::take(&mut writer.is_watched) {
            self.news.notify_all();
        }
        done
    }

    /// Has `act` change the index and ends writing, with nobody in between, if it has not ended.
    pub(crate) fn end_after(&self, act: impl FnOnce(&mut Writer) -> Result<()>) -> Result<()> {
        let mut taken = self.lock();
        if let Some(writer) = &mut *taken {
            act(writer)?;
        }
        *taken = None;
        self.news.notify_all();
        Ok(())
    }

    /// Wakes up who waits.
    pub(crate) fn wake(&self) {
        let _held = self.lock();
        self.news.notify_all();
    }

    /// Has `watch` look at the writer, and waits for as long as it says, or until the next turn
    /// where it does not. Ends, with `false`, when writing has ended.
    pub(crate) fn watch(&self, watch: impl FnOnce(&mut Writer) -> Option<Duration>) -> bool {
        let mut taken = self.lock();
        let Some(writer) = &mut *taken else {
            return false;
        };
        match watch(writer) {
            Some(Duration::ZERO) => {}
            Some(time) => drop(self.news.wait_timeout(taken, time)),
            None => {
                writer.is_watched = true;
                drop(self.news.wait(taken));
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(|panicked| {
            let mut taken = panicked.into_inner();
            if let Some(writer) = &mut *taken {
                let stopped = || "a thread panicked while it changed the index".to_owned();
                writer.stopped.get_or_insert_with(stopped);
            }
            taken
        })
    }
}
