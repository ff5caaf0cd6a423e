//! Small workloads: what an index is asked to do, step by step.

use super::random::Random;

/// One thing that the index is asked to do.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Writes documents, as external ID and text, in one batch.
    Write(Vec<(String, String)>),
    /// Deletes by external ID in one batch.
    Delete(Vec<String>),
    Sync,
    Checkpoint,
    /// A step of the cleaning that gives all space back.
    Clean,
    /// A slice of vacuum.
    Vacuum,
    /// The index is written anew.
    Rebuild,
    /// The process ends without a word and another opens the index; power stays on.
    Restart,
}

/// Words that a document's text is made of.
const WORDS: usize = 40;

/// A workload of all kinds of steps over `ids` external IDs.
pub(super) fn mixed(seed: u64, steps: usize, ids: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut tag = 0;
    (0..steps)
        .map(|_| any_step(&mut random, ids, &mut tag))
        .collect()
}

/// The same with the index written anew now and then.
pub(super) fn written_anew(mut steps: Vec<Step>) -> Vec<Step> {
    for at in (0..=steps.len()).rev().step_by(9) {
        steps.insert(at, Step::Rebuild);
    }
    steps
}

/// Few steps with one of each kind, for tests that repeat it for each operation of the device.
pub(super) fn short(seed: u64) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut tag = 0;
    let mut write = |size| write_step(&mut random, 6, size, &mut tag);
    vec![
        write(3),
        Step::Sync,
        write(2),
        Step::Checkpoint,
        write(3),
        Step::Delete(vec!["id0".to_owned(), "id1".to_owned()]),
        Step::Sync,
        Step::Checkpoint,
        write(2),
        Step::Sync,
    ]
}

/// Batches of many small documents, replacements among them, and at last most of the first ones
/// deleted, so that zones are cleaned: there are several groups of addresses, and some of their
/// documents move.
pub(super) fn many(seed: u64) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut tag = 0;
    let mut document = |id: usize| {
        tag += 1;
        (
            format!("id{id}"),
            format!("all t{tag} w{}", random.below(WORDS)),
        )
    };
    let mut steps: Vec<Step> = (0..6)
        .map(|batch| Step::Write((batch * 90..batch * 90 + 100).map(&mut document).collect()))
        .flat_map(|write| [write, Step::Checkpoint])
        .collect();
    let gone = (0..400).filter(|id| id % 7 > 1).map(|id| format!("id{id}"));
    steps.push(Step::Delete(gone.collect()));
    steps.extend([Step::Checkpoint, Step::Sync, Step::Checkpoint]);
    steps.extend([
        Step::Vacuum,
        Step::Vacuum,
        Step::Clean,
        Step::Vacuum,
        Step::Clean,
    ]);
    steps
}

/// Writes, replacements and deletions that fill the posting buffer over and over, without a
/// checkpoint.
pub(super) fn growing(seed: u64, steps: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut tag = 0;
    (0..steps)
        .map(|_| match random.below(8) {
            0 => Step::Delete(vec![format!("id{}", random.below(24))]),
            1..=2 => Step::Sync,
            _ => write_step(&mut random, 24, 12, &mut tag),
        })
        .collect()
}

/// Writes, replacements and deletions that stay in the log and are durable at last: many small
/// batches that share pages, some that are large, and fields that come to be on the way.
pub(super) fn logged(seed: u64, steps: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut tag = 0;
    let step = |number| match random.below(10) {
        0..=1 => {
            let some = (0..1 + random.below(8)).map(|_| format!("id{}", random.below(40)));
            Step::Delete(some.collect())
        }
        2 => Step::Sync,
        kind => {
            let size = if kind == 3 { 40 } else { 1 + random.below(6) };
            with_new_field(write_step(&mut random, 40, size, &mut tag), number / 8)
        }
    };
    let mut steps: Vec<Step> = (0..steps).map(step).collect();
    steps.push(Step::Sync);
    steps
}

/// The same where the first document has another field.
fn with_new_field(mut step: Step, number: usize) -> Step {
    if let Step::Write(batch) = &mut step {
        batch[0].1.push_str(&format!(" new{number}"));
    }
    step
}

fn any_step(random: &mut Random, ids: usize, tag: &mut usize) -> Step {
    match random.below(22) {
        0..=8 => {
            let size = 1 + random.below(5);
            write_step(random, ids, size, tag)
        }
        9..=12 => {
            let some = (0..1 + random.below(4)).map(|_| format!("id{}", random.below(ids)));
            Step::Delete(some.collect())
        }
        13..=16 => Step::Sync,
        17 => Step::Checkpoint,
        18 => Step::Clean,
        19..=20 => Step::Vacuum,
        _ => Step::Restart,
    }
}

/// A batch. Each document has a word of its own, `t` and a number, and the word `all`.
fn write_step(random: &mut Random, ids: usize, size: usize, tag: &mut usize) -> Step {
    let mut document = || {
        *tag += 1;
        let mut text = format!("all t{tag}");
        let words = match random.below(12) {
            0 => 600,
            _ => 3 + random.below(40),
        };
        for _ in 0..words {
            text.push_str(&format!(" w{}", random.below(WORDS)));
            // Digits that do not compress make documents that fill pages.
            if random.one_in(8) {
                text.push_str(&format!("x{:x}", random.next()));
            }
        }
        (format!("id{}", random.below(ids)), text)
    };
    Step::Write((0..size).map(|_| document()).collect())
}
