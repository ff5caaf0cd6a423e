//! The flash tier of an index: who may use it, and for which root.

use std::sync::Arc;

use crate::base::{Budget, Error, Result};
use crate::cache::{FlashTier, OpenTier, TierFigures, TierRoot};
use crate::device::{open_tier, open_tier_to_read};
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
    /// Its folder is on the disk that the index is on, and its size is not given: it keeps answers,
    /// and no pages, whose reads would take as long as those of the index.
    OnOneDisk,
}

/// The tier that an opening found.
pub(crate) enum Tier {
    /// None was asked for.
    None,
    Open(FlashTier),
    Past(String),
}

impl Tier {
    /// Opens the tier that the options ask for. Where another process writes it, it is shared.
    /// Where its device fails, or its folder is none that a cache may be in, the index is read past
    /// it: whoever can write there must not keep searches from their answers.
    pub(crate) fn open(
        options: &Options,
        store: &Arc<Store>,
        root: &TierRoot,
        budget: &Budget,
    ) -> Result<Tier> {
        let Some(cache) = &options.cache else {
            return Ok(Tier::None);
        };
        if options.keeps_no_pages() {
            return Ok(Tier::None);
        }
        match open(cache, options, store, root, budget) {
            Ok(tier) => Ok(Tier::Open(tier)),
            Err(error @ (Error::Device { .. } | Error::Invalid(_))) => {
                Ok(Tier::Past(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The root whose pages a tier takes. An index that was just made has none: no page is taken before
/// its first root.
pub(crate) fn tier_root(root: Option<&HeldRoot>, record: &RootRecord, store: &Store) -> TierRoot {
    match root {
        Some(root) => TierRoot {
            slot: root.slot.clone(),
            next_zone: record.zones.next_number(),
        },
        None => TierRoot::before_the_first(store.identity()),
    }
}

fn open(
    cache: &CacheOptions,
    options: &Options,
    store: &Arc<Store>,
    root: &TierRoot,
    budget: &Budget,
) -> Result<FlashTier> {
    let (folder, backend) = (cache.folder.clone(), options.backend);
    let bytes = cache.pages.unwrap_or(0);
    let open = move || open_tier(&folder, backend);
    let tier = match open() {
        Ok(device) => FlashTier::open(device, bytes, store, root, budget)?,
        Err(Error::Locked { holder, .. }) => {
            let device = open_tier_to_read(&cache.folder, backend)?;
            let open: OpenTier = Box::new(open);
            FlashTier::share(device, (open, &holder), bytes, store, root, budget)?
        }
        Err(error) => return Err(error),
    };
    if let Some(most) = options.cache_writes {
        tier.limit_writes(most);
    }
    Ok(tier)
}
