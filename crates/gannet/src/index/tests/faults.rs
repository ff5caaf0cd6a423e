//! Every operation of the device fails once, or from then on, in each way it can.
//!
//! Whatever fails: there is no panic, the failure is reported in an error, the writer stays
//! stopped, and reads go on with what was published. What was acknowledged is there after
//! reopening, with and without a power loss in between.

use std::sync::Arc;

use super::workload::{self, Step};
use super::world::{State, World, contents, open};
use crate::base::{Error, Result};
use crate::device::{Fault, FaultKind, RecordingDevice};

const KINDS: [FaultKind; 5] = [
    FaultKind::Io,
    FaultKind::Full,
    FaultKind::ShortWrite { sectors: 1 },
    FaultKind::ShortWrite { sectors: 11 },
    FaultKind::Sync,
];

/// Returns the requests to an index that has been reopened.
fn epilogue() -> [Step; 4] {
    [
        Step::Write(vec![("id3".to_owned(), "all later1".to_owned())]),
        Step::Sync,
        Step::Write(vec![("id4".to_owned(), "all later2".to_owned())]),
        Step::Checkpoint,
    ]
}

#[test]
fn no_failed_operation_costs_what_was_acknowledged() {
    let steps = workload::short(1);
    let changes = World::of(&steps).device.changes();
    let mut points = 0;
    for at in 0..changes {
        for kind in KINDS {
            for sticky in [false, true] {
                let fault = Fault { at, kind, sticky };
                points += usize::from(survives(&steps, fault));
            }
        }
    }
    println!("faults: {points} failures at {changes} operations");
    assert!(points as u64 >= changes * 4);
}

/// Whatever fails while an index is written anew: it goes on as it was, or stops if even that
/// fails.
#[test]
fn a_rebuild_that_fails_leaves_the_index_as_it_was() {
    let mut steps = workload::short(3);
    steps.push(Step::Checkpoint);
    let before = World::of(&steps).device.changes();
    let mut all = steps.clone();
    all.push(Step::Rebuild);
    let changes = World::of(&all).device.changes();
    let (mut went_on, mut stopped) = (0, 0);
    for at in before..changes {
        for kind in KINDS {
            for sticky in [false, true] {
                let device = Arc::new(RecordingDevice::new());
                device.fail(Fault { at, kind, sticky });
                let mut world = World::new(device);
                world.run(&steps).expect("nothing fails before");
                let Err(error) = world.run(&all[steps.len()..]) else {
                    continue;
                };
                assert!(matches!(error, Error::Device { .. }), "{at}: {error}");
                world.device.heal();
                let index = world.index.take().expect("an open index");
                assert_eq!(Some(&contents(&index).unwrap()), world.states.last());
                match index.checkpoint() {
                    Ok(()) => went_on += 1,
                    Err(Error::Stopped(_)) => stopped += 1,
                    Err(error) => panic!("{at}: {error}"),
                }
                drop(index);
                world.index = Some(open(world.device()).expect("opens"));
                world.run(&all[steps.len()..]).expect("nothing fails");
                let index = world.index.take().expect("an open index");
                world
                    .judge_index(&index, (world.states.len() - 1, world.states.len() - 1))
                    .unwrap();
            }
        }
    }
    println!(
        "rebuild: went on {went_on} times and stopped {stopped} of {} operations",
        changes - before
    );
    assert!(
        went_on > 10 && changes > before + 10,
        "{went_on}, {before} to {changes}"
    );
}

/// Whatever fails in a replay that flushes: it is told, and the next opening has everything.
#[test]
fn no_failed_operation_of_a_replay_that_flushes_costs_anything() {
    let world = World::roomy(&workload::logged(74, 16));
    let end = world.device.events();
    let (first, last) = world.window(end);
    assert_eq!(first, last);
    let image = world.device.crash_images(end, 0, 0).next();
    let image = image.expect("an image").device;
    let whole = Arc::new(RecordingDevice::from_image(&image));
    let index = open(whole.clone()).expect("opens");
    assert!(index.shared().published.get().flushes >= 3);
    drop(index);
    let mut met = 0;
    for at in 0..whole.changes() {
        let kind = KINDS[at as usize % KINDS.len()];
        let sticky = at % 2 == 0;
        let device = Arc::new(RecordingDevice::from_image(&image));
        device.fail(Fault { at, kind, sticky });
        let opened = open(device.clone());
        if device.faults_met() == 0 {
            continue;
        }
        met += 1;
        let error = opened.err().expect("a failed operation is told");
        assert!(matches!(error, Error::Device { .. }), "{at}: {error}");
        device.heal();
        let lost = device.crash_images(device.events(), 1, at).last();
        let lost = lost.expect("an image").device;
        for device in [device as Arc<dyn crate::device::Device>, lost] {
            world
                .judge(device, end)
                .unwrap_or_else(|reason| panic!("{kind:?} at {at}: it {reason}"));
        }
    }
    println!("replays: {met} failures at {} operations", whole.changes());
    assert!(met > 50, "{met}");
}

/// Returns true if the fault was met; panics if the index did not bear it.
fn survives(steps: &[Step], fault: Fault) -> bool {
    let device = Arc::new(RecordingDevice::new());
    device.fail(fault);
    let mut world = World::new(device);
    let done = world.run(steps);
    if world.device.faults_met() == 0 {
        return false;
    }
    let error = done.expect_err("a failed operation is reported");
    assert!(matches!(error, Error::Device { .. }), "{fault:?}: {error}");
    if let Some(index) = world.index.take() {
        expect_stopped(&world, &index, fault);
    }
    let point = world.device.events();
    world.device.heal();
    expect_recovery_from_power_loss(&world, point, fault);
    expect_recovery_of_the_process(&mut world, point, fault);
    true
}

/// The writer takes nothing more, and readers see one of the published states.
fn expect_stopped(world: &World, index: &crate::index::Index, fault: Fault) {
    let rejected: [Result<()>; 3] = [
        index.add(document()).map(drop),
        index.delete(&["id0"]).map(drop),
        index.checkpoint(),
    ];
    for result in rejected {
        let error = result.expect_err("a stopped writer rejects");
        assert!(matches!(error, Error::Stopped(_)), "{fault:?}: {error}");
    }
    let found: State = contents(index).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
    let known = world
        .states
        .iter()
        .rev()
        .take(2)
        .any(|state| *state == found);
    assert!(known, "{fault:?}: a reader sees no published state");
}

fn document() -> crate::documents::Document {
    crate::documents::Document::new("id9", [("body", "all rejected")]).expect("a document")
}

fn expect_recovery_from_power_loss(world: &World, point: usize, fault: Fault) {
    for image in world.device.crash_images(point, 3, fault.at).take(5) {
        let judged = world.judge(image.device, point);
        judged.unwrap_or_else(|reason| panic!("{fault:?}, {}: {reason}", image.what));
    }
}

/// Opens the index on the device as it is, goes on, and loses power then.
fn expect_recovery_of_the_process(world: &mut World, point: usize, fault: Fault) {
    let (first, _) = world.window(point);
    let found = world.resume(first);
    found.unwrap_or_else(|reason| panic!("{fault:?}: after reopening the index {reason}"));
    let steps = epilogue();
    let (synced, rest) = steps.split_at(2);
    go_on(world, synced, fault);
    // After a failed sync the system shows bytes that it may never write, and no later sync tells:
    // the pages that a recovery accepted then are safe only once a checkpoint has moved what they
    // hold.
    if !matches!(fault.kind, FaultKind::Sync | FaultKind::Io) {
        expect_survival_of_power_loss(world, fault);
    }
    go_on(world, rest, fault);
    expect_survival_of_power_loss(world, fault);
}

fn go_on(world: &mut World, steps: &[Step], fault: Fault) {
    let gone_on = world.run(steps);
    gone_on.unwrap_or_else(|error| panic!("{fault:?}: after reopening: {error}"));
}

fn expect_survival_of_power_loss(world: &World, fault: Fault) {
    let end = world.device.events();
    for image in world.device.crash_images(end, 2, fault.at).take(4) {
        let judged = world.judge(image.device, end);
        judged.unwrap_or_else(|reason| panic!("{fault:?}, then {}: {reason}", image.what));
    }
}

#[test]
fn a_failed_read_is_an_error_and_no_more() {
    let steps = workload::short(2);
    let world = World::of(&steps);
    let files = world
        .device
        .crash_images(world.device.events(), 0, 0)
        .next()
        .expect("an image");
    let reads = {
        let device = Arc::new(RecordingDevice::from_image(&files.device));
        contents(&open(device.clone()).expect("opens")).expect("answers");
        device.reads()
    };
    let mut noticed = 0;
    for at in 0..reads {
        let device = Arc::new(RecordingDevice::from_image(&files.device));
        device.fail(Fault {
            at,
            kind: FaultKind::Read,
            sticky: false,
        });
        let answered = open(device.clone()).and_then(|index| contents(&index));
        // A batch that several queries share is tried again for each alone, so an answer may come.
        match answered {
            Ok(state) => assert_eq!(Some(&state), world.states.last(), "read {at}"),
            Err(_) => noticed += 1,
        }
        let state = contents(&open(device).expect("opens")).expect("answers");
        assert_eq!(Some(&state), world.states.last());
    }
    println!("faults: {noticed} of {reads} failed reads made an error");
    assert!(noticed * 2 > reads);
}

/// The disk is full for a while: one clear error, reads go on, and the index goes on after
/// reopening.
#[test]
fn a_full_disk_rejects_writes_until_there_is_space() {
    let steps = workload::mixed(5, 30, 12);
    let changes = World::of(&steps).device.changes();
    for at in (0..changes).step_by(7) {
        let fault = Fault {
            at,
            kind: FaultKind::Full,
            sticky: true,
        };
        let device = Arc::new(RecordingDevice::new());
        device.fail(fault);
        let mut world = World::new(device);
        let Err(error) = world.run(&steps) else {
            continue;
        };
        let text = error.to_string();
        assert!(text.contains("space"), "{text}");
        if let Some(index) = world.index.take() {
            expect_stopped(&world, &index, fault);
        }
        let point = world.device.events();
        world.device.heal();
        expect_recovery_of_the_process(&mut world, point, fault);
    }
}
