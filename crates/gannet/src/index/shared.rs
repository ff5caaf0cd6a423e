//! What writer and readers share.

use std::sync::{Arc, OnceLock};

use super::memory::MemoryPlan;
use super::options::Options;
use super::prepare::Preparation;
use super::room::Room;
use super::state::Published;
use crate::base::{Budget, Reservation, Traffic};
use crate::cache::FramePool;
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
    /// Searches go first; flushes beside them give way.
    pub(super) traffic: Traffic,
    pub(super) store: Arc<Store>,
    pub(super) pool: FramePool,
    pub(super) preparation: Preparation,
    pub(super) published: Published,
    /// Free space that is spoken for.
    pub(super) room: Room,
    /// Memory of the tables of an index that nobody writes; the writer has it else.
    pub(super) tables: OnceLock<Reservation>,
}
