//! A device of the engine with a model beside it, and the replay of its trace.

use std::fs::File;
use std::io::BufReader;

use gannet::device::{Device, FileId, PagePool, Transfer};
use gannet_ssd::random::Random;
use gannet_ssd::{
    Action, Disk, Drive, Medium, Modelled, Player, TRACE_FILE, Work, entries, hdd, profile,
};

fn drive() -> Medium {
    Drive::new(&profile::X25_E.with_capacity(32 << 20).unwrap())
        .unwrap()
        .into()
}

fn disk() -> Medium {
    Disk::new(hdd::DESKSTAR).into()
}

fn transfer(pool: &PagePool, file: FileId, page: u32, pages: u32) -> Transfer {
    let buffers = (0..pages).map(|_| {
        let mut buffer = pool.take().unwrap();
        buffer.fill(page as u8);
        buffer
    });
    Transfer {
        file,
        page,
        buffers: buffers.collect(),
    }
}

/// Writes, reads, syncs and removes files at random.
fn operate(device: &dyn Device, seed: u64) {
    let (pool, mut random) = (PagePool::new(256), Random::new(seed, "operate"));
    let mut lengths = [0_u32; 3];
    for _ in 0..300 {
        let number = random.below(3);
        let (file, length) = (FileId::Zone(number as u32), &mut lengths[number]);
        match random.below(12) {
            0 if *length > 0 => {
                device.remove(file).unwrap();
                *length = 0;
            }
            1 if *length > 0 => device.sync(&[file]).unwrap(),
            2..6 if *length > 8 => {
                let pages = (0..8).map(|_| random.below(*length as usize) as u32);
                let mut batch: Vec<_> = pages.map(|page| transfer(&pool, file, page, 1)).collect();
                device.read(&mut batch).unwrap();
            }
            _ => {
                if *length == 0 {
                    device.create(file).unwrap();
                }
                device
                    .write(&mut [transfer(&pool, file, *length, 16)])
                    .unwrap();
                *length += 16;
            }
        }
    }
}

fn replayed(folder: &std::path::Path, medium: Medium) -> Work {
    let mut player = Player::new(medium);
    let trace = BufReader::new(File::open(folder.join(TRACE_FILE)).unwrap());
    player.play(entries(trace)).unwrap();
    player.work()
}

#[test]
fn a_replayed_trace_takes_what_it_took_live() {
    for medium in [drive, disk] {
        let folder = tempfile::tempdir().unwrap();
        let device = Modelled::open(folder.path(), medium(), true).unwrap();
        operate(&device, 1);
        let work = device.work();
        drop(device);
        assert!(work.read_nanos > 0 && work.write_nanos > 0);
        assert_eq!(replayed(folder.path(), medium()), work);
    }
}

/// What a folder has when it is opened is on the medium, and the trace tells of it.
#[test]
fn files_that_are_there_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    operate(&Modelled::open(folder.path(), drive(), false).unwrap(), 2);
    let device = Modelled::open(folder.path(), drive(), true).unwrap();
    assert_eq!(
        device.work(),
        Work::default(),
        "that they are there takes no time"
    );
    let (pool, file) = (PagePool::new(4), FileId::Zone(1));
    device.read(&mut [transfer(&pool, file, 0, 2)]).unwrap();
    let (work, counts) = (device.work(), device.counts().unwrap());
    assert_eq!((counts.read_pages, counts.unmapped_read_units), (2, 0));
    assert_eq!(work.read_bytes, 8_192);
    drop(device);
    assert_eq!(replayed(folder.path(), drive()), work);
    let trace = BufReader::new(File::open(folder.path().join(TRACE_FILE)).unwrap());
    let first = entries(trace).next().unwrap().unwrap();
    assert_eq!((first.action, first.batch), (Action::Present, 0));
}

/// A batch of reads is given at once, so it takes less than one after the other; on a disk it does
/// not.
#[test]
fn a_batch_is_given_at_once() {
    let time = |medium: Medium, together: bool| {
        let folder = tempfile::tempdir().unwrap();
        let device = Modelled::open(folder.path(), medium, false).unwrap();
        let (pool, file) = (PagePool::new(256), FileId::Zone(0));
        device.create(file).unwrap();
        device.write(&mut [transfer(&pool, file, 0, 256)]).unwrap();
        device.sync(&[file]).unwrap();
        let mut batch: Vec<_> = (0..16)
            .map(|at| transfer(&pool, file, 15 * at, 1))
            .collect();
        if together {
            device.read(&mut batch).unwrap()
        } else {
            batch
                .chunks_mut(1)
                .for_each(|one| device.read(one).unwrap())
        }
        device.work().read_nanos
    };
    assert!(2 * time(drive(), true) < time(drive(), false));
    assert_eq!(time(disk(), true), time(disk(), false));
}

#[test]
fn removed_files_are_trimmed() {
    let folder = tempfile::tempdir().unwrap();
    let device = Modelled::open(folder.path(), drive(), false).unwrap();
    let (pool, file) = (PagePool::new(64), FileId::Zone(0));
    device.create(file).unwrap();
    device.write(&mut [transfer(&pool, file, 0, 64)]).unwrap();
    device.remove(file).unwrap();
    assert_eq!(device.counts().unwrap().trimmed_units, 64);
}

/// A drive that files do not fit on fails with a clear error, where the folder has room.
#[test]
fn a_full_drive_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let device = Modelled::open(folder.path(), drive(), false).unwrap();
    let (pool, file) = (PagePool::new(256), FileId::Zone(0));
    device.create(file).unwrap();
    let outcome =
        (0..1_000).try_for_each(|at| device.write(&mut [transfer(&pool, file, 256 * at, 256)]));
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("give it a larger capacity"), "{error}");
}
