//! The writer while an index is opened: the log goes back into what it wrote, as it was written.

use std::sync::Arc;

use super::Writer;
use crate::analysis::FieldId;
use crate::base::{DocId, PAGE_SIZE, Result, Sequence, Span, ZoneNumber};
use crate::cache::{Pages, finish};
use crate::columns::ColumnChanges;
use crate::documents::Dictionaries;
use crate::index::ingest::{BatchContent, FieldLengths, FieldMapping};
use crate::index::owners::Covered;
use crate::index::state::{IdEntry, RetiredZones, Shared};
use crate::index::write::decisions::ColumnDecisions;
use crate::index::write::log::Backlog;
use crate::storage::LogStart;

impl Writer {
    /// A replay of the log begins.
    pub(crate) fn begin_replay(&mut self) {
        self.life.begin_replay();
    }

    /// The replay has ended. Publishes its result.
    pub(crate) fn end_replay(&mut self) {
        self.life.write();
        self.publish(self.state.below);
    }

    /// Notes an opening for writing with this number.
    pub(crate) fn note_opening(&mut self, number: u64) {
        self.roots.open(number);
    }

    /// Goes on behind the end of the log that was replayed.
    pub(crate) fn go_on_at(&mut self, end: LogStart) {
        self.log.go_on(Arc::clone(&self.shared.store), end);
    }

    /// Makes a root of an index that has none. Else tells readers, who follow then, if its root has
    /// all that was found.
    pub(crate) fn show_opened(&mut self, has_root: bool) -> Result<()> {
        if !has_root {
            return self.checkpoint();
        }
        if self.roots.know(self.state.sequence) {
            self.roots.tell_readers();
        }
        Ok(())
    }

    /// Removes zones that neither the root nor the log behind it names. Some of them may be named
    /// by an older root that another process still reads: then all of them wait for its leases.
    pub(crate) fn drop_unknown(&mut self, unknown: &[(ZoneNumber, u32)]) -> Result<()> {
        let store = &self.shared.store;
        self.leases.look(&**store.device())?;
        let zones: Vec<ZoneNumber> = unknown.iter().map(|(zone, _)| *zone).collect();
        let generation = self.roots.generation();
        if self
            .leases
            .oldest()
            .is_none_or(|oldest| oldest >= generation)
        {
            return store.remove_zones(&zones);
        }
        let pages: u64 = unknown.iter().map(|(_, pages)| *pages as u64).sum();
        self.shared.published.retire(RetiredZones {
            generation,
            zones,
            bytes: pages * PAGE_SIZE as u64,
        });
        self.leases.remove_zones(&self.shared)
    }

    /// Returns the parts that writer and readers share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the dictionaries that were found.
    pub(crate) fn dictionaries(&self) -> &Dictionaries {
        &self.state.dictionaries
    }

    /// Takes a schema of so many fields. Tells whether some of them are new.
    pub(crate) fn take_fields(&mut self, fields: usize) -> bool {
        self.log.has_fields(fields)
    }

    /// Takes a compression dictionary.
    pub(crate) fn take_dictionary(&mut self, body: Vec<u8>) -> Result<()> {
        if self.state.dictionaries.contains(&body) {
            return Ok(());
        }
        let mut dictionaries = self.state.dictionaries.clone();
        self.log.has_dictionary(dictionaries.add(body)?);
        self.state.dictionaries = dictionaries.clone();
        self.shared.preparation.replace_dictionaries(dictionaries);
        Ok(())
    }

    /// Takes what was decided of columns for the documents that follow.
    pub(crate) fn take_columns(&mut self, changes: &ColumnChanges) -> Result<()> {
        self.log.has_columns(changes.version());
        if changes.version() > self.state.columns.version() {
            Arc::make_mut(&mut self.state.columns).take(changes.clone())?;
            let columns = Arc::clone(&self.state.columns);
            self.shared.preparation.replace_columns(columns);
        }
        Ok(())
    }

    /// Takes the types that were declared, by the options and in the index before.
    pub(crate) fn take_mapping(&mut self) -> Result<()> {
        let (schema, columns) = (
            self.shared.preparation.fields.written(),
            &self.state.columns,
        );
        let mapping = self.shared.options.mapping.clone();
        let mapping = Arc::new(mapping.and_known(&schema, columns));
        self.decisions = ColumnDecisions::new(&mapping, &schema, columns)?;
        self.shared.preparation.fields.declare(mapping);
        Ok(())
    }

    /// Takes further declarations of fields beside those that are known.
    pub(crate) fn declare(&mut self, more: FieldMapping) -> Result<()> {
        let fields = &self.shared.preparation.fields;
        let known = FieldMapping::clone(&fields.mapping());
        let mapping = Arc::new(known.and(more));
        let schema = fields.all();
        self.decisions
            .declare(&mapping, &schema, &self.state.columns)?;
        fields.declare(mapping);
        Ok(())
    }

    /// Returns true if the buffers are as full as they may be, or the log is.
    pub(crate) fn is_full(&self) -> bool {
        self.fill() >= 1.0
    }

    /// Sets memory aside for a batch and IDs that go into empty buffers, without what flushes them.
    /// Tells whether the buffers are empty.
    pub(crate) fn reserve_into_empty(
        &mut self,
        batch: Option<&BatchContent>,
        ids: usize,
        id_bytes: usize,
    ) -> Result<bool> {
        if self.state.buffers.has_news() {
            return Ok(false);
        }
        self.memory.give_up_flush(&self.state);
        self.reserve_buffers(batch, ids, id_bytes).map(|()| true)
    }

    /// Flushes what the buffers have, unless the index is only read: a later replay begins at
    /// `covered`, and the log behind `durable` is synced first. Tells whether there was anything.
    pub(crate) fn flush_replayed(&mut self, covered: Covered, durable: LogStart) -> Result<bool> {
        if self.shared.options.read_only || !self.state.buffers.has_news() {
            return Ok(false);
        }
        self.roots.wait_for(self.shared.store.unsynced_log(durable));
        self.checkpoint_of(covered).map(|()| true)
    }

    /// Returns true if a document of the tables lives.
    pub(crate) fn is_live(&self, doc: DocId) -> Result<bool> {
        let mut pages = Pages::new(&self.shared.pool);
        finish(&mut pages, |pages| self.state.tables.is_live(doc, pages))
    }

    /// Enters the ID of a document that the tables have.
    pub(crate) fn enter_id(&mut self, id: &str, entry: IdEntry) -> Result<()> {
        self.state.buffers.insert_id(id, entry)
    }

    /// Removes an ID.
    pub(crate) fn remove_id(&mut self, id: &str) -> Result<()> {
        self.state.buffers.remove_id(id)
    }

    /// Deletes a document by an operation that the root does not know.
    pub(crate) fn replay_deletion(&mut self, doc: DocId, sequence: Sequence) -> Result<()> {
        self.state.sequence = sequence;
        self.state.delete_document(doc, &self.shared)
    }

    /// Enters a document that the root does not know. Its zone may be one that no root knows yet.
    pub(crate) fn replay_document(
        &mut self,
        entry: IdEntry,
        id: &str,
        span: Span,
        lengths: &[(FieldId, u32)],
    ) -> Result<()> {
        let mut zones = self.shared.store.zones();
        zones.adopt_log(span.zone, 0);
        zones.retain(span.zone, span.length as u64);
        drop(zones);
        let pool = &self.shared.pool;
        self.state.enter_document(entry, id, span, lengths, pool)?;
        self.state.sequence = entry.sequence;
        self.state.below = entry.doc + 1;
        Ok(())
    }

    /// Adds the postings of documents that were entered.
    pub(crate) fn replay_postings<'l>(
        &mut self,
        content: &BatchContent,
        base: DocId,
        source_bytes: u64,
        lengths: impl Iterator<Item = &'l FieldLengths>,
    ) {
        self.add_postings(content, base, source_bytes, lengths);
    }

    /// Sets the memory of a flush aside, unless the index is only read.
    pub(crate) fn hold_to_replay(&mut self) -> Result<()> {
        if self.shared.options.read_only {
            Ok(())
        } else {
            self.hold_flush_memory().map(drop)
        }
    }

    /// Every document so far has a number below this.
    pub(crate) fn below(&self) -> DocId {
        self.state.below
    }

    /// Returns the part of the log that was taken in and not flushed.
    pub(crate) fn backlog(&self) -> Backlog {
        self.log.backlog()
    }

    /// Returns the bytes of memory that what was taken in takes, and those of tables.
    pub(crate) fn replayed_bytes(&self) -> (usize, usize) {
        let buffers = &self.state.buffers;
        let taken = buffers.memory_bytes() + buffers.id_bytes();
        (taken, self.memory.tables_bytes())
    }

    /// Gives the memory of its tables to the states that have them.
    pub(crate) fn keep_tables(self) {
        let tables = self.memory.into_tables();
        // Nothing is there yet, since an epoch of a reader has one root.
        let _ = self.state.epoch.tables.set(tables);
    }
}
