//! The public index: opening, writing, snapshots.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::ingest::{FieldMapping, Input, PreparedBatch, Workbench};
use super::read::Snapshot;
use super::state::{Durability, Options, Shared};
use super::write::{Gate, IdleMaintenance, Writer, WriterLock, Written};
use crate::analysis::Analyzer;
use crate::base::{Reservation, Result, Sequence};
use crate::device::{Backend, CountersSnapshot, RequestCounts};
use crate::documents::Document;

/// A full-text index in one folder.
///
/// Clones share the index. Any number of threads may search; writes wait for each other.
#[derive(Clone)]
pub struct Index {
    pub(crate) shared: Arc<Shared>,
    writer: Arc<WriterLock>,
    /// Ends with the last clone.
    _idle: Option<Arc<IdleMaintenance>>,
    synced: Arc<Mutex<Sequence>>,
}

/// Figures of what readers find.
#[cfg(feature = "testing")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedState {
    /// The last operation that is visible.
    pub sequence: u64,
    /// The generation of the root that it stands on.
    pub generation: u64,
    /// Deleted documents that are still in lists.
    pub dead_documents: u64,
    /// Set if lists were swept of documents that still count in the statistics.
    pub in_part: bool,
}

impl Index {
    /// Returns the options for opening an index; see [`Options`].
    pub fn options() -> Options {
        Options::default()
    }

    /// An index that is open, with its writer if it was opened for writing.
    pub(crate) fn new(shared: Arc<Shared>, writer: Option<Writer>) -> Index {
        let sequence = writer.as_ref().map_or(0, Writer::sequence);
        let limits = &shared.options.limits;
        let sees_to_itself = limits.beside && writer.is_some();
        let writer = Arc::new(WriterLock::new(writer, shared.budget.events()));
        let begin = || IdleMaintenance::begin(&writer, limits.maintain_after);
        let maintenance = sees_to_itself.then(begin).flatten();
        Index {
            shared,
            writer,
            _idle: maintenance.map(Arc::new),
            synced: Arc::new(Mutex::new(sequence)),
        }
    }

    /// Adds one document, or replaces the one with its ID. Visible when this returns.
    pub fn add(&self, document: Document) -> Result<Written> {
        self.write(vec![document])
    }

    /// Writes documents as one atomic batch: all of them become visible at once, or none.
    pub fn write(&self, documents: Vec<Document>) -> Result<Written> {
        let inputs = || documents.iter().map(Input::Parsed);
        let written = self.writer.write_documents(&self.shared, &inputs)?;
        self.acknowledge(written)
    }

    /// Writes the document of one line of JSON, or replaces the one with its ID; see
    /// [`Document::parse`]. It is read within the memory budget, from which it may take whatever is
    /// not needed for frames.
    pub fn write_line(&self, line: &[u8]) -> Result<Written> {
        let input = || std::iter::once(Input::Line(line));
        let (writer, mut bench) = (&self.writer, Workbench::default());
        let written = writer.write_alone(&self.shared, &mut bench, &input)?;
        self.acknowledge(written)
    }

    /// Analyses and compresses documents; any number of threads can do so side by side.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`](crate::Error::Memory) if what other threads prepare leaves too little
    /// memory.
    pub fn prepare(
        &self,
        bench: &mut Workbench,
        documents: Vec<Document>,
    ) -> Result<PreparedBatch> {
        self.prepare_inputs(bench, &mut documents.iter().map(Input::Parsed))
    }

    /// The same for lines of JSON, each a document as of [`Document::parse`]. Lines that are none
    /// are in [`PreparedBatch::rejected`].
    pub fn prepare_lines<'l>(
        &self,
        bench: &mut Workbench,
        lines: impl Iterator<Item = &'l [u8]>,
    ) -> Result<PreparedBatch> {
        self.prepare_inputs(bench, &mut lines.map(Input::Line))
    }

    /// Declares a field of text: documents that bring it first give it this analyzer, also if their
    /// value is a number or a boolean. It counts as long as the index is open.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the index has the field with another analyzer,
    /// or as one whose values match as a whole since the first was a number.
    pub fn declare_text(&self, name: &str, analyzer: Analyzer) -> Result<()> {
        self.shared.preparation.fields.declare_text(name, analyzer)
    }

    /// Declares further fields as [`Options::mapping`] does, for documents that are prepared from
    /// now on. It counts as long as the index is open, and for good once a document has the field.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if documents have one of the fields in another
    /// way, or without the multi-fields that are declared.
    pub fn declare(&self, mapping: FieldMapping) -> Result<()> {
        self.with_writer(|writer| writer.declare(mapping))
    }

    /// Returns the declared types of fields, by the options and in the index before.
    pub fn mapping(&self) -> Arc<FieldMapping> {
        self.shared.preparation.fields.mapping()
    }

    /// Bytes of the budget that documents which are prepared side by side may take. Each takes
    /// about twelve times the bytes of its source until it is written.
    pub fn preparation_bytes(&self) -> usize {
        self.shared.memory.preparation
    }

    /// Bytes of the longest document that the memory budget allows.
    pub fn document_bytes_max(&self) -> usize {
        self.shared.memory.document_bytes_max
    }

    /// Takes memory for the caller out of the index's budget, until it is dropped.
    pub fn reserve(&self, what: &'static str, bytes: usize) -> Result<Reservation> {
        self.shared.budget.reserve(what, bytes)
    }

    /// Writes what was prepared, as one atomic batch.
    pub fn write_prepared(&self, batch: PreparedBatch) -> Result<Written> {
        let written = self.writer.write_batch(&self.shared, &batch)?;
        self.acknowledge(written)
    }

    /// Deletes the documents with these external IDs as one atomic batch; unknown ones are passed
    /// over.
    pub fn delete(&self, ids: &[&str]) -> Result<Written> {
        let written = self.delete_with(|writer| writer.delete(ids))?;
        self.acknowledge(written)
    }

    /// Makes everything written before the call durable. Calls of several threads share one sync.
    pub fn sync(&self) -> Result<()> {
        let wanted = self.with_writer(|writer| Ok(writer.sequence()))?;
        // Whoever comes first syncs for all who wrote before it.
        let mut synced = self.synced.lock().unwrap_or_else(|e| e.into_inner());
        if *synced >= wanted {
            return Ok(());
        }
        let (unsynced, sequence) = self.with_writer(Writer::flush_log)?;
        let done = self.shared.store.sync(&unsynced);
        self.with_writer(|writer| writer.stop_on_error(done))?;
        *synced = sequence;
        Ok(())
    }

    /// Moves all postings to flash and makes the log short. Everything written before is durable
    /// then.
    pub fn checkpoint(&self) -> Result<()> {
        self.after_flush(Writer::checkpoint)
    }

    /// Ends writing with a checkpoint, if there is anything that the last one does not have, and
    /// lets go of the lock once the last snapshot is gone. Answers on their way to flash are
    /// written.
    pub fn close(self) -> Result<()> {
        if let Some(results) = &self.shared.results {
            results.flush();
        }
        if self.shared.options.read_only {
            return Ok(());
        }
        self.writer.end_after(&self.shared, Writer::close)
    }

    /// A view of the index as it is now, which no later write changes.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.shared), &self.shared.published.get())
    }

    /// The backend that does the I/O.
    pub fn backend(&self) -> Backend {
        self.shared.store.device().backend()
    }

    /// Returns the device's counters since it was opened.
    pub fn counters(&self) -> CountersSnapshot {
        self.shared.store.device().counters().snapshot()
    }

    /// Returns the device's requests to a store behind a network since it was opened; nothing if
    /// there is none.
    pub fn requests(&self) -> Option<RequestCounts> {
        self.shared.store.device().requests()
    }

    fn prepare_inputs<'i>(
        &self,
        bench: &mut Workbench,
        inputs: &mut dyn Iterator<Item = Input<'i>>,
    ) -> Result<PreparedBatch> {
        let shared = &self.shared;
        shared.preparation.prepare(bench, &shared.preparing, inputs)
    }

    pub(crate) fn is_writable(&self) -> bool {
        !self.shared.options.read_only
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns what readers find now, for tests that know what they should find.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn published_state(&self) -> PublishedState {
        let state = self.shared.published.get();
        let mut taken = state.vacuumed.taken.iter();
        PublishedState {
            sequence: state.sequence,
            generation: state.epoch.generation,
            dead_documents: state.dead_documents(),
            in_part: taken.any(|taken| taken.documents > 0 || taken.total_length > 0),
        }
    }

    pub(crate) fn with_writer<T>(&self, act: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.writer.take(act)
    }

    /// Has `act` delete documents, once the flush under way leaves room for that. Batches may wait
    /// meanwhile.
    pub(crate) fn delete_with<T>(&self, act: impl FnMut(&mut Writer) -> Result<T>) -> Result<T> {
        let gate = Gate::Backpressure;
        self.writer
            .take_behind(&self.shared, Instant::now(), gate, act)
    }

    /// Has `act` change the index. Where it lacks memory, it waits for some without the lock.
    pub(crate) fn patiently<T>(&self, act: impl FnMut(&mut Writer) -> Result<T>) -> Result<T> {
        self.writer
            .take_behind(&self.shared, Instant::now(), Gate::Open, act)
    }

    /// Has `act` change the index once no flush is under way. Batches wait meanwhile.
    pub(crate) fn after_flush<T>(&self, act: impl FnMut(&mut Writer) -> Result<T>) -> Result<T> {
        self.writer.take_as_batch(&self.shared, Gate::NoFlush, act)
    }

    pub(crate) fn acknowledge(&self, written: Written) -> Result<Written> {
        if self.shared.options.durability == Durability::Sync {
            self.sync()?;
        }
        Ok(written)
    }
}
