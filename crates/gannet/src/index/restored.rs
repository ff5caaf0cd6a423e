//! Stored documents made ready to be indexed again: decompressed, parsed and inverted, on all cores.

use super::ids::IdEntry;
use super::prepare::{FieldLengths, Preparation, Workbench};
use super::writer::Writer;
use crate::base::{Result, Span, on_all_cores};
use crate::documents::{Dictionaries, Document, DocumentRecord};
use crate::postings::InvertedBatch;

/// Records of documents, and where they stand.
pub(super) type Records = [(Span, Vec<u8>)];

/// Documents of a run of records, ready to be entered.
pub(super) struct Restored {
    pub(super) entries: Vec<(IdEntry, String, Span)>,
    pub(super) lengths: Vec<FieldLengths>,
    pub(super) inverted: InvertedBatch,
    pub(super) source_bytes: u64,
}

impl Writer {
    /// Restores runs of documents side by side.
    pub(super) fn restore_all(&self, runs: Vec<&Records>) -> Result<Vec<Restored>> {
        let preparation = &self.shared.preparation;
        let dictionaries = &self.state.dictionaries;
        let restored = on_all_cores(runs, 1, |share| {
            let mut bench = Workbench::default();
            let runs = share.into_iter();
            let restored = runs.map(|run| restore(preparation, dictionaries, &mut bench, run));
            restored.collect()
        });
        restored.into_iter().collect()
    }
}

fn restore(
    preparation: &Preparation,
    dictionaries: &Dictionaries,
    bench: &mut Workbench,
    documents: &Records,
) -> Result<Restored> {
    let mut entries = Vec::with_capacity(documents.len());
    let mut parsed = Vec::with_capacity(documents.len());
    let mut source_bytes = 0;
    for (span, body) in documents {
        let record = DocumentRecord::decode(body)?;
        let source = dictionaries.decompress(&record)?;
        source_bytes += source.len() as u64;
        parsed.push(parse_again(&record, &source)?);
        entries.push((IdEntry::of(&record), record.id.to_owned(), *span));
    }
    let (inverted, lengths) = preparation.invert_again(bench, &parsed)?;
    Ok(Restored {
        entries,
        lengths,
        inverted,
        source_bytes,
    })
}

/// Reads a source as it was read when it came.
fn parse_again(record: &DocumentRecord<'_>, source: &[u8]) -> Result<Document> {
    match record.id_in_source {
        true => Document::parse(source),
        false => Document::parse_as(Some(record.id.to_owned()), source),
    }
}
