//! The writer lock: whoever changes an index waits until nobody else does.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::writer::Writer;
use crate::base::{Error, Result};

/// The writer of an index, if it was opened for writing and is not closed.
pub(crate) struct WriterLock {
    writer: Mutex<Option<Writer>>,
    /// Told after a turn that may have brought something, if anybody waits for that.
    news: Condvar,
}

impl WriterLock {
    pub(crate) fn new(writer: Option<Writer>) -> WriterLock {
        WriterLock {
            writer: Mutex::new(writer),
            news: Condvar::new(),
        }
    }

    /// Has `act` change the index.
    pub(crate) fn take<T>(&self, act: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let asked_at = Instant::now();
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

    /// What `read` finds in the writer, if there is one.
    pub(crate) fn look<T>(&self, read: impl FnOnce(&Writer) -> T) -> Option<T> {
        self.lock().as_ref().map(read)
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
