//! Tests of pinned pages: how many, whose, and for how long.

use super::*;
use crate::base::Budget;
use crate::cache::{FramePool, IoCounts, Reading, finish};
use crate::device::MemoryDevice;
use crate::storage::{PageKind, ZoneTable};

const PAGES: usize = 20;

/// Frames of a pool that may pin four: an eighth of those above the least.
const FRAMES: usize = 64 + 8 * 4;

struct Bench {
    store: Arc<Store>,
    pool: FramePool,
    stream: StreamWriter,
}

impl Bench {
    fn new(frames: usize) -> Bench {
        let device = Arc::new(MemoryDevice::new());
        let store = Arc::new(Store::new(device, 77, ZoneTable::default()));
        let budget = Budget::new(64 << 20);
        Bench {
            stream: StreamWriter::new(Arc::clone(&store), PageKind::Table),
            pool: FramePool::new(Arc::clone(&store), &budget, frames * 4192).unwrap(),
            store,
        }
    }

    /// A table on the device: each page is full of its number. One more page stays in memory.
    fn table(&mut self) -> ByteTable {
        let mut table = ByteTable::new();
        for page in 0..=PAGES {
            table.table.page_mut(page).fill(page as u8);
        }
        self.checkpoint(&mut table);
        table
    }

    /// Fills a page anew.
    fn change(&mut self, table: &mut ByteTable, page: usize, byte: u8) {
        if let Some(address) = table.table.missing(page) {
            let mut pages = Pages::new(&self.pool);
            let frame = finish(&mut pages, |pages| pages.page(address)).unwrap();
            table.table.load(page, &frame);
        }
        table.table.page_mut(page).fill(byte);
    }

    fn checkpoint(&mut self, table: &mut ByteTable) {
        table.write_changes(&self.store, &mut self.stream).unwrap();
        self.stream.flush().unwrap();
    }

    /// Reads one byte of each page.
    fn read(&self, cursor: &mut ByteCursor) -> (Vec<u8>, IoCounts) {
        let mut pages = Pages::new(&self.pool);
        let mut byte = |page| {
            let index = (page * PAGE_PAYLOAD + page) as u64;
            finish(&mut pages, |pages| cursor.get(index, pages)).unwrap()
        };
        ((0..PAGES).map(&mut byte).collect(), pages.counts())
    }

    /// Makes the pool forget all that is not pinned.
    fn crowd_out(&mut self) {
        let mut other = self.table();
        for _ in 0..2 * FRAMES / PAGES {
            self.read(&mut other.unpinned().cursor());
            (0..PAGES).for_each(|page| self.change(&mut other, page, 0));
            self.checkpoint(&mut other);
        }
    }
}

fn numbers() -> Vec<u8> {
    (0..PAGES as u8).collect()
}

#[test]
fn what_was_read_once_is_found_in_memory_for_ever() {
    let mut bench = Bench::new(4096);
    let table = bench.table();
    let (bytes, cold) = bench.read(&mut table.cursor());
    assert_eq!((bytes, cold.rounds as usize), (numbers(), PAGES));
    bench.pool = Bench::new(64).pool;
    let (bytes, warm) = bench.read(&mut table.cursor());
    assert_eq!((bytes, warm.rounds), (numbers(), 0));
    assert_eq!(warm.frames_hit as usize, PAGES);
}

#[test]
fn pinned_pages_are_looked_up_only_where_pages_are_listed() {
    let mut bench = Bench::new(4096);
    let table = bench.table();
    bench.read(&mut table.cursor());
    let last = (PAGES * PAGE_PAYLOAD - 1) as u64;
    for (listed, found) in [(false, 0), (true, PAGES)] {
        let mut pages = Pages::new(&bench.pool).reading(Reading {
            listed,
            ..Reading::default()
        });
        let cursor = table.cursor();
        cursor.prefetch_within(0, last, &mut pages).unwrap();
        assert_eq!(pages.counts().frames_hit as usize, found);
    }
}

#[test]
fn no_more_than_the_share_is_pinned_and_it_comes_back() {
    let mut bench = Bench::new(FRAMES);
    assert_eq!(bench.pool.pins_left(), 4);
    let (first, second) = (bench.table(), bench.table());
    for _ in 0..2 {
        for table in [&first, &second] {
            assert_eq!(bench.read(&mut table.cursor()).0, numbers());
            assert_eq!(bench.pool.pins_left(), 0);
        }
    }
    bench.crowd_out();
    let reads = |table: &ByteTable| bench.read(&mut table.cursor()).1.reads as usize;
    assert_eq!((reads(&first), reads(&second)), (PAGES - 4, PAGES));
    let clone = first.clone();
    drop(first);
    assert_eq!(bench.pool.pins_left(), 0);
    drop(clone);
    assert_eq!(bench.pool.pins_left(), 4);
    bench.read(&mut second.cursor());
    assert_eq!(bench.pool.pins_left(), 0);
}

#[test]
fn the_least_pool_pins_nothing() {
    let mut bench = Bench::new(1);
    let table = bench.table();
    assert_eq!(bench.pool.pins_left(), 0);
    assert_eq!(bench.read(&mut table.cursor()).0, numbers());
    bench.crowd_out();
    assert_eq!(bench.read(&mut table.cursor()).1.reads as usize, PAGES);
}

#[test]
fn a_checkpoint_that_rewrites_a_page_leaves_it_to_a_living_cursor() {
    let mut bench = Bench::new(4096);
    let most = bench.pool.pins_left();
    let mut table = bench.table();
    let mut old = table.cursor();
    bench.read(&mut old);
    let mut held = table.cursor();
    let at = (7 * PAGE_PAYLOAD) as u64;
    let mut pages = Pages::new(&bench.pool);
    finish(&mut pages, |pages| held.get(at, pages)).unwrap();
    drop(pages);
    bench.change(&mut table, 7, 107);
    // Changed in memory, the page is no longer that in the column.
    assert_eq!(bench.read(&mut table.cursor()).0[7], 107);
    bench.checkpoint(&mut table);

    let (bytes, counts) = bench.read(&mut table.cursor());
    assert_eq!((bytes[7], counts.reads), (107, 1));
    assert_eq!(held.held(at + 9), Some(7));
    assert_eq!(bench.read(&mut old).0, numbers());
    // What did not move is pinned once for both.
    assert_eq!(most - bench.pool.pins_left(), PAGES + 1);
    drop((old, held));
    assert_eq!(most - bench.pool.pins_left(), PAGES);
}

#[test]
fn snapshots_held_across_checkpoints_read_what_was() {
    for frames in [64, FRAMES, 4096] {
        let mut bench = Bench::new(frames);
        let most = bench.pool.pins_left();
        let mut table = bench.table();
        let mut snapshots = Vec::new();
        let mut expected = numbers();
        for round in 0..12u8 {
            if round % 3 != 0 {
                bench.read(&mut table.cursor());
            }
            snapshots.push((table.clone(), expected.clone()));
            for page in [round as usize, (round as usize * 7) % PAGES] {
                bench.change(&mut table, page, 100 + round);
                expected[page] = 100 + round;
            }
            // A snapshot between checkpoints.
            snapshots.push((table.clone(), expected.clone()));
            bench.checkpoint(&mut table);
            let left = snapshots.len() % 5;
            for (table, expected) in snapshots.iter().skip(left) {
                assert_eq!(&bench.read(&mut table.cursor()).0, expected);
            }
        }
        assert_eq!(bench.read(&mut table.cursor()).0, expected);
        drop((table, snapshots));
        assert_eq!(bench.pool.pins_left(), most);
    }
}
