//! Reads the tables about candidates: their norms, deletions, and addresses.

use super::candidates::Candidates;
use super::score::Score;
use crate::base::{DocId, PAGE_PAYLOAD};
use crate::cache::{Pages, Step};
use crate::documents::{DocumentTables, LiveCursor, NormCursor};
use crate::search::matching::matches::DocRange;

/// Cursors over the tables that a query needs.
pub(super) struct CandidateTables {
    tables: DocumentTables,
    pub(super) live: LiveCursor,
    /// Of each field of [`Score::fields`].
    pub(super) norms: Vec<NormCursor>,
}

impl CandidateTables {
    /// Cursors for a query, which may meet deleted documents.
    pub(super) fn new(tables: &DocumentTables, score: &Score, meets_dead: bool) -> CandidateTables {
        let norms = score.fields().iter().map(|f| tables.norm_cursor(*f));
        CandidateTables {
            tables: tables.clone(),
            live: tables.live_cursor(meets_dead),
            norms: norms.collect(),
        }
    }

    /// Notes norms and deletions of documents.
    pub(super) fn prefetch(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.live.prefetch(docs, pages)?;
        let mut norms = self.norms.iter();
        norms.try_for_each(|norms| norms.prefetch(docs, pages))
    }

    /// Notes where documents are stored.
    pub(super) fn prefetch_addresses(&self, docs: &[DocId], pages: &mut Pages<'_>) -> Step<()> {
        self.tables.prefetch_addresses(docs, pages)?;
        Ok(())
    }

    /// Notes what the tables have of the documents of a range if most of its pages have one of
    /// `documents` candidates among all documents, which are `below`.
    pub(super) fn prefetch_dense(
        &self,
        range: DocRange,
        documents: u64,
        below: DocId,
        pages: &mut Pages<'_>,
    ) -> Step<()> {
        if documents * (PAGE_PAYLOAD as u64) < below as u64 {
            return Ok(());
        }
        let (first, last) = (range.first, range.last);
        self.live.prefetch_within(first, last, pages)?;
        let mut norms = self.norms.iter();
        norms.try_for_each(|norms| norms.prefetch_within(first, last, pages))
    }

    /// Reads norms of candidates from `from` on, and of those that may be deleted whether they are,
    /// as far as the pages at hand go, field by field; gives the first candidate that is left.
    pub(super) fn enrich(
        &mut self,
        candidates: &mut Candidates,
        from: usize,
        all_live: bool,
        pages: &mut Pages<'_>,
    ) -> Step<usize> {
        let mut end = candidates.len();
        for (field, cursor) in self.norms.iter_mut().enumerate() {
            let (docs, norms) = candidates.docs_and_norms(field);
            let mut column = norms[from..].iter_mut();
            let set = |norm| column.next().map_or((), |place| *place = norm);
            end = from + cursor.norms(&docs[from..end], pages, set)?;
        }
        if !all_live {
            let (docs, dead) = candidates.docs_and_dead();
            let mut column = dead[from..].iter_mut();
            let set = |is_live: bool| column.next().map_or((), |dead| *dead = !is_live);
            end = from + self.live.live(&docs[from..end], pages, set)?;
        }
        Ok(end)
    }
}
