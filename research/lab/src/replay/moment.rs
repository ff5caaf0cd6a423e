//! The moment of a replay, for policies that know more than the engine tells: which request is
//! served, and in how large a round.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The moment. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    misses: Arc<AtomicUsize>,
    together: Arc<AtomicUsize>,
}

impl Moment {
    /// Notes that so many misses were served.
    pub fn pass(&self, misses: usize) {
        self.misses.store(misses, Ordering::Relaxed);
    }

    /// Notes the number of pages that memory missed together with the one that is read or offered.
    pub fn tell(&self, together: u32) {
        self.together.store(together as usize, Ordering::Relaxed);
    }

    /// The misses that were served.
    pub fn misses(&self) -> usize {
        self.misses.load(Ordering::Relaxed)
    }

    /// The pages that memory missed together, 1 at least.
    pub fn together(&self) -> usize {
        self.together.load(Ordering::Relaxed).max(1)
    }
}
