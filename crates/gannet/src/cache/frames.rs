//! Frames: checked pages in memory, shared by all queries, in shards that each evict by SIEVE.
//!
//! A part of them may be pinned (see `pinned`): the shards forget those too when their turn comes,
//! but get no buffer back for it.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::claims::Claims;
use super::flash::{EvictedPage, FlashTier};
use super::known_damage::{DamageNotes, KnownDamage};
use super::pins::{Pins, Share};
use super::sieve::{Sieve, USES_MAX};
use super::spare::SpareMemory;
use crate::base::{Budget, Error, PAGE_PAYLOAD, PAGE_SIZE, PageAddress, Reservation, Result};
use crate::device::{PageBuffer, PagePool};
use crate::storage::{IndexIdentity, PageKind, ReadPage, Store, first_record};

const SHARDS: usize = 16;

/// Memory that a frame takes beside its page: the map entry and the counts.
const FRAME_OVERHEAD: usize = 96;

/// The fewest frames a pool works with.
const FRAMES_MIN: usize = 64;

/// The share of the other frames that may be pinned.
const PINS_SHARE: usize = 8;

/// A checked page in memory, alive as long as anyone holds it.
#[derive(Clone)]
pub struct Frame {
    page: Arc<FramePage>,
}

struct FramePage {
    buffer: PageBuffer,
    kind: PageKind,
    is_from_tier: bool,
}

/// The pool of frames of one index.
pub struct FramePool {
    store: Arc<Store>,
    buffers: PagePool,
    shards: Vec<Mutex<Sieve<PageAddress, Frame>>>,
    victim: AtomicUsize,
    pins: Pins,
    tier: Option<FlashTier>,
    /// The reads under way while there is a tier, so that a page is asked of the device once.
    claims: Claims,
    damage: KnownDamage,
    _reserved: Reservation,
}

impl FramePool {
    /// A pool that takes `bytes` of the budget for frames.
    pub fn new(store: Arc<Store>, budget: &Budget, bytes: usize) -> Result<FramePool> {
        let frames = (bytes / (PAGE_SIZE + FRAME_OVERHEAD)).max(FRAMES_MIN);
        let reserved = budget.reserve("the frame pool", frames * (PAGE_SIZE + FRAME_OVERHEAD))?;
        let buffers = PagePool::try_new(frames).ok_or_else(|| {
            Error::invalid(format!(
                "the system rejects {} bytes of memory for pages: give less memory than the machine has",
                frames * PAGE_SIZE
            ))
        })?;
        Ok(FramePool {
            store,
            buffers,
            shards: (0..SHARDS).map(|_| Mutex::new(Sieve::new())).collect(),
            victim: AtomicUsize::new(0),
            pins: Pins::new((frames - FRAMES_MIN) / PINS_SHARE),
            tier: None,
            claims: Claims::default(),
            damage: KnownDamage::default(),
            _reserved: reserved,
        })
    }

    /// The same pool with a flash tier, which gets what is evicted and, when the pool ends, what is
    /// left.
    #[must_use]
    pub fn with_tier(mut self, tier: FlashTier) -> FramePool {
        self.tier = Some(tier);
        self
    }

    /// Begins to note pages that did not prove themselves: the device is not asked for them again.
    pub fn note_damage(&self) -> DamageNotes<'_> {
        self.damage.note()
    }

    /// The flash tier, if there is one.
    pub fn tier(&self) -> Option<&FlashTier> {
        self.tier.as_ref()
    }

    /// Waits until a frame comes back that somebody held, at most for so long.
    pub(super) fn wait_for_frame(&self, most: Duration) {
        self.buffers.wait_for_return(most);
    }

    /// Lets go of all frames, for measurements without a cache.
    #[cfg(feature = "lab")]
    pub fn empty(&self) {
        for shard in &self.shards {
            *shard.lock().unwrap_or_else(|e| e.into_inner()) = Sieve::new();
        }
    }

    /// Frames in the pool, used or not.
    pub fn capacity(&self) -> usize {
        self.buffers.pages()
    }

    /// The memory of frames that were never used. To be asked for once.
    pub fn spare(&self) -> SpareMemory {
        SpareMemory::new(self.buffers.clone())
    }

    /// The right to pin one frame more, unless the share for that is used up.
    pub(super) fn take_pin(&self) -> Option<Share> {
        self.pins.take()
    }

    /// Returns the number of frames that may still be pinned.
    #[cfg(test)]
    pub fn pins_left(&self) -> usize {
        self.pins.left()
    }

    /// The frame of a page if it is in memory.
    pub fn get(&self, address: PageAddress) -> Option<Frame> {
        self.shard(address).get(&address)
    }

    /// The identity of the index.
    pub fn identity(&self) -> IndexIdentity {
        self.store.identity()
    }

    /// Returns true if a page is not on the device yet.
    pub(super) fn is_pending(&self, address: PageAddress) -> bool {
        self.store.is_pending(address)
    }

    /// A copy of a page that is not on the device yet.
    pub(super) fn copy_pending(&self, address: PageAddress) -> Result<Option<Frame>> {
        if !self.store.is_pending(address) {
            return Ok(None);
        }
        let mut buffer = self.take_buffer()?;
        let copied = self.store.copy_pending(address, &mut buffer);
        Ok(copied.then(|| Frame::new(buffer, PageKind::Log, false)))
    }

    /// Reads pages and keeps them: those that the flash tier has, if there is one, then the others
    /// from the device in one batch. Gives the frames sorted by address and the number of read
    /// operations of the device.
    pub fn read(&self, addresses: &[PageAddress]) -> Result<(Vec<(PageAddress, Frame)>, usize)> {
        let Some(tier) = &self.tier else {
            return self.read_device(addresses.iter().copied());
        };
        let (mut frames, mut operations) = (Vec::with_capacity(addresses.len()), 0);
        let mut missing = addresses.to_vec();
        loop {
            let claimed = self.claims.take(&mut missing);
            let round = (claimed.pages(), addresses.len());
            operations += self.read_tier(tier, round, &mut frames)?;
            drop(claimed);
            if missing.is_empty() {
                break;
            }
            self.claims.wait(&missing);
        }
        frames.sort_unstable_by_key(|(address, _)| *address);
        Ok((frames, operations))
    }

    /// Reads pages that this thread alone reads, of a round of so many, and adds their frames to
    /// `frames`: what others have brought meanwhile, then what the tier has, then the others from
    /// the device.
    fn read_tier(
        &self,
        tier: &FlashTier,
        (addresses, round): (&[PageAddress], usize),
        frames: &mut Vec<(PageAddress, Frame)>,
    ) -> Result<usize> {
        let begin = frames.len();
        let in_memory = |address: &PageAddress| Some((*address, self.get(*address)?));
        frames.extend(addresses.iter().filter_map(in_memory));
        let missing = without(addresses, &frames[begin..]);
        let found = tier.read(&missing, round, &mut || self.take_buffer())?;
        frames.extend(found.into_iter().map(|page| self.keep(page, true)));
        let missing = without(&missing, &frames[begin..]);
        let started = Instant::now();
        let (others, operations) = self.read_device(missing.into_iter())?;
        if !others.is_empty() {
            tier.note_device_read(started.elapsed());
        }
        frames.extend(others);
        Ok(operations)
    }

    fn read_device(
        &self,
        addresses: impl ExactSizeIterator<Item = PageAddress>,
    ) -> Result<(Vec<(PageAddress, Frame)>, usize)> {
        let mut wanted = Vec::with_capacity(addresses.len());
        for address in addresses {
            self.damage.check(address)?;
            wanted.push((address, self.take_buffer()?));
        }
        if wanted.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (pages, operations) = self.store.read(wanted)?;
        let frames = pages.into_iter().map(|page| self.keep(page, false));
        Ok((frames.collect(), operations))
    }

    fn keep(&self, page: ReadPage, is_from_tier: bool) -> (PageAddress, Frame) {
        let frame = Frame::new(page.buffer, page.kind, is_from_tier);
        let mut shard = self.shard(page.address);
        shard.insert(page.address, frame.clone());
        (page.address, frame)
    }

    fn shard(&self, address: PageAddress) -> MutexGuard<'_, Sieve<PageAddress, Frame>> {
        let mixed = (address.page ^ address.zone.rotate_left(16)).wrapping_mul(0x9e37_79b9);
        let shard = &self.shards[(mixed >> 28) as usize % SHARDS];
        shard.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A free buffer, evicting frames until one comes back. Frames that queries hold come back only
    /// when they let go, so that eviction may have to go on for a while.
    fn take_buffer(&self) -> Result<PageBuffer> {
        let mut dry = 0;
        loop {
            if let Some(buffer) = self.buffers.take() {
                return Ok(buffer);
            }
            let shard = self.victim.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let has_evicted = {
                let mut shard = self.shards[shard].lock().unwrap_or_else(|e| e.into_inner());
                let evicted = shard.evict();
                // Under the lock: who does not find it in memory finds it in the tier.
                if let (Some((address, frame)), Some(tier)) = (&evicted, &self.tier) {
                    tier.offer(frame.leaving(*address));
                }
                evicted.is_some()
            };
            dry = if has_evicted { 0 } else { dry + 1 };
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

impl Drop for FramePool {
    /// Gives the tier what is still in memory, for a process that asks one query evicts nothing:
    /// what was used most comes first, since there may not be time for all.
    fn drop(&mut self) {
        let Some(tier) = &mut self.tier else { return };
        for uses in (0..=USES_MAX).rev() {
            for shard in &self.shards {
                let shard = shard.lock().unwrap_or_else(|e| e.into_inner());
                for (address, frame) in shard.with_uses(uses) {
                    if !tier.offer_at_end(frame.leaving(*address)) {
                        return;
                    }
                }
            }
        }
    }
}

impl Frame {
    fn new(buffer: PageBuffer, kind: PageKind, is_from_tier: bool) -> Frame {
        Frame {
            page: Arc::new(FramePage {
                buffer,
                kind,
                is_from_tier,
            }),
        }
    }

    fn leaving(&self, address: PageAddress) -> EvictedPage<'_> {
        EvictedPage {
            address,
            bytes: &self.page.buffer,
            is_from_tier: self.page.is_from_tier,
        }
    }

    /// Returns true if it was read from the flash tier.
    pub(super) fn is_from_tier(&self) -> bool {
        self.page.is_from_tier
    }

    /// Returns the kind of the page.
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

/// Returns the addresses that have no frame.
fn without(addresses: &[PageAddress], frames: &[(PageAddress, Frame)]) -> Vec<PageAddress> {
    let mut found: Vec<PageAddress> = frames.iter().map(|(address, _)| *address).collect();
    found.sort_unstable();
    let is_missing = |address: &&PageAddress| found.binary_search(address).is_err();
    addresses.iter().filter(is_missing).copied().collect()
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({:?})", self.page.kind)
    }
}
