//! JSON lines: each is a document as it is. An array among them is told how it becomes lines.

use std::io;
use std::time::Instant;

use super::documents::{Documents, Found, too_long};
use super::members::members_of;
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
                let reason = match comma(&buffer[start..]) {
                    Some(column) => behind(column),
                    None => BEGINNING.to_owned(),
                };
                buffer.truncate(start);
                Found::Rejected(reason)
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

/// The column of a comma behind a whole object.
fn comma(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_end();
    let object = line.strip_suffix(b",")?;
    members_of(object).is_ok().then_some(line.len())
}

/// Why a line is rejected that has a comma behind its object.
fn behind(column: usize) -> String {
    format!(
        "column {column}: expected nothing behind the object, found a comma: leave it out, or put all objects between [ and ]"
    )
}

/// Returns true if a text of several lines begins with an object that goes on behind the first
/// line, and no other object begins on the second.
pub fn is_printed(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next());
    is_beginning(first)
        && comma(first).is_none()
        && second.is_some_and(|line| !line.starts_with(b"{"))
}

/// Returns true if a line begins an object that goes on, as it is printed for people.
fn is_beginning(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"{") && matches!(line.last(), Some(b'{' | b'[' | b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_several_lines_are_told_from_lines() {
        for (text, printed) in [
            ("{\n  \"a\": 1\n}\n", true),
            ("{\"a\": 1,\n \"b\": 2}", true),
            ("{\"a\":{\n\n\"b\": 2}}", true),
            ("{\"a\": 1}\n", false),
            ("{\"a\": 1},\n{\"a\": 2}\n", false),
            ("{\"a\": 1,\n{\"a\": 2}\n", false),
            ("{\"a\": 1,", false),
        ] {
            assert_eq!(is_printed(text.as_bytes()), printed, "{text}");
        }
    }
}
