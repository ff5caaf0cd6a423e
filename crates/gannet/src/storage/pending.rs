//! Copies of pages that the log has filled, wholly or in part, but not yet written to the device.
//!
//! A document can be fetched as soon as it was added, which is before its page is on the device.
//! Readers look here before they ask the device. A page in the making grows, so it is copied out
//! and never cached.

use std::collections::HashMap;

use crate::base::{PAGE_SIZE, PageAddress};
use crate::device::PageBuffer;

/// The unwritten pages, not sealed yet.
#[derive(Debug, Default)]
pub(super) struct PendingPages {
    pages: HashMap<PageAddress, Box<[u8; PAGE_SIZE]>>,
}

impl PendingPages {
    pub(super) fn contains(&self, address: PageAddress) -> bool {
        self.pages.contains_key(&address)
    }

    /// Copies `bytes` to `offset` of a page.
    pub(super) fn put(&mut self, address: PageAddress, offset: usize, bytes: &[u8]) {
        let page = self
            .pages
            .entry(address)
            .or_insert_with(|| Box::new([0; PAGE_SIZE]));
        page[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Forgets a page, now that it can be read from the device.
    pub(super) fn remove(&mut self, address: PageAddress) {
        self.pages.remove(&address);
    }

    /// Copies a page; says whether it is here.
    pub(super) fn copy(&self, address: PageAddress, into: &mut PageBuffer) -> bool {
        let Some(page) = self.pages.get(&address) else {
            return false;
        };
        into.copy_from_slice(&page[..]);
        true
    }
}
