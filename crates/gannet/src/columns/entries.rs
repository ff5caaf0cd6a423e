//! The keys of the tree: the column, what the entry is, and what names it among these.

use std::fmt;

use super::column::ColumnId;
use crate::base::{DocId, Error, Result};

/// The kind of an entry of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum EntryKind {
    /// A piece, by its first document.
    Piece = 1,
    /// A map of pieces, by the first document of the first of them.
    Map = 2,
    /// The number of a string.
    Number = 3,
    /// The string of a number.
    Term = 4,
}

/// Bytes of a key before what names the entry.
pub(super) const HEAD_BYTES: usize = 3;

/// Bytes of the key of a piece.
pub(super) const PIECE_KEY_BYTES: usize = HEAD_BYTES + 4;

/// A key taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryName<'k> {
    Piece(DocId),
    Map(DocId),
    Number(&'k [u8]),
    Term(u32),
}

/// The front of the keys of all entries of a kind.
pub(super) fn head(column: ColumnId, kind: EntryKind) -> [u8; HEAD_BYTES] {
    let [high, low] = column.to_be_bytes();
    [high, low, kind as u8]
}

/// The key of an entry that a number names.
pub(super) fn numbered(column: ColumnId, kind: EntryKind, number: u32) -> [u8; PIECE_KEY_BYTES] {
    let [a, b, c] = head(column, kind);
    let [d, e, f, g] = number.to_be_bytes();
    [a, b, c, d, e, f, g]
}

/// Appends the key of the number of a string.
pub(super) fn put_number_key(column: ColumnId, term: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&head(column, EntryKind::Number));
    out.extend_from_slice(term);
}

/// Takes a key apart.
pub(super) fn split(key: &[u8]) -> Result<(ColumnId, EntryName<'_>)> {
    let wrong = || Error::damaged("the key of an entry of columns", "expected a known kind");
    let ([high, low, kind], rest) = key.split_first_chunk().ok_or_else(wrong)?;
    let number = || rest.try_into().map(u32::from_be_bytes).map_err(|_| wrong());
    let name = match kind {
        1 => EntryName::Piece(number()?),
        2 => EntryName::Map(number()?),
        3 => EntryName::Number(rest),
        4 => EntryName::Term(number()?),
        _ => return Err(wrong()),
    };
    Ok((ColumnId::from_be_bytes([*high, *low]), name))
}

/// The number of a string as its entry has it.
pub(super) fn decode_number(value: &[u8]) -> Result<u32> {
    let bytes = value.try_into().map(u32::from_le_bytes);
    bytes.map_err(|_| {
        let reason = format!("expected 4 bytes, got {}", value.len());
        Error::damaged("the number of a keyword", reason)
    })
}

/// The error for a piece that is not what its map says.
pub(super) fn damaged_piece(column: ColumnId, first: DocId, reason: impl fmt::Display) -> Error {
    Error::damaged(
        format!("the piece of column {column} from document {first} on"),
        reason.to_string(),
    )
}
