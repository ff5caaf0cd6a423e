//! The state that writer and readers share.

use std::sync::{Arc, Mutex, MutexGuard};

use super::held_root::HeldRoot;
use super::memory::MemoryPlan;
use super::options::Options;
use super::published::Published;
use super::room::Room;
use crate::base::{Budget, ForegroundLoad, Reservation};
use crate::cache::FramePool;
use crate::index::ingest::Preparation;
use crate::search::{HotLists, ResultCache};
use crate::storage::Store;

/// The parts of an open index that both sides use.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) budget: Budget,
    pub(crate) memory: MemoryPlan,
    /// The part of it for documents that are prepared side by side.
    pub(crate) preparing: Budget,
    /// The memory of the write buffers of all streams.
    pub(crate) _write_buffers: Reservation,
    /// The memory of the device beside the buffers of transfers.
    pub(crate) _device: Reservation,
    /// Searches go first; flushes beside them yield.
    pub(crate) traffic: ForegroundLoad,
    pub(crate) store: Arc<Store>,
    pub(crate) pool: FramePool,
    pub(crate) preparation: Preparation,
    pub(crate) published: Published,
    /// Free space that is spoken for.
    pub(crate) room: Room,
    /// Why the index is read past the flash tier that was asked for.
    pub(crate) past_cache: Option<String>,
    /// Why searches go on without the answers on flash that were asked for.
    pub(crate) past_answers: Option<String>,
    /// Lists that are asked for often.
    pub(crate) hot: HotLists,
    /// Answers that are given again, if that was asked for.
    pub(crate) results: Option<ResultCache>,
    /// The root that is read, where nothing is written.
    pub(crate) reading: Mutex<Option<HeldRoot>>,
}

impl Shared {
    /// The root that is read; held while another is read in its place.
    pub(crate) fn reading(&self) -> MutexGuard<'_, Option<HeldRoot>> {
        self.reading.lock().unwrap_or_else(|e| e.into_inner())
    }
}
