//! The versions of documents, as a snapshot has them.

use super::Snapshot;
use crate::base::{DocId, Result, Sequence};
use crate::cache::{Pages, finish, gather};
use crate::documents::stored_versions;
use crate::search::SearchView;

/// Documents that are looked up in one go; each holds some frames until all are found.
const DOCUMENTS_AT_ONCE: usize = 32;

/// The newest document of an external ID, without its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentVersion {
    /// The number of times a document with this external ID was written since it was last absent,
    /// or counted on from the version that the last write brought.
    pub version: u64,
    /// The operation that brought it.
    pub sequence: u64,
}

impl Snapshot {
    /// Looks up external IDs: for each the version of its document in this snapshot, whatever was
    /// written later; nothing for one that is not there.
    ///
    /// # Errors
    ///
    /// [`Error::Expired`](crate::Error::Expired) if the snapshot was given up.
    pub fn versions(&self, ids: &[&str]) -> Result<Vec<Option<DocumentVersion>>> {
        let pinned = self.pinned()?;
        let mut found = Vec::with_capacity(ids.len());
        for some in ids.chunks(DOCUMENTS_AT_ONCE) {
            found.append(&mut self.versions_of_some(some, &pinned.view)?);
        }
        Ok(found)
    }

    fn versions_of_some(
        &self,
        ids: &[&str],
        view: &SearchView,
    ) -> Result<Vec<Option<DocumentVersion>>> {
        let found = self.documents_of(ids, view)?;
        let mut docs: Vec<DocId> = found.iter().flatten().copied().collect();
        docs.sort_unstable();
        docs.dedup();
        let mut pages = Pages::new(self.pool());
        let versions = finish(&mut pages, |pages| {
            stored_versions(&docs, &view.tables, pages)
        })?;
        let version = |(version, sequence): (u64, Sequence)| DocumentVersion { version, sequence };
        let of_id = found.iter().map(|doc| {
            let place = doc.and_then(|doc| docs.binary_search(&doc).ok());
            place.map(|place| version(versions[place]))
        });
        Ok(of_id.collect())
    }

    /// The documents of external IDs that are there.
    pub(super) fn documents_of(
        &self,
        ids: &[&str],
        view: &SearchView,
    ) -> Result<Vec<Option<DocId>>> {
        let mut pages = Pages::new(self.pool());
        finish(&mut pages, |pages| {
            gather(ids, |id| {
                let Some(doc) = view.ids.document(id, view.below, pages)? else {
                    return Ok(None);
                };
                Ok(view.tables.is_live(doc, pages)?.then_some(doc))
            })
        })
    }
}
