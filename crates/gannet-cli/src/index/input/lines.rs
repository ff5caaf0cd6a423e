//! JSON lines: each is a document as it is. An array of documents is told how it becomes lines.

use std::io;

use super::{Documents, Found, too_long};
use crate::source::{Line, Lines};

/// Why a line that begins an array is rejected.
const ARRAY: &str = "column 1: expected a JSON object on each line, found an array: `jq -c '.[]' FILE` makes lines of it";

/// The lines of a source.
pub struct JsonLines {
    lines: Lines,
    limit: usize,
}

impl JsonLines {
    /// Lines of at most `limit` bytes.
    pub fn new(lines: Lines, limit: usize) -> JsonLines {
        JsonLines { lines, limit }
    }
}

impl Documents for JsonLines {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        let start = buffer.len();
        Ok(match self.lines.next(buffer)? {
            Line::Whole if buffer[start..].trim_ascii_start().starts_with(b"[") => {
                buffer.truncate(start);
                Found::Rejected(ARRAY.to_owned())
            }
            Line::Whole => Found::Document,
            Line::TooLong => Found::Rejected(too_long("line", self.limit)),
            Line::End => Found::End,
        })
    }

    fn number(&self) -> u64 {
        self.lines.number()
    }
}
