//! Changes that depend on what is there: a document is read by its external ID, changed, and
//! written only if nobody else has changed it meanwhile.

use std::sync::Arc;

use super::handle::Index;
use super::read::DocumentVersion;
use super::state::{IdEntry, State};
use super::write::Written;
use crate::analysis::other_forms;
use crate::base::{Error, Result};
use crate::cache::{Pages, finish};
use crate::documents::{Document, Expected, Fetch, Fetched, StoredDocument};

/// Of a document no more than one in so many frames is read at once.
const READ_SHARE: usize = 16;

/// The number of attempts at a change that others get ahead of: each time, one of them has come to
/// its end.
const ATTEMPTS: usize = 64;

impl Index {
    /// Looks up external IDs together: for each the version of its newest document, from what was
    /// written last; nothing for one that is not there. No document is read.
    pub fn versions(&self, ids: &[&str]) -> Result<Vec<Option<DocumentVersion>>> {
        let version = |entry: IdEntry| DocumentVersion {
            version: entry.version,
            sequence: entry.sequence,
        };
        if self.is_writable() {
            let found = self.with_writer(|writer| writer.look_up(ids))?;
            return Ok(found.into_iter().map(|entry| entry.map(version)).collect());
        }
        let found = ids.iter().map(|id| Ok(self.find(id)?.0.map(version)));
        found.collect()
    }

    /// The newest document with this external ID, from what was written last, be it durable or not.
    pub fn get(&self, id: &str) -> Result<Option<StoredDocument>> {
        let (entry, state) = self.find(id)?;
        let Some(entry) = entry else {
            return Ok(None);
        };
        let document = self.read(entry, &state)?;
        if document.id != id {
            return Err(Error::damaged(
                format!("the runs of IDs at {id}"),
                format!("expected a document of this ID, got one of {}", document.id),
            ));
        }
        Ok(Some(document))
    }

    /// Returns true if there is a document with this external ID. Its source is not read.
    pub fn contains(&self, id: &str) -> Result<bool> {
        Ok(self.find(id)?.0.is_some())
    }

    /// Finds the external ID of a document that is the same text as `id` in another Unicode form
    /// (NFC or NFD). For callers that found no document of `id` itself.
    pub fn other_form_of_id(&self, id: &str) -> Result<Option<String>> {
        for other in other_forms(id) {
            if self.contains(&other)? {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Reads a document within the memory budget. What it holds is the caller's then.
    fn read(&self, entry: IdEntry, state: &State) -> Result<StoredDocument> {
        let shared = self.shared();
        let mut pages = Pages::new(&shared.pool);
        let (tables, dictionaries) = (&state.tables, &state.dictionaries);
        let room = shared.pool.capacity() / READ_SHARE;
        let mut fetch = Fetch::new(tables, dictionaries, &shared.budget, room, true);
        let mut found = None;
        finish(&mut pages, |pages| {
            fetch.next(&[entry.doc], pages, |document| {
                found = Some(document);
                Ok(())
            })
        })?;
        match found {
            Some(Fetched::Document(document, _)) => Ok(document),
            Some(Fetched::Failed(_, error)) => Err(error),
            _ => Err(Error::invalid("a document was not read; this is a defect")),
        }
    }

    /// Changes one document: `change` is given what there is, and gives what takes its place; with
    /// nothing given, nothing is written. If another writer changes the document meanwhile,
    /// `change` is asked again with what that wrote.
    ///
    /// The new document must have the external ID `id`. Fails with [`Error::Conflict`] if others
    /// got ahead 64 times.
    pub fn update(
        &self,
        id: &str,
        mut change: impl FnMut(Option<&StoredDocument>) -> Result<Option<Document>>,
    ) -> Result<Written> {
        let mut attempts = 0;
        loop {
            let found = self.get(id)?;
            let Some(document) = change(found.as_ref())? else {
                return Ok(Written::default());
            };
            if document.id.as_deref() != Some(id) {
                return Err(Error::invalid(format!(
                    "the change of document {id} gave a document with the ID {:?}: keep the ID, or delete the one and add the other",
                    document.id.unwrap_or_default()
                )));
            }
            let expected = match &found {
                None => Expected::Absent,
                Some(found) => Expected::Sequence(found.sequence),
            };
            attempts += 1;
            match self.add(document.expecting(expected)) {
                Err(Error::Conflict { .. }) if attempts < ATTEMPTS => {}
                done => return done,
            }
        }
    }

    /// Replaces some members of a document: those of the JSON object `partial`, objects in it
    /// likewise; all others stay byte for byte. If there is no document with this ID, `upsert` is
    /// written.
    pub fn merge(&self, id: &str, partial: &[u8], upsert: Option<Document>) -> Result<Written> {
        self.update(id, |found| match found {
            Some(found) => found.merged(partial).map(Some),
            None => match &upsert {
                Some(upsert) => Ok(Some(upsert.clone())),
                None => Err(Error::invalid(format!(
                    "there is no document {id} to change: add it, or say what to write if it is not there"
                ))),
            },
        })
    }

    /// Deletes a document if it is what is expected. Of an absent one, nothing is written.
    pub fn delete_expecting(&self, id: &str, expected: Expected) -> Result<Written> {
        let written = self.delete_with(|writer| writer.delete_expecting(id, expected))?;
        self.acknowledge(written)
    }

    /// Finds the newest document with this ID, and a state that has it.
    fn find(&self, id: &str) -> Result<(Option<IdEntry>, Arc<State>)> {
        if self.is_writable() {
            return self.with_writer(|writer| writer.find(id));
        }
        let state = self.shared().published.get();
        // An index that nobody writes has here what a replay found.
        if let Some(known) = state.buffers.known_id(id) {
            return Ok((known, state));
        }
        let mut pages = Pages::new(&self.shared().pool);
        let value = finish(&mut pages, |pages| state.ids.get(id.as_bytes(), pages))?;
        let found = value.map(|value| IdEntry::decode(&value)).transpose()?;
        Ok((found, state))
    }
}
