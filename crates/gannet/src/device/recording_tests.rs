//! Tests of the recording device and its crash images.

use std::collections::HashSet;
use std::sync::Arc;

use super::conformance::conformance;
use super::{
    CrashImage, Device, Fault, FaultKind, FileId, MemoryDevice, PagePool, RecordingDevice, Transfer,
};
use crate::base::{Error, PAGE_SIZE, Result};

const ZONE: FileId = FileId::Zone(1);

fn write(device: &RecordingDevice, page: u32, bytes: &[u8]) -> Result<()> {
    let pool = PagePool::new(bytes.len());
    let filled = |byte: &u8| {
        let mut buffer = pool.take().unwrap();
        buffer.fill(*byte);
        buffer
    };
    let buffers = bytes.iter().map(filled).collect();
    device.write(&mut [Transfer {
        file: ZONE,
        page,
        buffers,
    }])
}

/// A zone of one durable page of ones.
fn with_durable_page() -> RecordingDevice {
    let device = RecordingDevice::new();
    device.create(ZONE).unwrap();
    device.sync_directory().unwrap();
    write(&device, 0, &[1]).unwrap();
    device.sync(&[ZONE]).unwrap();
    device
}

fn images(device: &RecordingDevice) -> Vec<CrashImage> {
    device.crash_images(device.events(), 20, 7).collect()
}

/// The first and the last byte of each page of the zone, or nothing when there is no zone.
fn edges(image: &MemoryDevice) -> Option<Vec<(u8, u8)>> {
    let files = image.files();
    let edge = |page: &super::memory::Page| (page.bytes()[0], page.bytes()[PAGE_SIZE - 1]);
    Some(files.get(ZONE)?.iter().map(edge).collect())
}

fn outcomes(device: &RecordingDevice) -> HashSet<Option<Vec<(u8, u8)>>> {
    images(device)
        .iter()
        .map(|image| edges(&image.device))
        .collect()
}

#[test]
fn recording_conforms() {
    conformance(|| Arc::new(RecordingDevice::new()));
}

#[test]
fn what_was_synced_survives_every_crash() {
    let device = with_durable_page();
    assert_eq!(outcomes(&device), HashSet::from([Some(vec![(1, 1)])]));
}

#[test]
fn unsynced_writes_are_kept_lost_torn_or_zero() {
    let device = with_durable_page();
    write(&device, 0, &[2]).unwrap();
    write(&device, 1, &[3]).unwrap();
    let seen = outcomes(&device);
    for expected in [
        vec![(2, 2), (3, 3)],
        vec![(1, 1)],
        vec![(2, 2)],
        vec![(1, 1), (3, 3)],
        vec![(2, 1), (3, 3)],
        vec![(1, 2), (3, 3)],
        vec![(2, 2), (3, 0)],
        vec![(2, 2), (0, 0)],
    ] {
        assert!(seen.contains(&Some(expected.clone())), "{expected:?}");
    }
}

#[test]
fn names_are_durable_only_with_their_directory() {
    let device = RecordingDevice::new();
    device.create(ZONE).unwrap();
    write(&device, 0, &[1]).unwrap();
    device.sync(&[ZONE]).unwrap();
    let kept = Some(vec![(1, 1)]);
    assert_eq!(outcomes(&device), HashSet::from([None, kept.clone()]));
    device.sync_directory().unwrap();
    assert_eq!(outcomes(&device), HashSet::from([kept.clone()]));
    device.remove(ZONE).unwrap();
    assert_eq!(outcomes(&device), HashSet::from([None, kept]));
    device.sync_directory().unwrap();
    assert_eq!(outcomes(&device), HashSet::from([None]));
}

#[test]
fn images_are_repeatable_and_told_apart_by_hash() {
    let device = with_durable_page();
    (0..4).for_each(|page| write(&device, page, &[page as u8 + 2]).unwrap());
    let hashes = || {
        images(&device)
            .iter()
            .map(CrashImage::hash)
            .collect::<Vec<_>>()
    };
    assert_eq!(hashes(), hashes());
    let distinct: HashSet<_> = hashes().into_iter().collect();
    assert!(distinct.len() >= 40, "{}", distinct.len());
}

#[test]
fn an_earlier_point_knows_nothing_of_later_events() {
    let device = with_durable_page();
    let hashes: Vec<HashSet<_>> = (0..=device.events())
        .map(|point| device.crash_images(point, 5, 1).map(|i| i.hash()).collect())
        .collect();
    assert_eq!(hashes[0], HashSet::from([MemoryDevice::new().hash()]));
    assert_eq!(hashes[2].len(), 1, "an empty, durable zone");
    assert!(hashes[3].len() >= 10, "torn states of one write");
    assert_eq!(hashes[4].len(), 1, "synced");
}

#[test]
fn a_crashed_device_can_crash_again() {
    let device = with_durable_page();
    write(&device, 1, &[2]).unwrap();
    let first = images(&device).swap_remove(0);
    let again = RecordingDevice::from_image(&first.device);
    assert_eq!(
        outcomes(&again),
        HashSet::from([Some(vec![(1, 1), (2, 2)])])
    );
}

#[test]
fn a_dropped_sync_is_a_lie() {
    let device = RecordingDevice::new();
    device.create(ZONE).unwrap();
    device.sync_directory().unwrap();
    device.drop_sync(1);
    write(&device, 0, &[1]).unwrap();
    device.sync(&[ZONE]).unwrap();
    assert!(outcomes(&device).contains(&Some(vec![])));
    device.sync(&[ZONE]).unwrap();
    assert_eq!(outcomes(&device), HashSet::from([Some(vec![(1, 1)])]));
}

#[test]
fn a_failed_sync_loses_what_it_covered() {
    let device = with_durable_page();
    write(&device, 0, &[2]).unwrap();
    device.fail(Fault {
        at: 0,
        kind: FaultKind::Sync,
        sticky: false,
    });
    assert!(device.sync(&[ZONE]).is_err());
    device.sync(&[ZONE]).unwrap();
    assert!(outcomes(&device).contains(&Some(vec![(1, 1)])));
    write(&device, 0, &[3]).unwrap();
    device.sync(&[ZONE]).unwrap();
    assert_eq!(outcomes(&device), HashSet::from([Some(vec![(3, 3)])]));
}

#[test]
fn a_short_write_leaves_its_first_sectors() {
    let device = with_durable_page();
    let kind = FaultKind::ShortWrite { sectors: 12 };
    device.fail(Fault {
        at: 0,
        kind,
        sticky: false,
    });
    assert!(write(&device, 0, &[2, 3, 4]).is_err());
    let seen = device.crash_images(device.events(), 0, 0).next().unwrap();
    assert_eq!(edges(&seen.device), Some(vec![(2, 2), (3, 0)]));
}

#[test]
fn faults_strike_once_or_stick_and_can_be_healed() {
    for sticky in [false, true] {
        let device = with_durable_page();
        let at = device.changes() + 1;
        device.fail(Fault {
            at,
            kind: FaultKind::Full,
            sticky,
        });
        write(&device, 0, &[2]).unwrap();
        let error = write(&device, 0, &[3]).unwrap_err();
        assert!(matches!(error, Error::Device { full: true, .. }), "{error}");
        device.sync(&[ZONE]).unwrap();
        assert_eq!(write(&device, 0, &[4]).is_err(), sticky);
        device.heal();
        write(&device, 0, &[5]).unwrap();
        assert_eq!(device.faults_met(), 1 + sticky as u64);
    }
}

#[test]
fn reads_fail_by_their_own_number() {
    let device = with_durable_page();
    let pool = PagePool::new(1);
    let read = || {
        let buffers = vec![pool.take().unwrap()];
        device.read(&mut [Transfer {
            file: ZONE,
            page: 0,
            buffers,
        }])
    };
    device.fail(Fault {
        at: 1,
        kind: FaultKind::Read,
        sticky: false,
    });
    assert_eq!(
        [read().is_ok(), read().is_ok(), read().is_ok()],
        [true, false, true]
    );
}
