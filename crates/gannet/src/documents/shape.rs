//! The shape of a document before its texts: a rearrangement of JSON that compresses better.
//!
//! Documents of one index share their keys. Standing between the texts, these cost a match each; together
//! in front they cost one. So the source is stored as its *shape*, in which each longer text is replaced by
//! `TEXT` and the external ID, which the record has anyway, by `ID`; then, each after a `TEXT`, the
//! texts in order. JSON has no bytes below 9, so that these marks cannot be mistaken; a source that
//! contains one after all is refused by [`split`] and stored as it is. What [`join`] gives is the source, byte for byte.

use crate::base::{Error, Result};

/// Stands for a text in the shape, and before each text after it.
const TEXT: u8 = 1;

/// Stands for the external ID.
const ID: u8 = 2;

/// Texts shorter than this stay in the shape.
const TEXT_BYTES_MIN: usize = 4;

/// The most bytes that [`split`] makes of `length` bytes: two marks for a text, its quotes and its comma.
pub(super) fn split_bound(length: usize) -> usize {
    length + length / 2 + 2
}

/// Appends `source` with its texts moved behind its shape. Tells whether that could be done.
pub(super) fn split(source: &[u8], id: &str, out: &mut Vec<u8>, texts: &mut Vec<u8>) -> bool {
    texts.clear();
    let mut copied = 0;
    let mut at = 0;
    while let Some(start) = find(source, at, b'"') {
        let Some(end) = text_end(source, start + 1) else {
            return false;
        };
        let text = &source[start + 1..end];
        let mark = match text {
            _ if is_key(source, end + 1) => None,
            text if text == id.as_bytes() => Some(ID),
            text if text.len() >= TEXT_BYTES_MIN => Some(TEXT),
            _ => None,
        };
        if let Some(mark) = mark {
            out.extend_from_slice(&source[copied..start + 1]);
            out.push(mark);
            copied = end;
            if mark == TEXT {
                texts.push(TEXT);
                texts.extend_from_slice(text);
            }
        }
        at = end + 1;
    }
    out.extend_from_slice(&source[copied..]);
    true
}
