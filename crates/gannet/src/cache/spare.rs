//! Memory of frames that were never used, for what is decoded for the processor.
//!
//! The pool has the system's memory for a frame only once the frame is used. So what is decoded may
//! take the place of frames that are still untouched, and no byte more than the pool reserved is
//! ever in use. Frames come first: once they miss a page that was set aside, it is to be given
//! back.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::PAGE_SIZE;
use crate::device::PagePool;

/// Of the frames of a pool, one part of so many stays untouched beside what is set aside.
const LEFT_ONE_OF: usize = 8;

/// Of the frames of a pool, one part of so many is set aside at most. A query that is alone may
/// hold half of them beside those that are pinned and those of a round.
const ASIDE_ONE_OF: usize = 4;

/// Memory that is taken from the untouched frames of a pool.
pub struct SpareMemory {
    buffers: PagePool,
    taken: Mutex<SpareTaken>,
}

#[derive(Default)]
struct SpareTaken {
    bytes: usize,
    /// The pages that are set aside for them.
    pages: usize,
}

/// Bytes of spare memory, given back when dropped.
pub struct SpareBytes {
    memory: Arc<SpareMemory>,
    bytes: usize,
}

impl SpareMemory {
    pub(crate) fn new(buffers: PagePool) -> SpareMemory {
        SpareMemory {
            buffers,
            taken: Mutex::default(),
        }
    }

    /// Takes so many bytes, if there are as many.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Option<SpareBytes> {
        let mut taken = self.taken();
        let all = self.buffers.pages();
        let sum = taken.bytes.checked_add(bytes)?;
        let pages = sum.div_ceil(PAGE_SIZE);
        let more = pages.saturating_sub(taken.pages);
        if pages > all / ASIDE_ONE_OF || !self.buffers.set_aside(more, all / LEFT_ONE_OF) {
            return None;
        }
        (taken.bytes, taken.pages) = (sum, taken.pages + more);
        Some(SpareBytes {
            memory: Arc::clone(self),
            bytes,
        })
    }

    /// Returns the number of bytes that are taken.
    pub fn bytes(&self) -> usize {
        self.taken().bytes
    }

    /// Returns true if frames have missed a page of it since this was asked before.
    pub fn is_wanted(&self) -> bool {
        self.buffers.was_missed()
    }

    fn give_back(&self, bytes: usize) {
        let mut taken = self.taken();
        taken.bytes -= bytes;
        let pages = taken.bytes.div_ceil(PAGE_SIZE);
        self.buffers.take_back(taken.pages - pages);
        taken.pages = pages;
    }

    fn taken(&self) -> MutexGuard<'_, SpareTaken> {
        self.taken.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl SpareBytes {
    /// Gives back what is more than so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        self.memory.give_back(less);
        self.bytes -= less;
    }
}

impl Drop for SpareBytes {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_were_never_used_lend_their_memory() {
        let pool = PagePool::new(32);
        let memory = Arc::new(SpareMemory::new(pool.clone()));
        let mut first = memory.take(PAGE_SIZE + 1).unwrap();
        let second = memory.take(PAGE_SIZE - 1).unwrap();
        assert_eq!(memory.bytes(), 2 * PAGE_SIZE);
        assert!(memory.take(6 * PAGE_SIZE + 1).is_none());
        let held: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert!(held.len() == 30 && memory.is_wanted() && memory.take(1).is_none());
        first.shrink_to(1);
        assert!(pool.take().is_some());
        drop((first, second));
        assert!(memory.bytes() == 0 && !memory.is_wanted());
    }
}
