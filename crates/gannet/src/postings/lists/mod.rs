//! Lists on the device: chunks are written, merged, moved and swept.

pub(crate) mod chunk;
pub(crate) mod chunk_reader;
pub(crate) mod docs_draft;
pub(crate) mod filter_draft;
pub(crate) mod head_draft;
pub(crate) mod list_writer;
pub(crate) mod merge;
pub(crate) mod merge_memory;
pub(crate) mod norms;
pub(crate) mod relocate;
pub(crate) mod rules;
pub(crate) mod spans;
pub(crate) mod streams;
pub(crate) mod vacuum;
pub(crate) mod window;
