//! The root that is read, and what keeps the zones that it names.

use std::sync::Arc;

use crate::device::Lease;
use crate::storage::{LogReach, RootSlot};

/// A root, and what keeps what it names.
#[derive(Clone)]
pub(crate) struct HeldRoot {
    pub(crate) slot: RootSlot,
    /// Nothing where no other process can write.
    pub(crate) lease: Option<Arc<Lease>>,
    /// The end of the log behind it that is read.
    pub(crate) reach: LogReach,
}

impl HeldRoot {
    /// The root that a writer found, which nobody else replaces.
    pub(crate) fn of_writer(slot: RootSlot) -> HeldRoot {
        HeldRoot {
            reach: slot.log_reach(),
            lease: None,
            slot,
        }
    }

    /// Returns true if newer ones will follow soon.
    pub(crate) fn is_beside_writer(&self) -> bool {
        self.reach != self.slot.log_reach()
    }
}
