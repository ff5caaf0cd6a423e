//! Pinned frames: the pages of a small table that nearly every query reads, found without the pool.
//!
//! The pool finds a page behind a lock and a map, and counts who holds its frame: too much for a page of which a query
//! needs a few bytes. So a table may keep a column of the frames of its pages, a slot for each page, filled when the
//! page is first read. A look into it is one load, and neither locks nor counts.
//!
//! Invariants:
//! 1. A slot is filled once. A table whose pages were written anew gets a new column.
//! 2. A slot answers only for the address that its frame was read from.
//! 3. Eviction cannot have what is pinned, so all columns of a pool hold no more than its share for pins. What was
//!    taken of it comes back when the last column that holds the frame is dropped.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::frames::{Frame, FramePool};
use crate::base::PageAddress;

/// The frames of a table's pages that were read.
pub struct PinnedPages {
    slots: Box<[OnceLock<Arc<Pin>>]>,
}

/// A frame that is pinned.
struct Pin {
    address: PageAddress,
    frame: Frame,
    _share: Share,
}

/// How many more frames of a pool may be pinned.
pub(super) struct Pins(Arc<AtomicUsize>);

/// The right to pin one frame, given back when dropped.
pub(super) struct Share(Arc<AtomicUsize>);

impl PinnedPages {
    /// A column for a table of so many pages, none of which was read.
    pub fn new(pages: usize) -> PinnedPages {
        PinnedPages {
            slots: (0..pages).map(|_| OnceLock::new()).collect(),
        }
    }

    /// A column for the table as it is now, of so many pages, with the frames of those that are where they were.
    pub fn renewed(
        &self,
        pages: usize,
        addresses: impl Iterator<Item = (usize, PageAddress)>,
    ) -> PinnedPages {
        let renewed = PinnedPages::new(pages);
        for (page, address) in addresses {
            if let (Some(pin), Some(slot)) = (self.pin_of(page, address), renewed.slots.get(page)) {
                // The slot is new, and so empty.
                let _ = slot.set(Arc::clone(pin));
            }
        }
        renewed
    }

    /// Bytes of memory that the slots take. Frames are the pool's.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// The frame of a page, if it is pinned.
    #[inline]
    pub fn get(&self, page: usize, address: PageAddress) -> Option<&Frame> {
        self.pin_of(page, address).map(|pin| &pin.frame)
    }

    /// The frame of a page that [`PinnedPages::get`] gave before.
    #[inline]
    pub fn held(&self, page: usize) -> Option<&Frame> {
        Some(&self.slots.get(page)?.get()?.frame)
    }

    /// Pins the frame of a page, unless another has its slot or `pool` has pinned its share.
    pub(super) fn pin(&self, page: usize, address: PageAddress, frame: &Frame, pool: &FramePool) {
        if let Some(slot) = self.slots.get(page)
            && slot.get().is_none()
            && let Some(share) = pool.take_pin()
        {
            let pin = Pin {
                address,
                frame: frame.clone(),
                _share: share,
            };
            // Whoever came first has the same frame.
            let _ = slot.set(Arc::new(pin));
        }
    }

    #[inline]
    fn pin_of(&self, page: usize, address: PageAddress) -> Option<&Arc<Pin>> {
        let pin = self.slots.get(page)?.get()?;
        (pin.address == address).then_some(pin)
    }
}

impl fmt::Debug for PinnedPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pinned = self.slots.iter().filter(|slot| slot.get().is_some());
        write!(f, "PinnedPages({} of {})", pinned.count(), self.slots.len())
    }
}

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
