//! The flash tier of an index that is only read: who may use it, and for which root.

use std::sync::Arc;

use crate::base::{Budget, Error, Result};
use crate::cache::{FlashTier, TierFigures, TierRoot};
use crate::device::{BackendChoice, open_tier};
use crate::index::owners::RootRecord;
use crate::index::state::{CacheOptions, HeldRoot, Options};
use crate::storage::Store;

/// The state of the flash tier that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// It is used.
    Used(TierFigures),
    /// The index is read past it; why.
    Past(String),
}

/// The tier that an opening found.
pub(crate) enum Tier {
    /// None was asked for.
    None,
    Open(FlashTier),
    Past(String),
}

impl Tier {
    /// Opens the tier that the options ask for. Where another process uses it, its device fails, or
    /// its folder is none that a cache may be in, the index is read past it: whoever can write
    /// there must not keep searches from their answers.
    pub(crate) fn open(
        options: &Options,
        store: &Arc<Store>,
        root: Option<&TierRoot>,
        budget: &Budget,
    ) -> Result<Tier> {
        let (Some(cache), Some(root)) = (&options.cache, root) else {
            return Ok(Tier::None);
        };
        if !options.read_only {
            return Ok(Tier::None);
        }
        match open(cache, options.backend, store, root, budget) {
            Ok(tier) => Ok(Tier::Open(tier)),
            Err(Error::Locked { path, holder }) => Ok(Tier::Past(format!(
                "{} is in use by {holder}: one process uses a cache at a time",
                path.display()
            ))),
            Err(error @ (Error::Device { .. } | Error::Invalid(_))) => {
                Ok(Tier::Past(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The root whose pages a tier takes.
pub(crate) fn tier_root(root: &HeldRoot, record: &RootRecord) -> TierRoot {
    TierRoot {
        slot: root.slot.clone(),
        next_zone: record.zones.next_number(),
    }
}

fn open(
    cache: &CacheOptions,
    backend: BackendChoice,
    store: &Arc<Store>,
    root: &TierRoot,
    budget: &Budget,
) -> Result<FlashTier> {
    let device = open_tier(&cache.folder, backend)?;
    FlashTier::open(device, cache.pages.unwrap_or(0), store, root, budget)
}
