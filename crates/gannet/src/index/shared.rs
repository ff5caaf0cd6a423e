//! What writer and readers share.

use std::sync::{Arc, Mutex, MutexGuard};

use super::memory::MemoryPlan;
use super::options::Options;
use super::prepare::Preparation;
use super::reading::HeldRoot;
use super::room::Room;
use super::state::Published;
use crate::base::{Budget, Reservation, Traffic};
use crate::cache::FramePool;
use crate::search::ResultCache;
use crate::storage::Store;

/// The parts of an open index that both sides use.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) budget: Budget,
    pub(super) memory: MemoryPlan,
    /// The part of it for documents that are prepared side by side.
    pub(super) preparing: Budget,
    /// What the write buffers of all streams take.
    pub(super) _write_buffers: Reservation,
    /// What the device takes beside the buffers of transfers.
    pub(super) _device: Reservation,
    /// Searches go first; flushes beside them give way.
    pub(super) traffic: Traffic,
    pub(super) store: Arc<Store>,
    pub(super) pool: FramePool,
    pub(super) preparation: Preparation,
    pub(super) published: Published,
    /// Free space that is spoken for.
    pub(super) room: Room,
    /// Why the index is read past the flash tier that was asked for.
    pub(super) past_cache: Option<String>,
    /// Answers that are given again, if that was asked for.
    pub(super) results: Option<ResultCache>,
    /// The root that is read, where nothing is written.
    pub(super) reading: Mutex<Option<HeldRoot>>,
}

impl Shared {
    /// The root that is read; held while another is read in its place.
    pub(super) fn reading(&self) -> MutexGuard<'_, Option<HeldRoot>> {
        self.reading.lock().unwrap_or_else(|e| e.into_inner())
    }
}
