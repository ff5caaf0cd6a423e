//! Postings lists: which documents have a term, how often and at which positions.
//!
//! A list is a run of *chunks* on the device, a *tail* inside the term's dictionary entry, and what
//! the memory buffer holds, in the order of doc IDs. [`TermCursor`] reads all of it as one list, in
//! rounds; [`merge_window`] adds what a flush brings. The room knows neither terms nor queries: an
//! entry is bytes that the dictionary keeps, a norm is a byte that someone else computes. Which of
//! the trees of the term dictionary has a list's entry depends on whether it has chunks, so that is
//! known here too ([`TermDictionary`]).

mod buffer;
pub(crate) mod codec;
mod lists;
pub(crate) mod terms;

mod check;
mod cursor;
#[cfg(test)]
mod tests;

pub use buffer::digest::term_digest;
pub use buffer::invert::{InvertedBatch, Inverter};
pub use buffer::{FrozenBuffer, PostingBuffer, TermVisitor};
pub use check::{PostingVisitor, check};
pub use codec::block::BLOCK;
pub use codec::dead::DeadDocs;
pub use codec::entry::{ChunkRef, Layout, TermEntry};
pub use codec::fragment::Fragment;
pub use codec::impacts::Pair;
pub use codec::short::ShortList;
pub use codec::tokens::{Neighbours, Tokens};
pub use cursor::TermList;
pub use cursor::{BlocksAhead, Reach, TermCursor};
pub use lists::merge::{MergeItem, merge_window};
pub use lists::merge_memory::MergeMemory;
pub use lists::norms::{NormReader, Norms};
pub use lists::relocate::relocate_window;
pub use lists::streams::ChunkStreams;
pub use lists::vacuum::{SweepItem, SweptEntry, sweep_bytes, vacuum_window};
pub use terms::{
    Addition, DELTA_LEVELS, NewPostings, SweepProgress, Sweeper, TermDictionary, TermPostings,
    TermTree, TermView, terms_join_at_once,
};
