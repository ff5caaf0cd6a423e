//! Room: work that can wait writes only into space that nothing else needs.
//!
//! The writer says how many bytes must stay free for what it has taken (see `space`). Cleaning and
//! vacuum run beside it, on the thread of a flush, and claim what they are about to write. What
//! always holds, as long as no other program takes space: the device has as much free as is kept
//! and claimed together.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::{Error, Result};
use crate::storage::Store;

/// Free space that is spoken for.
pub(crate) struct Room {
    store: Arc<Store>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// For the flush and the checkpoint of what was taken.
    kept: u64,
    /// For work under way that can wait.
    claimed: u64,
}

/// Space for work that can wait, until it is done.
pub(crate) struct Claim<'a> {
    room: &'a Room,
    bytes: u64,
}

impl Claim<'_> {
    /// Returns the number of bytes that may be written.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.room.lock().claimed -= self.bytes;
    }
}

impl Room {
    pub(crate) fn new(store: Arc<Store>) -> Room {
        Room {
            store,
            taken: Mutex::default(),
        }
    }

    /// Keeps so many bytes free from now on, `more` of them only if so many and `reserve` are free
    /// beyond what is claimed. Gives what is free, and what would have to be, where it is too
    /// little.
    pub(crate) fn keep(&self, kept: u64, more: u64, reserve: u64) -> Result<Option<(u64, u64)>> {
        let mut taken = self.lock();
        let free = self.store.device().free_bytes()?;
        let needed = (kept + more + reserve).saturating_add(taken.claimed);
        let fits = free >= needed;
        taken.kept = if fits { kept + more } else { kept };
        Ok((!fits).then_some((free, needed)))
    }

    /// Gives back what was kept for writing that is done: the device has less free by it.
    pub(crate) fn release_kept(&self, written: u64) {
        let mut taken = self.lock();
        taken.kept = taken.kept.saturating_sub(written);
    }

    /// Bytes that are free for work that can wait.
    pub(crate) fn free(&self) -> Result<u64> {
        let taken = self.lock();
        self.free_beyond(&taken)
    }

    /// Claims one byte of so many of what is free for work that can wait, at most `most` bytes.
    pub(crate) fn claim(&self, most: u64, one_of: u64) -> Result<Claim<'_>> {
        let mut taken = self.lock();
        let bytes = (self.free_beyond(&taken)? / one_of).min(most);
        taken.claimed += bytes;
        Ok(Claim { room: self, bytes })
    }

    /// Claims bytes for work that replaces a part of the next flush, for which `kept` bytes are
    /// kept. Where too little is free, it takes the rest from these. Claims all bytes or none.
    pub(crate) fn claim_with_kept(&self, bytes: u64, kept: u64) -> Result<Option<Claim<'_>>> {
        let mut taken = self.lock();
        let of_kept = bytes.saturating_sub(self.free_beyond(&taken)?);
        if of_kept > kept.min(taken.kept) {
            return Ok(None);
        }
        taken.kept -= of_kept;
        taken.claimed += bytes;
        Ok(Some(Claim { room: self, bytes }))
    }

    fn free_beyond(&self, taken: &Taken) -> Result<u64> {
        let free = self.store.device().free_bytes()?;
        Ok(free.saturating_sub(taken.kept + taken.claimed))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Counts are right even if a thread panicked while it held them.
        self.taken.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The error of a device with too little space.
pub(crate) fn no_space(free: u64, needed: u64, purpose: &str) -> Error {
    Error::Device {
        operation: "write",
        file: "the index".to_owned(),
        reason: format!(
            "no space: {free} bytes are free, and {needed} must be {purpose}; nothing was written and searching goes on: \
             make space, or delete documents and vacuum, then try again"
        ),
        full: true,
    }
}
