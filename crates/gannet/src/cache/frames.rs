//! Frames: checked pages in memory, shared by all queries, in shards that each evict by SIEVE.
//!
//! A part of them may be pinned (see `pinned`): the shards forget those too when their turn comes, but get no buffer
//! back for it.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::pinned::{Pins, Share};
use super::sieve::Sieve;
use crate::base::{Budget, Error, PAGE_PAYLOAD, PAGE_SIZE, PageAddress, Reservation, Result};
use crate::device::{PageBuffer, PagePool};
use crate::storage::{PageKind, ReadPage, Store, first_record};

const SHARDS: usize = 16;

/// Memory that a frame takes beside its page: the map entry and the counts.
const FRAME_OVERHEAD: usize = 96;

/// The fewest frames a pool works with.
const FRAMES_MIN: usize = 64;

/// What part of the frames beyond those may be pinned.
const PINS_SHARE: usize = 8;

/// A checked page in memory, alive as long as anyone holds it.
#[derive(Clone)]
pub struct Frame {
    page: Arc<FramePage>,
}

struct FramePage {
    buffer: PageBuffer,
    kind: PageKind,
}

/// The pool of frames of one index.
pub struct FramePool {
    store: Arc<Store>,
    buffers: PagePool,
    shards: Vec<Mutex<Sieve<Frame>>>,
    victim: AtomicUsize,
    pins: Pins,
    _reserved: Reservation,
}

impl FramePool {
    /// A pool that takes `bytes` of the budget for frames.
    pub fn new(store: Arc<Store>, budget: &Budget, bytes: usize) -> Result<FramePool> {
        let frames = (bytes / (PAGE_SIZE + FRAME_OVERHEAD)).max(FRAMES_MIN);
        let reserved = budget.reserve("the frame pool", frames * (PAGE_SIZE + FRAME_OVERHEAD))?;
        let buffers = PagePool::try_new(frames).ok_or_else(|| {
            Error::invalid(format!(
                "the system refuses {} bytes of memory for pages: give less memory than the machine has",
                frames * PAGE_SIZE
            ))
        })?;
        Ok(FramePool {
            store,
            buffers,
            shards: (0..SHARDS).map(|_| Mutex::new(Sieve::new())).collect(),
            victim: AtomicUsize::new(0),
            pins: Pins::new((frames - FRAMES_MIN) / PINS_SHARE),
            _reserved: reserved,
        })
    }

    /// Frames in the pool, used or not.
    pub fn capacity(&self) -> usize {
        self.buffers.pages()
    }

    /// The right to pin one frame more, unless the share for that is used up.
    pub(super) fn take_pin(&self) -> Option<Share> {
        self.pins.take()
    }

    /// How many more frames may be pinned.
    #[cfg(test)]
    pub fn pins_left(&self) -> usize {
        self.pins.left()
    }

    /// The frame of a page if it is in memory.
    pub fn get(&self, address: PageAddress) -> Option<Frame> {
        self.shard(address).get(address)
    }

    /// A copy of a page that is not on the device yet.
    pub(super) fn copy_pending(&self, address: PageAddress) -> Result<Option<Frame>> {
        if !self.store.is_pending(address) {
            return Ok(None);
        }
        let mut buffer = self.take_buffer()?;
        let copied = self.store.copy_pending(address, &mut buffer);
        Ok(copied.then(|| Frame::new(buffer, PageKind::Log)))
    }

    /// Reads pages from the device in one batch and keeps them. Gives the frames sorted by address and the
    /// number of read operations.
    pub fn read(&self, addresses: &[PageAddress]) -> Result<(Vec<(PageAddress, Frame)>, usize)> {
        let mut wanted = Vec::with_capacity(addresses.len());
        for address in addresses {
            wanted.push((*address, self.take_buffer()?));
        }
        let (pages, operations) = self.store.read(wanted)?;
        let frames = pages.into_iter().map(|page| self.keep(page)).collect();
        Ok((frames, operations))
    }

    fn keep(&self, page: ReadPage) -> (PageAddress, Frame) {
        let frame = Frame::new(page.buffer, page.kind);
        let mut shard = self.shard(page.address);
        shard.insert(page.address, frame.clone());
        (page.address, frame)
    }

    fn shard(&self, address: PageAddress) -> MutexGuard<'_, Sieve<Frame>> {
        let mixed = (address.page ^ address.zone.rotate_left(16)).wrapping_mul(0x9e37_79b9);
        let shard = &self.shards[(mixed >> 28) as usize % SHARDS];
        shard.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A free buffer, evicting frames until one comes back. Frames that queries hold come back only when
    /// they let go, so that eviction may have to go on for a while.
    fn take_buffer(&self) -> Result<PageBuffer> {
        let mut dry = 0;
        loop {
            if let Some(buffer) = self.buffers.take() {
                return Ok(buffer);
            }
            let turn = self.victim.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let evicted = {
                let mut shard = self.shards[turn].lock().unwrap_or_else(|e| e.into_inner());
                shard.evict()
            };
            dry = if evicted.is_some() { 0 } else { dry + 1 };
            if dry > SHARDS {
                return Err(Error::Memory {
                    what: "a query's pages".into(),
                    needed: PAGE_SIZE,
                    free: 0,
                    budget: self.capacity() * PAGE_SIZE,
                });
            }
        }
    }
}

impl Frame {
    fn new(buffer: PageBuffer, kind: PageKind) -> Frame {
        Frame {
            page: Arc::new(FramePage { buffer, kind }),
        }
    }

    /// What the page holds.
    pub fn kind(&self) -> PageKind {
        self.page.kind
    }

    /// The byte of the payload at which the first record of the page begins; the end if none does.
    pub fn first_record(&self) -> usize {
        first_record(&self.page.buffer)
    }
}

impl Deref for Frame {
    type Target = [u8];

    /// The page's payload.
    fn deref(&self) -> &[u8] {
        &self.page.buffer[..PAGE_PAYLOAD]
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({:?})", self.page.kind)
    }
}
