//! Lines that were rejected: the first are told one by one, the others counted.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use super::input::SharedInput;
use crate::size::counted;

/// How many rejections are told in full.
const TOLD_MAX: u64 = 20;

/// A line that is no document.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// Where the line is from.
    pub source: SharedInput,
    /// The file, where each document has its own.
    pub file: Option<Arc<str>>,
    /// The number of the line, from 1.
    pub line: u64,
    /// Why, with the column where it is known.
    pub reason: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}: {}", self.reason),
            None => {
                // A column is part of the place.
                let sign = match self.reason.starts_with("column ") {
                    true => ',',
                    false => ':',
                };
                let (source, line, reason) = (&self.source, self.line, &self.reason);
                write!(f, "{source}, line {line}{sign} {reason}")
            }
        }
    }
}

/// Tells rejections on standard error.
#[derive(Debug, Default)]
pub struct Rejections {
    count: u64,
}

impl Rejections {
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Notes one; what is to be said of it.
    pub fn note(&mut self, rejection: &Rejection) -> Option<String> {
        self.count += 1;
        (self.count <= TOLD_MAX).then(|| format!("gannet: rejected {rejection}"))
    }

    /// Says how many were not told.
    pub fn close(&self) {
        if let Some(more) = self.count.checked_sub(TOLD_MAX).filter(|more| *more > 0) {
            // The count is in the summary too, if standard error is closed.
            let _ = writeln!(
                io::stderr(),
                "gannet: rejected {}",
                counted(more, "more line")
            );
        }
    }
}
