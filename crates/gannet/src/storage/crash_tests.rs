//! The log and the root slots on a device that loses power.

use std::path::Path;
use std::sync::Arc;

use super::zones::ZoneTable;
use super::{
    Found, History, Log, LogReach, LogStart, RecordKind, RootSlot, SlotKind, Store, ZoneRecord,
    create_superblock, find_root, replay, settle_slot, write_slot,
};
use crate::base::{Error, Span};
use crate::device::{Device, FileId, MemoryDevice, MemoryPage, RecordingDevice};

const IDENTITY: u64 = 7;

fn store(device: Arc<dyn Device>) -> Arc<Store> {
    let mut zones = ZoneTable::default();
    zones.set_zone_pages(Some(3));
    Arc::new(Store::new(device, IDENTITY, zones))
}

/// The numbers of the batches on a device; the log goes on behind them as a recovery makes it.
fn recover(device: Arc<dyn Device>) -> (Vec<u8>, Arc<Store>, Log) {
    let store = store(device);
    let mut found = Vec::new();
    let end = replay(
        &store,
        LogStart::BEGINNING,
        LogReach::Written,
        &mut |batch: Vec<ZoneRecord>| {
            found.push(batch[0].body[0]);
            assert!(
                batch
                    .iter()
                    .all(|record| record.body.iter().all(|byte| *byte == batch[0].body[0]))
            );
            Ok(())
        },
    )
    .expect("a log that was cut short replays");
    let known = &end.zones;
    let files = store.device().list().expect("a list");
    let zones = files.iter().filter_map(|(file, _)| match file {
        FileId::Zone(zone) => Some(*zone),
        FileId::Superblock | FileId::Tier | FileId::Answers => None,
    });
    let (kept, unknown): (Vec<u32>, Vec<u32>) = zones.partition(|zone| known.contains(zone));
    kept.iter()
        .chain(&unknown)
        .for_each(|zone| store.zones().reserve_numbers(zone + 1));
    store.remove_zones(&unknown).expect("removed");
    let kept: Vec<FileId> = kept.into_iter().map(FileId::Zone).collect();
    store.device().sync(&kept).expect("synced");
    store.device().sync_directory().expect("synced");
    let log = Log::resume(Arc::clone(&store), end.end);
    (found, store, log)
}

/// Writes the batches `numbers`; `synced` are the batches after which a sync follows.
fn write(store: &Store, log: &mut Log, numbers: std::ops::Range<u8>, synced: &[u8]) {
    for number in numbers {
        for record in 0..3 {
            let body = vec![number; 900 + 700 * (number as usize % 4)];
            log.append(RecordKind::Document, record == 2, &body)
                .expect("appended");
        }
        let unsynced = log.flush().expect("flushed");
        if synced.contains(&number) {
            store.sync(&unsynced).expect("synced");
        }
    }
}

#[test]
fn a_log_ends_at_its_first_gap_whatever_stands_behind_it() {
    let device = Arc::new(RecordingDevice::new());
    let (_, store, mut log) = recover(device.clone());
    write(&store, &mut log, 1..3, &[2]);
    write(&store, &mut log, 3..9, &[]);
    for image in device.crash_images(device.events(), 200, 3) {
        let (found, ..) = recover(image.device);
        let count = found.len() as u8;
        assert!((2..=8).contains(&count), "{}: {found:?}", image.what);
        assert!(found.into_iter().eq(1..=count), "{}", image.what);
    }
}

#[test]
fn recovered_logs_lose_power_again() {
    let device = Arc::new(RecordingDevice::new());
    let (_, store, mut log) = recover(device.clone());
    write(&store, &mut log, 1..3, &[2]);
    write(&store, &mut log, 3..6, &[]);
    for image in device.crash_images(device.events(), 40, 4) {
        let device = Arc::new(RecordingDevice::from_image(&image.device));
        let (before, store, mut log) = recover(device.clone());
        let next = before.len() as u8 + 1;
        write(&store, &mut log, next..next + 3, &[next]);
        for second in device.crash_images(device.events(), 20, 5) {
            let (found, ..) = recover(second.device);
            let count = found.len() as u8;
            let what = format!("{}, then {}: {found:?}", image.what, second.what);
            assert!((next..next + 3).contains(&count), "{what}");
            assert!(found.into_iter().eq(1..=count), "{what}");
        }
    }
}

#[test]
fn records_larger_than_a_zone_come_back() {
    for pages in [2usize, 3, 4, 5, 300] {
        for extra in [-20isize, -8, -7, -6, 0, 1, 9] {
            let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
            let (_, store, mut log) = recover(Arc::clone(&device));
            let length = (pages * crate::base::PAGE_PAYLOAD) as isize + extra;
            for number in 1..4u8 {
                let body = vec![number; length as usize];
                log.append(RecordKind::Document, true, &body)
                    .expect("appended");
            }
            store.sync(&log.flush().expect("flushed")).expect("synced");
            let (found, ..) = recover(device);
            assert_eq!(found, [1, 2, 3], "{length} bytes");
        }
    }
}

#[test]
fn a_log_whose_start_is_gone_has_no_zone_there() {
    let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
    let start = LogStart {
        zone: Some(4),
        page: 9,
    };
    let end = replay(&store(device), start, LogReach::Written, &mut |_: Vec<
        ZoneRecord,
    >| Ok(()))
    .expect("an end");
    assert_eq!(end.end, start);
    assert!(end.zones.is_empty());
}

#[test]
fn links_in_a_circle_are_no_log() {
    let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
    for (zone, from) in [(0, 1), (1, 0)] {
        device.create(FileId::Zone(zone)).expect("created");
        put_link(&device, zone, from);
    }
    let start = LogStart {
        zone: Some(0),
        page: 0,
    };
    let end = replay(&store(device), start, LogReach::Written, &mut |_: Vec<
        ZoneRecord,
    >| Ok(()))
    .expect("an end");
    assert_eq!(end.end.zone, Some(1));
}

/// A page with a link that says to go on from the end of the zone `from`, which has one page.
fn put_link(device: &Arc<dyn Device>, zone: u32, from: u32) {
    let body = [from as u8 + 1, 1, 0];
    let record = super::frame(RecordKind::Link, false, &body);
    let pool = crate::device::PagePool::new(1);
    let mut buffer = pool.take().expect("a buffer");
    buffer.fill(0);
    buffer[..record.len()].copy_from_slice(&record);
    let file = FileId::Zone(zone);
    let address = super::SealAddress { file, page: 0 };
    super::seal(&mut buffer, IDENTITY, address, super::PageKind::Log);
    let buffers = vec![buffer];
    device
        .write(&mut [crate::device::Transfer {
            file,
            page: 0,
            buffers,
        }])
        .expect("written");
}

fn slot(generation: u64) -> RootSlot {
    let root = Span {
        zone: 3,
        page: generation as u32,
        offset: 0,
        length: 100,
    };
    RootSlot {
        identity: IDENTITY,
        generation,
        root,
        kind: SlotKind::Index,
        history: History::default(),
    }
}

fn newest(device: &Arc<dyn Device>) -> Result<Option<u64>, Error> {
    Ok(match find_root(device, Path::new("test"))? {
        Found::Root(found) => Some(found.generation),
        Found::Nothing | Found::Unfinished(_) => None,
    })
}

#[test]
fn a_root_is_the_old_or_the_new_one_after_any_crash() {
    let recording = Arc::new(RecordingDevice::new());
    let device: Arc<dyn Device> = recording.clone();
    create_superblock(&device).expect("created");
    let mut durable = vec![(recording.events(), 0)];
    for generation in 1..=4 {
        write_slot(&device, &slot(generation)).expect("written");
        durable.push((recording.events(), generation));
    }
    for point in durable[0].0..=recording.events() {
        let (_, least) = *durable
            .iter()
            .rev()
            .find(|(at, _)| *at <= point)
            .expect("a mark");
        for image in recording.crash_images(point, 8, 1) {
            let device: Arc<dyn Device> = image.device;
            let found = newest(&device).expect("a root or none").unwrap_or(0);
            assert!(
                (least..=least + 1).contains(&found),
                "{point}, {}: {found}",
                image.what
            );
        }
    }
}

#[test]
fn a_damaged_slot_costs_nothing() {
    let memory = Arc::new(MemoryDevice::new());
    let device: Arc<dyn Device> = memory.clone();
    create_superblock(&device).expect("created");
    for generation in 1..=3 {
        write_slot(&device, &slot(generation)).expect("written");
        for page in 0..2 {
            let whole = memory.page(FileId::Superblock, page).expect("a slot");
            let zero = MemoryPage::new(&[0; crate::base::PAGE_SIZE]);
            memory
                .store(FileId::Superblock, page, zero)
                .expect("stored");
            assert_eq!(newest(&device).expect("a root"), Some(generation));
            memory
                .store(FileId::Superblock, page, whole)
                .expect("stored");
        }
    }
}

/// A process may die between writing a slot and syncing it; who finds it must not build on sand.
#[test]
fn a_settled_root_is_durable() {
    let recording = Arc::new(RecordingDevice::new());
    let device: Arc<dyn Device> = recording.clone();
    create_superblock(&device).expect("created");
    write_slot(&device, &slot(1)).expect("written");
    let syncs = recording.syncs();
    recording.drop_sync(syncs);
    write_slot(&device, &slot(2)).expect("written");
    settle_slot(&device, &slot(2)).expect("settled");
    for image in recording.crash_images(recording.events(), 4, 1) {
        let device: Arc<dyn Device> = image.device;
        assert_eq!(newest(&device).expect("a root"), Some(2), "{}", image.what);
    }
}
