//! A tier that another process writes, as a process knows it that only reads it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::Result;
use crate::device::Device;

/// The time between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// Opens the tier to write it; fails as long as another process does.
pub type OpenTier = Box<dyn Fn() -> Result<Arc<dyn Device>> + Send + Sync>;

/// The knowledge of a guest.
pub(super) struct Guest {
    pub(super) open: OpenTier,
    pub(super) bytes: u64,
    looked: Instant,
}

impl Guest {
    /// Of a tier of so many bytes.
    pub(super) fn new(open: OpenTier, bytes: u64) -> Guest {
        Guest {
            open,
            bytes,
            looked: Instant::now(),
        }
    }

    /// Returns true if it is time to look what was written since; then it waits anew.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.looked.elapsed() >= LOOK;
        if is_due {
            self.looked = Instant::now();
        }
        is_due
    }
}
