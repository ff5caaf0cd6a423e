//! Zones that later roots gave up, and what readers may keep of them.

use std::time::Duration;

use super::writer::Writer;
use crate::base::Result;
use crate::index::state::RetentionLimits;

/// Bytes on flash that snapshots and leases may keep from being reused, however small the index.
const HELD_BYTES: u64 = 64 << 20;

/// The interval of looks for other processes that have let go.
const LOOK: Duration = Duration::from_millis(200);

impl Writer {
    /// Tells readers that the newest root has all of the log that was found when the index was
    /// opened.
    pub(crate) fn note_root(&self) {
        if let Some(readers) = self.shared.store.device().readers() {
            readers.note_root();
        }
    }

    /// Removes the zones that neither the durable root nor any reader can reach.
    pub(crate) fn give_up_zones(&mut self) -> Result<()> {
        let published = &self.shared.published;
        if !published.has_retired() {
            return Ok(());
        }
        let retention = self.retention();
        published.enforce_limits(retention);
        let device = self.shared.store.device();
        if self.leases.look(&**device).is_err() {
            // Who reads is not known now, so all stays until it is.
            return Ok(());
        }
        self.leases.enforce_limits(&**device, published, retention);
        let free = published.take_unreachable(self.leases.oldest());
        self.shared.store.remove_zones(&free)
    }

    /// Returns the time until zones may have to be removed that wait for readers, if nothing
    /// happens before. Readers in other processes can only be looked for.
    pub(crate) fn next_removal(&self) -> Option<Duration> {
        let published = &self.shared.published;
        match (published.has_retired(), self.leases.oldest()) {
            (false, _) => None,
            (true, Some(_)) => Some(LOOK),
            (true, None) => published.next_loss(self.retention()),
        }
    }

    fn retention(&self) -> RetentionLimits {
        let limits = &self.shared.options.limits;
        let eighth = self.shared.store.zones().allocated_bytes() / 8;
        RetentionLimits {
            bytes: limits.snapshot_bytes.unwrap_or(eighth.max(HELD_BYTES)),
            age: limits.snapshot_age,
        }
    }
}
