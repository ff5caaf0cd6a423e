//! Ctrl-C: the first asks for an orderly end, the second ends at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, Outcome};

static ASKED: AtomicBool = AtomicBool::new(false);

/// The exit code of a process that was ended by an interrupt, as shells have it.
const INTERRUPTED: i32 = 130;

/// From now on, interrupts ask instead of ending the process.
pub fn catch() -> Outcome<()> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTED);
        }
    })
    .map_err(|error| Failure::caller(format!("cannot wait for interrupts: {error}")))
}

/// Whether the caller asked for the end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
