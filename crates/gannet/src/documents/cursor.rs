//! Readers of norms and of the live set for ascending documents.

use super::bytes::{ByteCursor, ByteTable};
use super::tables::bit;
use crate::base::DocId;
use crate::cache::{Pages, Step, Stop};

/// Reads one field's norms.
#[derive(Debug)]
pub struct NormCursor {
    bytes: ByteCursor,
}

/// Reads whether documents are live.
#[derive(Debug)]
pub struct LiveCursor {
    bytes: ByteCursor,
    end: DocId,
    /// Without deletes nothing needs to be read.
    any_deleted: bool,
}

impl NormCursor {
    pub(super) fn new(norms: &ByteTable) -> NormCursor {
        NormCursor {
            bytes: norms.cursor(),
        }
    }

    /// Notes the pages with the norms of these ascending docs, as far as the round has room.
    pub fn prefetch(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.bytes.prefetch(docs, 1, pages)
    }

    /// Notes the pages with the norms from `first` to `last`, as far as the round has room.
    pub fn prefetch_within(&self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        self.bytes.prefetch_within(first as u64, last as u64, pages)
    }

    /// Gives the norms of ascending docs to `take`, in their order, as far as the pages at hand go. Tells how
    /// many; stops for pages only if there is none.
    pub fn norms(
        &mut self,
        docs: &[DocId],
        pages: &mut Pages<'_>,
        mut take: impl FnMut(u8),
    ) -> Step<usize> {
        let mut done = 0;
        while done < docs.len() {
            match self.bytes.get(docs[done] as u64, pages) {
                Ok(_) => {}
                Err(Stop::Pages) if done > 0 => return Ok(done),
                Err(stop) => return Err(stop),
            }
            let (first, page) = self.bytes.page();
            let at = |doc: DocId| (doc as u64).wrapping_sub(first) as usize;
            let held = docs[done..].iter().map_while(|doc| page.get(at(*doc)));
            held.for_each(|norm| {
                take(*norm);
                done += 1;
            });
        }
        Ok(docs.len())
    }

    /// A document's norm, if it stands in the page at hand.
    #[inline]
    pub fn held(&self, doc: DocId) -> Option<u8> {
        self.bytes.held(doc as u64)
    }

    /// A document's norm; 0 if it lacks the field.
    #[inline]
    pub fn norm(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<u8> {
        self.bytes.get(doc as u64, pages)
    }
}

impl LiveCursor {
    pub(super) fn new(deletions: &ByteTable, end: DocId, any_deleted: bool) -> LiveCursor {
        LiveCursor {
            bytes: deletions.cursor(),
            end,
            any_deleted,
        }
    }

    /// Notes the pages that tell of these ascending docs, as far as the round has room.
    pub fn prefetch(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        match self.any_deleted {
            true => self.bytes.prefetch(docs, 8, pages),
            false => Ok(()),
        }
    }

    /// Notes the pages that tell of the docs from `first` to `last`, as far as the round has room.
    pub fn prefetch_within(&self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        let (first, last) = (first as u64 / 8, last as u64 / 8);
        match self.any_deleted {
            true => self.bytes.prefetch_within(first, last, pages),
            false => Ok(()),
        }
    }

    /// Whether all documents below `below` exist and none is deleted.
    pub fn all_live(&self, below: DocId) -> bool {
        !self.any_deleted && below <= self.end
    }

    /// Whether a document exists and is not deleted.
    #[inline]
    pub fn is_live(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<bool> {
        if doc >= self.end {
            return Ok(false);
        }
        Ok(!self.any_deleted || self.bytes.get(doc as u64 / 8, pages)? & bit(doc) == 0)
    }
}
