//! The flash tier: pages that left memory, kept in a file on flash, between the frame pool and the
//! device of the index.
//!
//! Pages that are evicted pass a selection and a buffer, and are written to regions of 512 KiB, one
//! after another, by a thread of the tier's own (`writer`). Once all regions have pages, each gives
//! up a few for others (`super::policy`). A page that is read back proves itself
//! by the seal that it has in the index: its checksum covers the index, the address and the bytes.
//! So nothing in the tier has to be right, or durable. What does not prove itself is read from the
//! device of the index, and forgotten.
//!
//! An address names its bytes for ever, but only within one history of the index. So each region
//! says under which root it was written, and counts only for roots that go on from that one
//! (`Lineage`). What is left of another history under the same seals has another mark (`header`).
//!
//! One process writes a tier at a time; others read it, and one of them takes over when it ends
//! (`sharing`). The tier outlives them: opening reads the headers of the regions (`opening`).
//!
//! Pages of a round that are in the tier are read in a batch of their own, before those of the
//! device: what failed to prove itself can join these. A round that needs both takes the time of
//! both batches.

mod gain;
mod guest;
pub(crate) mod header;
mod limit;
mod map;
mod opening;
mod regions;
mod root;
mod sharing;
mod size;
mod state;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gain::Gain;
use guest::Guest;
pub use guest::OpenTier;
use header::{Header, REGION_PAGES, place, toggle_mark};
use limit::WriteLimit;
use map::TierMap;
use opening::TierFound;
pub use root::TierRoot;
pub use size::TIER_BYTES_MIN;
use size::{TIER, TIER_BYTES_MAX, region_count};
pub use state::EvictedPage;
use state::{Offered, TierContents};

use super::policy::RoundShares;
use crate::base::{Budget, PAGE_SIZE, PageAddress, Reservation, Result};
use crate::device::{Device, PageBuffer, PagePool, Transfer};
use crate::storage::{ReadPage, Store};

/// Pages of two drafts: one that fills, and one that is written.
const DRAFT_PAGES: usize = 2 * REGION_PAGES;

/// These, and the copies that are written.
const BUFFER_PAGES: usize = DRAFT_PAGES + REGION_PAGES;

/// Bytes that the map, the states of regions and what is remembered take, at most: one for so many
/// of the tier.
const BYTES_PER_MAP_BYTE: u64 = 410;

/// Bytes of the state of a region, beside what the policy has.
const REGION_STATE: usize = 1;

/// The share of the time that the tier was open which its end waits for pages to be written.
const CLOSING_ONE_OF: u32 = 10;

/// The least of it, which nobody notices and which is enough for the pages of one query, and the
/// most.
const CLOSING_MIN: Duration = Duration::from_millis(50);
const CLOSING_MAX: Duration = Duration::from_secs(5);

/// The flash tier of an index that is open.
pub struct FlashTier {
    shared: Arc<TierShared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Set as long as another process writes it.
    guest: Mutex<Option<Guest>>,
    foreign_regions: usize,
    opened: Instant,
    /// The time at which the end waits no more, once it has begun.
    closes_by: Option<Instant>,
}

struct TierShared {
    device: RwLock<Arc<dyn Device>>,
    store: Arc<Store>,
    state: Mutex<TierContents>,
    gain: Mutex<Gain>,
    /// A draft is ready, or was taken, or written; or the writing thread has ended.
    changed: Condvar,
    _reserved: Reservation,
}

/// A place where a page may be.
struct Candidate {
    address: PageAddress,
    place: u32,
}

/// Figures of a flash tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TierFigures {
    /// Bytes that its file may take.
    pub capacity_bytes: u64,
    /// Pages of the index that it holds.
    pub pages: u64,
    /// Bytes of the memory budget that its map and its buffers take.
    pub memory_bytes: u64,
    /// Pages that were read from it since the index was opened.
    pub read_pages: u64,
    /// Pages that were written to it since the index was opened.
    pub written_pages: u64,
    /// Pages that were damaged, and were read from the device of the index.
    pub unproven_pages: u64,
    /// Pages that were not taken since all buffers were full, or by the limit of writes.
    pub passed_over_pages: u64,
    /// Regions that were dropped when it was opened: one of them was damaged, or belongs to another
    /// index or another history.
    pub foreign_regions: u64,
    /// Why nothing is written to it any more. If it does not pay, nothing is read from it either.
    pub stopped: Option<String>,
}

impl FlashTier {
    /// The tier on `device`, which may take `bytes`, for the index of `store`.
    ///
    /// # Errors
    ///
    /// If the budget lacks [`FlashTier::memory_bytes`], or the device fails.
    pub fn open(
        device: Arc<dyn Device>,
        bytes: u64,
        store: &Arc<Store>,
        root: &TierRoot,
        budget: &Budget,
    ) -> Result<FlashTier> {
        let reserved = budget.reserve("the map of the cache", FlashTier::memory_bytes(bytes))?;
        let found = opening::find(&device, bytes, root, PagePool::new(DRAFT_PAGES))?;
        let tier = FlashTier::of(device, found, store, reserved);
        tier.start_writing();
        Ok(tier)
    }

    fn of(
        device: Arc<dyn Device>,
        found: TierFound,
        store: &Arc<Store>,
        reserved: Reservation,
    ) -> FlashTier {
        let shared = TierShared {
            device: RwLock::new(device),
            store: Arc::clone(store),
            state: Mutex::new(found.state),
            gain: Mutex::default(),
            changed: Condvar::new(),
            _reserved: reserved,
        };
        FlashTier {
            shared: Arc::new(shared),
            thread: Mutex::default(),
            guest: Mutex::default(),
            foreign_regions: found.foreign_regions,
            opened: Instant::now(),
            closes_by: None,
        }
    }

    /// Starts the thread that writes.
    fn start_writing(&self) {
        let thread = writer::start(&self.shared);
        if let Err(error) = &thread {
            let mut state = self.shared.state();
            state.stopped = Some(format!("a thread could not be started: {error}"));
            state.is_over = true;
        }
        *self.thread.lock().unwrap_or_else(|e| e.into_inner()) = thread.ok();
    }

    /// Bytes of memory that a tier of `bytes` takes: a 410th of it at most, and 1.5 MiB of buffers.
    pub fn memory_bytes(bytes: u64) -> usize {
        let regions = region_count(bytes);
        TierMap::memory_bytes(regions * REGION_PAGES)
            + regions * REGION_STATE
            + RoundShares::memory_bytes(regions, REGION_PAGES)
            + BUFFER_PAGES * PAGE_SIZE
    }

    /// Bytes of the largest tier for which so many bytes of memory are enough.
    pub fn largest(memory: usize) -> u64 {
        let map = memory.saturating_sub(BUFFER_PAGES * PAGE_SIZE) as u64;
        (map * BYTES_PER_MAP_BYTE).min(TIER_BYTES_MAX)
    }

    /// Takes pages of a later root of the same index from now on.
    pub fn follow(&self, root: &TierRoot) {
        self.shared.state().root = root.clone();
    }

    /// Writes at most so many bytes a second from now on.
    pub fn limit_writes(&self, bytes_per_second: u64) {
        let limit = WriteLimit::new(bytes_per_second, Instant::now());
        self.shared.state().limit = Some(limit);
    }

    /// Notes the time that a batch of the device of the index took. The tier is turned off where
    /// its own batches take about as long.
    pub(super) fn note_device_read(&self, took: Duration) {
        let loss = {
            let mut gain = self.shared.gain();
            gain.note_device(took);
            gain.loss()
        };
        if let Some(reason) = loss {
            self.shared.state().turn_off(reason);
        }
    }

    /// The figures now.
    pub fn figures(&self) -> TierFigures {
        let state = self.shared.state();
        let regions = state.regions.count();
        let bytes = (regions * REGION_PAGES * PAGE_SIZE) as u64;
        TierFigures {
            capacity_bytes: bytes,
            pages: state.map.pages() as u64,
            memory_bytes: FlashTier::memory_bytes(bytes) as u64,
            read_pages: state.counts.read,
            written_pages: state.counts.written,
            unproven_pages: state.counts.unproven,
            passed_over_pages: state.counts.passed_over,
            foreign_regions: self.foreign_regions as u64,
            stopped: state.stopped.clone(),
        }
    }

    /// Reads those of the pages that the tier holds, in any order; `take` gives buffers. Memory
    /// lacks them, and as many of their round as `round` says.
    pub(super) fn read(
        &self,
        addresses: &[PageAddress],
        round: usize,
        take: &mut dyn FnMut() -> Result<PageBuffer>,
    ) -> Result<Vec<ReadPage>> {
        self.look_again();
        let mut pages = Vec::new();
        let mut wanted = Vec::new();
        if !self.shared.count_requests(addresses, round) || self.shared.wants_probe() {
            return Ok(pages);
        }
        for address in addresses {
            if self.shared.state().has_draft(*address) {
                let mut buffer = take()?;
                if self.shared.state().copy_draft(*address, &mut buffer) {
                    pages.extend(self.shared.prove(*address, buffer));
                    continue;
                }
            }
            // What has left the drafts by now is in the map.
            for place in self.shared.places(*address) {
                wanted.push((
                    Candidate {
                        address: *address,
                        place,
                    },
                    take()?,
                ));
            }
        }
        pages.extend(self.shared.read(wanted));
        Ok(pages)
    }

    /// Offers a page that leaves memory. Never waits for a write.
    pub(super) fn offer(&self, page: EvictedPage<'_>) {
        self.shared.offer(page);
    }

    /// Offers a page that is in memory at the end, and waits until there is room for it. Tells
    /// whether more can be offered: not if writing has failed, nor after a time that is short
    /// beside what the process has taken.
    pub(super) fn offer_at_end(&mut self, page: EvictedPage<'_>) -> bool {
        let end = self.closes_by();
        while self.shared.offer(page) == Offered::Full {
            let state = self.shared.state();
            if !self.shared.wait(state, end, TierContents::is_busy) {
                return false;
            }
        }
        self.shared.state().stopped.is_none()
    }

    fn closes_by(&mut self) -> Instant {
        let share = self.opened.elapsed() / CLOSING_ONE_OF;
        let end = Instant::now() + share.clamp(CLOSING_MIN, CLOSING_MAX);
        *self.closes_by.get_or_insert(end)
    }
}

impl TierShared {
    fn offer(&self, page: EvictedPage<'_>) -> Offered {
        let offered = self.state().offer(page);
        if offered == Offered::Ready {
            self.changed.notify_all();
        }
        offered
    }

    /// Waits as long as something `is` so, at most until `end`. Tells whether it is not so any
    /// more.
    fn wait(
        &self,
        state: MutexGuard<'_, TierContents>,
        end: Instant,
        is: fn(&TierContents) -> bool,
    ) -> bool {
        let left = end.saturating_duration_since(Instant::now());
        let waited = self
            .changed
            .wait_timeout_while(state, left, |state| is(state));
        let (state, _) = waited.unwrap_or_else(|e| e.into_inner());
        !is(&state)
    }

    fn device(&self) -> Arc<dyn Device> {
        Arc::clone(&self.device.read().unwrap_or_else(|e| e.into_inner()))
    }

    fn state(&self) -> MutexGuard<'_, TierContents> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn gain(&self) -> MutexGuard<'_, Gain> {
        self.gain.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns true if the device of the index is to be asked, to know whether the tier pays. A
    /// tier before a network does.
    fn wants_probe(&self) -> bool {
        !self.store.device().is_remote() && self.gain().wants_probe()
    }

    /// Tells the policy which pages of a round memory lacks. Tells whether the tier is read.
    fn count_requests(&self, addresses: &[PageAddress], round: usize) -> bool {
        let mut state = self.state();
        if !state.is_off {
            for address in addresses {
                state.policy.count_request(*address, round);
            }
        }
        !state.is_off
    }

    fn places(&self, address: PageAddress) -> Vec<u32> {
        self.state().map.candidates(address).collect()
    }

    /// The pages of the candidates that prove themselves, each once.
    fn read(&self, wanted: Vec<(Candidate, PageBuffer)>) -> Vec<ReadPage> {
        let (candidates, buffers): (Vec<Candidate>, Vec<PageBuffer>) = wanted.into_iter().unzip();
        if candidates.is_empty() {
            return Vec::new();
        }
        let places = candidates.iter().map(|candidate| candidate.place);
        let started = Instant::now();
        let Some(buffers) = self.fetch(places, buffers) else {
            self.forget(&candidates);
            return Vec::new();
        };
        self.gain().note_tier(started.elapsed());
        let mark = self.state().mark;
        let (mut pages, mut others) = (Vec::<ReadPage>::new(), Vec::new());
        for (candidate, mut buffer) in candidates.into_iter().zip(buffers) {
            let is_read = |page: &ReadPage| page.address == candidate.address;
            if pages.last().is_some_and(is_read) {
                continue;
            }
            toggle_mark(&mut buffer, mark);
            match self.store.prove_copy(candidate.address, &buffer) {
                Some(kind) => pages.push(ReadPage {
                    address: candidate.address,
                    kind,
                    buffer,
                }),
                None => others.push((candidate, buffer)),
            }
        }
        // What was written anew may have left damaged copies.
        others.retain(|(candidate, _)| pages.iter().all(|page| page.address != candidate.address));
        self.state().counts.read += pages.len() as u64;
        self.forget_damaged(others);
        pages
    }

    /// The pages of the file at some places, unless the device fails: what is in the buffers then
    /// is unknown.
    fn fetch(
        &self,
        places: impl Iterator<Item = u32>,
        buffers: Vec<PageBuffer>,
    ) -> Option<Vec<PageBuffer>> {
        let transfer = |(page, buffer)| Transfer {
            file: TIER,
            page,
            buffers: vec![buffer],
        };
        let mut batch: Vec<Transfer> = places.zip(buffers).map(transfer).collect();
        if batch.is_empty() {
            return Some(Vec::new());
        }
        let read = self.device().read(&mut batch);
        let buffers = batch.into_iter().flat_map(|transfer| transfer.buffers);
        read.is_ok().then(|| buffers.collect())
    }

    /// Forgets those of the candidates that should have proven themselves: the others are places of
    /// other pages, as the headers of the regions say.
    fn forget_damaged(&self, candidates: Vec<(Candidate, PageBuffer)>) {
        let (mut candidates, buffers): (Vec<Candidate>, Vec<PageBuffer>) =
            candidates.into_iter().unzip();
        let regions: Vec<u32> = candidates.iter().map(Candidate::region).collect();
        let headers = regions.iter().map(|region| place(*region, 0));
        if let Some(headers) = self.fetch(headers, buffers) {
            let mut headers = regions.iter().zip(headers);
            candidates.retain(|candidate| {
                let header = headers
                    .next()
                    .and_then(|(region, page)| Header::decode(&page, *region));
                header
                    .is_none_or(|header| header.page_at(candidate.place) == Some(candidate.address))
            });
        }
        self.forget(&candidates);
    }

    fn forget(&self, candidates: &[Candidate]) {
        let mut state = self.state();
        state.counts.unproven += candidates.len() as u64;
        for candidate in candidates {
            state.map.remove(candidate.address, candidate.place);
        }
    }

    /// A page, if it is the one of this address.
    fn prove(&self, address: PageAddress, buffer: PageBuffer) -> Option<ReadPage> {
        let kind = self.store.prove_copy(address, &buffer)?;
        Some(ReadPage {
            address,
            kind,
            buffer,
        })
    }
}

impl Candidate {
    fn region(&self) -> u32 {
        self.place / REGION_PAGES as u32
    }
}

impl Drop for FlashTier {
    /// Writes what is buffered, if that does not take too long.
    fn drop(&mut self) {
        let (shared, end) = (Arc::clone(&self.shared), self.closes_by());
        // The last draft waits for the one that is written.
        if shared.wait(shared.state(), end, TierContents::is_busy) {
            shared.state().hand_over();
        }
        shared.state().is_closing = true;
        shared.changed.notify_all();
        let is_over = shared.wait(shared.state(), end, |state| !state.is_over);
        let thread = self.thread.get_mut().unwrap_or_else(|e| e.into_inner());
        match thread.take() {
            // One that panicked has left pages that do not prove themselves, at worst.
            Some(thread) if is_over => drop(thread.join()),
            // The thread ends with the write that it is in, and has the lock until then.
            _ => shared.state().ready = None,
        }
    }
}
