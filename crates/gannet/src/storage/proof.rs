//! Proving all pages of a zone, past the frame pool: what is in memory says nothing of the device.
//!
//! A page that was written is never touched again, so others may append to the zone meanwhile.

use super::seal::{self, PageKind, SealAddress};
use super::{Store, Zone, wrong_kind};
use crate::base::{Error, PAGE_SIZE, PageAddress, Result, ZoneNumber};
use crate::device::{FileId, PagePool, Transfer};

/// Pages that are read at once.
const BATCH_PAGES: u32 = 256;

impl Store {
    /// Reads every page that a zone had when `zone` was noted, and gives each that does not prove
    /// itself or is of another kind, with what is wrong. Only a failing device fails the call.
    pub fn prove_zone(&self, number: ZoneNumber, zone: &Zone) -> Result<Vec<(PageAddress, Error)>> {
        let pool = PagePool::new(BATCH_PAGES as usize);
        let mut errors = Vec::new();
        for first in (0..zone.pages).step_by(BATCH_PAGES as usize) {
            let count = BATCH_PAGES.min(zone.pages - first);
            let mut batch = [Transfer {
                file: FileId::Zone(number),
                page: first,
                buffers: (0..count).map_while(|_| pool.take()).collect(),
            }];
            self.unless_expired(self.device().read(&mut batch))?;
            let [transfer] = batch;
            for (page, buffer) in (first..).zip(&transfer.buffers) {
                let address = PageAddress { zone: number, page };
                let error = self.prove(address, buffer, zone.kind);
                errors.extend(error.map(|error| (address, error)));
            }
        }
        Ok(errors)
    }

    /// Returns the kind of a copy of a page that is kept outside the index, if it is the page of
    /// this address.
    pub fn prove_copy(&self, address: PageAddress, page: &[u8; PAGE_SIZE]) -> Option<PageKind> {
        seal::verify(page, self.identity(), SealAddress::from(address)).ok()
    }

    fn prove(&self, address: PageAddress, page: &[u8; PAGE_SIZE], kind: PageKind) -> Option<Error> {
        match seal::verify(page, self.identity(), SealAddress::from(address)) {
            Ok(found) if found == kind => None,
            Ok(found) => Some(wrong_kind(address, kind, found)),
            Err(error) => Some(error),
        }
    }
}
