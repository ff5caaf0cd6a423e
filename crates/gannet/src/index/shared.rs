//! What writer and readers share.

use std::sync::Arc;

use super::options::Options;
use super::prepare::Preparation;
use super::state::Published;
use crate::base::{Budget, Traffic};
use crate::cache::FramePool;
use crate::storage::Store;

/// The parts of an open index that both sides use.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) budget: Budget,
    /// Searches go first; flushes beside them give way.
    pub(super) traffic: Traffic,
    pub(super) store: Arc<Store>,
    pub(super) pool: FramePool,
    pub(super) preparation: Preparation,
    pub(super) published: Published,
}
