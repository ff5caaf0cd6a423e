//! Zones that later roots gave up, and what readers may keep of them.

use super::writer::Writer;
use crate::base::Result;
use crate::index::state::RetentionLimits;

/// Bytes on flash that snapshots and leases may keep from being reused, however small the index.
const HELD_BYTES: u64 = 64 << 20;

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
        let limits = &self.shared.options.limits;
        let eighth = self.shared.store.zones().allocated_bytes() / 8;
        let retention = RetentionLimits {
            bytes: limits.snapshot_bytes.unwrap_or(eighth.max(HELD_BYTES)),
            age: limits.snapshot_age,
        };
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
}
