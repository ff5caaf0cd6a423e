//! Postings lists: which documents have a term, how often and at which positions.
//!
//! A list is a run of *chunks* on the device, a *tail* inside the term's dictionary entry, and what the
//! memory buffer holds, in the order of doc IDs. [`TermCursor`] reads all of it as one list, in rounds;
//! [`merge_window`] adds what a flush brings. The room knows neither terms nor queries: an entry is bytes
//! that the dictionary keeps, a norm is a byte that someone else computes.
//! Which of the trees of the term dictionary has a list's entry depends on whether it has chunks, so that is
//! known here too ([`TermDictionary`]).

mod arena;
pub(crate) mod block;
mod bloom;
mod buffer;
mod check;
mod chunk;
mod chunk_reader;
mod common_code;
mod cursor;
mod dead;
mod dictionary;
mod digest;
mod docs_draft;
mod docs_page;
mod entry;
mod filter_draft;
mod fragment;
mod frontier;
mod head;
mod head_draft;
mod invert;
mod list_writer;
mod merge;
mod merge_memory;
mod norms;
mod places;
mod position_page;
mod relocate;
mod rules;
mod slots;
mod spans;
mod streams;
#[cfg(test)]
mod tests;
mod tokens;
mod vacuum;
mod window;

pub use buffer::{PostingBuffer, TermVisitor};
pub use check::{PostingVisitor, check};
pub use cursor::TermList;
pub use cursor::{BlocksAhead, Reach, TermCursor};
pub use dead::DeadDocs;
pub use dictionary::{
    Addition, RECENT_LEVELS, SweepPlace, Sweeper, TermDictionary, TermPostings, TermTree, TermView,
    terms_join_at_once,
};
pub use digest::term_digest;
pub use entry::{ChunkRef, Layout, TermEntry};
pub use fragment::Fragment;
pub use frontier::Pair;
pub use invert::{InvertedBatch, Inverter};
pub use merge::{MergeItem, merge_window};
pub use merge_memory::MergeMemory;
pub use norms::{NormReader, Norms};
pub use relocate::relocate_window;
pub use streams::ChunkStreams;
pub use tokens::{Neighbours, Tokens};
pub use vacuum::{SweepItem, SweptEntry, sweep_bytes, vacuum_window};
