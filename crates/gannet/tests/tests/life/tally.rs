//! Counts the events of the histories: operations by kind, and their outcomes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use gannet_testkit::Phase;

/// Phases of all checkpoints of this process.
static PHASES: [AtomicU64; 6] = [const { AtomicU64::new(0) }; 6];

/// The events without which a run shows little.
const EXPECTED: [&str; 9] = [
    "conflicts",
    "power losses",
    "power losses in recovery",
    "kills",
    "operations undone by crashes",
    "sweeps ended",
    "answers while a sweep is under way",
    "answers of held snapshots",
    "torn images",
];

/// Counts by name.
#[derive(Default)]
pub(super) struct Tally {
    operations: BTreeMap<&'static str, u64>,
    events: BTreeMap<&'static str, u64>,
}

/// Told by the index of each phase.
pub(super) fn note_phase(phase: Phase) {
    PHASES[phase as usize].fetch_add(1, Ordering::Relaxed);
}

impl Tally {
    pub(super) fn new() -> Tally {
        Tally::default()
    }

    /// An operation was made and compared.
    pub(super) fn operation(&mut self, kind: &'static str) {
        *self.operations.entry(kind).or_default() += 1;
    }

    /// Something happened so often.
    pub(super) fn count(&mut self, what: &'static str, times: u64) {
        *self.events.entry(what).or_default() += times;
    }

    /// All operations.
    pub(super) fn operations(&self) -> u64 {
        self.operations.values().sum()
    }

    pub(super) fn add(&mut self, other: &Tally) {
        for (kind, count) in &other.operations {
            *self.operations.entry(kind).or_default() += count;
        }
        for (what, count) in &other.events {
            self.count(what, *count);
        }
    }

    /// Prints all counts, and writes them where `GANNET_JSON` says.
    pub(super) fn report(&self, seed: u64, seconds: f64, differences: &[String]) {
        let phase = |phase: Phase| PHASES[phase as usize].load(Ordering::Relaxed);
        let figures = serde_json::json!({
            "test": "life",
            "seed": seed,
            "seconds": (seconds * 10.0).round() / 10.0,
            "operations": self.operations(),
            "differences": differences.len(),
            "operations_by_kind": self.operations,
            "events": self.events,
            "flushes": phase(Phase::Flush),
            "slices_of_vacuum": phase(Phase::Vacuum),
            "cleanings": phase(Phase::Cleaning),
            "checkpoints": phase(Phase::Checkpoint),
        });
        println!("life: {figures}");
        if let Ok(path) = std::env::var("GANNET_JSON") {
            std::fs::write(path, format!("{figures}\n")).expect("the figures are written");
        }
    }

    /// Fails if anything never happened that should have.
    pub(super) fn expect_all(&self) {
        let missing = EXPECTED
            .iter()
            .filter(|what| !self.events.contains_key(**what));
        let missing: Vec<_> = missing.collect();
        assert!(missing.is_empty(), "never happened: {missing:?}");
    }
}
