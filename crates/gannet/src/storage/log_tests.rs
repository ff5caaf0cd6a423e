//! The log against a list of batches: rollover of zones, recoveries, unfinished batches.

use std::sync::Arc;

use super::zones::ZoneTable;
use super::{
    Log, LogReach, LogStart, PageKind, RecordKind, Recovery, Store, StreamWriter, ZoneRecord,
    read_records, replay,
};
use crate::base::{Error, Result};
use crate::device::{Device, FileId, MemoryDevice};

fn store() -> Arc<Store> {
    let device: Arc<dyn Device> = Arc::new(MemoryDevice::new());
    Arc::new(Store::new(device, 7, ZoneTable::default()))
}

/// The same device as a new process finds it, with nothing known of its zones.
fn reopened(store: &Store) -> Arc<Store> {
    let zones = ZoneTable::default();
    Arc::new(Store::new(Arc::clone(store.device()), 7, zones))
}

/// All whole batches, each as the bodies of its records; the log goes on behind them.
fn read(store: &Arc<Store>) -> (Vec<Vec<Vec<u8>>>, Log) {
    let mut batches = Vec::new();
    let end = replay(
        store,
        LogStart::BEGINNING,
        LogReach::Written,
        &mut |batch: Vec<ZoneRecord>| {
            batches.push(batch.into_iter().map(|record| record.body).collect());
            Ok(())
        },
    )
    .unwrap();
    (batches, Log::resume(Arc::clone(store), end.end))
}

fn write(log: &mut Log, batch: &[Vec<u8>]) -> Result<()> {
    for (place, body) in batch.iter().enumerate() {
        log.append(RecordKind::Document, place + 1 == batch.len(), body)?;
    }
    Ok(())
}

fn batch(seed: usize) -> Vec<Vec<u8>> {
    (0..seed % 4 + 1)
        .map(|record| {
            let length = [0, 5, 700, 4_100, 9_000][(seed + record) % 5] + seed % 17;
            vec![((seed + record) % 250) as u8 + 1; length]
        })
        .collect()
}

#[test]
fn batches_come_back_over_many_zones_and_openings() {
    let mut store = store();
    let mut expected = Vec::new();
    for opening in 0..6 {
        let (found, mut log) = read(&store);
        assert!(found == expected, "opening {opening}");
        for number in 0..200 {
            let batch = batch(opening * 200 + number);
            write(&mut log, &batch).unwrap();
            expected.push(batch);
            if number % 20 == 0 {
                log.flush().unwrap();
            }
        }
        log.flush().unwrap();
        store = reopened(&store);
    }
    let (found, _) = read(&store);
    assert!(found == expected);
    assert!(
        store.device().list().unwrap().len() > 6,
        "several zones were needed"
    );
}

#[test]
fn an_unfinished_batch_is_dropped_for_good() {
    let store = store();
    let (_, mut log) = read(&store);
    write(&mut log, &batch(1)).unwrap();
    log.append(RecordKind::Document, false, b"never finished")
        .unwrap();
    log.flush().unwrap();
    let store = reopened(&store);
    let (found, mut log) = read(&store);
    assert_eq!(found.len(), 1);
    write(&mut log, &batch(2)).unwrap();
    log.flush().unwrap();
    let (found, _) = read(&reopened(&store));
    assert!(found == [batch(1), batch(2)]);
}

#[test]
fn a_page_that_shows_up_after_a_recovery_does_not_count() {
    let store = store();
    let (_, mut log) = read(&store);
    write(&mut log, &batch(1)).unwrap();
    log.flush().unwrap();
    let zone = FileId::Zone(0);
    let device = Arc::clone(store.device());
    // The second batch is on its way when the process dies; its pages arrive after the recovery.
    write(&mut log, &[vec![9; 3_000]]).unwrap();
    log.flush().unwrap();
    let late = take_page(&device, zone, 1);
    let store = reopened(&store);
    let (found, mut log) = read(&store);
    assert_eq!(found.len(), 1);
    write(&mut log, &batch(3)).unwrap();
    log.flush().unwrap();
    put_page(&device, zone, 1, late);
    let (found, _) = read(&reopened(&store));
    assert!(found == [batch(1), batch(3)]);
}

/// Takes a page's bytes away, leaving zeros.
fn take_page(device: &Arc<dyn Device>, file: FileId, page: u32) -> Vec<u8> {
    let pool = crate::device::PagePool::new(1);
    let buffers = vec![pool.take().unwrap()];
    let mut batch = [crate::device::Transfer {
        file,
        page,
        buffers,
    }];
    device.read(&mut batch).unwrap();
    let bytes = batch[0].buffers[0].to_vec();
    put_page(device, file, page, vec![0; bytes.len()]);
    bytes
}

fn put_page(device: &Arc<dyn Device>, file: FileId, page: u32, bytes: Vec<u8>) {
    let pool = crate::device::PagePool::new(1);
    let mut buffer = pool.take().unwrap();
    buffer.copy_from_slice(&bytes);
    let mut batch = [crate::device::Transfer {
        file,
        page,
        buffers: vec![buffer],
    }];
    device.write(&mut batch).unwrap();
}

#[test]
fn a_record_without_a_length_is_damaged_and_no_loop() {
    for bytes in [[0xff; 16].as_slice(), &[0x80, 0x80, 0x80, 0x80, 0x7f, 1, 1]] {
        let store = store();
        let mut stream = StreamWriter::new(Arc::clone(&store), PageKind::Log);
        let span = stream.append(bytes).unwrap();
        stream.flush().unwrap();
        let read = read_records(&store, PageKind::Log, span.first(), 1, &mut |_| Ok(()));
        assert!(matches!(read, Err(Error::Damaged { .. })), "{read:?}");
    }
}

/// The batches that a replay reads, and the places behind them.
#[derive(Default)]
struct Read {
    batches: Vec<Vec<Vec<u8>>>,
    places: Vec<LogStart>,
}

impl Recovery for Read {
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn apply(&mut self, batch: Vec<ZoneRecord>, behind: LogStart) -> Result<()> {
        let bodies = batch.into_iter().map(|record| record.body);
        self.batches.push(bodies.collect());
        self.places.push(behind);
        Ok(())
    }
}

/// A place behind a batch may be within a page: then the ends of some before it are read again.
#[test]
fn a_replay_begins_behind_any_batch() {
    let store = store();
    store.zones().set_zone_pages(Some(3));
    let mut log = Log::resume(Arc::clone(&store), LogStart::BEGINNING);
    for seed in 0..80 {
        write(&mut log, &batch(seed)).unwrap();
        if seed % 7 == 0 {
            log.flush().unwrap();
        }
    }
    log.flush().unwrap();
    let read_from = |start| {
        let mut read = Read::default();
        replay(&reopened(&store), start, LogReach::Written, &mut read).unwrap();
        read
    };
    let all = read_from(LogStart::BEGINNING);
    assert_eq!(all.batches.len(), 80);
    let mut shared = 0;
    for (at, place) in all.places.iter().enumerate() {
        let (before, behind) = all.batches.split_at(at + 1);
        let read = read_from(*place).batches;
        let (again, rest) = read.split_at(read.len() - behind.len());
        assert_eq!(rest, behind, "behind batch {at}");
        assert!(before.concat().ends_with(&again.concat()), "batch {at}");
        shared += usize::from(!again.is_empty());
    }
    assert!((20..80).contains(&shared), "{shared}");
}
