//! Looks at the first bytes of a source for the form of its JSON and its lines.

use std::io;

use crate::bytes::{BYTE_ORDER_MARK, Bytes};

/// The bytes of a file that tell the form of its JSON.
pub const JSON_BYTES: usize = 64 << 10;

/// The same bytes, with line feeds where all lines of the first bytes end with carriage returns
/// alone.
pub fn line_feeds(mut reader: Bytes) -> io::Result<Bytes> {
    let head = reader.peek(JSON_BYTES, |head| {
        head.iter().any(|byte| matches!(byte, b'\n' | b'\r')) || is_array(head)
    })?;
    let returns = head.contains(&b'\r') && !head.contains(&b'\n');
    Ok(if returns {
        reader.with_line_feeds()
    } else {
        reader
    })
}

/// Returns true if a JSON array begins.
pub fn is_array(head: &[u8]) -> bool {
    without_mark(head).trim_ascii_start().starts_with(b"[")
}

/// The bytes behind a byte order mark.
pub fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)
}
