//! The place of an index: nothing, or the index that is open.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use super::open::OpenIndex;

/// The place of an index, whether it is open or not.
#[derive(Default)]
pub struct IndexSlot {
    /// The index, if it is open.
    pub open: Mutex<Option<Arc<OpenIndex>>>,
    /// When it was used last, in uses of all indexes.
    pub used: AtomicU64,
    /// Set while the index is being deleted, so that nobody begins to use it.
    pub is_going: AtomicBool,
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
