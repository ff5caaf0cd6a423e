//! The interface of readers of documents: one document after the other as a line of JSON.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::change::Change;

/// Documents one after the other.
pub trait Documents {
    /// Appends the next document to `buffer` as one line of JSON, without its end.
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found>;

    /// Returns true if the next document is not at hand and nothing more comes before `until`.
    fn pauses(&mut self, _until: Instant) -> bool {
        false
    }

    /// The number of the document that came last, higher than those before: its line, or of files
    /// and of documents of several lines their count.
    fn number(&self) -> u64;

    /// Returns the name of the unit that is counted.
    fn unit(&self) -> &'static str {
        "line"
    }

    /// Returns the place of the last document, if it may have several lines or share one.
    fn place(&self) -> Option<DocumentStart> {
        None
    }

    /// Takes the notes on the way the source is read that are new since the last call.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The file of the document that came last, where each has its own.
    fn file(&self) -> Option<Arc<str>> {
        None
    }
}

/// The start of a document in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentStart {
    /// The line, from 1.
    pub line: u64,
    /// The bytes before it on the line.
    pub indent: usize,
}

impl DocumentStart {
    /// A reason that names lines and columns of the document, with those of the file instead.
    pub fn within(self, reason: &str) -> String {
        self.moved(reason)
            .unwrap_or_else(|| format!("line {}: {reason}", self.line))
    }

    fn moved(self, reason: &str) -> Option<String> {
        let number = |text: &str, sign: &str| {
            let (number, rest) = text.split_once(sign)?;
            Some((number.parse::<u64>().ok()?, rest.to_owned()))
        };
        let (row, rest) = match reason.strip_prefix("line ") {
            Some(row) => number(row, ", ")?,
            None => (1, reason.to_owned()),
        };
        let (column, rest) = number(rest.strip_prefix("column ")?, ": ")?;
        let indent = if row == 1 { self.indent as u64 } else { 0 };
        let line = self.line + row - 1;
        Some(format!("line {line}, column {}: {rest}", column + indent))
    }
}

/// The next thing that a reader found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A document was appended.
    Document,
    /// The bytes that the change needs were appended.
    Change(Change),
    /// Something that is no document, and why; the buffer is as it was.
    Rejected(String),
    /// There are no more.
    End,
}

/// Why a document that has more than `limit` bytes is rejected.
pub fn too_long(what: &str, limit: usize) -> String {
    format!(
        "the {what} is longer than {limit} bytes, the most that this memory budget allows: \
         give more with --memory, or cut the document"
    )
}

/// Appends a text as JSON.
pub fn append_json(text: &str, buffer: &mut Vec<u8>) -> io::Result<()> {
    Ok(serde_json::to_writer(buffer, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_the_lines_of_the_file() {
        let place = DocumentStart {
            line: 17,
            indent: 4,
        };
        for (reason, expected) in [
            ("column 3: x: y", "line 17, column 7: x: y"),
            ("line 3, column 3: x", "line 19, column 3: x"),
            ("line 1, column 3: x", "line 17, column 7: x"),
            ("the field column 3", "line 17: the field column 3"),
            ("column of: x", "line 17: column of: x"),
        ] {
            assert_eq!(place.within(reason), expected);
        }
    }
}
