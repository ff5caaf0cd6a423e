//! Texts of which each line is a document. The ID is the path of the file and the number of the
//! line, so the same file again replaces its lines.

use std::io;
use std::path::Path;
use std::time::Instant;

use super::documents::{Documents, Found, append_json, too_long};
use crate::source::{Line, Lines};

/// The lines of one file, or of standard input.
pub struct TextLines {
    lines: Lines,
    /// The path in the IDs; standard input has none, and its lines get made-up ones.
    path: Option<String>,
    limit: usize,
    line: Vec<u8>,
}

impl TextLines {
    /// Lines of at most `limit` bytes.
    pub fn new(lines: Lines, path: Option<&Path>, limit: usize) -> io::Result<TextLines> {
        let path = match path {
            None => None,
            Some(path) => Some(path.to_str().ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the name of the file is not UTF-8: rename it",
                )
            })?),
        };
        Ok(TextLines {
            lines,
            path: path.map(|path| path.strip_prefix("./").unwrap_or(path).to_owned()),
            limit,
            line: Vec::new(),
        })
    }

    /// Appends the line as a document; or says why it is none.
    fn append(&self, buffer: &mut Vec<u8>) -> io::Result<Result<(), String>> {
        let text = match std::str::from_utf8(&self.line) {
            Ok(text) => text,
            Err(error) => {
                return Ok(Err(format!(
                    "column {}: not UTF-8: convert the file, for example with iconv",
                    error.valid_up_to() + 1
                )));
            }
        };
        buffer.push(b'{');
        if let Some(path) = &self.path {
            buffer.extend_from_slice(b"\"id\":");
            append_json(&format!("{path}:{}", self.lines.number()), buffer)?;
            buffer.push(b',');
        }
        buffer.extend_from_slice(b"\"body\":");
        append_json(text, buffer)?;
        buffer.push(b'}');
        Ok(Ok(()))
    }
}

impl Documents for TextLines {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        loop {
            self.line.clear();
            let start = buffer.len();
            let reason = match self.lines.next(&mut self.line)? {
                Line::End => return Ok(Found::End),
                Line::Whole if self.line.trim_ascii().is_empty() => continue,
                Line::TooLong => too_long("line", self.limit),
                Line::Whole => match self.append(buffer)? {
                    Err(reason) => reason,
                    Ok(()) if buffer.len() - start > self.limit => too_long("line", self.limit),
                    Ok(()) => return Ok(Found::Document),
                },
            };
            buffer.truncate(start);
            return Ok(Found::Rejected(reason));
        }
    }

    fn pauses(&mut self, until: Instant) -> bool {
        self.lines.pauses(until)
    }

    fn number(&self) -> u64 {
        self.lines.number()
    }
}
