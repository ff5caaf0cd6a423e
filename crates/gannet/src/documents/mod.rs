//! Documents: the JSON door, stored sources, and what is kept for each document by its number.
//!
//! A document comes in as JSON ([`Document`]), is compressed alone ([`Compressor`]) and written
//! once, as a [`DocumentRecord`] in the log. [`DocumentTables`] says for each doc ID where that
//! record is, how long each field was (its norm) and whether the document is deleted. [`stored`]
//! reads a document back.

mod address;
mod addresses;
mod bytes;
mod compress;
mod cursor;
mod expected;
mod fetch;
mod flatten;
mod json;
mod members;
mod merge;
mod norm;
mod record;
mod tables;
mod texts;
mod trainer;
mod value;

pub use address::Address;
pub use compress::{Compressor, Dictionaries};
pub use cursor::{LiveCursor, NormCursor};
pub use expected::Expected;
pub use fetch::{
    Fetch, Fetched, StoredDocument, reading_bytes, stored, stored_records, stored_versions,
};
pub use json::{DOCUMENT_BYTES_MAX, Document};
pub use members::ObjectMembers;
pub use norm::{length_to_norm, norm_to_length};
pub use record::{DictionaryVersion, DocumentRecord};
pub use tables::{DocumentTables, TableChange};
pub use texts::each_text;
pub use trainer::{SAMPLES_BYTES_MAX, Trainer};
pub use value::{Value, exact_number};
