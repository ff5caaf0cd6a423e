//! The number of frames of a pool that may be pinned.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of frames of a pool that may still be pinned.
pub(super) struct Pins(Arc<AtomicUsize>);

/// The right to pin one frame, given back when dropped.
pub(super) struct Share(Arc<AtomicUsize>);

impl Pins {
    pub(super) fn new(pins: usize) -> Pins {
        Pins(Arc::new(AtomicUsize::new(pins)))
    }

    pub(super) fn take(&self) -> Option<Share> {
        let (order, less) = (Ordering::Relaxed, |left: usize| left.checked_sub(1));
        let taken = self.0.fetch_update(order, order, less);
        taken.is_ok().then(|| Share(Arc::clone(&self.0)))
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
