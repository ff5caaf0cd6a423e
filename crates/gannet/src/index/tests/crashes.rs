//! Power losses at every event of a workload, and in the recoveries from them.
//!
//! `GANNET_CRASH_STATES` says how many states, distinct by the hash of their image, are looked at,
//! about.

use std::collections::HashSet;
use std::sync::Arc;

use super::random::Random;
use super::workload::{self, Step};
use super::world::World;
use crate::device::{CrashImage, RecordingDevice};

/// Random images of each crash point, beside those that are enumerated.
const RANDOM_IMAGES: usize = 6;

/// The counts of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) points: usize,
    pub(super) states: HashSet<u64>,
    pub(super) violations: Vec<String>,
}

pub(super) fn wanted(default: usize) -> usize {
    let given = std::env::var("GANNET_CRASH_STATES").ok();
    given
        .and_then(|given| given.parse().ok())
        .unwrap_or(default)
}

/// Judges about `wanted` images, spread over all points of the log.
pub(super) fn judge_crashes(world: &World, wanted: usize, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let mut random = Random::new(seed);
    let mut due = 0.0;
    let points = world.device.events() + 1;
    for point in 0..points {
        tally.points += 1;
        due += wanted as f64 / points as f64;
        let images = world
            .device
            .crash_images(point, RANDOM_IMAGES, seed ^ point as u64);
        let count = 3 + 11 * images.changes() + RANDOM_IMAGES;
        let (mut at, mut images) = (0, images);
        while due >= 1.0 {
            let skip = random.below(1 + count / 8);
            let Some(image) = images.nth(if at == 0 { at } else { skip }) else {
                break;
            };
            at += 1;
            if tally.states.insert(image.hash()) {
                due -= 1.0;
                judge_image(world, &image, point, &mut tally);
            }
        }
    }
    tally
}

fn judge_image(world: &World, image: &CrashImage, point: usize, tally: &mut Tally) {
    let device = Arc::new(crate::device::MemoryDevice::from_files(
        image.device.files(),
    ));
    if let Err(reason) = world.judge(device, point) {
        let what = format!(
            "crash after event {point}, {}: the index {reason}",
            image.what
        );
        tally.violations.push(what);
    }
}

fn expect_clean(name: &str, seed: u64, tally: &Tally) {
    println!(
        "{name}: seed {seed}, {} crash points, {} distinct states, {} violations",
        tally.points,
        tally.states.len(),
        tally.violations.len()
    );
    let first: Vec<&String> = tally.violations.iter().take(5).collect();
    assert!(first.is_empty(), "{name}, seed {seed}: {first:#?}");
}

#[test]
fn every_crash_leaves_a_state_that_includes_all_that_was_acknowledged() {
    let wanted = wanted(1_400);
    let seeds = 1..=4u64;
    let mut states = HashSet::new();
    for seed in seeds {
        let world = World::of(&workload::mixed(seed, 60, 24));
        let tally = judge_crashes(&world, wanted.div_ceil(4), seed);
        expect_clean("crashes", seed, &tally);
        states.extend(tally.states);
    }
    println!("crashes: {} distinct states in all", states.len());
    assert!(states.len() >= wanted * 7 / 10);
}

#[test]
fn writing_an_index_anew_survives_every_crash() {
    for seed in 61..=63 {
        let steps = workload::written_anew(workload::mixed(seed, 40, 24));
        let world = World::of(&steps);
        expect_clean("anew", seed, &judge_crashes(&world, 250, seed));
    }
    let steps = workload::written_anew(workload::many(64));
    let world = World::beside(&steps);
    expect_clean("anew, beside", 64, &judge_crashes(&world, 150, 64));
}

/// Flushes beside writing end with roots that know more of the log than their trees do.
#[test]
fn flushes_beside_writing_survive_every_crash() {
    for seed in 21..=24 {
        let world = World::beside(&workload::growing(seed, 60));
        expect_clean("beside", seed, &judge_crashes(&world, 150, seed));
    }
}

#[test]
fn cleaning_of_many_documents_survives_every_crash() {
    let world = World::of(&workload::many(51));
    expect_clean("many", 51, &judge_crashes(&world, 120, 51));
}

#[test]
fn short_histories_survive_every_crash() {
    for seed in 1..=2 {
        let world = World::of(&workload::short(seed));
        expect_clean("short", seed, &judge_crashes(&world, 400, seed));
    }
}

/// Crashes, recovers, goes on and crashes again at each event since.
#[test]
fn a_recovery_can_crash() {
    let mut second_states = 0;
    for seed in 11..=12u64 {
        let world = World::of(&workload::mixed(seed, 40, 12));
        let mut random = Random::new(seed);
        for point in 0..=world.device.events() {
            if !random.one_in(40) {
                continue;
            }
            let images = world.device.crash_images(point, 8, seed);
            let skip = random.below(4 + images.changes() * 8);
            let mut images = images;
            let Some(image) = images
                .nth(skip)
                .or_else(|| world.device.crash_images(point, 1, seed).last())
            else {
                continue;
            };
            second_states += judge_second_crashes(&world, &image, point, seed);
        }
    }
    println!("recoveries: {second_states} distinct states after a second crash");
    assert!(second_states >= 100);
}

/// An index that was written with much memory is opened with little, while it is not all durable:
/// the replay flushes. Power is lost at each operation, and again in some of the replays behind
/// that.
#[test]
fn a_replay_that_flushes_survives_every_crash() {
    let seed = 71;
    let mut steps = workload::logged(seed, 24);
    steps.pop();
    let mut world = World::roomy(&steps);
    world.restart_in_little().expect("opens");
    expect_flushes(&world);
    let wanted = 2 * world.device.events();
    expect_clean("replays", seed, &judge_crashes(&world, wanted, seed));
    for part in 1..4 {
        let point = world.device.events() * part / 4;
        let images = world.device.crash_images(point, 1, seed);
        let image = images.last().expect("an image");
        let mut again = World::new(Arc::new(RecordingDevice::from_image(&image.device)));
        let (first, last) = world.window(point);
        again.states = world.states[..=last].to_vec();
        again
            .resume(first)
            .unwrap_or_else(|error| panic!("{point}, {}: {error}", image.what));
        expect_flushes(&again);
        expect_clean("replays again", seed, &judge_crashes(&again, 60, seed));
    }
}

fn expect_flushes(world: &World) {
    let index = world.index.as_ref().expect("an open index");
    let flushes = index.shared().published.get().flushes;
    println!("{flushes} flushes in a replay");
    assert!(flushes > 1);
}

fn judge_second_crashes(world: &World, image: &CrashImage, point: usize, seed: u64) -> usize {
    let device = Arc::new(RecordingDevice::from_image(&image.device));
    let mut second = World::new(device);
    let (first, last) = world.window(point);
    second.states = world.states[..=last].to_vec();
    let found = second.resume(first);
    let found =
        found.unwrap_or_else(|error| panic!("seed {seed}, {point}, {}: {error}", image.what));
    let steps = [
        Step::Write(vec![("id1".to_owned(), "all again1".to_owned())]),
        Step::Sync,
        Step::Write(vec![("id2".to_owned(), "all again2".to_owned())]),
        Step::Checkpoint,
        Step::Delete(vec!["id2".to_owned()]),
        Step::Sync,
    ];
    second.run(&steps).expect("nothing fails");
    let tally = judge_crashes(&second, 40, seed ^ point as u64);
    let what = format!(
        "second crash after {point}, {}, from state {found}",
        image.what
    );
    let first: Vec<&String> = tally.violations.iter().take(5).collect();
    assert!(first.is_empty(), "{what}, seed {seed}: {first:#?}");
    tally.states.len()
}
