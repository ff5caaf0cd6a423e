//! How much work the log is for the next opening, by which its length is bounded.
//!
//! An opening analyses the documents behind the newest root again and applies the deletions. So a
//! flush begins when that would take long, also where buffers have room: after a crash a search
//! waits for it, whatever budget the writer had.

use std::time::Duration;

use crate::analysis::FieldId;
use crate::postings::InvertedBatch;

/// The most processor time that replaying the log takes unless told otherwise, at the rates below.
/// They were measured on two cores that others used too. Without these it is about 1.5 s; with the
/// last batch and what a search takes beside, 2 s at most.
pub(crate) const LOG_TIME: Duration = Duration::from_millis(1_800);

/// Nanoseconds of a replay for each byte of source, each token, each document of a term, each term
/// of a batch, each field of a document, each document, and each deletion, which may read pages of
/// the tables. They were fitted to text of short and long documents, of words that come again and
/// of words that do not, of single letters, ideographs and numbers, and to documents of many fields
/// and of none: a replay takes between two thirds of what they give and a tenth more.
const PER_BYTE: u64 = 8;
const PER_TOKEN: u64 = 55;
const PER_POSTING: u64 = 150;
const PER_TERM: u64 = 500;
const PER_FIELD: u64 = 500;
const PER_DOCUMENT: u64 = 1_500;
const PER_DELETION: u64 = 4_000;

/// The work of a batch of documents with so many bytes of source, in nanoseconds.
pub(crate) fn work_of_documents<'l>(
    inverted: &InvertedBatch,
    source_bytes: u64,
    lengths: impl Iterator<Item = &'l Vec<(FieldId, u32)>>,
) -> u64 {
    let of_document = |lengths: &Vec<(FieldId, u32)>| {
        let tokens: u64 = lengths.iter().map(|(_, length)| *length as u64).sum();
        PER_DOCUMENT + lengths.len() as u64 * PER_FIELD + tokens * PER_TOKEN
    };
    let documents: u64 = lengths.map(of_document).sum();
    let postings = inverted.postings() * PER_POSTING + inverted.terms.len() as u64 * PER_TERM;
    source_bytes * PER_BYTE + documents + postings
}

/// The work of a deletion.
pub(crate) fn work_of_deletion() -> u64 {
    PER_DELETION
}
