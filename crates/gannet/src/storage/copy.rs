//! Pages on their way to another device, each proved before it is copied.

use super::seal::{self, IndexIdentity, PageKind};
use super::store::{Store, wrong_kind};
use crate::base::{Error, PageAddress, Result};
use crate::device::{FileId, PagePool, Transfer};

impl Store {
    /// Reads `count` pages of `kind` from `first` on and makes them ready to be written to the same
    /// place of another device, in an index with this identity. Fails with [`Error::Damaged`],
    /// which names the page, if one does not prove itself. `pool` must have as many pages.
    pub fn copy_out(
        &self,
        first: PageAddress,
        count: u32,
        kind: PageKind,
        identity: IndexIdentity,
        pool: &PagePool,
    ) -> Result<Transfer> {
        let mut wanted = Vec::with_capacity(count as usize);
        for page in first.page..first.page + count {
            let buffer = pool.take().ok_or_else(no_buffer)?;
            wanted.push((PageAddress { page, ..first }, buffer));
        }
        let (pages, _) = self.read(wanted)?;
        let mut buffers = Vec::with_capacity(pages.len());
        for mut page in pages {
            if page.kind != kind {
                return Err(wrong_kind(page.address, kind, page.kind));
            }
            if identity != self.identity() {
                seal::seal(&mut page.buffer, identity, page.address.into(), kind);
            }
            buffers.push(page.buffer);
        }
        Ok(Transfer {
            file: FileId::Zone(first.zone),
            page: first.page,
            buffers,
        })
    }
}

fn no_buffer() -> Error {
    Error::internal("a copy ran out of its own buffers")
}
