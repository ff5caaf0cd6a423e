//! Recovery: the batches of the log go back into the posting buffer, the tables and the map of new
//! IDs. They keep their doc IDs, versions and sequence numbers. What the root knows of them already
//! (see `checkpoint`) is passed over.
//!
//! The log is restored some megabytes at a time, and applied in its order. If an index is opened
//! for writing and the buffers are full, or memory is too little, they are flushed, and the replay
//! goes on. Invariants of such a flush:
//!
//! 1. The log that was read is durable before a root builds on it. The number of a zone that is
//!    still to be read is not given to another.
//! 2. All before the root's `log_start` is applied. From there on a later replay meets operations
//!    again that the trees have. It takes deletions again, and of documents below `below` the IDs
//!    alone. The last operation on an ID counts, so IDs end as they were. One exception: the pages
//!    may have an earlier document of an ID without the later one of the same batch. It is dead,
//!    and a dead one is passed over.
//! 3. The root's last sequence number divides the log into what its state has and what it lacks. It
//!    may do so within a batch. The deletions of replaced documents have the number of the last
//!    document of their batch, so no flush comes before one of them.
//! 4. Readers take in the log behind the root (see `note_root`). No vacuum sweeps, for what is
//!    deleted may have postings in the log.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::roots::check_filters;
use crate::analysis::FieldId;
use crate::base::{ByteReader, DocId, Error, Interrupt, Reservation, Result, Sequence, Span};
use crate::columns::ColumnChanges;
use crate::documents::DocumentRecord;
use crate::index::ingest::{BatchContent, decode_schema};
use crate::index::owners::Covered;
use crate::index::state::{IdEntry, Relief, Shared, with_relief};
use crate::index::write::{Restored, Restoring, Writer};
use crate::storage::{LogReach, LogStart, RecordKind, Recovery, ReplayEnd, ZoneRecord, replay};

/// Bytes of log that are worked on at once, at most, and the part of what buffers may take that
/// they may: documents that all cores restore at once. A batch that is larger is worked on alone.
const PART_BYTES_MAX: usize = 4 << 20;
const PART_ONE_OF: usize = 64;

/// Documents that one thread takes at a time.
const DOCUMENTS_AT_ONCE: usize = 512;

/// The operation of a record.
enum ReplayOperation {
    /// The postings of a document are in the trees.
    Known {
        entry: IdEntry,
        id: String,
    },
    Documents(Vec<(Span, Vec<u8>)>),
    /// The decisions on columns, for the documents that follow.
    Columns(ColumnChanges),
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
pub(super) struct Replay<'a> {
    writer: &'a mut Writer,
    part: PendingOperations,
    /// A replay from here meets the part and what comes behind it.
    part_start: LogStart,
    /// The same for what comes behind the part.
    part_end: LogStart,
    /// The log before the zone of this place is durable.
    durable: LogStart,
    /// The trees had the postings of documents below this from the beginning. Documents come in the
    /// order of their numbers, so it is 0 once others have come.
    covered: DocId,
    /// The document whose postings come next.
    next: DocId,
    /// The last operation that the root knows: of those up to it, only postings and IDs are
    /// missing.
    known: Sequence,
    /// The memory of the records of the part and of a batch under way.
    held: Reservation,
    /// Bytes of the batch under way.
    gathered: usize,
    /// The number of bytes of log in a part.
    part_bytes: usize,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Replay<'a> {
    /// Applies the log behind what the root's trees cover, and publishes the result. Ends when
    /// `interrupt` says so.
    pub(super) fn run(
        writer: &'a mut Writer,
        covered: Covered,
        reach: LogReach,
        interrupt: &'a dyn Interrupt,
    ) -> Result<ReplayEnd> {
        let shared = Arc::clone(writer.shared());
        writer.begin_replay();
        let mut recovery = Replay {
            next: covered.below,
            known: writer.sequence(),
            part: PendingOperations::default(),
            part_start: covered.log_start,
            part_end: covered.log_start,
            durable: covered.log_start,
            covered: covered.below,
            gathered: 0,
            held: shared
                .budget
                .reserve("the records of a batch in the log", 0)?,
            part_bytes: part_bytes(&shared),
            interrupt,
            writer,
        };
        let end = replay(&shared.store, covered.log_start, reach, &mut recovery)?;
        recovery.apply_part()?;
        recovery.check_whole()?;
        recovery.writer.end_replay();
        Ok(end)
    }
}

impl Recovery for Replay<'_> {
    fn reserve(&mut self, bytes: usize) -> Result<()> {
        let apply_and_flush = |replay: &mut Self, _| {
            replay.apply_part()?;
            replay.flush().map(|_| true)
        };
        with_relief(self, &[Relief::Buffers], apply_and_flush, |replay| {
            let needed = replay.part.bytes + bytes;
            if needed > replay.held.bytes() {
                replay.held.grow_to(needed)
            } else {
                Ok(())
            }
        })?;
        self.gathered = bytes;
        Ok(())
    }

    fn apply(&mut self, batch: Vec<ZoneRecord>, behind: LogStart) -> Result<()> {
        self.interrupt.check()?;
        if self.part.bytes + self.gathered > self.part_bytes {
            self.apply_part()?;
        }
        self.gathered = 0;
        self.take_batch(batch)?;
        self.part_end = behind;
        if self.part.bytes >= self.part_bytes {
            self.apply_part()
        } else {
            Ok(())
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
                RecordKind::CompressionDictionary => self.writer.take_dictionary(record.body)?,
                RecordKind::Columns => {
                    let mut reader = ByteReader::new(&record.body, "columns in the log");
                    let columns = ColumnChanges::decode(&mut reader)?;
                    self.part.operations.push(ReplayOperation::Columns(columns));
                }
                RecordKind::Delete => deletions.push(decode_delete(&record.body)?),
                RecordKind::Document => {
                    let doc = DocumentRecord::decode(&record.body)?.doc;
                    documents.push((doc, record.span, record.body));
                }
                RecordKind::Link => {}
            }
        }
        documents.sort_unstable_by_key(|(doc, ..)| *doc);
        for (doc, span, body) in documents {
            if doc < self.covered {
                self.part.add_known(&body)?
            } else {
                self.covered = 0;
                self.part.add_document(span, body);
            }
        }
        self.part.operations.extend(deletions);
        Ok(())
    }

    /// Fields are only ever added, so a schema with no more of them is one that the root knows.
    fn take_schema(&mut self, body: &[u8]) -> Result<()> {
        let schema = decode_schema(body)?;
        check_filters(&schema, Path::new("the index"))?;
        if self.writer.take_fields(schema.fields().len()) {
            let preparation = &self.writer.shared().preparation;
            preparation.fields.replace(schema);
        }
        Ok(())
    }

    fn apply_part(&mut self) -> Result<()> {
        let part = std::mem::take(&mut self.part);
        let runs = part
            .operations
            .iter()
            .filter_map(|operation| match operation {
                ReplayOperation::Documents(run) => Some(run.as_slice()),
                ReplayOperation::Delete { .. }
                | ReplayOperation::Columns(_)
                | ReplayOperation::Known { .. } => None,
            });
        let writer = &*self.writer;
        let mut restoring = Restoring::new(writer.shared(), writer.dictionaries(), runs)?;
        let mut restored = VecDeque::new();
        for operation in &part.operations {
            match operation {
                ReplayOperation::Known { entry, id } => self.enter_known(*entry, id)?,
                ReplayOperation::Columns(columns) => self.writer.take_columns(columns)?,
                ReplayOperation::Delete { doc, sequence, id } => {
                    self.delete(*doc, *sequence, id)?
                }
                ReplayOperation::Documents(run) => {
                    let mut left = run.len();
                    while left > 0 {
                        if restored.is_empty() {
                            let interrupt = self.interrupt;
                            restored.extend(self.with_memory(|_| restoring.next(interrupt))?);
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
        self.part_start = self.part_end;
        self.held.grow_to(self.gathered)
    }

    /// Makes room for a batch and for so many IDs of so many bytes. What flushes them is set aside,
    /// but where that does not fit beside a long document, which goes into empty buffers then.
    fn make_room(
        &mut self,
        batch: Option<&BatchContent>,
        ids: usize,
        id_bytes: usize,
    ) -> Result<()> {
        if self.writer.is_full() {
            self.flush()?;
        }
        let done = self.with_memory(|writer| writer.reserve_for(batch, ids, id_bytes));
        match done {
            Err(Error::Memory { .. })
                if self.writer.reserve_into_empty(batch, ids, id_bytes)? =>
            {
                Ok(())
            }
            done => done,
        }
    }

    /// Attempts what takes memory. Where that is too little, the buffers are flushed first.
    fn with_memory<T>(&mut self, mut attempt: impl FnMut(&mut Writer) -> Result<T>) -> Result<T> {
        with_relief(
            self,
            &[Relief::Buffers],
            |replay, _| replay.flush(),
            |replay| attempt(replay.writer),
        )
    }

    /// Flushes what the buffers have, unless the index is only read. Tells whether there was
    /// anything.
    fn flush(&mut self) -> Result<bool> {
        let covered = Covered {
            log_start: self.part_start,
            below: self.next,
        };
        let has_flushed = self.writer.flush_replayed(covered, self.durable)?;
        if has_flushed {
            self.durable = self.part_start;
        }
        Ok(has_flushed)
    }

    /// Enters the ID of a document whose postings are in the trees. A dead one has given it up.
    fn enter_known(&mut self, entry: IdEntry, id: &str) -> Result<()> {
        if !self.writer.is_live(entry.doc)? {
            return Ok(());
        }
        self.make_room(None, 1, id.len())?;
        self.writer.enter_id(id, entry)
    }

    fn delete(&mut self, doc: DocId, sequence: Sequence, id: &str) -> Result<()> {
        if doc >= self.next {
            return Err(Error::damaged(
                "the log",
                format!("document {doc} is deleted before it was written"),
            ));
        }
        if !id.is_empty() {
            self.make_room(None, 1, id.len())?;
        }
        if sequence > self.known {
            self.writer.replay_deletion(doc, sequence)?;
        }
        if id.is_empty() {
            Ok(())
        } else {
            self.writer.remove_id(id)
        }
    }

    fn enter_all(&mut self, documents: Restored) -> Result<()> {
        let base = self.next;
        let entries = documents.entries.iter();
        let id_bytes = entries.map(|(_, id, _)| id.len()).sum();
        self.make_room(Some(&documents.content), documents.entries.len(), id_bytes)?;
        let entries = documents.entries.iter().zip(&documents.lengths);
        for ((entry, id, span), lengths) in entries {
            check_doc(entry.doc, self.next)?;
            self.enter(*entry, id, *span, lengths)?;
            self.next += 1;
        }
        let (content, bytes) = (&documents.content, documents.source_bytes);
        let lengths = documents.lengths.iter();
        self.writer.replay_postings(content, base, bytes, lengths);
        drop(documents);
        self.writer.hold_to_replay()
    }

    fn enter(
        &mut self,
        entry: IdEntry,
        id: &str,
        span: Span,
        lengths: &[(FieldId, u32)],
    ) -> Result<()> {
        if entry.sequence <= self.known {
            self.writer.enter_id(id, entry)
        } else {
            self.writer.replay_document(entry, id, span, lengths)
        }
    }

    /// Checks that the log reaches as far as the root knows. That was synced before the root, so a
    /// log that ends earlier is damaged.
    fn check_whole(&self) -> Result<()> {
        let known = self.writer.below();
        if self.next == known {
            Ok(())
        } else {
            Err(Error::damaged(
                "the log",
                format!(
                    "expected all documents below {known}, got those below {}",
                    self.next
                ),
            ))
        }
    }
}

impl PendingOperations {
    fn add_known(&mut self, body: &[u8]) -> Result<()> {
        let record = DocumentRecord::decode(body)?;
        self.operations.push(ReplayOperation::Known {
            entry: IdEntry::of(&record),
            id: record.id.to_owned(),
        });
        Ok(())
    }

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

/// Returns the number of bytes of log in a part.
fn part_bytes(shared: &Shared) -> usize {
    let buffers = match shared.memory.buffers_beside(0) {
        // Who reads beside a writer has set nothing aside for them.
        0 => shared.budget.total(),
        bytes => bytes,
    };
    (buffers / PART_ONE_OF).min(PART_BYTES_MAX)
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
