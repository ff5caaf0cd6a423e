//! Readers of norms and of the live set for ascending documents.

use super::bytes::{ByteCursor, ByteTable};
use crate::base::DocId;
use crate::cache::{Pages, Step};

/// The bit of a document in its byte of the live set.
pub(super) fn bit(doc: DocId) -> u8 {
    1 << (doc % 8)
}

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

    /// Gives the norms of ascending docs to `take`, in their order, as far as the pages at hand go.
    /// Tells how many; stops for pages only if there is none.
    pub fn norms(
        &mut self,
        docs: &[DocId],
        pages: &mut Pages<'_>,
        mut take: impl FnMut(u8),
    ) -> Step<usize> {
        self.bytes.each(docs, 1, pages, |_, norm| take(norm))
    }

    /// The norms of a document and of those behind it, as far as they need no look-up of a page.
    #[inline]
    pub fn at_hand(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Option<&[u8]> {
        let (first, page) = self.bytes.at_hand(doc as u64, pages)?;
        page.get((doc as u64 - first) as usize..)
    }

    /// The norms of a document and of those behind it in the same page.
    #[inline]
    pub fn norms_from(&mut self, doc: DocId, pages: &mut Pages<'_>) -> Step<&[u8]> {
        let (first, page) = self.bytes.page_with(doc as u64, pages)?;
        Ok(page
            .get((doc as u64 - first) as usize..)
            .unwrap_or_default())
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
        if self.any_deleted {
            self.bytes.prefetch(docs, 8, pages)
        } else {
            Ok(())
        }
    }

    /// Notes the pages that tell of the docs from `first` to `last`, as far as the round has room.
    pub fn prefetch_within(&self, first: DocId, last: DocId, pages: &mut Pages<'_>) -> Step<()> {
        let (first, last) = (first as u64 / 8, last as u64 / 8);
        if self.any_deleted {
            self.bytes.prefetch_within(first, last, pages)
        } else {
            Ok(())
        }
    }

    /// Returns true if all documents below `below` exist and none is deleted.
    pub fn all_live(&self, below: DocId) -> bool {
        !self.any_deleted && below <= self.end
    }

    /// Returns the bits of the 64 docs from 64 times `at` on: set if one exists and is not deleted.
    pub fn word(&mut self, at: usize, pages: &mut Pages<'_>) -> Step<u64> {
        let first = at as u64 * 64;
        let exist = match u64::from(self.end).saturating_sub(first) {
            count @ 0..64 => (1 << count) - 1,
            _ => u64::MAX,
        };
        if !self.any_deleted || exist == 0 {
            return Ok(exist);
        }
        let mut deleted = 0;
        for byte in 0..8 {
            deleted |= u64::from(self.bytes.get(first / 8 + byte, pages)?) << (8 * byte);
        }
        Ok(exist & !deleted)
    }

    /// Tells `take` of ascending docs, in their order, whether each exists and is not deleted, as
    /// far as the pages at hand go. Tells how many; stops for pages only if there is none.
    pub fn live(
        &mut self,
        docs: &[DocId],
        pages: &mut Pages<'_>,
        mut take: impl FnMut(bool),
    ) -> Step<usize> {
        let end = self.end;
        if !self.any_deleted {
            docs.iter().for_each(|doc| take(*doc < end));
            return Ok(docs.len());
        }
        let is_live = |doc, bits: u8| doc < end && bits & bit(doc) == 0;
        let known = |doc, bits| take(is_live(doc, bits));
        self.bytes.each(docs, 8, pages, known)
    }
}
