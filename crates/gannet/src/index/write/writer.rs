//! The one writer: batches go into the log, the tables and the posting buffer, then become visible
//! at once. A full buffer is flushed beside writing; the first call after a flush is done ends it
//! (see `checkpoint`).
//!
//! Invariants:
//! 1. A batch is in the log before it is published; it is durable when the log is synced behind it.
//! 2. Nothing is published before the whole batch is in place; what a failed batch left in the
//!    posting buffer lies above every snapshot's high-water mark.
//! 3. After a failed write or sync, and whatever fails once a batch has begun to change something,
//!    the writer rejects everything until the index is reopened. What fails before, as a look-up of
//!    IDs, rejects the batch alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::flushing::Flushing;
use super::leases::Leases;
use crate::base::{DocId, END, Error, Reservation, Result, Sequence, Span, put_varint};
use crate::cache::{Pages, finish};
use crate::documents::{DictionaryVersion, DocumentRecord, Expected, TableChange, length_to_norm};
use crate::index::flush::{Backpressure, Flusher};
use crate::index::ingest::{FieldLengths, Input, PreparedBatch, PreparedDocument, Workbench, pack};
use crate::index::owners::OwnedPages;
use crate::index::schedule::Scheduler;
use crate::index::state::{
    IdEntry, Lifetime, Relief, Shared, State, work_of_deletion, work_of_documents,
};
use crate::postings::InvertedBatch;
use crate::storage::{History, Log, LogStart, RecordKind, StreamWriter, Unsynced, record_length};

/// IDs looked up in one go; each holds a frame until all are found.
const LOOK_UPS_AT_ONCE: usize = 256;

/// The results of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Documents added, replacements included.
    pub added: u64,
    /// Documents that replaced an older one.
    pub replaced: u64,
    /// Documents deleted by their ID.
    pub deleted: u64,
    /// The last operation; durable when a sync covers it.
    pub sequence: Sequence,
}

/// The writer's own state; readers see only what it publishes.
pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) state: State,
    pub(crate) log: Log,
    /// Locked by the flush under way, or by the checkpoint that ends it.
    pub(crate) flusher: Arc<Mutex<Flusher>>,
    pub(crate) flushing: Option<Flushing>,
    /// Set aside while there is anything to be flushed.
    pub(crate) flush_memory: Option<Arc<Reservation>>,
    pub(crate) pace: Backpressure,
    /// Of what the state keeps in memory beside frames and buffers.
    pub(crate) tables_memory: Reservation,
    pub(crate) owned: OwnedPages,
    pub(crate) roots: StreamWriter,
    pub(crate) root: Option<Span>,
    pub(crate) generation: u64,
    /// The last operation that the newest root knows, and when that was written or found.
    pub(crate) rooted: (Sequence, Instant),
    /// The end of the log that the newest root covers; nothing if there may be more behind it.
    pub(crate) rooted_log: Option<LogStart>,
    /// The readers in other processes.
    pub(crate) leases: Leases,
    /// The openings for writing that led here, this one included.
    pub(crate) history: History,
    /// The fields and dictionaries that the log already has.
    pub(crate) logged_fields: usize,
    pub(crate) logged_dictionary: DictionaryVersion,
    /// Bytes of source in the log since the last flush began.
    pub(crate) log_source_bytes: u64,
    /// The work of replaying them.
    pub(crate) log_work: u64,
    /// The lifetime write statistics from before the opening, and the bytes that were given since.
    pub(crate) life_before: Lifetime,
    pub(crate) life: Lifetime,
    pub(crate) scheduler: Scheduler,
    /// The time at which the act under way was asked for.
    pub(crate) asked_at: Instant,
    /// The time at which documents were last written or deleted.
    pub(crate) written_at: Instant,
    /// Set if the act under way is tried again after a flush if it lacks memory or space.
    pub(crate) retries: bool,
    /// Set if searches held earlier states when memory was last tried for.
    pub(crate) had_earlier: bool,
    /// Set if someone waits for the end of the next act.
    pub(crate) is_watched: bool,
    /// The unsynced bytes that syncs have taken since the last checkpoint; they may still be under
    /// way.
    pub(crate) syncing: Unsynced,
    pub(crate) stopped: Option<String>,
    /// Set if an index is written that readers are not to see yet (see `renumber`).
    pub(crate) unseen: bool,
    /// Set if the log is being replayed: a root does not have all of it then.
    pub(crate) is_replaying: bool,
    /// Bytes of source since the device was last asked how much is free.
    pub(crate) unasked_bytes: u64,
}

impl Writer {
    /// Writes a prepared batch; it is visible when this returns, not yet durable.
    pub(crate) fn write(&mut self, batch: &PreparedBatch) -> Result<Written> {
        self.check_running()?;
        if batch.is_empty() {
            return Ok(self.nothing_written());
        }
        self.check_space(batch.source_bytes)?;
        let ids = batch.documents.iter().map(|document| document.id.as_str());
        self.make_room(Some(&batch.inverted), ids)?;
        let base = self.first_doc(batch.len())?;
        let replaced = self.find_replaced(batch, base)?;
        for (document, old) in batch.documents.iter().zip(&replaced) {
            check_expected(&document.id, document.expected, *old)?;
        }
        let done = self.write_batch(batch, base, &replaced);
        self.stop_on_error(done)
    }

    /// Prepares and writes documents, none of which may be rejected, with all the memory that is
    /// left when nothing waits for a flush.
    pub(crate) fn write_alone<'i, I: Iterator<Item = Input<'i>>>(
        &mut self,
        bench: &mut Workbench,
        inputs: &dyn Fn() -> I,
    ) -> Result<Written> {
        self.check_running()?;
        let shared = Arc::clone(&self.shared);
        let mut prepare = || {
            let (preparation, budget) = (&shared.preparation, &shared.budget);
            preparation.prepare(bench, budget, &mut inputs())
        };
        let order = [Relief::Buffers, Relief::EarlierStates];
        let batch = self.with_memory(&order, |_| prepare())?;
        match batch.rejected().first() {
            Some((_, error)) => Err(error.clone()),
            None => self.write(&batch),
        }
    }

    /// Deletes documents by external ID; unknown IDs are passed over.
    pub(crate) fn delete(&mut self, ids: &[&str]) -> Result<Written> {
        self.check_running()?;
        self.check_space_to_delete(ids.iter().map(|id| id.len() as u64).sum())?;
        self.make_room(None, ids.iter().copied())?;
        let found = self.look_up(ids)?;
        let done = self.delete_batch(ids, found);
        self.stop_on_error(done)
    }

    /// Deletes a document if it is what is expected.
    pub(crate) fn delete_expecting(&mut self, id: &str, expected: Expected) -> Result<Written> {
        self.check_running()?;
        let found = self.look_up(&[id])?.pop().flatten();
        check_expected(id, Some(expected), found)?;
        self.delete(&[id])
    }

    /// Writes the log out; what is returned must be synced.
    pub(crate) fn flush_log(&mut self) -> Result<(Unsynced, Sequence)> {
        self.check_running()?;
        self.poll_flush()?;
        let flushed = self.log.flush();
        let unsynced = self.stop_on_error(flushed)?;
        self.syncing.join(unsynced.clone());
        Ok((unsynced, self.state.sequence))
    }

    pub(crate) fn check_running(&self) -> Result<()> {
        match &self.stopped {
            None => Ok(()),
            Some(reason) => Err(Error::Stopped(reason.clone())),
        }
    }

    /// Remembers a failure of storage: what was written is unknown, so nothing more may be.
    pub(crate) fn stop_on_error<T>(&mut self, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            self.stopped = Some(error.to_string());
        }
        done
    }

    fn nothing_written(&self) -> Written {
        Written {
            sequence: self.state.sequence,
            ..Written::default()
        }
    }

    fn write_batch(
        &mut self,
        batch: &PreparedBatch,
        base: DocId,
        replaced: &[Option<IdEntry>],
    ) -> Result<Written> {
        let entries: Vec<IdEntry> = (base..)
            .zip(replaced)
            .map(|(doc, old)| self.next_entry(doc, *old))
            .collect();
        self.log_news(batch)?;
        let spans = self.log_documents(batch, &entries, replaced.iter().all(Option::is_none))?;
        let mut left = replaced.iter().flatten().count();
        for (ordinal, document) in batch.documents.iter().enumerate() {
            if let Some(old) = replaced[ordinal] {
                left -= 1;
                self.log_delete(old.doc, left == 0)?;
                self.delete_document(old.doc)?;
            }
            let lengths = &document.lengths;
            self.enter_document(entries[ordinal], &document.id, spans[ordinal], lengths)?;
        }
        let lengths = batch.documents.iter().map(|document| &document.lengths);
        self.add_postings(&batch.inverted, base, batch.source_bytes, lengths);
        self.written_at = Instant::now();
        self.life.source_bytes += batch.source_bytes;
        self.publish(base + batch.len() as DocId);
        Ok(Written {
            added: batch.len() as u64,
            replaced: replaced.iter().flatten().count() as u64,
            deleted: 0,
            sequence: self.state.sequence,
        })
    }

    fn delete_batch(&mut self, ids: &[&str], found: Vec<Option<IdEntry>>) -> Result<Written> {
        let mut gone = BTreeMap::new();
        for (id, entry) in ids.iter().zip(found) {
            if let Some(entry) = entry {
                gone.insert(*id, entry.doc);
            }
        }
        self.written_at = Instant::now();
        let count = gone.len();
        for (place, (id, doc)) in gone.into_iter().enumerate() {
            self.state.sequence += 1;
            self.log_delete_of(id, doc, place + 1 == count)?;
            self.delete_document(doc)?;
            self.state.buffers.new_ids.remove(id)?;
        }
        let written = Written {
            deleted: count as u64,
            sequence: self.state.sequence,
            ..Written::default()
        };
        self.publish(self.state.below);
        Ok(written)
    }

    /// Adds the postings of logged documents to the buffer, and counts what replaying them takes.
    pub(crate) fn add_postings<'l>(
        &mut self,
        inverted: &InvertedBatch,
        base: DocId,
        source_bytes: u64,
        lengths: impl Iterator<Item = &'l FieldLengths>,
    ) {
        let buffer = &self.state.buffers.filling;
        let before = buffer.terms();
        buffer.add(inverted, base);
        let new_terms = buffer.terms() - before;
        self.log_source_bytes += source_bytes;
        self.log_work += work_of_documents(inverted, source_bytes, new_terms, lengths);
    }

    /// Makes the writer's state the newest for readers, unless they are not to see it.
    pub(crate) fn publish(&mut self, below: DocId) {
        self.state.below = below;
        self.state.schema = self.shared.preparation.fields.written();
        if !self.unseen {
            self.shared.published.set(self.state.clone());
        }
    }

    fn first_doc(&self, count: usize) -> Result<DocId> {
        let base = self.state.below;
        match base.checked_add(count as u32) {
            Some(end) if end < END => Ok(base),
            _ => Err(Error::invalid(format!(
                "all {END} document numbers are used up: index the documents anew"
            ))),
        }
    }

    /// The documents that those of the batch replace; a later one of the batch replaces an earlier.
    fn find_replaced(
        &mut self,
        batch: &PreparedBatch,
        base: DocId,
    ) -> Result<Vec<Option<IdEntry>>> {
        let ids: Vec<&str> = batch.documents.iter().map(|d| d.id.as_str()).collect();
        let mut replaced = self.look_up(&ids)?;
        let mut seen: FxHashMap<&str, IdEntry> = FxHashMap::default();
        for (ordinal, id) in ids.iter().enumerate() {
            if let Some(earlier) = seen.get(id) {
                replaced[ordinal] = Some(*earlier);
            }
            let version = replaced[ordinal].map_or(1, |old| old.version + 1);
            let doc = base + ordinal as DocId;
            seen.insert(
                id,
                IdEntry {
                    doc,
                    version,
                    sequence: 0,
                },
            );
        }
        Ok(replaced)
    }

    /// Looks the documents with these IDs up: among the new ones, or in the tree, read in one go.
    pub(crate) fn look_up(&self, ids: &[&str]) -> Result<Vec<Option<IdEntry>>> {
        let mut found: Vec<Option<IdEntry>> = vec![None; ids.len()];
        let mut open = Vec::new();
        for (place, id) in ids.iter().enumerate() {
            match self.known_id(id) {
                Some(known) => found[place] = known,
                None => open.push(place),
            }
        }
        if self.state.ids.entries() == 0 {
            return Ok(found);
        }
        for places in open.chunks(LOOK_UPS_AT_ONCE) {
            let keys: Vec<&[u8]> = places.iter().map(|place| ids[*place].as_bytes()).collect();
            let view = &self.state.ids;
            let mut pages = Pages::new(&self.shared.pool);
            let values = finish(&mut pages, |pages| view.lookup_all(&keys, pages))?;
            for (place, value) in places.iter().zip(values) {
                found[*place] = value.map(|value| IdEntry::decode(&value)).transpose()?;
            }
        }
        Ok(found)
    }

    /// Returns the entry of an ID that is not in the tree yet.
    fn known_id(&self, id: &str) -> Option<Option<IdEntry>> {
        let older = || self.flushing.as_ref()?.ids.get(id);
        self.state.buffers.new_ids.get(id).or_else(older)
    }

    /// Logs what the batch is the first to use: fields, a dictionary.
    fn log_news(&mut self, batch: &PreparedBatch) -> Result<()> {
        if batch.schema.fields().len() > self.logged_fields {
            let mut body = Vec::new();
            batch.schema.encode(&mut body);
            self.shared.preparation.fields.note_written(&batch.schema);
            self.log.append(RecordKind::Schema, false, &body)?;
            self.logged_fields = batch.schema.fields().len();
        }
        let newest = batch.dictionaries.newest();
        if newest > self.logged_dictionary {
            for version in self.logged_dictionary + 1..=newest {
                let bytes = batch.dictionaries.bytes(version).unwrap_or_default();
                self.log
                    .append(RecordKind::CompressionDictionary, false, bytes)?;
            }
            self.logged_dictionary = newest;
            self.state.dictionaries = batch.dictionaries.clone();
        }
        Ok(())
    }

    fn log_delete(&mut self, doc: DocId, ends_batch: bool) -> Result<()> {
        self.log_delete_of("", doc, ends_batch)
    }

    /// Logs that a document is gone. With an ID, the ID is gone too; without, it is about to be
    /// replaced.
    fn log_delete_of(&mut self, id: &str, doc: DocId, ends_batch: bool) -> Result<()> {
        let mut body = Vec::with_capacity(16 + id.len());
        put_varint(&mut body, doc as u64);
        put_varint(&mut body, self.state.sequence);
        body.extend_from_slice(id.as_bytes());
        self.log.append(RecordKind::Delete, ends_batch, &body)?;
        self.log_source_bytes += body.len() as u64;
        self.log_work += work_of_deletion();
        Ok(())
    }

    fn next_entry(&mut self, doc: DocId, old: Option<IdEntry>) -> IdEntry {
        self.state.sequence += 1;
        IdEntry {
            doc,
            version: old.map_or(1, |old| old.version + 1),
            sequence: self.state.sequence,
        }
    }

    /// Logs the documents of a batch in the order that fills pages best; gives the span of each.
    fn log_documents(
        &mut self,
        batch: &PreparedBatch,
        entries: &[IdEntry],
        ends_batch: bool,
    ) -> Result<Vec<Span>> {
        let records = batch.documents.iter().zip(entries);
        let records: Vec<DocumentRecord<'_>> = records.map(|(d, entry)| d.record(entry)).collect();
        let lengths = records.iter().map(|record| record_length(record.length()));
        let order = pack(&lengths.collect::<Vec<_>>(), self.log.room());
        let mut spans: Vec<Option<Span>> = vec![None; records.len()];
        let mut body = Vec::new();
        for (written, ordinal) in order.iter().enumerate() {
            let last = ends_batch && written + 1 == order.len();
            body.clear();
            records[*ordinal].encode(&mut body);
            let span = self.log.append(RecordKind::Document, last, &body)?;
            spans[*ordinal] = Some(span);
        }
        Ok(spans.into_iter().flatten().collect())
    }

    /// Notes a document that stands in the log: tables, ID, statistics.
    pub(crate) fn enter_document(
        &mut self,
        entry: IdEntry,
        id: &str,
        span: Span,
        lengths: &[(u16, u32)],
    ) -> Result<()> {
        let norms: Vec<(u16, u8)> = lengths
            .iter()
            .map(|(field, length)| (*field, length_to_norm(*length)))
            .collect();
        self.load_tables(&[TableChange::Push(entry.doc)])?;
        self.state.tables.push(entry.doc, span, &norms)?;
        for (field, length) in lengths.iter().filter(|(_, length)| *length > 0) {
            let statistics = self.state.statistics_mut(*field);
            statistics.documents += 1;
            statistics.total_length += *length as u64;
        }
        self.state.documents += 1;
        self.state.buffers.new_ids.insert(id, entry)
    }

    /// Marks a document as deleted and gives its bytes up.
    pub(crate) fn delete_document(&mut self, doc: DocId) -> Result<()> {
        self.load_tables(&[TableChange::Delete(doc)])?;
        if self.state.tables.delete(doc)? {
            self.state.documents = self.state.documents.checked_sub(1).ok_or_else(|| {
                Error::damaged("the root record", "expected more live documents, got 0")
            })?;
            let tables = &self.state.tables;
            let mut pages = Pages::new(&self.shared.pool);
            let address = finish(&mut pages, |pages| tables.address(doc, pages))?;
            let mut zones = self.shared.store.zones();
            zones.release(address.zone, address.length as u64);
        }
        Ok(())
    }

    pub(crate) fn load_tables(&mut self, changes: &[TableChange]) -> Result<()> {
        let mut pages = Pages::new(&self.shared.pool);
        finish(&mut pages, |pages| {
            self.state.tables.load_for(changes, pages)
        })
    }
}

/// Checks that a write meets what it expects; nothing has changed so far.
fn check_expected(id: &str, expected: Option<Expected>, found: Option<IdEntry>) -> Result<()> {
    let found = found.map(|entry| (entry.version, entry.sequence));
    expected.map_or(Ok(()), |expected| expected.check(id, found))
}

impl PreparedDocument {
    /// Returns its record for the log.
    fn record(&self, entry: &IdEntry) -> DocumentRecord<'_> {
        DocumentRecord {
            doc: entry.doc,
            sequence: entry.sequence,
            version: entry.version,
            dictionary: self.dictionary,
            id_in_source: self.id_in_source,
            id: &self.id,
            raw_length: self.source_length as u32,
            compressed: &self.compressed,
        }
    }
}
