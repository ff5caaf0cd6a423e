//! The tier under a pool of few frames: what is read where, and that no page is ever the wrong one.

mod guest;

use std::path::Path;

use super::*;
use crate::base::{Error, Span, ZoneNumber};
use crate::cache::FramePool;
use crate::device::{
    Backend, BoundedDevice, Counters, Fault, FaultKind, FileId, MemoryDevice, MemoryPage,
    RecordingDevice, open_tier,
};
use crate::storage::{
    History, Lineage, PageKind, RootSlot, SealAddress, SlotKind, ZoneTable, seal,
};

const IDENTITY: u64 = 77;
const ZONE: ZoneNumber = 3;

/// Pages of the index: more than the frames of the smallest pool.
const PAGES: u32 = 700;

/// Openings for writing: their numbers and first generations.
type Openings<'a> = &'a [(u64, u64)];

/// An index of one zone of sealed pages, and a tier.
struct World {
    index: Arc<MemoryDevice>,
    store: Arc<Store>,
    tier: Arc<dyn Device>,
    fill: u8,
}

impl World {
    fn new(tier: Arc<dyn Device>) -> World {
        World::of(tier, IDENTITY, 0, PAGES)
    }

    /// An index of another identity, or with other bytes in its pages.
    fn of(tier: Arc<dyn Device>, identity: u64, fill: u8, pages: u32) -> World {
        let index = Arc::new(MemoryDevice::new());
        index.create(FileId::Zone(ZONE)).unwrap();
        for number in 0..pages {
            let mut page = content(number, fill);
            let place = SealAddress::from(at(number));
            seal(&mut page, identity, place, PageKind::Node);
            let page = MemoryPage::new(&page);
            index.store(FileId::Zone(ZONE), number, page).unwrap();
        }
        let device: Arc<dyn Device> = index.clone();
        let store = Store::new(device, identity, ZoneTable::default());
        World {
            index,
            store: Arc::new(store),
            tier,
            fill,
        }
    }

    fn root(&self, generation: u64, openings: Openings<'_>) -> TierRoot {
        let mut history = History::default();
        openings
            .iter()
            .for_each(|(number, first)| history.open(*number, *first));
        let slot = RootSlot {
            identity: self.store.identity(),
            generation,
            root: Span {
                zone: 0,
                page: 0,
                offset: 0,
                length: 0,
            },
            kind: SlotKind::Index,
            history,
        };
        TierRoot {
            slot,
            next_zone: ZONE + 1,
        }
    }

    fn open_for(&self, root: &TierRoot) -> FramePool {
        self.open_with(root, 0)
    }

    /// With frames for so many bytes, or the fewest that there can be.
    fn open_with(&self, root: &TierRoot, frames: usize) -> FramePool {
        let budget = Budget::new(8 << 20);
        let tier = Arc::clone(&self.tier);
        let tier = FlashTier::open(tier, TIER_BYTES_MIN, &self.store, root, &budget).unwrap();
        let pool = FramePool::new(Arc::clone(&self.store), &budget, frames).unwrap();
        pool.with_tier(tier)
    }

    fn open(&self) -> FramePool {
        self.open_for(&self.root(5, &[(1, 1)]))
    }

    /// Reads pages a few at a time, each of which must be the right one.
    fn read(&self, pool: &FramePool, pages: impl Iterator<Item = u32>) {
        let pages: Vec<PageAddress> = pages.map(at).collect();
        for batch in pages.chunks(8) {
            self.read_batch(pool, batch);
            settle(pool);
        }
    }

    fn read_batch(&self, pool: &FramePool, batch: &[PageAddress]) {
        let missing: Vec<PageAddress> = batch
            .iter()
            .filter(|address| pool.get(**address).is_none())
            .copied()
            .collect();
        let (frames, _) = pool.read(&missing).unwrap();
        assert_eq!(frames.len(), missing.len());
        for (address, frame) in frames {
            let expected = content(address.page, self.fill);
            assert!(frame[..] == expected[..frame.len()], "{address:?}");
        }
    }

    /// Pages of the index that were read so far.
    fn pages_read(&self) -> u64 {
        self.index.counters().snapshot().read_bytes / PAGE_SIZE as u64
    }

    /// Reads of the index take their time from now on.
    fn slow_down(&mut self, read: Duration) {
        let device: Arc<dyn Device> = Arc::new(SlowDevice {
            files: self.index.clone(),
            read,
            write: Duration::ZERO,
        });
        self.store = Arc::new(Store::new(device, IDENTITY, ZoneTable::default()));
    }

    /// Reads all pages, and ends.
    fn read_all(&self) {
        self.read(&self.open(), 0..PAGES);
    }

    /// Reads of the device of the index that reading all pages takes, and the figures behind it.
    fn reads(&self, pool: &FramePool) -> (u64, TierFigures) {
        let before = self.pages_read();
        self.read(pool, 0..PAGES);
        (self.pages_read() - before, pool.tier().unwrap().figures())
    }
}

/// A device in memory whose reads and writes take their time.
struct SlowDevice {
    files: Arc<MemoryDevice>,
    read: Duration,
    write: Duration,
}

impl SlowDevice {
    fn new(write: Duration) -> SlowDevice {
        SlowDevice {
            files: memory(),
            read: Duration::ZERO,
            write,
        }
    }
}

impl Device for SlowDevice {
    fn backend(&self) -> Backend {
        self.files.backend()
    }

    fn create(&self, file: FileId) -> Result<()> {
        self.files.create(file)
    }

    fn remove(&self, file: FileId) -> Result<()> {
        self.files.remove(file)
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.files.list()
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        std::thread::sleep(self.read);
        self.files.read(batch)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        std::thread::sleep(self.write);
        self.files.write(batch)
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        self.files.sync(files)
    }

    fn sync_directory(&self) -> Result<()> {
        self.files.sync_directory()
    }

    fn counters(&self) -> &Counters {
        self.files.counters()
    }
}

/// Waits until the tier has written what it was given: reading from memory is faster.
fn settle(pool: &FramePool) {
    let shared = &pool.tier().unwrap().shared;
    let mut state = shared.state();
    while state.stopped.is_none() && state.is_busy() {
        state = shared.changed.wait(state).unwrap();
    }
}

fn at(page: u32) -> PageAddress {
    PageAddress { zone: ZONE, page }
}

fn content(number: u32, fill: u8) -> [u8; PAGE_SIZE] {
    let mut page = [fill; PAGE_SIZE];
    page[..4].copy_from_slice(&number.to_le_bytes());
    page
}

fn memory() -> Arc<MemoryDevice> {
    Arc::new(MemoryDevice::new())
}

#[test]
fn what_left_memory_is_not_read_from_the_device_again() {
    let world = World::new(memory());
    let pool = world.open();
    world.read(&pool, 0..PAGES);
    drop(pool);
    let (reads, figures) = world.reads(&world.open());
    assert_eq!((reads, figures.read_pages), (0, PAGES.into()));
    assert_eq!((figures.pages, figures.unproven_pages), (PAGES.into(), 0));
    assert_eq!(figures.written_pages, 0);
}

#[test]
fn all_that_is_in_memory_at_the_end_is_written_however_much() {
    let world = World::new(memory());
    let root = world.root(5, &[(1, 1)]);
    let pool = world.open_with(&root, 4 << 20);
    world.read(&pool, 0..PAGES);
    assert_eq!(pool.tier().unwrap().figures().written_pages, 0);
    drop(pool);
    assert_eq!(world.reads(&world.open()).0, 0);
}

#[test]
fn an_end_waits_for_a_slow_device_no_longer_than_anyone_notices() {
    let tier = Arc::new(SlowDevice::new(Duration::from_secs(2)));
    let world = World::new(tier);
    let pool = world.open_with(&world.root(5, &[(1, 1)]), 4 << 20);
    world.read(&pool, 0..PAGES);
    let started = Instant::now();
    drop(pool);
    let took = started.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn where_there_is_no_time_for_all_pages_those_are_kept_that_were_used_most() {
    let tier = Arc::new(SlowDevice::new(Duration::from_millis(300)));
    let world = World::new(tier);
    let root = world.root(5, &[(1, 1)]);
    let pool = world.open_with(&root, 4 << 20);
    world.read(&pool, 0..PAGES);
    let used = 500..560;
    used.clone().for_each(|page| drop(pool.get(at(page))));
    drop(pool);
    while world.tier.list().unwrap() == [(TIER, 0)] {
        std::thread::sleep(Duration::from_millis(10));
    }
    let pool = world.open();
    let held = pool.tier().unwrap().figures().pages;
    assert!(held < u64::from(PAGES), "{held}");
    let before = world.index.counters().snapshot();
    world.read(&pool, used);
    assert_eq!(world.index.counters().snapshot(), before);
}

#[test]
fn a_process_that_evicts_nothing_fills_the_tier_and_regions_are_filled_up() {
    let world = World::new(memory());
    for first in (0..60).step_by(6) {
        world.read(&world.open(), first..first + 6);
    }
    let files = world.tier.list().unwrap();
    assert_eq!(files, [(TIER, 61)]);
    let pool = world.open();
    let before = world.index.counters().snapshot();
    world.read(&pool, 0..60);
    assert_eq!(world.index.counters().snapshot(), before);
}

#[test]
fn a_page_on_its_way_to_the_tier_is_read_there() {
    let world = World::new(memory());
    let pool = world.open();
    // Fewer leave memory than a region has, so that none is written.
    world.read(&pool, 0..150);
    let before = world.index.counters().snapshot();
    world.read(&pool, 0..8);
    assert_eq!(world.index.counters().snapshot(), before);
    assert_eq!(pool.tier().unwrap().figures().written_pages, 0);
}

#[test]
fn a_page_that_is_written_to_the_tier_is_read_from_memory() {
    let world = World::new(Arc::new(SlowDevice::new(Duration::from_millis(500))));
    let pool = world.open();
    // More leave memory than a region has.
    let pages: Vec<PageAddress> = (0..220).map(at).collect();
    pages
        .chunks(8)
        .for_each(|batch| world.read_batch(&pool, batch));
    let before = world.pages_read();
    world.read_batch(&pool, &pages[..8]);
    assert_eq!(pool.tier().unwrap().figures().written_pages, 0);
    assert_eq!(world.pages_read(), before);
    settle(&pool);
    assert_eq!(
        pool.tier().unwrap().figures().written_pages,
        header::ENTRIES as u64
    );
}

#[test]
fn pages_that_the_map_does_not_tell_apart_are_all_kept() {
    let map = TierMap::new(region_count(TIER_BYTES_MIN) * REGION_PAGES);
    let mut known = std::collections::HashMap::new();
    let same = (0..).find_map(|page| Some([known.insert(map.homes(at(page)), page)?, page]));
    let [one, other] = same.unwrap();
    let world = World::of(memory(), IDENTITY, 0, other + 1);
    for pages in [[one, other], [other, one]] {
        for page in pages {
            world.read(&world.open(), [page].into_iter());
        }
    }
    let (before, pool) = (world.pages_read(), world.open());
    world.read(&pool, [one, other].into_iter());
    assert_eq!(world.pages_read(), before);
    let figures = pool.tier().unwrap().figures();
    assert_eq!((figures.pages, figures.unproven_pages), (2, 0));
    assert_eq!(before, 2);
}

#[test]
fn a_page_that_threads_want_at_the_same_time_is_read_once() {
    let mut world = World::new(memory());
    world.slow_down(Duration::from_millis(20));
    let pool = world.open();
    std::thread::scope(|scope| {
        for first in [0, 0, 3, 90] {
            let (world, pool) = (&world, &pool);
            scope.spawn(move || world.read(pool, (first..200).chain(0..first)));
        }
    });
    let passed_over = pool.tier().unwrap().figures().passed_over_pages;
    assert!(
        world.pages_read() <= 200 + passed_over,
        "{}",
        world.pages_read()
    );
}

#[test]
fn a_reading_that_fails_is_not_waited_for() {
    let mut world = World::new(memory());
    world.slow_down(Duration::from_millis(20));
    let pool = world.open();
    let absent = [at(PAGES)];
    std::thread::scope(|scope| {
        let read = || pool.read(&absent).map(|_| ()).unwrap_err();
        (0..4).for_each(|_| drop(scope.spawn(read)));
    });
    world.read(&pool, 0..8);
}

#[test]
fn a_tier_of_another_index_or_another_history_is_not_read() {
    let other = 78;
    // What wrote the tier was at generation 5, of the first opening.
    for (identity, generation, openings, is_read) in [
        (IDENTITY, 5, &[(1, 1)][..], true),
        (IDENTITY, 9, &[(1, 1), (2, 6)], true),
        // The folder was set back to generation 4; then it was written to.
        (IDENTITY, 4, &[(1, 1)], false),
        (IDENTITY, 9, &[(1, 1), (2, 5)], false),
        (IDENTITY, 9, &[(3, 1)], false),
        (IDENTITY, 9, &[], false),
        (other, 5, &[(1, 1)], false),
    ] {
        let tier: Arc<dyn Device> = memory();
        World::new(Arc::clone(&tier)).read_all();
        // Where the history is another one, the same addresses have other bytes under seals that
        // prove them.
        let fill = if is_read { 0 } else { 9 };
        let world = World::of(tier, identity, fill, PAGES);
        let pool = world.open_for(&world.root(generation, openings));
        let (reads, figures) = world.reads(&pool);
        assert_eq!(reads == 0, is_read, "{openings:?}");
        assert_eq!(figures.foreign_regions == 0, is_read, "{openings:?}");
        assert_eq!(figures.unproven_pages, 0, "{openings:?}");
    }
}

#[test]
fn a_restored_index_that_nobody_wrote_to_has_a_tier() {
    let world = World::new(memory());
    let root = world.root(5, &[]);
    world.read(&world.open_for(&root), 0..PAGES);
    assert_eq!(world.reads(&world.open_for(&root)).0, 0);
    let written = world.root(6, &[(1, 6)]);
    assert_eq!(world.reads(&world.open_for(&written)).0, u64::from(PAGES));
}

#[test]
fn zones_that_the_root_does_not_have_are_not_taken_until_a_root_has_them() {
    let world = World::new(memory());
    let old = TierRoot {
        next_zone: ZONE,
        ..world.root(5, &[(1, 1)])
    };
    let pool = world.open_for(&old);
    world.read(&pool, 0..PAGES);
    assert_eq!(pool.tier().unwrap().figures().pages, 0);
    let newer = world.root(6, &[(1, 1)]);
    pool.tier().unwrap().follow(&newer);
    world.read(&pool, 0..PAGES);
    drop(pool);
    let pool = world.open_for(&newer);
    assert!(pool.tier().unwrap().figures().pages > 0);
    drop(pool);
    // The pages came in under generation 6, which the older root does not know.
    let pool = world.open_for(&old);
    assert_eq!(pool.tier().unwrap().figures().pages, 0);
}

#[test]
fn damaged_pages_are_read_from_the_device() {
    let filled = memory();
    World::new(filled.clone()).read_all();
    let pages = filled.files().get(TIER).unwrap().len();
    let mut random = 1u64;
    let mut draw = |below: usize| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (random >> 33) as usize % below
    };
    for round in 0..60 {
        let damaged = Arc::new(MemoryDevice::from_files(filled.files()));
        for _ in 0..1 + round % 7 {
            // Every second flip is in a header.
            let page = match round % 2 {
                0 => draw(pages),
                _ => draw(pages.div_ceil(REGION_PAGES)) * REGION_PAGES,
            };
            let mut bytes = *damaged.page(TIER, page as u32).unwrap().bytes();
            bytes[draw(PAGE_SIZE)] ^= 1 << draw(8);
            let page = page as u32;
            damaged.store(TIER, page, MemoryPage::new(&bytes)).unwrap();
        }
        let world = World::new(damaged);
        world.read_all();
        // What was damaged is written anew.
        world.read_all();
        let (reads, figures) = world.reads(&world.open());
        assert_eq!((reads, figures.unproven_pages), (0, 0), "round {round}");
    }
}

#[test]
fn a_truncated_tier_is_read_as_far_as_it_goes() {
    let filled = memory();
    World::new(filled.clone()).read_all();
    let all = filled.files().get(TIER).unwrap().to_vec();
    for length in [0, 1, 2, 127, 128, 129, 300, all.len() - 1] {
        let mut files = filled.files();
        files.insert(TIER, all[..length].to_vec());
        let world = World::new(Arc::new(MemoryDevice::from_files(files)));
        world.read_all();
        let (reads, _) = world.reads(&world.open());
        assert_eq!(reads, 0, "{length}");
    }
}

#[test]
fn pages_that_change_places_do_not_pass() {
    let filled = memory();
    World::new(filled.clone()).read_all();
    for (one, other) in [(1, 2), (5, 300), (0, 128)] {
        let swapped = Arc::new(MemoryDevice::from_files(filled.files()));
        let pages = [one, other].map(|page| swapped.page(TIER, page).unwrap());
        let [first, second] = pages;
        swapped.store(TIER, one, second).unwrap();
        swapped.store(TIER, other, first).unwrap();
        World::new(swapped).read_all();
    }
}

#[test]
fn a_failing_tier_fails_no_query() {
    for kind in [
        FaultKind::Read,
        FaultKind::Io,
        FaultKind::Full,
        FaultKind::ShortWrite { sectors: 1_000 },
    ] {
        for (at, sticky) in [(0, true), (1, false), (3, false), (4, true), (40, true)] {
            let tier = Arc::new(RecordingDevice::new());
            let world = World::new(tier.clone());
            world.read_all();
            tier.fail(Fault { at, kind, sticky });
            let before = tier.faults_met();
            let pool = world.open();
            // Other pages than the tier has, too, so that there is something to write.
            world.read(&pool, (0..PAGES).rev());
            drop(pool);
            let is_met = tier.faults_met() > before;
            assert!(is_met || kind != FaultKind::Read || !sticky, "{kind:?}");
            tier.heal();
            world.read_all();
        }
    }
}

#[test]
fn a_full_disk_stops_writing_and_nothing_else() {
    for pages in [0, 1, 100, 200] {
        let tier = Arc::new(BoundedDevice::new(pages, false));
        let world = World::new(tier.clone());
        let pool = world.open();
        world.read(&pool, 0..PAGES);
        world.read(&pool, 0..PAGES);
        let stopped = pool.tier().unwrap().figures().stopped;
        assert!(stopped.is_some_and(|why| why.contains("space")), "{pages}");
        drop(pool);
        tier.set_pages(100_000);
        world.read_all();
        world.read_all();
        assert_eq!(world.reads(&world.open()).0, 0, "{pages}");
    }
}

#[test]
fn a_disk_that_is_full_from_the_start_is_told_as_a_fault_of_the_device() {
    let tier = Arc::new(RecordingDevice::new());
    let (kind, at, sticky) = (FaultKind::Full, 0, true);
    tier.fail(Fault { at, kind, sticky });
    let world = World::new(tier.clone());
    let (root, budget) = (world.root(5, &[(1, 1)]), Budget::new(8 << 20));
    let open = || FlashTier::open(tier.clone(), TIER_BYTES_MIN, &world.store, &root, &budget);
    // The index is then read past the tier.
    assert!(open().is_err_and(|error| matches!(error, Error::Device { full: true, .. })));
    assert_eq!(tier.faults_met(), 1);
    tier.heal();
    world.read_all();
}

#[test]
fn whatever_a_crash_leaves_of_the_tier_no_page_is_wrong() {
    const FEW: u32 = 150;
    let tier = Arc::new(RecordingDevice::new());
    let world = World::of(tier.clone(), IDENTITY, 0, FEW);
    // Regions are begun, filled up and left.
    for pages in [0..40, 30..70, 60..90, 10..FEW] {
        world.read(&world.open(), pages);
    }
    let mut images = 0;
    for point in (0..=tier.events()).step_by(11) {
        for image in tier.crash_images(point, 5, 1).step_by(7) {
            let world = World::of(image.device.clone(), IDENTITY, 0, FEW);
            world.read(&world.open(), 0..FEW);
            images += 1;
        }
    }
    assert!(images > 100, "{images}");
}

/// The pages of one history stand where those of the other are about to be written, under the same
/// addresses and seals that prove them. A header that arrives without its pages must not name them.
#[test]
fn a_crash_while_a_tier_is_filled_anew_brings_no_page_of_the_history_before() {
    const FEW: u32 = 150;
    let before = memory();
    let first = World::of(before.clone(), IDENTITY, 0, FEW);
    first.read(&first.open(), 0..FEW);
    let tier = Arc::new(RecordingDevice::from_image(&before));
    let world = World::of(tier.clone(), IDENTITY, 9, FEW);
    let root = world.root(9, &[(1, 1), (2, 5)]);
    world.read(&world.open_for(&root), 0..FEW);
    let mut images = 0;
    for point in (0..=tier.events()).step_by(5) {
        for image in tier.crash_images(point, 3, 1).step_by(3) {
            let world = World::of(image.device.clone(), IDENTITY, 9, FEW);
            world.read(&world.open_for(&root), 0..FEW);
            images += 1;
        }
    }
    assert!(images > 100, "{images}");
}

#[test]
fn once_the_tier_is_full_pages_enter_that_come_again() {
    let room = (region_count(TIER_BYTES_MIN) * header::ENTRIES) as u32;
    let world = World::of(memory(), IDENTITY, 0, 4 * room);
    let scan = |pages: std::ops::Range<u32>| {
        let pool = world.open();
        for first in pages.step_by(64) {
            world.read(&pool, first..first + 64);
        }
        pool.tier().unwrap().figures().written_pages
    };
    scan(0..room);
    scan(room..room + 64);
    let once = scan(room + 64..3 * room);
    assert!(once <= u64::from(room) / 4, "{once} of a scan");
    // Frames keep 64 of them.
    let pool = world.open();
    let again = 3 * room..3 * room + 256;
    (0..3).for_each(|_| world.read(&pool, again.clone()));
    drop(pool);
    let pool = world.open();
    let before = world.index.counters().snapshot().read_bytes;
    world.read(&pool, again);
    let reads = (world.index.counters().snapshot().read_bytes - before) / PAGE_SIZE as u64;
    assert!(reads <= 256 / 4, "{reads} of pages that came again");
    let held = pool.tier().unwrap().figures().pages;
    assert!(held <= room.into() && held > u64::from(room) * 9 / 10);
}

#[test]
fn the_memory_is_a_410th_and_the_buffers() {
    for bytes in [TIER_BYTES_MIN, 100 << 20, 4 << 30, 1 << 40] {
        let beside = (BUFFER_PAGES + 1) * PAGE_SIZE;
        let memory = FlashTier::memory_bytes(bytes);
        assert!(memory - beside <= (bytes / 410) as usize, "{bytes}");
        assert!(FlashTier::largest(memory) <= bytes);
    }
    let needed = FlashTier::memory_bytes(64 << 20);
    assert!(FlashTier::largest(needed + (1 << 20)) >= 64 << 20);
    let world = World::new(memory());
    let root = world.root(5, &[(1, 1)]);
    let (budget, tier) = (Budget::new(needed - 1), Arc::clone(&world.tier));
    let error = FlashTier::open(tier, 64 << 20, &world.store, &root, &budget);
    assert!(error.is_err_and(|error| error.to_string().contains("the map of the cache")));
}

#[test]
fn a_tier_may_become_larger_and_smaller() {
    let world = World::new(memory());
    world.read_all();
    let root = world.root(5, &[(1, 1)]);
    let budget = Budget::new(64 << 20);
    let open = |bytes| {
        let tier = Arc::clone(&world.tier);
        FlashTier::open(tier, bytes, &world.store, &root, &budget).unwrap()
    };
    assert_eq!(open(1 << 30).figures().pages, u64::from(PAGES));
    world
        .tier
        .write(&mut [Transfer {
            file: TIER,
            page: (TIER_BYTES_MIN as usize / PAGE_SIZE) as u32,
            buffers: vec![PagePool::new(1).take().unwrap()],
        }])
        .unwrap();
    // A file that is too long begins anew.
    assert_eq!(open(TIER_BYTES_MIN).figures().pages, 0);
    assert_eq!(world.tier.list().unwrap(), [(TIER, 0)]);
}

#[test]
fn a_folder_with_anything_else_is_no_tier() {
    let root = tempfile::tempdir().unwrap();
    let open = |path: &Path| open_tier(path, Default::default()).err();
    let path = root.path().join("deep/tier");
    let device = open_tier(&path, Default::default()).unwrap();
    let second = open(&path).unwrap();
    assert!(matches!(second, Error::Locked { .. }));
    device.create(TIER).unwrap();
    drop(device);
    assert!(open(&path).is_none());
    for name in ["superblock", "zone-00000001", "notes.txt"] {
        let path = root.path().join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(name), "x").unwrap();
        let error = open(&path).unwrap().to_string();
        assert!(
            error.contains(name) && error.contains("is no cache"),
            "{error}"
        );
        assert!(!path.join("LOCK").exists());
    }
    let file = root.path().join("file");
    std::fs::write(&file, "x").unwrap();
    assert!(open(&file).unwrap().to_string().contains("is a file"));
}

/// Only the headers are written, which is all that an opening reads. `GANNET_TIER_MIB` (256) is the
/// size. To measure an opening: 4096 in a release build, with `--nocapture`.
#[test]
fn an_opening_finds_all_pages_of_a_full_tier() {
    let mib = std::env::var("GANNET_TIER_MIB").map_or(256, |mib| mib.parse().unwrap());
    let bytes: u64 = mib << 20;
    let program = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let open = || open_tier(folder.path(), Default::default()).unwrap();
    let device = open();
    device.create(TIER).unwrap();
    let world = World::new(Arc::clone(&device));
    let root = world.root(5, &[(1, 1)]);
    let (pool, mut number) = (PagePool::new(1), 0);
    for region in 0..region_count(bytes) as u32 {
        let mut page = pool.take().unwrap();
        let pages = (number..number + header::ENTRIES as u32).map(at).collect();
        number += header::ENTRIES as u32;
        let header = header::Header {
            region,
            sequence: region.into(),
            mark: 7,
            pages,
            lineage: Lineage::of(&root.slot),
            notes: vec![0; header::ENTRIES],
        };
        header.encode(&mut page);
        let page_in_file = header::place(region, 0);
        let transfer = Transfer {
            file: TIER,
            page: page_in_file,
            buffers: vec![page],
        };
        device.write(&mut [transfer]).unwrap();
    }
    drop((world, device));
    for _ in 0..5 {
        let world = World::new(open());
        let budget = Budget::new(64 << 20);
        let tier = Arc::clone(&world.tier);
        let started = std::time::Instant::now();
        let tier = FlashTier::open(tier, bytes, &world.store, &root, &budget).unwrap();
        let ms = started.elapsed().as_secs_f64() * 1e3;
        let figures = tier.figures();
        println!("{ms:.1} ms, {} pages of {number}", figures.pages);
        // The file ends with the header of the last region.
        assert_eq!(figures.pages, u64::from(number) - header::ENTRIES as u64);
    }
}
