//! Pinned frames: the pages of a small table that nearly every query reads, found without the pool.
//!
//! The pool finds a page behind a lock and a map, and counts who holds its frame: too much for a
//! page of which a query needs a few bytes. So a table may keep a column of the frames of its
//! pages, a slot for each page, filled when the page is first read. A look into it is one load, and
//! neither locks nor counts.
//!
//! Invariants:
//! 1. A slot is filled once. A table whose pages were written anew gets a new column.
//! 2. A slot answers only for the address that its frame was read from.
//! 3. Eviction cannot have what is pinned, so all columns of a pool hold no more than its share for
//!    pins. What was taken of it comes back when the last column that holds the frame is dropped.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::frames::{Frame, FramePool};
use super::pins::Share;
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

impl PinnedPages {
    /// A column for a table of so many pages, none of which was read.
    pub fn new(pages: usize) -> PinnedPages {
        PinnedPages {
            slots: (0..pages).map(|_| OnceLock::new()).collect(),
        }
    }

    /// A column for the table as it is now, of so many pages, with the frames of those that are
    /// where they were.
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
