//! A smoke run of all targets.

use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::{FuzzTarget, TARGETS};

/// Changed inputs of each target that reads bytes alone, and of the one that opens an index.
const RUNS: usize = 4_000;
const RUNS_OF_OPEN: usize = 150;

/// A generator (splitmix64).
struct Generator(u64);

impl Generator {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ (value >> 31)) % end.max(1) as u64) as usize
    }

    /// Flips, sets, cuts out, doubles or appends.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match (self.below(6), bytes.get_mut(at)) {
                (0, Some(byte)) => *byte ^= 1 << self.below(8),
                (1, Some(byte)) => *byte = 0xff,
                (2, Some(byte)) => *byte = self.below(256) as u8,
                (3, Some(_)) => bytes.truncate(at),
                (4, Some(_)) => {
                    let end = (at + self.below(16)).min(bytes.len());
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => bytes.push(self.below(256) as u8),
            }
        }
    }
}

/// Runs a target and tells the input if it panics.
fn run(target: &FuzzTarget, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| target.run(bytes))).is_err() {
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        panic!("{} panics on {hex}", target.name);
    }
}

#[test]
fn inputs_that_once_failed_are_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for folder in fs::read_dir(corpus).expect("a corpus").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let target = FuzzTarget::named(&name).expect("a folder has the name of a target");
        for file in fs::read_dir(folder.path()).expect("a folder").flatten() {
            run(target, &fs::read(file.path()).expect("readable"));
        }
    }
}

/// `GANNET_FUZZ`: the name of a target, if only that one is to be run.
#[test]
fn changed_seeds_are_read() {
    let only = std::env::var("GANNET_FUZZ").ok();
    let is_asked = |target: &&FuzzTarget| only.as_deref().is_none_or(|name| name == target.name);
    for target in TARGETS.iter().filter(is_asked) {
        let (seeds, mut random) = (target.seeds(), Generator(7));
        assert!(!seeds.is_empty(), "{} has seeds", target.name);
        let runs = match target.name {
            "open" => RUNS_OF_OPEN,
            _ => RUNS,
        };
        for number in 0..runs {
            let mut bytes = seeds[number % seeds.len()].clone();
            if number >= seeds.len() {
                random.change(&mut bytes);
            }
            run(target, &bytes);
        }
    }
}
