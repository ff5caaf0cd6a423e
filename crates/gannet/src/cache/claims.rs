//! Pages that threads read, so that no two read the same page at the same time.
//!
//! A thread claims the pages that nobody reads, reads them, and waits only then for those of
//! others. So nobody waits for a thread that waits.

use std::sync::{Condvar, Mutex, MutexGuard};

use rustc_hash::FxHashSet;

use crate::base::PageAddress;

/// The pages that are read now.
#[derive(Default)]
pub(super) struct Claims {
    pages: Mutex<FxHashSet<PageAddress>>,
    released: Condvar,
}

/// Pages that one thread reads, until it is dropped.
pub(super) struct Claimed<'a> {
    claims: &'a Claims,
    pages: Vec<PageAddress>,
}

impl Claims {
    /// Claims those of the pages that nobody reads, and takes them out of `pages`.
    pub(super) fn take(&self, pages: &mut Vec<PageAddress>) -> Claimed<'_> {
        let mut claimed = self.lock();
        let taken = pages.extract_if(.., |page| claimed.insert(*page));
        Claimed {
            claims: self,
            pages: taken.collect(),
        }
    }

    /// Waits until nobody reads any of the pages.
    pub(super) fn wait(&self, pages: &[PageAddress]) {
        let is_read =
            |claimed: &mut FxHashSet<PageAddress>| pages.iter().any(|page| claimed.contains(page));
        let waited = self.released.wait_while(self.lock(), is_read);
        drop(waited);
    }

    fn lock(&self) -> MutexGuard<'_, FxHashSet<PageAddress>> {
        self.pages.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Claimed<'_> {
    /// The pages, in the order in which they were given.
    pub(super) fn pages(&self) -> &[PageAddress] {
        &self.pages
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        let mut claimed = self.claims.lock();
        for page in &self.pages {
            claimed.remove(page);
        }
        drop(claimed);
        self.claims.released.notify_all();
    }
}
