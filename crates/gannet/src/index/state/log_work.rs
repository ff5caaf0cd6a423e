//! Measures the work that the log is for the next opening, by which its length is bounded.
//!
//! An opening analyses the documents behind the newest root again and applies the deletions. So a
//! flush begins when that would take long, also where buffers have room: after a crash a search
//! waits for it, whatever budget the writer had.

use std::time::Duration;

use crate::analysis::FieldId;
use crate::columns::work_of_values;
use crate::index::ingest::BatchContent;

/// The most processor time that replaying the log takes unless told otherwise, at the rates below.
/// They were measured on two cores that others used too. Without these it is about 1.5 s; with the
/// last batch and what a search takes beside, 2 s at most.
pub(crate) const LOG_TIME: Duration = Duration::from_millis(1_750);

/// Nanoseconds of a replay for each byte of source, each token, each document of a term, each term
/// of a batch, and what a term takes beyond that is new in the posting buffer; for each field of a
/// document, each document, and each deletion, which may read pages of the tables. They were fitted
/// to text of short and long documents, of words that come again and of words that do not, of
/// single letters, ideographs and numbers, and to documents of many fields and of none. Most take a
/// fifth less than that. Long lists of numbers take a third more.
const PER_BYTE: u64 = 8;
const PER_TOKEN: u64 = 80;
const PER_POSTING: u64 = 130;
const PER_TERM: u64 = 100;
const PER_NEW_TERM: u64 = 500;
const PER_FIELD: u64 = 500;
const PER_DOCUMENT: u64 = 1_500;
const PER_DELETION: u64 = 4_000;

/// The work of a batch of documents with so many bytes of source and so many terms that are new in
/// the posting buffer, in nanoseconds.
pub(crate) fn work_of_documents<'l>(
    batch: &BatchContent,
    source_bytes: u64,
    new_terms: usize,
    lengths: impl Iterator<Item = &'l Vec<(FieldId, u32)>>,
) -> u64 {
    let of_document = |lengths: &Vec<(FieldId, u32)>| {
        let tokens: u64 = lengths.iter().map(|(_, length)| *length as u64).sum();
        PER_DOCUMENT + lengths.len() as u64 * PER_FIELD + tokens * PER_TOKEN
    };
    let documents: u64 = lengths.map(of_document).sum();
    let inverted = &batch.inverted;
    let terms = inverted.terms.len() as u64 * PER_TERM + new_terms as u64 * PER_NEW_TERM;
    let values = work_of_values(&batch.values);
    source_bytes * PER_BYTE + documents + terms + inverted.postings() * PER_POSTING + values
}

/// The work of a deletion.
pub(crate) fn work_of_deletion() -> u64 {
    PER_DELETION
}
