//! Long random lives of an index beside a ledger: every operation of the interface, with power
//! losses, kills and recoveries between, and of each operation the outcome compared with what the
//! ledger says.
//!
//! `ledger` knows all documents with the operations that brought and ended them. So it can be wound
//! back to what a crash left. It asks the naive oracle about any state;
//! `papers` makes the documents. `history` is one life: it draws operations as its `mood` says,
//! `changing`, `asking` and `reopening` carry them out and compare. `setup` says how the index is
//! opened, `tally` counts what happened.
//!
//! `GANNET_LIFE_OPERATIONS` operations are made in all (6,000 if nothing is said), in histories of
//! several setups; `GANNET_SEED` gives others. `GANNET_JSON` gets the figures.

mod asking;
mod changing;
mod history;
mod ledger;
mod mood;
mod papers;
mod reopening;
mod setup;
mod tally;
mod threads;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use super::environment::number;
use history::History;
use setup::Setup;
use tally::Tally;

/// Operations of one history at most: the ledger and the tables of the index grow with it.
const HISTORY: u64 = 62_500;

/// The least number of histories, so that each setup has one.
const HISTORIES_MIN: u64 = 8;

#[test]
fn random_lives_with_crashes_are_those_of_the_ledger() {
    let (seed, wanted) = (
        number("GANNET_SEED", 1),
        number("GANNET_LIFE_OPERATIONS", 6_000),
    );
    let count = wanted.div_ceil(HISTORY).max(HISTORIES_MIN);
    let setups: Vec<Setup> = (0..count)
        .map(|number| Setup::numbered(number, seed, wanted.div_ceil(count)))
        .collect();
    let started = Instant::now();
    let (tally, differences) = live_all(&setups);
    let seconds = started.elapsed().as_secs_f64();
    tally.report(seed, seconds, &differences);
    assert!(differences.is_empty(), "{differences:#?}");
    tally.expect_all();
}

/// Two histories at a time. Gives what happened, and where an index was not what the ledger says.
fn live_all(setups: &[Setup]) -> (Tally, Vec<String>) {
    let (next, all) = (AtomicUsize::new(0), Mutex::new((Tally::new(), Vec::new())));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(setup) = setups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (tally, difference) = History::of(setup.clone());
                    let mut all = all.lock().expect("no panic");
                    all.0.add(&tally);
                    all.1.extend(difference);
                }
            });
        }
    });
    all.into_inner().expect("no panic")
}
