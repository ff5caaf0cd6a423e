//! Ctrl-C and requests to terminate: the first asks for an orderly end, the second ends at once.
//!
//! Either way the exit code is that of a process which the signal ends, as shells have it: 128 and
//! the number of the signal.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::{Failure, Outcome};

/// The number of the signal that asked for the end; 0 before one does.
static ASKED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The number that a shell adds to that of a signal.
const OF_SIGNALS: i32 = 128;

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// From now on, signals ask instead of ending the process.
pub fn catch() -> Outcome<()> {
    let came = Arc::new(AtomicBool::new(false));
    let caught = SIGNALS.iter().try_for_each(|signal| watch(*signal, &came));
    caught.map_err(|error| Failure::caller(format!("cannot wait for signals: {error}")))
}

/// Actions are taken in the order in which they are registered.
fn watch(signal: i32, came: &Arc<AtomicBool>) -> io::Result<()> {
    flag::register_conditional_shutdown(signal, OF_SIGNALS + signal, Arc::clone(came))?;
    flag::register(signal, Arc::clone(came))?;
    flag::register_usize(signal, Arc::clone(&ASKED), signal as usize)?;
    Ok(())
}

/// Returns true if the caller asked for the end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed) != 0
}

/// The end that the caller asked for.
pub fn failure(sentence: impl Into<String>) -> Failure {
    let code = OF_SIGNALS + ASKED.load(Ordering::Relaxed) as i32;
    Failure::interrupted(sentence, code as u8)
}
