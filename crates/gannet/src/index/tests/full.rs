//! Full devices of many sizes: writes are rejected in words, reads go on, and writing goes on when
//! there is space.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::workload::{self, Step};
use super::world::{State, contents};
use crate::base::{Error, Result};
use crate::device::{BoundedDevice, Device};
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options};

/// Sizes that a device has in turn.
const SIZES: u64 = 80;

/// Pages that are enough for everything.
const PLENTY: u64 = 1 << 20;

fn options() -> Options {
    Options::default().memory(MEMORY_MIN).limits(Limits {
        buffer_bytes: Some(48 << 10),
        log_source_bytes: 12 << 10,
        zone_pages: Some(8),
        beside: false,
        ..Limits::default()
    })
}

fn open(device: &Arc<BoundedDevice>) -> Result<Index> {
    Index::open_on(
        Arc::clone(device) as Arc<dyn Device>,
        Path::new("test"),
        options(),
    )
}

fn open_to_read(device: &Arc<BoundedDevice>) -> Result<Index> {
    let device = Arc::clone(device) as Arc<dyn Device>;
    Index::open_on(device, Path::new("test"), options().read_only())
}

/// Carries a step out on the index, and on the state that it must hold then.
fn take(index: &Index, step: &Step, state: &mut State) -> Result<()> {
    match step {
        Step::Write(batch) => {
            let documents = batch
                .iter()
                .map(|(id, text)| Document::new(id.as_str(), [("body", text.as_str())]));
            index.write(documents.collect::<Result<_>>()?)?;
        }
        Step::Delete(ids) => {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            index.delete(&ids)?;
        }
        Step::Sync => index.sync()?,
        Step::Checkpoint => index.checkpoint()?,
        Step::Clean => drop(index.clean()?),
        Step::Vacuum => drop(index.vacuum()?),
        Step::Rebuild => index.rebuild(&mut |_, _, _| {})?,
        Step::Restart => {}
    }
    apply(step, state);
    Ok(())
}

fn apply(step: &Step, state: &mut State) {
    match step {
        Step::Write(batch) => state.extend(batch.iter().cloned()),
        Step::Delete(ids) => ids.iter().for_each(|id| drop(state.remove(id))),
        _ => {}
    }
}

fn expect_full(error: &Error) {
    let text = error.to_string();
    assert!(matches!(error, Error::Device { full: true, .. }), "{text}");
    assert!(
        text.contains("space") && text.contains("make space"),
        "{text}"
    );
}

/// Pages that the workload takes at most on a device that does not tell what is free.
fn pages_needed(steps: &[Step]) -> u64 {
    let device = Arc::new(BoundedDevice::new(PLENTY, false));
    let index = open(&device).expect("opens");
    let mut state = State::new();
    let pages = steps.iter().map(|step| {
        take(&index, step, &mut state).expect("space");
        device.used_pages()
    });
    pages.max().unwrap_or(0)
}

/// As long as the device tells what is free, the writer never stops: what is rejected can be
/// repeated.
#[test]
fn writing_goes_on_without_a_reopening_when_there_is_space() {
    let steps = workload::growing(81, 160);
    let (needed, kept) = (pages_needed(&steps), 240);
    let (mut refusals, mut at) = (0, BTreeMap::new());
    for size in 0..SIZES {
        let pages = kept / 3 + 2 * size * needed / SIZES;
        let device = Arc::new(BoundedDevice::new(pages, true));
        let index = open(&device).expect("opens");
        let mut state = State::new();
        for (number, step) in steps.iter().enumerate() {
            let Err(error) = take(&index, step, &mut state) else {
                continue;
            };
            *at.entry(number).or_insert(0) += 1;
            refusals += 1;
            expect_full(&error);
            expect_full(&take(&index, step, &mut state).expect_err("still no space"));
            assert_eq!(contents(&index).expect("answers"), state, "{pages} pages");
            // What was taken before can still be made durable.
            index
                .checkpoint()
                .unwrap_or_else(|e| panic!("{pages} pages, step {number}: {e}"));
            assert_eq!(
                contents(&open_to_read(&device).expect("opens")).expect("answers"),
                state
            );
            device.set_pages(PLENTY);
            take(&index, step, &mut state).expect("space again");
        }
        expect_whole(&index, &device, &state);
    }
    println!(
        "full: {refusals} of {SIZES} sizes rejected, at {} steps",
        at.len()
    );
    assert!(refusals >= 50 && at.len() >= 10, "{refusals} {at:?}");
}

/// On a device that does not tell its free space, the writer stops, reads go on, and the index goes
/// on after a reopening.
#[test]
fn an_index_that_a_full_device_stopped_goes_on_after_a_reopening() {
    let steps = workload::growing(82, 120);
    let needed = pages_needed(&steps);
    let mut stopped = 0;
    for size in 0..SIZES {
        let pages = 2 + size * needed / SIZES;
        let device = Arc::new(BoundedDevice::new(pages, false));
        stopped += u64::from(is_stopped_and_goes_on(&device, &steps));
    }
    println!("full: {stopped} of {SIZES} sizes stopped the writer");
    assert!(stopped >= 50, "{stopped}");
}

/// Returns true if the device was too small; panics if the index did not bear it.
fn is_stopped_and_goes_on(device: &Arc<BoundedDevice>, steps: &[Step]) -> bool {
    let index = match open(device) {
        Ok(index) => index,
        Err(error) => {
            expect_full(&error);
            device.set_pages(PLENTY);
            open(device).expect("opens when there is space");
            return true;
        }
    };
    // All states since the last that is durable.
    let mut states = vec![State::new()];
    for step in steps {
        let mut state = states.last().cloned().unwrap_or_default();
        let done = take(&index, step, &mut state);
        match (&done, step) {
            (Ok(()), Step::Sync | Step::Checkpoint) => states = vec![state],
            (Ok(()), _) => states.push(state),
            (Err(error), _) => {
                expect_full(error);
                let rejected = take(&index, &Step::Checkpoint, &mut state);
                assert!(matches!(rejected, Err(Error::Stopped(_))), "{rejected:?}");
                let visible = contents(&index).expect("answers");
                assert_eq!(Some(&visible), states.last());
                let reader = open_to_read(device).expect("opens while it is full");
                let durable = contents(&reader).expect("answers");
                drop((index, reader));
                device.set_pages(PLENTY);
                // The batch that failed may be in the log as a whole.
                apply(step, &mut state);
                states.push(state);
                go_on(device, steps, &states, &durable);
                return true;
            }
        }
    }
    false
}

/// The index is reopened in a state that may be, and takes everything from there on.
fn go_on(device: &Arc<BoundedDevice>, steps: &[Step], states: &[State], durable: &State) {
    let index = open(device).expect("opens when there is space");
    let mut state = contents(&index).expect("answers");
    assert_eq!(state, *durable);
    assert!(
        states.contains(&state),
        "a state before the last that is durable"
    );
    for step in steps.iter().take(20) {
        take(&index, step, &mut state).expect("space");
    }
    expect_whole(&index, device, &state);
}

fn expect_whole(index: &Index, device: &Arc<BoundedDevice>, state: &State) {
    let report = index.check(&|_, _| ()).expect("a check");
    assert_eq!(report.findings, Vec::<String>::new());
    let reader = open_to_read(device).expect("opens");
    assert_eq!(contents(&reader).expect("answers"), *state);
}
