//! Crash images: the devices that a power loss can leave behind, enumerated for one point of a log.
//!
//! For each point: all changes kept, none kept, all files grown without data; then for each change
//! each fate that it can have by itself; then random fates, drawn from a seed. See `crash_state`
//! for what can become of a change.

use std::sync::Arc;

use super::crash_state::{DurableState, Event, Fate};
use super::memory::{Files, MemoryDevice};

/// The fates that each change meets alone, with the fate of all others: dropped, alone kept, grown
/// without data, torn after each sector, and torn so that only the last sector arrives.
const FATES_OF_ONE: [(Fate, Fate); 11] = [
    (Fate::Lost, Fate::Kept),
    (Fate::Kept, Fate::Lost),
    (Fate::Torn(0), Fate::Kept),
    (Fate::Torn(0b0000_0001), Fate::Kept),
    (Fate::Torn(0b0000_0011), Fate::Kept),
    (Fate::Torn(0b0000_0111), Fate::Kept),
    (Fate::Torn(0b0000_1111), Fate::Kept),
    (Fate::Torn(0b0001_1111), Fate::Kept),
    (Fate::Torn(0b0011_1111), Fate::Kept),
    (Fate::Torn(0b0111_1111), Fate::Kept),
    (Fate::Torn(0b1000_0000), Fate::Kept),
];

/// A device as a crash left it.
#[derive(Clone, Debug)]
pub struct CrashImage {
    /// The files after the crash.
    pub device: Arc<MemoryDevice>,
    /// The fate of the changes that were not durable, in words.
    pub what: String,
}

/// The crash images of one point of a log, made one by one as they are asked for.
#[derive(Debug)]
pub struct CrashImages {
    state: DurableState,
    next: usize,
    random: usize,
    seed: u64,
}

/// The fates of all changes of one image.
#[derive(Clone, Copy, Debug)]
enum CrashPlan {
    All(Fate),
    /// One change has this fate, all others the other one.
    Except(usize, Fate, Fate),
    Random(u64),
}

impl CrashImage {
    /// A hash of all that the image holds: names, lengths and bytes.
    pub fn hash(&self) -> u64 {
        self.device.hash()
    }
}

impl CrashImages {
    /// The images after the first events of a log, which are `events`, on a device that began with
    /// `start`, all durable; among them `random` random ones, drawn from `seed`.
    pub fn new(start: &Files, events: &[Event], random: usize, seed: u64) -> CrashImages {
        let mut state = DurableState::new(start);
        events.iter().for_each(|event| state.apply(event));
        CrashImages {
            state,
            next: 0,
            random,
            seed,
        }
    }

    /// Returns the number of changes that were not durable.
    pub fn changes(&self) -> usize {
        self.state.changes()
    }

    /// The image of random fates that belongs to a seed.
    pub fn random(&self, seed: u64) -> CrashImage {
        self.image(CrashPlan::Random(seed))
    }

    /// The plan of the image number `n`, or nothing after the last.
    ///
    /// First one fate for all, then each fate of one change, then the random ones.
    fn plan(&self, n: usize) -> Option<CrashPlan> {
        let all = [Fate::Kept, Fate::Lost, Fate::Torn(0)];
        if let Some(fate) = all.get(n) {
            return Some(CrashPlan::All(*fate));
        }
        let n = n - all.len();
        let (change, kind) = (n / FATES_OF_ONE.len(), n % FATES_OF_ONE.len());
        if change < self.changes() {
            let (fate, others) = FATES_OF_ONE[kind];
            return Some(CrashPlan::Except(change, fate, others));
        }
        let draw = n - self.changes() * FATES_OF_ONE.len();
        (draw < self.random).then(|| CrashPlan::Random(self.seed ^ mix(draw as u64)))
    }

    /// Returns true if a plan gives an image of its own: names cannot be torn.
    fn admits(&self, plan: CrashPlan) -> bool {
        match plan {
            CrashPlan::Except(change, Fate::Torn(_), _) => self.state.is_write(change),
            _ => true,
        }
    }

    fn image(&self, plan: CrashPlan) -> CrashImage {
        let files = self.state.files_after(|change| plan.fate(change));
        CrashImage {
            device: Arc::new(MemoryDevice::from_files(files)),
            what: self.describe(plan),
        }
    }

    fn describe(&self, plan: CrashPlan) -> String {
        match plan {
            CrashPlan::All(fate) => format!("all {} changes {fate:?}", self.changes()),
            CrashPlan::Except(change, fate, others) => {
                let change = self.state.describe(change);
                format!("{change} {fate:?}, others {others:?}")
            }
            CrashPlan::Random(seed) => format!("random fates of seed {seed:#x}"),
        }
    }
}

impl Iterator for CrashImages {
    type Item = CrashImage;

    fn next(&mut self) -> Option<CrashImage> {
        self.nth(0)
    }

    /// Images that are passed over are not made.
    fn nth(&mut self, n: usize) -> Option<CrashImage> {
        let mut left = n;
        loop {
            let plan = self.plan(self.next)?;
            self.next += 1;
            match (self.admits(plan), left) {
                (true, 0) => return Some(self.image(plan)),
                (true, _) => left -= 1,
                (false, _) => {}
            }
        }
    }
}

impl CrashPlan {
    fn fate(self, index: usize) -> Fate {
        match self {
            CrashPlan::All(fate) => fate,
            CrashPlan::Except(special, fate, _) if index == special => fate,
            CrashPlan::Except(_, _, others) => others,
            CrashPlan::Random(seed) => random_fate(mix(seed.wrapping_add(index as u64))),
        }
    }
}

/// Mostly lost or kept, since each decides alone; torn now and then.
fn random_fate(draw: u64) -> Fate {
    match draw % 8 {
        0..=3 => Fate::Kept,
        4..=6 => Fate::Lost,
        _ => Fate::Torn((draw >> 32) as u8),
    }
}

/// A well-spread number for each number (the finalizer of splitmix64).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
