//! The writer's log: what it already has, and how much of it no flush has taken yet.

use std::sync::Arc;

use crate::base::{DocId, Result, Sequence, Span, put_varint};
use crate::columns::Columns;
use crate::documents::{DictionaryVersion, DocumentRecord};
use crate::index::ingest::{
    BatchContent, FieldLengths, Fields, PreparedBatch, PreparedDocument, pack,
};
use crate::index::state::{IdEntry, State, work_of_deletion, work_of_documents};
use crate::storage::{Log, LogStart, RecordKind, Store, Unsynced, record_length};

/// The log, and what the writer knows of its content.
pub(crate) struct WriterLog {
    log: Log,
    /// The fields and dictionaries that it already has.
    fields: usize,
    dictionary: DictionaryVersion,
    /// The version of what was decided of columns.
    columns: u64,
    /// The part behind the beginning of the last flush.
    backlog: Backlog,
}

/// A part of the log that is still to be flushed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backlog {
    /// Bytes of source in it.
    pub(crate) source_bytes: u64,
    /// The work of replaying it, in nanoseconds.
    pub(crate) work: u64,
}

impl Backlog {
    /// Both together.
    pub(crate) fn and(self, other: Backlog) -> Backlog {
        Backlog {
            source_bytes: self.source_bytes + other.source_bytes,
            work: self.work + other.work,
        }
    }
}

impl WriterLog {
    /// Goes on at `end`, behind what `state` has.
    pub(crate) fn resume(store: &Arc<Store>, end: LogStart, state: &State) -> WriterLog {
        WriterLog {
            log: Log::resume(Arc::clone(store), end),
            fields: state.schema.fields().len(),
            dictionary: state.dictionaries.newest(),
            columns: state.columns.version(),
            backlog: Backlog::default(),
        }
    }

    /// Goes on behind what a replay has read.
    pub(crate) fn go_on(&mut self, store: Arc<Store>, end: LogStart) {
        self.log = Log::resume(store, end);
    }

    /// Appends what a batch is the first to use: fields, columns, dictionaries. Tells whether there
    /// were any dictionaries.
    pub(super) fn append_news(
        &mut self,
        batch: &PreparedBatch,
        fields: &Fields,
        columns: &Columns,
    ) -> Result<bool> {
        if batch.schema.fields().len() > self.fields {
            let mut body = Vec::new();
            batch.schema.encode(&mut body);
            fields.note_written(&batch.schema);
            self.log.append(RecordKind::Schema, false, &body)?;
            self.fields = batch.schema.fields().len();
        }
        if columns.version() > self.columns {
            let mut body = Vec::new();
            columns.changes_since(self.columns).encode(&mut body);
            self.log.append(RecordKind::Columns, false, &body)?;
            self.columns = columns.version();
        }
        let newest = batch.dictionaries.newest();
        if newest <= self.dictionary {
            return Ok(false);
        }
        for version in self.dictionary + 1..=newest {
            let bytes = batch.dictionaries.bytes(version).unwrap_or_default();
            self.log
                .append(RecordKind::CompressionDictionary, false, bytes)?;
        }
        self.dictionary = newest;
        Ok(true)
    }

    /// Appends the documents of a batch in the order that fills pages best; gives the span of each.
    pub(super) fn append_documents(
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

    /// Appends that a document is gone. With an ID, the ID is gone too; without, it is about to be
    /// replaced.
    pub(super) fn append_deletion(
        &mut self,
        id: &str,
        doc: DocId,
        sequence: Sequence,
        ends_batch: bool,
    ) -> Result<()> {
        let mut body = Vec::with_capacity(16 + id.len());
        put_varint(&mut body, doc as u64);
        put_varint(&mut body, sequence);
        body.extend_from_slice(id.as_bytes());
        self.log.append(RecordKind::Delete, ends_batch, &body)?;
        self.backlog = self.backlog.and(Backlog {
            source_bytes: body.len() as u64,
            work: work_of_deletion(),
        });
        Ok(())
    }

    /// Counts documents that it has, of which so many terms were new in the posting buffer.
    pub(super) fn count_documents<'l>(
        &mut self,
        content: &BatchContent,
        source_bytes: u64,
        new_terms: usize,
        lengths: impl Iterator<Item = &'l FieldLengths>,
    ) {
        self.backlog = self.backlog.and(Backlog {
            source_bytes,
            work: work_of_documents(content, source_bytes, new_terms, lengths),
        });
    }

    /// Notes that it was found to have a schema of so many fields. Tells whether some of them are
    /// new.
    pub(crate) fn has_fields(&mut self, fields: usize) -> bool {
        let is_new = fields > self.fields;
        self.fields = self.fields.max(fields);
        is_new
    }

    /// Notes that it was found to have this version of what was decided of columns.
    pub(crate) fn has_columns(&mut self, version: u64) {
        self.columns = self.columns.max(version);
    }

    /// Notes that it was found to have this dictionary.
    pub(crate) fn has_dictionary(&mut self, version: DictionaryVersion) {
        self.dictionary = version;
    }

    /// Returns the part that no flush has taken.
    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Gives that part to a flush.
    pub(super) fn take_backlog(&mut self) -> Backlog {
        std::mem::take(&mut self.backlog)
    }

    /// Returns its end, and ends its page.
    pub(super) fn end(&mut self) -> LogStart {
        self.log.end()
    }

    /// Writes it out; what is returned must be synced.
    pub(super) fn flush(&mut self) -> Result<Unsynced> {
        self.log.flush()
    }

    /// Hands its pages to their owner.
    pub(super) fn pages(&mut self) -> &mut Log {
        &mut self.log
    }
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
