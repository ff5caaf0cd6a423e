//! Recovery: the batches of the log go back into the posting buffer, the tables and the map of new
//! IDs. They keep their doc IDs, versions and sequence numbers. What the root knows of them already
//! (see `checkpoint`) is passed over.
//!
//! What was logged is restored some megabytes at a time, and applied in the order of the log.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::analysis::FieldId;
use crate::base::{ByteReader, DocId, Error, Reservation, Result, Sequence, Span};
use crate::documents::DocumentRecord;
use crate::index::ingest::decode_schema;
use crate::index::state::{Covered, IdEntry};
use crate::index::write::{Restored, Restoring, Writer};
use crate::storage::{LogReach, RecordKind, Recovery, ReplayEnd, ZoneRecord, replay};

/// Bytes of log that are worked on at once, at most, and the part of the memory that they may take.
const PART_BYTES_MAX: usize = 4 << 20;
const PART_ONE_OF: usize = 32;

/// Documents that one thread takes at a time.
const DOCUMENTS_AT_ONCE: usize = 512;

/// What a record asks for.
enum ReplayOperation {
    Documents(Vec<(Span, Vec<u8>)>),
    Delete {
        doc: DocId,
        sequence: Sequence,
        id: String,
    },
}

/// Operations read so far and not applied yet.
#[derive(Default)]
struct PendingOperations {
    operations: Vec<ReplayOperation>,
    bytes: usize,
}

/// A replay under way.
struct Replay<'a> {
    writer: &'a mut Writer,
    part: PendingOperations,
    /// The document whose postings come next.
    next: DocId,
    /// The last operation that the root knows: of those up to it, only postings and IDs are
    /// missing.
    known: Sequence,
    /// The memory of the records of the part and of a batch under way.
    held: Reservation,
    /// How many bytes of log make a part.
    part_bytes: usize,
}

impl Writer {
    /// Applies the log behind what the root's trees cover, and publishes the result.
    pub(crate) fn replay(&mut self, covered: Covered, reach: LogReach) -> Result<ReplayEnd> {
        let store = Arc::clone(&self.shared.store);
        let budget = &self.shared.budget;
        let mut recovery = Replay {
            next: covered.below,
            known: self.state.sequence,
            part: PendingOperations::default(),
            held: budget.reserve("the records of a batch in the log", 0)?,
            part_bytes: (budget.total() / PART_ONE_OF).min(PART_BYTES_MAX),
            writer: self,
        };
        let end = replay(&store, covered.log_start, reach, &mut recovery)?;
        recovery.apply_part()?;
        recovery.check_whole()?;
        recovery.hold_flush_memory(covered.below)?;
        for (zone, pages) in &end.zones {
            store.zones().adopt_log(*zone, *pages);
        }
        self.publish(self.state.below);
        Ok(end)
    }

    /// Counts a logged document as live; its zone may be one that no root knows yet.
    fn retain_document(&self, span: Span) {
        let mut zones = self.shared.store.zones();
        zones.adopt_log(span.zone, 0);
        zones.retain(span.zone, span.length as u64);
    }
}

impl Recovery for Replay<'_> {
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        let bytes = self.part.bytes + bytes;
        match bytes > self.held.bytes() {
            true => self.held.grow_to(bytes),
            false => Ok(()),
        }
    }

    fn apply(&mut self, batch: Vec<ZoneRecord>) -> Result<()> {
        self.take_batch(batch)?;
        match self.part.bytes >= self.part_bytes {
            true => self.apply_part(),
            false => Ok(()),
        }
    }
}

impl Replay<'_> {
    /// Takes schema and dictionaries at once, for later documents need them; the rest waits for its
    /// turn. The documents of a batch were logged in an order that fills pages; its deletions stand
    /// behind them.
    fn take_batch(&mut self, batch: Vec<ZoneRecord>) -> Result<()> {
        let (mut documents, mut deletions) = (Vec::new(), Vec::new());
        for record in batch {
            self.part.bytes += size_of::<ZoneRecord>() + record.body.capacity();
            match record.kind {
                RecordKind::Schema => self.take_schema(&record.body)?,
                RecordKind::CompressionDictionary => self.take_dictionary(record.body)?,
                RecordKind::Delete => deletions.push(decode_delete(&record.body)?),
                RecordKind::Document => {
                    let doc = DocumentRecord::decode(&record.body)?.doc;
                    documents.push((doc, record.span, record.body));
                }
                RecordKind::Link => {}
            }
        }
        documents.sort_unstable_by_key(|(doc, ..)| *doc);
        for (_, span, body) in documents {
            self.part.add_document(span, body);
        }
        self.part.operations.extend(deletions);
        Ok(())
    }

    /// Fields are only ever added, so a schema with no more of them is one that the root knows.
    fn take_schema(&mut self, body: &[u8]) -> Result<()> {
        let schema = decode_schema(body)?;
        let fields = schema.fields().len();
        if fields > self.writer.logged_fields {
            self.writer.logged_fields = fields;
            self.writer.shared.preparation.fields.replace(schema);
        }
        Ok(())
    }

    fn take_dictionary(&mut self, body: Vec<u8>) -> Result<()> {
        let writer = &mut *self.writer;
        if writer.state.dictionaries.contains(&body) {
            return Ok(());
        }
        let mut dictionaries = writer.state.dictionaries.clone();
        writer.logged_dictionary = dictionaries.add(body)?;
        writer.state.dictionaries = dictionaries.clone();
        writer.shared.preparation.replace_dictionaries(dictionaries);
        Ok(())
    }

    fn apply_part(&mut self) -> Result<()> {
        let part = std::mem::take(&mut self.part);
        let runs = part
            .operations
            .iter()
            .filter_map(|operation| match operation {
                ReplayOperation::Documents(run) => Some(run.as_slice()),
                ReplayOperation::Delete { .. } => None,
            });
        let writer = &*self.writer;
        let mut restoring = Restoring::new(&writer.shared, &writer.state.dictionaries, runs)?;
        let mut restored = VecDeque::new();
        for operation in &part.operations {
            match operation {
                ReplayOperation::Delete { doc, sequence, id } => {
                    self.delete(*doc, *sequence, id)?
                }
                ReplayOperation::Documents(run) => {
                    let mut left = run.len();
                    while left > 0 {
                        if restored.is_empty() {
                            restored.extend(restoring.next()?);
                        }
                        let next = restored.pop_front().ok_or_else(nothing_restored)?;
                        left -= next.entries.len();
                        self.enter_all(next)?;
                    }
                }
            }
        }
        drop(restoring);
        drop(part);
        self.held.grow_to(0)
    }

    fn delete(&mut self, doc: DocId, sequence: Sequence, id: &str) -> Result<()> {
        if doc >= self.next {
            return Err(Error::damaged(
                "the log",
                format!("document {doc} is deleted before it was written"),
            ));
        }
        if sequence > self.known {
            self.writer.state.sequence = sequence;
            self.writer.delete_document(doc)?;
        }
        match id.is_empty() {
            true => Ok(()),
            false => self.writer.state.buffers.new_ids.remove(id),
        }
    }

    fn enter_all(&mut self, documents: Restored) -> Result<()> {
        let base = self.next;
        let writer = &mut *self.writer;
        let buffer = Arc::clone(&writer.state.buffers.filling);
        buffer.reserve_for(&documents.inverted)?;
        let entries = documents.entries.iter().zip(&documents.lengths);
        for ((entry, id, span), lengths) in entries {
            check_doc(entry.doc, self.next)?;
            self.enter(*entry, id, *span, lengths)?;
            self.next += 1;
        }
        buffer.add(&documents.inverted, base);
        self.writer.log_source_bytes += documents.source_bytes;
        Ok(())
    }

    fn enter(
        &mut self,
        entry: IdEntry,
        id: &str,
        span: Span,
        lengths: &[(FieldId, u32)],
    ) -> Result<()> {
        let writer = &mut *self.writer;
        if entry.sequence <= self.known {
            return writer.state.buffers.new_ids.insert(id, entry);
        }
        writer.retain_document(span);
        writer.enter_document(entry, id, span, lengths)?;
        writer.state.sequence = entry.sequence;
        writer.state.below = entry.doc + 1;
        Ok(())
    }

    /// Sets the memory of a flush aside, if documents came behind `covered`. Only now: what a
    /// replay needs besides would not fit beside it where long documents came in little memory.
    fn hold_flush_memory(&mut self, covered: DocId) -> Result<()> {
        match self.next > covered && !self.writer.shared.options.read_only {
            true => self.writer.hold_flush_memory().map(drop),
            false => Ok(()),
        }
    }

    /// What the root knows was synced before it, so a log that ends earlier is not what was
    /// written.
    fn check_whole(&self) -> Result<()> {
        let known = self.writer.state.below;
        match self.next == known {
            true => Ok(()),
            false => Err(Error::damaged(
                "the log",
                format!(
                    "expected all documents below {known}, got those below {}",
                    self.next
                ),
            )),
        }
    }
}

impl PendingOperations {
    fn add_document(&mut self, span: Span, body: Vec<u8>) {
        match self.operations.last_mut() {
            Some(ReplayOperation::Documents(run)) if run.len() < DOCUMENTS_AT_ONCE => {
                run.push((span, body));
            }
            _ => self
                .operations
                .push(ReplayOperation::Documents(vec![(span, body)])),
        }
    }
}

fn decode_delete(body: &[u8]) -> Result<ReplayOperation> {
    let mut reader = ByteReader::new(body, "a logged deletion");
    Ok(ReplayOperation::Delete {
        doc: reader.varint_u32()?,
        sequence: reader.varint()?,
        id: std::str::from_utf8(reader.rest())
            .map_err(|_| reader.damaged("an ID in UTF-8", "other bytes"))?
            .to_owned(),
    })
}

fn nothing_restored() -> Error {
    Error::damaged("the log", "expected a document, got none")
}

fn check_doc(doc: DocId, expected: DocId) -> Result<()> {
    if doc != expected {
        return Err(Error::damaged(
            "the log",
            format!("expected document {expected}, got {doc}"),
        ));
    }
    Ok(())
}
