//! JSON lines: each is a document as it is.

use std::io;

use super::{Documents, Found, too_long};
use crate::source::{Line, Lines};

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
        Ok(match self.lines.next(buffer)? {
            Line::Whole => Found::Document,
            Line::TooLong => Found::Rejected(too_long("line", self.limit)),
            Line::End => Found::End,
        })
    }

    fn number(&self) -> u64 {
        self.lines.number()
    }
}
