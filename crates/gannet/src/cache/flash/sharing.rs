//! Shares a tier that another process writes: it is read here, and taken over when that process
//! ends.
//!
//! A guest changes nothing. What it reads proves itself as always, so a region that is overwritten
//! meanwhile costs reads in vain. Now and then it looks which regions were written since.

use std::sync::Arc;

use super::guest::{Guest, OpenTier};
use super::map::TierMap;
use super::opening::{self, TierFound};
use super::root::TierRoot;
use super::{DRAFT_PAGES, FlashTier};
use crate::base::{Budget, Result};
use crate::device::{Device, PagePool};
use crate::storage::Store;

impl FlashTier {
    /// The tier on `device` that `holder` writes, for the index of `store`. `open` is tried from
    /// time to time.
    ///
    /// # Errors
    ///
    /// If the budget lacks [`FlashTier::memory_bytes`], or the device fails.
    pub fn share(
        device: Arc<dyn Device>,
        (open, holder): (OpenTier, &str),
        bytes: u64,
        store: &Arc<Store>,
        root: &TierRoot,
        budget: &Budget,
    ) -> Result<FlashTier> {
        let reserved = budget.reserve("the map of the cache", FlashTier::memory_bytes(bytes))?;
        let mut found = opening::find_as_guest(&device, bytes, root, PagePool::new(DRAFT_PAGES))?;
        found.state.stopped = Some(format!("{holder} writes it; this process only reads it"));
        found.state.is_over = true;
        let tier = FlashTier::of(device, found, store, reserved);
        let guest = Guest::new(open, bytes);
        *tier.guest.lock().unwrap_or_else(|e| e.into_inner()) = Some(guest);
        Ok(tier)
    }

    /// Looks what the process that writes the tier has written, or takes over from it, if it is
    /// time and no other thread does.
    pub(super) fn look_again(&self) {
        let Ok(mut guest) = self.guest.try_lock() else {
            return;
        };
        let Some(one) = guest.as_mut() else { return };
        if !one.is_due() {
            return;
        }
        let device = self.shared.device();
        let writer = device.readers().map(|readers| readers.writer());
        let is_free = !matches!(writer, Some(Ok(Some(_)) | Err(_)));
        match is_free.then(|| (one.open)()) {
            Some(Ok(device)) => {
                self.take_over(&device, one.bytes);
                *guest = None;
            }
            _ => self.take_in_newer(&device, one.bytes),
        }
    }

    fn take_in_newer(&self, device: &Arc<dyn Device>, bytes: u64) {
        // The file may have been made anew.
        device.close_files();
        let (newest, count) = {
            let state = self.shared.state();
            let newest = (state.newest_region, state.sequence, state.mark);
            (newest, state.regions.count())
        };
        match opening::newer(device, count, newest, &PagePool::new(opening::AT_ONCE)) {
            Some(headers) => {
                let mut state = self.shared.state();
                headers.iter().for_each(|header| state.take_in(header));
            }
            None => {
                let stopped = self.shared.state().stopped.clone();
                if self.renew(|root, buffers| opening::find_as_guest(device, bytes, root, buffers))
                {
                    let mut state = self.shared.state();
                    (state.stopped, state.is_over) = (stopped, true);
                }
            }
        }
    }

    /// Goes on as the process that writes it.
    fn take_over(&self, device: &Arc<dyn Device>, bytes: u64) {
        let is_found = self.renew(|root, buffers| opening::find(device, bytes, root, buffers));
        let own = self.shared.device.write();
        *own.unwrap_or_else(|e| e.into_inner()) = Arc::clone(device);
        if is_found {
            self.start_writing();
        }
    }

    /// Puts what is found in the place of what was known. Tells whether anything could be found.
    fn renew(&self, find: impl FnOnce(&TierRoot, PagePool) -> Result<TierFound>) -> bool {
        let root = {
            let mut state = self.shared.state();
            // Only one map is reserved.
            state.map = TierMap::new(0);
            state.root.clone()
        };
        let found = find(&root, PagePool::new(DRAFT_PAGES));
        let mut state = self.shared.state();
        let is_found = found.is_ok();
        match found {
            Ok(found) => {
                let (counts, limit) = (state.counts, state.limit.take());
                *state = found.state;
                (state.counts, state.limit) = (counts, limit);
            }
            Err(error) => state.stopped = Some(error.to_string()),
        }
        is_found
    }
}
