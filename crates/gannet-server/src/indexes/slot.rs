//! The place of an index: nothing, or the index that is open.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::open::OpenIndex;
use crate::fault::{Fault, Outcome};

/// The time that a deletion waits for those who still use the index.
const DELETION_WAIT: Duration = Duration::from_secs(30);

/// The place of an index, whether it is open or not.
#[derive(Default)]
pub struct IndexSlot {
    /// The index, if it is open.
    pub open: Mutex<Option<Arc<OpenIndex>>>,
    /// When it was used last, in uses of all indexes.
    pub used: AtomicU64,
}

impl IndexSlot {
    /// Locks it; whoever holds it may open and close the index.
    pub fn lock(&self) -> MutexGuard<'_, Option<Arc<OpenIndex>>> {
        self.open
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Takes an index out of its slot, if nobody else has it.
pub fn take_unused(place: &mut Option<Arc<OpenIndex>>) -> Option<OpenIndex> {
    let open = place.take()?;
    match Arc::try_unwrap(open) {
        Ok(open) => Some(open),
        Err(open) => {
            *place = Some(open);
            None
        }
    }
}

/// Takes an index out of its slot once nobody else has it.
pub fn wait_for_users(place: &mut Option<Arc<OpenIndex>>) -> Outcome<Option<OpenIndex>> {
    let start = Instant::now();
    while place.is_some() {
        if let Some(open) = take_unused(place) {
            return Ok(Some(open));
        }
        if start.elapsed() > DELETION_WAIT {
            return Err(Fault::busy(
                "requests still use the index: send it again later",
            ));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(None)
}
