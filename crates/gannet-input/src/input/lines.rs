//! JSON lines: each is a document as it is. An array of documents is told how it becomes lines.

use std::io;
use std::time::Instant;

use super::documents::{Documents, Found, too_long};
use crate::source::{Line, Lines};

/// Why a line that begins an array is rejected.
const ARRAY: &str = "column 1: expected a JSON object on each line, found an array: `jq -c '.[]' FILE` makes lines of it";

/// Why a line is rejected that an object goes on behind.
const BEGINNING: &str = "column 1: expected a whole JSON object on each line, found only the beginning of one: `jq -c . FILE` \
     puts each on a line";

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
            Line::Whole if is_beginning(&buffer[start..]) => {
                buffer.truncate(start);
                Found::Rejected(BEGINNING.to_owned())
            }
            Line::Whole => Found::Document,
            Line::TooLong => Found::Rejected(too_long("line", self.limit)),
            Line::End => Found::End,
        })
    }

    fn pauses(&mut self, until: Instant) -> bool {
        self.lines.pauses(until)
    }

    fn number(&self) -> u64 {
        self.lines.number()
    }
}

/// Whether a line is that of an object with more lines, as it is printed for people.
fn is_beginning(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"{") && matches!(line.last(), Some(b'{' | b'[' | b','))
}
