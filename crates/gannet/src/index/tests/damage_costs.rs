//! Damage costs little: a check of a damaged index reads hardly more than one of a sound index, and
//! whatever a page says, maintenance comes to an end.

use std::sync::Arc;

use super::damage::{Bytes, PageAt, Victim};
use super::workload::{self, Step};
use super::world::open;
use crate::base::{Error, PAGE_PAYLOAD, Result};
use crate::device::{Device, FileId, MemoryDevice};
use crate::index::Index;
use crate::storage::{PageKind, SealAddress, seal};

/// Steps after which maintenance of so little has ended.
const STEPS_MAX: usize = 100;

#[test]
fn a_check_reads_a_damaged_page_once() {
    let victim = Victim::of(&workload::many(36));
    let sound = reads_of_check(victim.with(&[])).expect("a sound index");
    let (mut most, mut checked) = (0, 0);
    for page in &victim.pages {
        let mut bytes = victim.bytes(*page);
        bytes[100] ^= 1;
        if let Ok(reads) = reads_of_check(victim.with(&[(*page, bytes)])) {
            (most, checked) = (most.max(reads), checked + 1);
        }
    }
    println!(
        "{checked} of {} opened; {sound} reads, {most} at most",
        victim.pages.len()
    );
    assert!(checked > 20, "{checked}");
    assert!(most < 2 * sound, "{most} reads, of a sound index {sound}");
}

/// Read operations that a check takes; fails where the index cannot be opened.
fn reads_of_check(device: Arc<MemoryDevice>) -> Result<u64> {
    let index = open(Arc::clone(&device) as Arc<dyn Device>)?;
    let before = device.counters().snapshot().reads;
    index.check(&|_, _| {})?;
    Ok(device.counters().snapshot().reads - before)
}

#[test]
fn maintenance_of_forged_pages_ends() {
    let mut steps = workload::many(37);
    steps.retain(|step| !matches!(step, Step::Vacuum | Step::Clean));
    let victim = Victim::of(&steps);
    let mut rejected = 0;
    for page in victim
        .pages
        .iter()
        .filter(|page| page.0 != FileId::Superblock)
    {
        for byte in [0, 0xff] {
            let device = victim.with(&[(*page, filled(&victim, *page, byte))]);
            match open(device as Arc<dyn Device>).and_then(|index| maintain(&index)) {
                Ok(()) => {}
                Err(Error::Damaged { .. } | Error::Stopped(_) | Error::Format { .. }) => {
                    rejected += 1;
                }
                // A forged address may name a page that is not there.
                Err(Error::Device { .. }) => rejected += 1,
                Err(error) => panic!("{page:?} of {byte}: {error}"),
            }
        }
    }
    assert!(rejected > 20, "{rejected}");
}

/// Has an index maintain itself to the end.
fn maintain(index: &Index) -> Result<()> {
    let steps: [&dyn Fn() -> Result<bool>; 3] =
        [&|| index.vacuum(), &|| index.clean(), &|| index.maintain()];
    for step in steps {
        let mut taken = 0;
        while step()? {
            taken += 1;
            assert!(taken < STEPS_MAX, "maintenance goes on for ever");
        }
    }
    Ok(())
}

/// A page whose payload is this byte, sealed as the kind that it had.
fn filled(victim: &Victim, at: PageAt, byte: u8) -> Bytes {
    let (file, page) = at;
    let mut bytes = victim.bytes(at);
    bytes[..PAGE_PAYLOAD].fill(byte);
    let kind = victim.kind((file, page)).unwrap_or(PageKind::Log);
    seal(
        &mut bytes,
        victim.identity(),
        SealAddress { file, page },
        kind,
    );
    bytes
}
