//! Stored documents made ready to be indexed again: decompressed, parsed and inverted, on all
//! cores.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::base::{Budget, Error, Interrupt, Result, Span, on_all_cores};
use crate::documents::{Dictionaries, Document, DocumentRecord};
use crate::index::ingest::{BatchContent, FieldLengths, Preparation, Workbench};
use crate::index::state::{IdEntry, Shared};

/// Runs of documents that are restored together, at least.
const RUNS_TOGETHER: usize = 8;

/// The part of the memory that restoring takes of an index that is only read.
const READ_ONLY_ONE_OF: usize = 16;

/// The memory of a document for each byte of its source, about, and beside that.
const BYTES_PER_SOURCE_BYTE: usize = 12;
const RECORD_BYTES: usize = 64;

/// The memory of an entry beside its ID, with the length of a field.
const ENTRY_BYTES: usize = size_of::<(IdEntry, String, Span)>() + 64;

/// Records of documents, and where they stand.
pub(crate) type Records = [(Span, Vec<u8>)];

/// Documents of a run of records, ready to be entered.
pub(crate) struct Restored {
    pub(crate) entries: Vec<(IdEntry, String, Span)>,
    pub(crate) lengths: Vec<FieldLengths>,
    pub(crate) content: BatchContent,
    pub(crate) source_bytes: u64,
}

/// Documents that are being restored, some at a time.
pub(crate) struct Restoring<'r> {
    shared: Arc<Shared>,
    dictionaries: Dictionaries,
    /// The runs of records that are left, with the bytes of their sources.
    runs: VecDeque<(&'r Records, usize)>,
}

impl<'r> Restoring<'r> {
    /// Will restore these runs of documents.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        dictionaries: &Dictionaries,
        records: impl Iterator<Item = &'r Records>,
    ) -> Result<Restoring<'r>> {
        let mut restoring = Restoring {
            shared: Arc::clone(shared),
            dictionaries: dictionaries.clone(),
            runs: VecDeque::new(),
        };
        for run in records {
            restoring.cut(run)?;
        }
        Ok(restoring)
    }

    /// The next documents, restored side by side: as many as the memory for preparation holds, in
    /// the order of the runs. Nothing behind the last. After an error they are still the next.
    /// Ends when `interrupt` says so.
    pub(crate) fn next(&mut self, interrupt: &dyn Interrupt) -> Result<Vec<Restored>> {
        let (most, mut bytes) = (self.bytes_together(), 0);
        let fits = self.runs.iter().take_while(|(_, length)| {
            bytes += length;
            bytes <= most || bytes == *length
        });
        let together: Vec<&Records> = fits.map(|(run, _)| *run).collect();
        let count = together.len();
        let restored = on_all_cores(together, 1, |share| {
            let mut bench = Workbench::default();
            let runs = share.into_iter();
            let restored = runs.map(|run| {
                interrupt.check()?;
                restore(&self.shared, &self.dictionaries, &mut bench, run)
            });
            restored.collect()
        });
        let restored: Vec<Restored> = restored.into_iter().collect::<Result<_>>()?;
        self.runs.drain(..count);
        Ok(restored)
    }

    /// Cuts a run of documents into runs of which several can be restored together. A document that
    /// is too long for that is a run of its own.
    fn cut(&mut self, records: &'r Records) -> Result<()> {
        let most = self.bytes_together() / RUNS_TOGETHER;
        let (mut start, mut bytes) = (0, 0);
        for (at, (_, body)) in records.iter().enumerate() {
            let next = DocumentRecord::decode(body)?.raw_length as usize + RECORD_BYTES;
            if at > start && bytes + next > most {
                self.runs.push_back((&records[start..at], bytes));
                (start, bytes) = (at, 0);
            }
            bytes += next;
        }
        if start < records.len() {
            self.runs.push_back((&records[start..], bytes));
        }
        Ok(())
    }

    /// Bytes of source that are restored together.
    fn bytes_together(&self) -> usize {
        let memory = match self.shared.memory.preparation {
            0 => self.shared.budget.total() / READ_ONLY_ONE_OF,
            bytes => bytes,
        };
        memory / BYTES_PER_SOURCE_BYTE
    }
}

fn restore(
    shared: &Shared,
    dictionaries: &Dictionaries,
    bench: &mut Workbench,
    documents: &Records,
) -> Result<Restored> {
    let mut restore_with = |budget: &Budget| {
        bench.begin(budget)?;
        let restored = restore_within(&shared.preparation, dictionaries, bench, documents);
        restored.inspect_err(|_| bench.give_up())
    };
    match restore_with(&shared.preparing) {
        // A long document, or others that are prepared beside it.
        Err(Error::Memory { .. }) => restore_with(&shared.budget),
        restored => restored,
    }
}

fn restore_within(
    preparation: &Preparation,
    dictionaries: &Dictionaries,
    bench: &mut Workbench,
    documents: &Records,
) -> Result<Restored> {
    let mut entries = Vec::with_capacity(documents.len());
    let mut parsed = Vec::with_capacity(documents.len());
    let (mut source_bytes, mut held) = (0, 0);
    for (span, body) in documents {
        let record = DocumentRecord::decode(body)?;
        bench.hold(held + 2 * record.raw_length as usize)?;
        let source = dictionaries.decompress(&record)?;
        source_bytes += source.len() as u64;
        let document = parse_again(&record, &source)?;
        held += document.memory_bytes();
        parsed.push(document);
        entries.push((IdEntry::of(&record), record.id.to_owned(), *span));
    }
    bench.hold(held)?;
    let kept = entries.iter().map(|(_, id, _)| ENTRY_BYTES + id.len());
    let (content, lengths) = preparation.invert_again(bench, parsed, kept.sum())?;
    Ok(Restored {
        entries,
        lengths,
        content,
        source_bytes,
    })
}

/// Reads a source as it was read when it came.
fn parse_again(record: &DocumentRecord<'_>, source: &[u8]) -> Result<Document> {
    if record.id_in_source {
        Document::parse(source)
    } else {
        Document::parse_as(Some(record.id.to_owned()), source)
    }
}
