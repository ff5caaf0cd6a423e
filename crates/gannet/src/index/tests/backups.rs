//! Backups on devices that lose power, fail, or hold something else.
//!
//! `GANNET_CRASH_STATES` says how many states of the destination are looked at, about, distinct by
//! the hash of their image.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::crashes::wanted;
use super::random::Random;
use super::workload::{self, Step};
use super::world::{State, World, contents};
use crate::base::{Error, PAGE_SIZE, Result};
use crate::device::{
    CrashImage, Device, Fault, FaultKind, FileId, MemoryDevice, MemoryPage, RecordingDevice,
};
use crate::index::{BackupReport, Index, MEMORY_MIN, Options};
use crate::storage::{Found, History, RootSlot, SlotKind, find_root, write_slot};

fn options() -> Options {
    Options::default().memory(MEMORY_MIN).create(false)
}

fn open_to_read(device: Arc<dyn Device>) -> Result<Index> {
    Index::open_on(device, Path::new("copy"), options().read_only())
}

fn open_to_write(device: Arc<dyn Device>) -> Result<Index> {
    Index::open_on(device, Path::new("copy"), options())
}

/// Backs an index up to a device.
fn back_up(index: &Index, device: Arc<dyn Device>) -> Result<BackupReport> {
    let backup = index.begin_backup()?.0;
    let slot = backup.backup_slot();
    backup.copy_on(device, Path::new("copy"), &slot, &mut |_, _| ())
}

/// Copies an index to a device under another identity.
fn restore(index: &Index, device: Arc<dyn Device>) -> Result<BackupReport> {
    let backup = index.begin_backup()?.0;
    let slot = RootSlot {
        identity: 99,
        kind: SlotKind::Index,
        history: History::default(),
        ..backup.slot
    };
    backup.copy_on(device, Path::new("copy"), &slot, &mut |_, _| ())
}

fn index(world: &World) -> &Index {
    world.index.as_ref().expect("an open index")
}

/// Everything in what is on a device, which must be sound.
fn sound_contents(index: &Index) -> State {
    let found = contents(index).expect("answers");
    let report = index.check(&|_, _| ()).expect("a check");
    assert_eq!(report.findings, Vec::<String>::new());
    found
}

fn write(world: &mut World, id: &str, text: &str) {
    let batch = vec![(id.to_owned(), text.to_owned())];
    world
        .run(&[Step::Write(batch), Step::Checkpoint])
        .expect("a write");
}

#[test]
fn each_backup_in_a_folder_is_the_newest_state_and_costs_what_is_new() {
    for seed in 61..=64 {
        let device = Arc::new(MemoryDevice::new());
        let steps = workload::mixed(seed, 60, 24);
        let (before, after) = steps.split_at(25);
        let mut world = World::of(before);
        let first = back_up(index(&world), device.clone()).expect("a backup");
        assert_eq!(
            (first.bytes, first.incremental),
            (first.bytes_copied, false)
        );
        for step in after {
            world
                .run(std::slice::from_ref(step))
                .expect("nothing fails");
            let report = back_up(index(&world), device.clone()).expect("a backup");
            assert!(report.incremental && report.bytes_copied < report.bytes);
            let copy = open_to_read(device.clone()).expect("opens");
            assert_eq!(Some(&sound_contents(&copy)), world.states.last());
        }
        let again = back_up(index(&world), device.clone()).expect("a backup");
        // The page that a table or the log goes on in, and a root; what a vacuum leaves is little
        // more.
        let little = again.bytes_copied <= 4 * PAGE_SIZE as u64;
        assert!(little || again.bytes_copied * 4 < again.bytes, "{again:?}");
    }
}

/// The state that a backup began with stays until it is copied, although the index is written and
/// cleaned meanwhile.
#[test]
fn what_is_held_stays_while_writing_goes_on() {
    let device = Arc::new(MemoryDevice::new());
    let mut world = World::of(&workload::mixed(74, 40, 24));
    let held = world.states.last().cloned();
    let (backup, snapshot) = index(&world).begin_backup().expect("a root");
    drop(snapshot);
    let gone = (0..24).map(|id| format!("id{id}")).collect();
    let steps = [Step::Delete(gone), Step::Checkpoint, Step::Clean];
    world.run(&steps).expect("nothing fails");
    (0..9).for_each(|n| write(&mut world, "id1", &format!("all over{n}")));
    let slot = backup.backup_slot();
    let copied = backup.copy_on(device.clone(), Path::new("copy"), &slot, &mut |_, _| ());
    copied.expect("a copy");
    let found = sound_contents(&open_to_read(device).expect("opens"));
    assert_eq!(Some(found), held);
}

/// The states that a crash may leave: the number of the last backup that was done at an event,
/// counted from 1.
struct Marks(Vec<(usize, State)>);

impl Marks {
    /// Says what is wrong with what a crash after `point` has left.
    fn judge(&self, image: &CrashImage, point: usize) -> std::result::Result<(), String> {
        let done = self.0.iter().take_while(|(at, _)| *at <= point).count();
        let opened = open_to_read(image.device.clone());
        let index = match (opened, done) {
            (Ok(index), _) => index,
            (Err(Error::Format { .. } | Error::Damaged { .. }), 0) => return Ok(()),
            (Err(error), _) => return Err(format!("does not open: {error}")),
        };
        let found = contents(&index).map_err(|error| error.to_string())?;
        let allowed = self.0.iter().skip(done.saturating_sub(1)).take(2);
        let allowed = allowed.take(if done == 0 { 1 } else { 2 });
        if !allowed.clone().any(|(_, state)| *state == found) {
            return Err(format!("has neither backup {done} nor the next"));
        }
        let report = index.check(&|_, _| ()).map_err(|e| e.to_string())?;
        if report.findings.is_empty() {
            self.judge_writing(image, found)
        } else {
            Err(format!("{:?}", report.findings))
        }
    }

    /// It is not opened for writing; what is restored has the same, then and after a reopening.
    fn judge_writing(&self, image: &CrashImage, found: State) -> std::result::Result<(), String> {
        let copy = Arc::new(MemoryDevice::from_files(image.device.files()));
        let device = Arc::new(MemoryDevice::new());
        match open_to_write(copy.clone()) {
            Err(Error::Format { reason, .. }) if reason.contains("gannet restore") => {}
            Err(error) => return Err(error.to_string()),
            Ok(_) => return Err("is opened for writing".to_owned()),
        }
        open_to_read(copy)
            .and_then(|index| restore(&index, device.clone()))
            .map_err(|error| error.to_string())?;
        for opening in 0..2 {
            let index = open_to_write(device.clone()).map_err(|e| e.to_string())?;
            let written = contents(&index).map_err(|e| e.to_string())?;
            if written != found {
                return Err(format!("has other documents in opening {opening}"));
            }
        }
        Ok(())
    }
}

/// Backups of a growing index into one folder: whatever a crash leaves of it is the last backup
/// that was done, or the next, or, before the first, a folder that says that it is none.
#[test]
fn a_crash_leaves_the_earlier_backup_or_the_new_one() {
    let wanted = wanted(1_200);
    let mut states = HashSet::new();
    for seed in 65..=67 {
        let (device, marks) = backed_up(seed);
        let mut random = Random::new(seed);
        let (points, mut due) = (device.events() + 1, 0.0);
        for point in 0..points {
            due += wanted as f64 / 3.0 / points as f64;
            let mut images = device.crash_images(point, 6, seed ^ point as u64);
            let count = 9 + 11 * images.changes();
            while due >= 1.0 {
                let Some(image) = images.nth(random.below(1 + count / 6)) else {
                    break;
                };
                due -= 1.0;
                if states.insert(image.hash()) {
                    let judged = marks.judge(&image, point);
                    judged.unwrap_or_else(|e| panic!("{seed}, {point}, {}: {e}", image.what));
                }
            }
        }
    }
    println!("backups: {} distinct states", states.len());
    assert!(states.len() >= wanted / 2);
}

/// Three backups with writing, cleaning and recoveries between them; the states of each with the
/// events after it.
fn backed_up(seed: u64) -> (Arc<RecordingDevice>, Marks) {
    let device = Arc::new(RecordingDevice::new());
    let mut world = World::new(Arc::default());
    let mut marks = Vec::new();
    let steps = workload::written_anew(workload::mixed(seed, 45, 24));
    for part in steps.chunks(17) {
        world.run(part).expect("nothing fails");
        back_up(index(&world), device.clone()).expect("a backup");
        let state = world.states.last().cloned().expect("a state");
        marks.push((device.events(), state));
    }
    (device, Marks(marks))
}

#[test]
fn zones_that_a_backup_has_lost_are_copied_again() {
    let mut world = World::of(&workload::mixed(75, 20, 24));
    let device = Arc::new(MemoryDevice::new());
    back_up(index(&world), device.clone()).expect("a backup");
    let files = device.files();
    let shared: Arc<dyn Device> = device.clone();
    let found = find_root(&shared, Path::new("copy")).expect("a root");
    let Found::Root(slot) = found else {
        panic!("{found:?}");
    };
    let kept = [FileId::Superblock, FileId::Zone(slot.root.zone)];
    for (lost, _) in files.iter().filter(|(file, _)| !kept.contains(file)) {
        device.remove(lost).expect("removed");
    }
    assert!(open_to_read(device.clone()).is_err());
    write(&mut world, "later", "all later4");
    back_up(index(&world), device.clone()).expect("a backup");
    let found = sound_contents(&open_to_read(device).expect("opens"));
    assert_eq!(Some(&found), world.states.last());
}

/// A copy that fails at any operation leaves the earlier backup, and the next try makes the new
/// one.
#[test]
fn a_failed_backup_costs_nothing_and_can_be_repeated() {
    let mut world = World::of(&workload::mixed(68, 20, 24));
    let first = world.states.last().cloned();
    let image = Arc::new(MemoryDevice::new());
    back_up(index(&world), image.clone()).expect("a backup");
    write(&mut world, "later", "all later1");
    let changes = {
        let device = Arc::new(RecordingDevice::from_image(&image));
        back_up(index(&world), device.clone()).expect("a backup");
        device.changes()
    };
    assert!(changes > 10, "{changes}");
    for (at, kind) in (0..changes).flat_map(|at| [(at, FaultKind::Io), (at, FaultKind::Full)]) {
        let device = Arc::new(RecordingDevice::from_image(&image));
        let sticky = true;
        device.fail(Fault { at, kind, sticky });
        let Err(error) = back_up(index(&world), device.clone()) else {
            continue;
        };
        assert!(error.to_string().contains("copy/"), "{error}");
        device.heal();
        let found = contents(&open_to_read(device.clone()).expect("opens")).expect("answers");
        assert!([first.as_ref(), world.states.last()].contains(&Some(&found)));
        back_up(index(&world), device.clone()).expect("a backup");
        let found = sound_contents(&open_to_read(device).expect("opens"));
        assert_eq!(Some(&found), world.states.last());
    }
}

#[test]
fn a_first_backup_that_was_cut_short_says_so_and_can_be_repeated() {
    let world = World::of(&workload::mixed(69, 20, 24));
    let device = Arc::new(RecordingDevice::new());
    let (at, kind, sticky) = (20, FaultKind::Full, true);
    device.fail(Fault { at, kind, sticky });
    back_up(index(&world), device.clone()).expect_err("a full device");
    device.heal();
    let error = open_to_read(device.clone()).err().expect("no index");
    assert!(error.to_string().contains("cut short"), "{error}");
    let error = Index::open_on(device.clone(), Path::new("copy"), Options::default());
    assert!(matches!(error, Err(Error::Format { .. })));
    let other = World::of(&workload::short(1));
    back_up(index(&other), device.clone()).expect_err("the copy of another index");
    back_up(index(&world), device.clone()).expect("a backup");
    let found = sound_contents(&open_to_read(device).expect("opens"));
    assert_eq!(Some(&found), world.states.last());
}

/// Each page that is copied is proved, so that no backup has a page that is not what was written.
#[test]
fn a_damaged_page_of_the_index_is_named() {
    let world = World::of(&workload::many(70));
    let source = Arc::new(MemoryDevice::new());
    restore(index(&world), source.clone()).expect("a copy");
    let pages = source.files();
    let pages = pages.iter().flat_map(|(file, pages)| {
        let whole = pages.iter().map(|page| *page.bytes());
        (0..)
            .zip(whole)
            .map(move |(page, bytes)| (file, page, bytes))
    });
    let mut named = 0;
    for (file, page, bytes) in pages.filter(|(file, ..)| *file != FileId::Superblock) {
        let damaged = Arc::new(MemoryDevice::from_files(source.files()));
        let mut changed = bytes;
        changed[500] ^= 4;
        let stored = damaged.store(file, page, MemoryPage::new(&changed));
        stored.expect("stored");
        let done = open_to_read(damaged)
            .and_then(|index| back_up(&index, Arc::default() as Arc<MemoryDevice>));
        let Err(error) = done else {
            // Only the newest of the root records is copied.
            assert_eq!(bytes, [0; 4_096], "page {page} of {file}");
            continue;
        };
        let place = format!("page {page} of {file}");
        named += usize::from(error.to_string().contains(&place));
    }
    assert!(named > 20, "{named}");
}

#[test]
fn a_restored_index_is_another_index() {
    let mut world = World::of(&workload::mixed(71, 30, 24));
    let (folder, restored) = (Arc::new(MemoryDevice::new()), Arc::new(MemoryDevice::new()));
    back_up(index(&world), folder.clone()).expect("a backup");
    restore(
        &open_to_read(folder.clone()).expect("opens"),
        restored.clone(),
    )
    .expect("restored");
    let copy = open_to_write(restored.clone()).expect("opens");
    assert_eq!(Some(&sound_contents(&copy)), world.states.last());
    copy.delete(&["id1", "id2"]).expect("deleted");
    let error = back_up(&copy, folder.clone()).expect_err("another index");
    assert!(error.to_string().contains("another index"), "{error}");
    let error = restore(&copy, restored).expect_err("a folder that is not empty");
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    write(&mut world, "later", "all later2");
    back_up(index(&world), folder).expect("a backup");
}

/// The index as it was when this backup of it was made.
fn as_index(backup: MemoryDevice) -> Arc<MemoryDevice> {
    let device = Arc::new(backup);
    let shared: Arc<dyn Device> = device.clone();
    let found = find_root(&shared, Path::new("copy")).expect("a root");
    let Found::Root(slot) = found else {
        panic!("{found:?}");
    };
    let kind = SlotKind::Index;
    write_slot(&shared, &RootSlot { kind, ..slot }).expect("a root");
    device
}

/// Copies of a folder have one identity; those that were written apart are never mixed.
#[test]
fn a_backup_takes_only_what_goes_on_from_it() {
    let mut world = World::of(&workload::mixed(72, 30, 24));
    let folder = Arc::new(MemoryDevice::new());
    back_up(index(&world), folder.clone()).expect("a backup");
    let copied = folder.files();
    write(&mut world, "later", "all later3");
    back_up(index(&world), folder.clone()).expect("a backup");
    let newest = folder.files();

    // The index is set back to where the earlier backup was made, and written.
    let set_back =
        open_to_write(as_index(MemoryDevice::from_files(copied.clone()))).expect("opens");
    for _ in 0..8 {
        set_back.delete(&["id1"]).expect("deleted");
        set_back.checkpoint().expect("a checkpoint");
    }
    let error = back_up(&set_back, folder.clone()).expect_err("another course");
    assert!(error.to_string().contains("does not go on from"), "{error}");
    // It goes on from the earlier one.
    let earlier = Arc::new(MemoryDevice::from_files(copied));
    back_up(&set_back, earlier.clone()).expect("a backup");
    let found = sound_contents(&open_to_read(earlier).expect("opens"));
    assert_eq!(found, contents(&set_back).expect("answers"));

    // A copy of the index is no backup.
    let written = as_index(MemoryDevice::from_files(newest));
    drop(open_to_write(written.clone()).expect("opens"));
    let error = back_up(index(&world), written).expect_err("no backup");
    assert!(error.to_string().contains("opened for writing"), "{error}");
    assert_eq!(
        Some(&sound_contents(&open_to_read(folder).expect("opens"))),
        world.states.last()
    );
}

#[test]
fn an_index_that_was_not_closed_is_recovered_first() {
    let mut world = World::of(&workload::mixed(73, 10, 24));
    let batch = vec![("last".to_owned(), "all last1".to_owned())];
    world
        .run(&[Step::Checkpoint, Step::Write(batch), Step::Sync])
        .expect("written");
    world.index = None;
    let reader = open_to_read(world.device()).expect("opens");
    let error = back_up(&reader, Arc::default() as Arc<MemoryDevice>).expect_err("a log");
    assert!(error.to_string().contains("open it for writing"), "{error}");
}
