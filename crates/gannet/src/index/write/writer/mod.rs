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

mod anew;
mod checkpoint;
mod recovering;
mod shortage;
mod space;
mod tasks;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

pub(crate) use anew::Anew;

use super::act::Act;
use super::decisions::ColumnDecisions;
use super::flushing::Flushes;
use super::leases::Leases;
use super::life_cycle::LifeCycle;
use super::log::WriterLog;
use super::memory::WriterMemory;
use super::roots::Roots;
use super::space::SpaceLooks;
use super::totals::LifetimeTotals;
use crate::base::{DocId, END, Error, Result, Sequence};
use crate::documents::Expected;
use crate::index::flush::Flusher;
use crate::index::ingest::{BatchContent, FieldLengths, PreparedBatch, PreparedDocument};
use crate::index::owners::{OwnedPages, RootParts};
use crate::index::schedule::Scheduler;
use crate::index::state::{IdEntry, Shared, State};
use crate::storage::{LogStart, RootSlot, Unsynced};

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

/// The writer of an index: its parts, each of which keeps to itself what it is made of.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    /// The state that is published next. It has the tables, the IDs and the posting buffers.
    state: State,
    log: WriterLog,
    decisions: ColumnDecisions,
    flushes: Flushes,
    memory: WriterMemory,
    space: SpaceLooks,
    owned: OwnedPages,
    roots: Roots,
    /// The readers in other processes.
    leases: Leases,
    scheduler: Scheduler,
    totals: LifetimeTotals,
    life: LifeCycle,
    act: Act,
    /// The time at which documents were last written or deleted.
    written_at: Instant,
}

impl Writer {
    /// The writer of an index that is opened: with the state that a root names, the structures of
    /// that root, and where its log goes on.
    pub(crate) fn open(
        shared: &Arc<Shared>,
        state: State,
        flusher: Flusher,
        parts: RootParts,
        slot: Option<&RootSlot>,
        log: (LogStart, bool),
    ) -> Result<Writer> {
        let (log_start, has_log_behind) = log;
        let covers = (!has_log_behind).then_some(log_start);
        Ok(Writer {
            log: WriterLog::resume(&shared.store, log_start, &state),
            decisions: ColumnDecisions::default(),
            flushes: Flushes::new(flusher),
            memory: WriterMemory::reserve(shared, &state)?,
            space: SpaceLooks::none(),
            owned: OwnedPages::new(&shared.store, parts),
            roots: Roots::resume(&shared.store, slot, state.sequence, covers),
            leases: Leases::begin(&**shared.store.device()),
            scheduler: Scheduler::default(),
            totals: LifetimeTotals::go_on(state.lifetime),
            life: LifeCycle::default(),
            act: Act::new(),
            written_at: Instant::now(),
            state,
            shared: Arc::clone(shared),
        })
    }

    /// Writes a prepared batch; it is visible when this returns, not yet durable.
    pub(crate) fn write(&mut self, batch: &PreparedBatch) -> Result<Written> {
        self.check_running()?;
        if batch.is_empty() {
            return Ok(self.nothing_written());
        }
        self.check_space(batch.source_bytes)?;
        let ids = batch.documents.iter().map(|document| document.id.as_str());
        self.make_room(Some(&batch.content), ids)?;
        let base = self.first_doc(batch.len())?;
        let replaced = self.find_replaced(batch, base)?;
        for (document, old) in batch.documents.iter().zip(&replaced) {
            check_expected(&document.id, document.expected, *old)?;
        }
        let done = self.write_batch(batch, base, &replaced);
        self.stop_on_error(done)
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
        self.roots.wait_for(unsynced.clone());
        Ok((unsynced, self.state.sequence))
    }

    /// Deletes those of the documents that are still the newest with their IDs. Does nothing if
    /// documents got other numbers since they were numbered anew `renumbered` times.
    pub(crate) fn delete_found(
        &mut self,
        found: &[(String, DocId)],
        renumbered: u64,
    ) -> Result<Option<Written>> {
        self.check_running()?;
        if self.state.renumbered != renumbered {
            return Ok(None);
        }
        let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
        let newest = self.look_up(&ids)?;
        let same = found.iter().zip(newest);
        let same =
            same.filter(|((_, doc), newest)| newest.is_some_and(|newest| newest.doc == *doc));
        let ids: Vec<&str> = same.map(|((id, _), _)| id.as_str()).collect();
        self.delete(&ids).map(Some)
    }

    /// Finds the newest document with this ID, and a state that has it.
    pub(crate) fn find(&self, id: &str) -> Result<(Option<IdEntry>, Arc<State>)> {
        let found = self.look_up(&[id])?.pop().flatten();
        Ok((found, self.shared.published.get()))
    }

    /// Returns the last operation.
    pub(crate) fn sequence(&self) -> Sequence {
        self.state.sequence
    }

    /// Fails once the writer has stopped.
    pub(crate) fn check_running(&self) -> Result<()> {
        self.life.check()
    }

    /// Remembers a failure of storage: what was written is unknown, so nothing more may be.
    pub(crate) fn stop_on_error<T>(&mut self, done: Result<T>) -> Result<T> {
        self.life.stop_on_error(done)
    }

    /// Stops it, if it has not stopped for another reason.
    pub(super) fn stop(&mut self, reason: &str) {
        self.life.stop(reason);
    }

    /// An act begins that was asked for at this time.
    pub(super) fn begin_act(&mut self, asked_at: Instant) {
        self.act.begin(asked_at);
    }

    /// Notes whether someone waits for the end of the next act, who needs not while a flush runs:
    /// its end wakes up as well.
    pub(super) fn watch(&mut self, is_watched: bool) {
        self.act.watch(is_watched && !self.flushes.is_under_way());
    }

    /// Returns true if someone waits for the end of the act.
    pub(super) fn end_watch(&mut self) -> bool {
        self.act.end_watch()
    }

    /// Returns the time since documents were last written or deleted.
    pub(super) fn idle_for(&self) -> Duration {
        self.written_at.elapsed()
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
        let documents = batch.documents.iter().zip(replaced);
        let entries: Vec<IdEntry> = (base..)
            .zip(documents)
            .map(|(doc, (document, old))| self.next_entry(doc, document.next_version(*old)))
            .collect();
        self.decide(batch);
        let (fields, columns) = (&self.shared.preparation.fields, &self.state.columns);
        if self.log.append_news(batch, fields, columns)? {
            self.state.dictionaries = batch.dictionaries.clone();
        }
        let ends_batch = replaced.iter().all(Option::is_none);
        let spans = self.log.append_documents(batch, &entries, ends_batch)?;
        let mut left = replaced.iter().flatten().count();
        for (ordinal, document) in batch.documents.iter().enumerate() {
            if let Some(old) = replaced[ordinal] {
                left -= 1;
                let sequence = self.state.sequence;
                let log = &mut self.log;
                log.append_deletion("", old.doc, sequence, left == 0)?;
                self.state.delete_document(old.doc, &self.shared)?;
            }
            let (lengths, pool) = (&document.lengths, &self.shared.pool);
            let (entry, span) = (entries[ordinal], spans[ordinal]);
            let state = &mut self.state;
            state.enter_document(entry, &document.id, span, lengths, pool)?;
        }
        let lengths = batch.documents.iter().map(|document| &document.lengths);
        self.add_postings(&batch.content, base, batch.source_bytes, lengths);
        self.written_at = Instant::now();
        self.totals.note_source(batch.source_bytes);
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
            let sequence = self.state.sequence;
            let log = &mut self.log;
            log.append_deletion(id, doc, sequence, place + 1 == count)?;
            self.state.delete_document(doc, &self.shared)?;
            self.state.buffers.remove_id(id)?;
        }
        let written = Written {
            deleted: count as u64,
            sequence: self.state.sequence,
            ..Written::default()
        };
        self.publish(self.state.below);
        Ok(written)
    }

    /// Decides which columns take the values of a batch.
    fn decide(&mut self, batch: &PreparedBatch) {
        let (values, columns) = (&batch.content.values, &mut self.state.columns);
        let before = columns.version();
        self.decisions.decide(values, &batch.schema, columns);
        if columns.version() > before {
            let columns = Arc::clone(columns);
            self.shared.preparation.replace_columns(columns);
        }
    }

    /// Adds the postings and values of logged documents to the buffers, and counts what replaying
    /// them takes.
    fn add_postings<'l>(
        &mut self,
        content: &BatchContent,
        base: DocId,
        source_bytes: u64,
        lengths: impl Iterator<Item = &'l FieldLengths>,
    ) {
        let new_terms = self.state.buffers.add(content, base);
        let columns = &self.state.columns;
        let misfits = self.state.buffers.add_values(content, base, columns);
        if !misfits.is_empty() {
            let columns = Arc::make_mut(&mut self.state.columns);
            for (column, values) in misfits {
                columns.count_misfits(column, values);
            }
        }
        let log = &mut self.log;
        log.count_documents(content, source_bytes, new_terms, lengths);
    }

    /// Makes the writer's state the newest for readers, unless they are not to see it.
    fn publish(&mut self, below: DocId) {
        self.state.below = below;
        self.state.schema = self.shared.preparation.fields.written();
        if !self.life.is_unseen() {
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
        for (ordinal, (id, document)) in ids.iter().zip(&batch.documents).enumerate() {
            if let Some(earlier) = seen.get(id) {
                replaced[ordinal] = Some(*earlier);
            }
            let version = document.next_version(replaced[ordinal]);
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

    /// Looks the newest documents with these IDs up.
    pub(crate) fn look_up(&self, ids: &[&str]) -> Result<Vec<Option<IdEntry>>> {
        self.state.look_up(ids, &self.shared.pool)
    }

    fn next_entry(&mut self, doc: DocId, version: u64) -> IdEntry {
        self.state.sequence += 1;
        IdEntry {
            doc,
            version,
            sequence: self.state.sequence,
        }
    }
}

impl PreparedDocument {
    /// Returns the version that it has once it is written over `old`.
    fn next_version(&self, old: Option<IdEntry>) -> u64 {
        let counted = old.map_or(1, |old| old.version.saturating_add(1));
        self.version.unwrap_or(counted)
    }
}

/// Checks that a write meets what it expects; nothing has changed so far.
fn check_expected(id: &str, expected: Option<Expected>, found: Option<IdEntry>) -> Result<()> {
    let found = found.map(|entry| (entry.version, entry.sequence));
    expected.map_or(Ok(()), |expected| expected.check(id, found))
}
