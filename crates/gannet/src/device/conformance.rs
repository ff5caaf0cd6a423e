//! The suites that devices pass: what the rooms above may rely on.

use std::sync::Arc;

use super::{CountersSnapshot, Device, FileId, PageBuffer, PagePool, Transfer};
use crate::base::{Error, PAGE_SIZE};

/// Both suites. `open` gives a new, empty device each time.
pub fn conformance(open: impl Fn() -> Arc<dyn Device>) {
    sealed_conformance(&open);
    rewriting_conformance(&open);
}

/// Checks the rules for every device, also one whose files are written once, from the first page
/// on, and read after they were synced. `open` gives a new, empty device each time.
pub fn sealed_conformance(open: impl Fn() -> Arc<dyn Device>) {
    let checks: [fn(&dyn Device); 11] = [
        pages_come_back_as_written,
        long_transfers_come_back,
        a_batch_spans_files_and_sizes,
        a_batch_may_be_empty,
        reading_past_the_end_fails,
        a_failed_batch_harms_no_later_one,
        files_are_listed_with_their_lengths,
        creation_and_removal_are_exclusive,
        missing_files_are_named,
        counters_are_exact,
        sync_succeeds,
    ];
    checks.iter().for_each(|check| check(&*open()));
}

/// Checks the further rules for a device whose pages can be written again and whose files grow
/// while they are read.
pub fn rewriting_conformance(open: impl Fn() -> Arc<dyn Device>) {
    let checks: [fn(&dyn Device); 4] = [
        a_batch_writes_with_gaps,
        gaps_read_as_zeros,
        pages_can_be_written_again,
        missing_files_are_not_written,
    ];
    checks.iter().for_each(|check| check(&*open()));
    readers_go_on_beside_a_writer(&open());
}

/// A page that says where it belongs, in every byte.
fn fill(buffer: &mut PageBuffer, file: FileId, page: u32) {
    let zone = match file {
        FileId::Superblock => 0x5555,
        FileId::Zone(number) => number,
        FileId::Tier => 0xaaaa,
        FileId::Answers => 0xcccc,
    };
    for (at, word) in buffer.chunks_exact_mut(4).enumerate() {
        let value = zone.wrapping_mul(0x9e37_79b1) ^ page.wrapping_mul(0x85eb_ca6b) ^ at as u32;
        word.copy_from_slice(&value.to_le_bytes());
    }
}

fn transfer(pool: &PagePool, file: FileId, page: u32, pages: usize) -> Transfer {
    let buffers = (0..pages).map(|_| {
        let mut buffer = pool.take().expect("the test's pool is large enough");
        buffer.fill(0xee);
        buffer
    });
    Transfer {
        file,
        page,
        buffers: buffers.collect(),
    }
}

fn filled(pool: &PagePool, file: FileId, page: u32, pages: usize) -> Transfer {
    let mut transfer = transfer(pool, file, page, pages);
    for (page, buffer) in (page..).zip(&mut transfer.buffers) {
        fill(buffer, file, page);
    }
    transfer
}

fn expect_filled(pool: &PagePool, transfer: &Transfer) {
    let mut expected = pool.take().expect("the test's pool is large enough");
    for (page, buffer) in (transfer.page..).zip(&transfer.buffers) {
        fill(&mut expected, transfer.file, page);
        assert!(buffer[..] == expected[..], "{} page {page}", transfer.file);
    }
}

/// Makes `file` with `pages` filled pages, and seals it.
fn make(device: &dyn Device, file: FileId, pages: usize) {
    let pool = PagePool::new(pages);
    device.create(file).unwrap();
    device.write(&mut [filled(&pool, file, 0, pages)]).unwrap();
    device.sync(&[file]).unwrap();
}

fn expect_device_error(outcome: crate::base::Result<()>, operation: &str, named: FileId) {
    match outcome.unwrap_err() {
        Error::Device {
            operation: got,
            file,
            ..
        } => {
            assert_eq!(got, operation);
            assert!(file.contains(&named.name()), "{file} is not {named}");
        }
        error => panic!("expected a device error, got {error}"),
    }
}

fn pages_come_back_as_written(device: &dyn Device) {
    let pool = PagePool::new(8);
    for file in [FileId::Superblock, FileId::Zone(7)] {
        make(device, file, 2);
        let mut batch = [transfer(&pool, file, 1, 1)];
        device.read(&mut batch).unwrap();
        expect_filled(&pool, &batch[0]);
    }
}

fn long_transfers_come_back(device: &dyn Device) {
    // More pages than one system call takes, to an odd page.
    let pool = PagePool::new(3_003);
    let file = FileId::Zone(1);
    make(device, file, 3_003);
    let mut batch = [
        transfer(&pool, file, 4, 1_500),
        transfer(&pool, file, 1_504, 1_499),
    ];
    device.read(&mut batch).unwrap();
    batch.iter().for_each(|read| expect_filled(&pool, read));
    assert_eq!(batch[0].buffers.len(), 1_500);
}

const SPANNED: [FileId; 3] = [
    FileId::Superblock,
    FileId::Zone(0),
    FileId::Zone(4_000_000_000),
];

/// Transfers of all sizes in several files, with gaps between them.
fn spanning(pool: &PagePool, make: fn(&PagePool, FileId, u32, usize) -> Transfer) -> Vec<Transfer> {
    let one = |i: u32| {
        let file = SPANNED[i as usize % 3];
        make(pool, file, i / 3 * 10, 1 + i as usize % 10)
    };
    (0..200).map(one).collect()
}

/// Reads them in another order.
fn read_spanning(device: &dyn Device) {
    let pool = PagePool::new(2_000);
    let mut read = spanning(&pool, transfer);
    let places = |batch: &[Transfer]| -> Vec<_> {
        let place = |read: &Transfer| (read.file, read.page, read.buffers.len());
        batch.iter().map(place).collect()
    };
    read.reverse();
    let before = places(&read);
    device.read(&mut read).unwrap();
    assert_eq!(places(&read), before);
    read.iter().for_each(|read| expect_filled(&pool, read));
}

fn a_batch_spans_files_and_sizes(device: &dyn Device) {
    SPANNED.iter().for_each(|file| make(device, *file, 700));
    read_spanning(device);
}

fn a_batch_writes_with_gaps(device: &dyn Device) {
    SPANNED
        .iter()
        .for_each(|file| device.create(*file).unwrap());
    let pool = PagePool::new(2_000);
    let mut written = spanning(&pool, filled);
    device.write(&mut written).unwrap();
    written.iter().for_each(|w| expect_filled(&pool, w));
    drop(written);
    read_spanning(device);
}

fn a_batch_may_be_empty(device: &dyn Device) {
    let pool = PagePool::new(4);
    make(device, FileId::Zone(1), 1);
    device.read(&mut []).unwrap();
    device.write(&mut []).unwrap();
    let mut batch = [
        transfer(&pool, FileId::Zone(1), 0, 0),
        transfer(&pool, FileId::Zone(1), 0, 1),
    ];
    device.read(&mut batch).unwrap();
    assert!(batch[0].buffers.is_empty());
    expect_filled(&pool, &batch[1]);
}

fn reading_past_the_end_fails(device: &dyn Device) {
    let pool = PagePool::new(64);
    let file = FileId::Zone(3);
    make(device, file, 4);
    for (page, pages) in [(4, 1), (3, 2), (0, 5), (u32::MAX, 1)] {
        let alone = device.read(&mut [transfer(&pool, file, page, pages)]);
        expect_device_error(alone, "read", file);
        let mut batch = Vec::from([0, 1, 2].map(|page| transfer(&pool, file, page, 1)));
        batch.insert(1, transfer(&pool, file, page, pages));
        expect_device_error(device.read(&mut batch), "read", file);
    }
}

fn a_failed_batch_harms_no_later_one(device: &dyn Device) {
    let pool = PagePool::new(400);
    let file = FileId::Zone(3);
    make(device, file, 100);
    for _ in 0..20 {
        let mut bad: Vec<_> = (0..150)
            .map(|page| transfer(&pool, file, page, 1))
            .collect();
        assert!(device.read(&mut bad).is_err());
        drop(bad);
        let mut good: Vec<_> = (0..100)
            .map(|page| transfer(&pool, file, page, 1))
            .collect();
        device.read(&mut good).unwrap();
        good.iter().for_each(|read| expect_filled(&pool, read));
    }
}

fn gaps_read_as_zeros(device: &dyn Device) {
    let pool = PagePool::new(16);
    let file = FileId::Zone(9);
    device.create(file).unwrap();
    device.write(&mut [filled(&pool, file, 10, 1)]).unwrap();
    let mut batch = [transfer(&pool, file, 0, 10), transfer(&pool, file, 10, 1)];
    device.read(&mut batch).unwrap();
    let zeros = |buffer: &PageBuffer| buffer.iter().all(|byte| *byte == 0);
    assert!(batch[0].buffers.iter().all(zeros));
    expect_filled(&pool, &batch[1]);
    assert_eq!(device.list().unwrap(), [(file, 11)]);
}

fn pages_can_be_written_again(device: &dyn Device) {
    let pool = PagePool::new(4);
    let file = FileId::Superblock;
    make(device, file, 3);
    let mut again = transfer(&pool, file, 1, 1);
    again.buffers[0].fill(0x11);
    device.write(std::slice::from_mut(&mut again)).unwrap();
    let mut batch = [transfer(&pool, file, 0, 1), transfer(&pool, file, 1, 1)];
    device.read(&mut batch).unwrap();
    expect_filled(&pool, &batch[0]);
    assert!(batch[1].buffers[0].iter().all(|byte| *byte == 0x11));
}

fn files_are_listed_with_their_lengths(device: &dyn Device) {
    assert_eq!(device.list().unwrap(), []);
    let expected = [
        (FileId::Superblock, 2),
        (FileId::Zone(0), 1),
        (FileId::Zone(u32::MAX), 5),
    ];
    for (file, pages) in expected {
        make(device, file, pages as usize);
    }
    device.create(FileId::Zone(1)).unwrap();
    device.remove(FileId::Zone(1)).unwrap();
    let mut listed = device.list().unwrap();
    listed.sort();
    assert_eq!(listed, expected);
}

fn creation_and_removal_are_exclusive(device: &dyn Device) {
    let file = FileId::Zone(5);
    make(device, file, 1);
    expect_device_error(device.create(file), "create", file);
    device.remove(file).unwrap();
    expect_device_error(device.remove(file), "remove", file);
    device.create(file).unwrap();
    assert_eq!(device.list().unwrap(), [(file, 0)]);
}

fn missing_files_are_named(device: &dyn Device) {
    let pool = PagePool::new(8);
    let (here, missing) = (FileId::Zone(1), FileId::Zone(2));
    make(device, here, 1);
    let batch = || [transfer(&pool, here, 0, 1), transfer(&pool, missing, 0, 1)];
    expect_device_error(device.read(&mut batch()), "read", missing);
    expect_device_error(device.sync(&[missing]), "sync", missing);
}

fn missing_files_are_not_written(device: &dyn Device) {
    let pool = PagePool::new(8);
    let (here, missing) = (FileId::Zone(1), FileId::Zone(2));
    make(device, here, 1);
    let mut batch = [transfer(&pool, here, 0, 1), transfer(&pool, missing, 0, 1)];
    expect_device_error(device.write(&mut batch), "write", missing);
}

fn counters_are_exact(device: &dyn Device) {
    let pool = PagePool::new(16);
    let file = FileId::Zone(1);
    device.create(file).unwrap();
    let mut written = [filled(&pool, file, 0, 3), filled(&pool, file, 3, 1)];
    device.write(&mut written).unwrap();
    device.sync(&[file]).unwrap();
    device.read(&mut [transfer(&pool, file, 1, 2)]).unwrap();
    let mut batch = [0, 1, 2].map(|page| transfer(&pool, file, page, 1));
    device.read(&mut batch).unwrap();
    device.read(&mut []).unwrap();
    device.sync_directory().unwrap();
    let expected = CountersSnapshot {
        reads: 4,
        read_bytes: 5 * PAGE_SIZE as u64,
        read_batches: 2,
        writes: 2,
        written_bytes: 4 * PAGE_SIZE as u64,
        syncs: 2,
    };
    assert_eq!(device.counters().snapshot(), expected);
}

fn sync_succeeds(device: &dyn Device) {
    make(device, FileId::Zone(1), 2);
    make(device, FileId::Superblock, 1);
    device.sync(&[FileId::Zone(1), FileId::Superblock]).unwrap();
    device.sync_directory().unwrap();
    device.sync(&[]).unwrap();
}

/// One thread appends to a file while others read what was there before, in batches.
fn readers_go_on_beside_a_writer(device: &Arc<dyn Device>) {
    const STABLE: u32 = 64;
    let file = FileId::Zone(2);
    make(&**device, file, STABLE as usize);
    let reader = |seed: u32| {
        let pool = PagePool::new(32);
        for round in 0..50 {
            let page = |i: u32| (seed * 31 + round * 17 + i * 7) % STABLE;
            let mut batch: Vec<_> = (0..16).map(|i| transfer(&pool, file, page(i), 1)).collect();
            device.read(&mut batch).unwrap();
            batch.iter().for_each(|read| expect_filled(&pool, read));
        }
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|seed| {
            scope.spawn(move || reader(seed));
        });
        let pool = PagePool::new(8);
        for round in 0..50 {
            let page = STABLE + round * 8;
            device.write(&mut [filled(&pool, file, page, 8)]).unwrap();
        }
    });
    assert_eq!(device.list().unwrap(), [(file, STABLE + 400)]);
}
