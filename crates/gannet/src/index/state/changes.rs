//! Changes of a state by its writer: documents come and go in the tables, the statistics and the
//! IDs, and are looked up by ID.

use super::ids::IdEntry;
use super::published::State;
use super::shared::Shared;
use crate::analysis::FieldId;
use crate::base::{DocId, Error, Result, Span};
use crate::cache::{FramePool, Pages, finish};
use crate::documents::{TableChange, length_to_norm};

/// Leaves that IDs are looked up in in one go; each holds a frame until all are found.
const LOOK_UPS_AT_ONCE: usize = 256;

impl State {
    /// Enters a document that stands in the log: tables, ID, statistics.
    pub(crate) fn enter_document(
        &mut self,
        entry: IdEntry,
        id: &str,
        span: Span,
        lengths: &[(FieldId, u32)],
        pool: &FramePool,
    ) -> Result<()> {
        let norms: Vec<(FieldId, u8)> = lengths
            .iter()
            .map(|(field, length)| (*field, length_to_norm(*length)))
            .collect();
        self.load_tables(&[TableChange::Push(entry.doc)], pool)?;
        self.tables.push(entry.doc, span, &norms)?;
        for (field, length) in lengths.iter().filter(|(_, length)| *length > 0) {
            let statistics = self.statistics_mut(*field);
            statistics.documents += 1;
            statistics.total_length += *length as u64;
        }
        self.documents += 1;
        self.buffers.insert_id(id, entry)
    }

    /// Marks a document as deleted and gives its bytes up.
    pub(crate) fn delete_document(&mut self, doc: DocId, shared: &Shared) -> Result<()> {
        self.load_tables(&[TableChange::Delete(doc)], &shared.pool)?;
        if self.tables.delete(doc)? {
            self.documents = self.documents.checked_sub(1).ok_or_else(|| {
                Error::damaged("the root record", "expected more live documents, got 0")
            })?;
            let tables = &self.tables;
            let mut pages = Pages::new(&shared.pool);
            let address = finish(&mut pages, |pages| tables.address(doc, pages))?;
            let mut zones = shared.store.zones();
            zones.release(address.zone, address.length as u64);
        }
        Ok(())
    }

    /// Looks the newest documents with these IDs up: among the new ones, or in the runs, read in
    /// one go.
    pub(crate) fn look_up(&self, ids: &[&str], pool: &FramePool) -> Result<Vec<Option<IdEntry>>> {
        let mut found: Vec<Option<IdEntry>> = vec![None; ids.len()];
        let mut open = Vec::new();
        for (place, id) in ids.iter().enumerate() {
            match self.buffers.known_id(id) {
                Some(known) => found[place] = known,
                None => open.push(place),
            }
        }
        if self.ids.is_empty() {
            return Ok(found);
        }
        let at_once = LOOK_UPS_AT_ONCE / self.ids.unfiltered().max(1);
        for places in open.chunks(at_once.max(1)) {
            let keys: Vec<&[u8]> = places.iter().map(|place| ids[*place].as_bytes()).collect();
            let mut pages = Pages::new(pool);
            let values = finish(&mut pages, |pages| self.ids.lookup_all(&keys, pages))?;
            for (place, value) in places.iter().zip(values) {
                found[*place] = value.map(|value| IdEntry::decode(&value)).transpose()?;
            }
        }
        Ok(found)
    }

    fn load_tables(&mut self, changes: &[TableChange], pool: &FramePool) -> Result<()> {
        let mut pages = Pages::new(pool);
        finish(&mut pages, |pages| self.tables.load_for(changes, pages))
    }
}
