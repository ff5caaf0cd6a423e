//! A piece: the keys of at most 1,024 consecutive documents of one column, as bytes.
//!
//! One byte says how the three parts are coded that follow it. The *presence* says which documents
//! have values. The *starts* are there only if a document has several: one bit a value, set if it
//! is the first of its document. The *keys* stand in the order of documents, ascending in each.
//!
//! Keys are read in blocks of 128, and any of them alone. What [`Piece::parse`] accepts is read
//! without panics and without overflow, whatever the bytes. [`Piece::check`] reads all of it.

mod ascending;
pub(crate) mod encode;
mod header;
mod keys;
mod packed;
mod presence;
mod reader;
mod starts;
pub(crate) mod view;

/// Documents or values of a word: as many as it has bits.
const WORD: usize = 64;

/// Bytes that are no piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a piece of a column is damaged: {0}")]
pub struct Damaged(pub(crate) &'static str);

/// The figures of a piece that are known without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The least key, 0 if there is none.
    pub least: u64,
    /// The greatest key, 0 if there is none.
    pub greatest: u64,
    /// The number of documents that have a value.
    pub documents_with_values: u32,
    /// The number of values.
    pub values: u32,
}
