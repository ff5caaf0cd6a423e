//! Documents that were rejected, and where they stand.

use std::fmt;
use std::sync::Arc;

/// The source of documents, as sentences name it.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The file, or what else gives documents.
    pub name: Arc<str>,
    /// The name of its parts: `line`, `row`, `document`.
    pub unit: &'static str,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

/// A line that is no document.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The source of the line.
    pub origin: Origin,
    /// The file, where each document has its own.
    pub file: Option<Arc<str>>,
    /// The number of the line, from 1.
    pub line: u64,
    /// Why, with the column where it is known.
    pub reason: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(out, "{file}: {}", self.reason),
            None => {
                // A column is part of the place.
                let is_place = |word| self.reason.starts_with(word);
                let sign = if is_place("column ") || is_place("line ") {
                    ','
                } else {
                    ':'
                };
                let (origin, line, reason) = (&self.origin, self.line, &self.reason);
                write!(out, "{origin}, {} {line}{sign} {reason}", origin.unit)
            }
        }
    }
}
