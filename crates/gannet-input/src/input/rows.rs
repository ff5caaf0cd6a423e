//! CSV and TSV with a header: each row is a document, each column a field.
//!
//! All values are strings, and an empty cell is no value. CSV has quotation marks as in RFC 4180;
//! in TSV they are ordinary. A record is never held beyond a limit: a quotation mark without its
//! other would make the rest of the file one record.

use std::io::{self, BufRead, Read};
use std::str;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use csv::ByteRecord;

use super::documents::{Documents, Found, append_json, too_long};
use crate::format::InputFormat;
use crate::source::Bytes;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// A record that follows those of the source. Where a quotation mark is not closed, it is part of
/// the record before.
const END: &[u8] = b"\n\0end of the rows\0\n";

/// The rows of a source.
pub struct Rows {
    reader: csv::Reader<Bounded>,
    /// What may still be read for one record.
    left: Arc<AtomicUsize>,
    /// The columns, each as the beginning of a JSON member.
    columns: Vec<String>,
    record: ByteRecord,
    line: u64,
    limit: usize,
}

impl Rows {
    /// Reads the header of a source in a format of rows; a document has at most `limit` bytes.
    pub fn new(source: Bytes, format: InputFormat, limit: usize) -> io::Result<Rows> {
        let left = Arc::new(AtomicUsize::new(0));
        let source = Bounded {
            source,
            left: Arc::clone(&left),
            given: 0,
            end: END,
        };
        let is_csv = format == InputFormat::Csv;
        let reader = csv::ReaderBuilder::new()
            .delimiter(if is_csv { b',' } else { b'\t' })
            .quoting(is_csv)
            // Rows that have more or fewer fields are rejected one by one.
            .flexible(true)
            // Lines are counted only where each record ends with its line.
            .terminator(csv::Terminator::Any(b'\n'))
            .has_headers(false)
            .buffer_capacity(READ_BYTES)
            .from_reader(source);
        let mut rows = Rows {
            reader,
            left,
            columns: Vec::new(),
            record: ByteRecord::new(),
            line: 0,
            limit,
        };
        if !rows.read()? {
            return Err(invalid(
                "expected a header with the names of the columns, found nothing",
            ));
        }
        rows.columns = columns(&rows.record)?;
        Ok(rows)
    }

    /// Reads the next record; whether there is one.
    fn read(&mut self) -> io::Result<bool> {
        // Some of it may be in the buffer already, and of the next one.
        let most = self.limit.saturating_add(READ_BYTES);
        self.left.store(most, Ordering::Relaxed);
        let begins = self.reader.position().line();
        let read = self.reader.read_byte_record(&mut self.record);
        let within = self.record.as_slice().iter().filter(|byte| **byte == b'\n');
        let behind = self.reader.position().line();
        // Blank lines before the record are no part of it.
        let first = behind.saturating_sub(within.count() as u64 + 1);
        self.line = first.max(begins);
        let read = read.map_err(|error| {
            let error = io::Error::from(error);
            io::Error::new(error.kind(), format!("line {begins}: {error}"))
        })?;
        Ok(read && !self.is_end()?)
    }

    /// Whether the record is that behind those of the source.
    fn is_end(&self) -> io::Result<bool> {
        let end = END.trim_ascii();
        let Some(last) = self.record.iter().next_back() else {
            return Ok(false);
        };
        match last.trim_ascii_end().strip_suffix(end) {
            None => Ok(false),
            Some([]) if self.record.len() == 1 => Ok(true),
            Some(_) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "line {}: a quotation mark is not closed before the end of the file: close it, or \
                     double those that are part of the text",
                    self.line
                ),
            )),
        }
    }

    /// Appends the record as a JSON object; or says why it is none.
    fn append(&self, buffer: &mut Vec<u8>) -> io::Result<Result<(), String>> {
        if self.record.len() != self.columns.len() {
            return Ok(Err(format!(
                "expected {} fields as in the header, found {}",
                self.columns.len(),
                self.record.len()
            )));
        }
        buffer.push(b'{');
        let mut comma = "";
        for (column, cell) in self.columns.iter().zip(&self.record) {
            let cell = without_return(cell);
            if cell.is_empty() {
                continue;
            }
            let Ok(cell) = str::from_utf8(cell) else {
                return Ok(Err(format!(
                    "the field {} is not UTF-8: convert the file, for example with iconv",
                    column.trim_end_matches(':')
                )));
            };
            buffer.extend_from_slice(comma.as_bytes());
            buffer.extend_from_slice(column.as_bytes());
            append_json(cell, buffer)?;
            comma = ",";
        }
        buffer.push(b'}');
        Ok(Ok(()))
    }
}

impl Documents for Rows {
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        loop {
            if !self.read()? {
                return Ok(Found::End);
            }
            // Spreadsheets end with rows of nothing but delimiters.
            if self
                .record
                .iter()
                .all(|cell| without_return(cell).is_empty())
            {
                continue;
            }
            let start = buffer.len();
            let reason = match self.append(buffer)? {
                Err(reason) => reason,
                Ok(()) if buffer.len() - start > self.limit => too_long("row", self.limit),
                Ok(()) => return Ok(Found::Document),
            };
            buffer.truncate(start);
            return Ok(Found::Rejected(reason));
        }
    }

    fn pauses(&mut self, until: Instant) -> bool {
        let behind = self.reader.position().byte();
        let source = self.reader.get_mut();
        // The reader of rows has no more of the source than whole lines.
        source.given == behind && source.source.pauses(until)
    }

    fn number(&self) -> u64 {
        self.line
    }
}

/// The columns of a header, each as the beginning of a JSON member.
fn columns(header: &ByteRecord) -> io::Result<Vec<String>> {
    let mut names: Vec<&str> = Vec::with_capacity(header.len());
    for (at, name) in header.iter().enumerate() {
        let place = at + 1;
        let name = str::from_utf8(name);
        let name =
            name.map_err(|_| invalid(&format!("the name of column {place} is not UTF-8")))?;
        match name.trim() {
            "" => {
                return Err(invalid(&format!(
                    "column {place} has no name: the first line must name all columns"
                )));
            }
            name if names.contains(&name) => {
                return Err(invalid(&format!(
                    "two columns are called {name:?}: give each its own name"
                )));
            }
            name => names.push(name),
        }
    }
    Ok(names
        .iter()
        .map(|name| format!("{}:", serde_json::json!(name)))
        .collect())
}

/// What stands before a carriage return, with which lines of some systems end.
fn without_return(cell: &[u8]) -> &[u8] {
    cell.strip_suffix(b"\r").unwrap_or(cell)
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("line 1: {reason}"))
}

/// A source of which only so much may be read for one record.
struct Bounded {
    source: Bytes,
    left: Arc<AtomicUsize>,
    /// Bytes that were read.
    given: u64,
    /// What follows the source and was not read yet.
    end: &'static [u8],
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the record is longer than this memory budget allows: a quotation mark may be missing, or give more \
                 with --memory",
            ));
        }
        let at_hand = self.source.fill_buf()?;
        let most = buffer.len().min(left);
        // Whole lines, where there are some: what is left of a line stays where it is seen.
        let lines = at_hand.iter().take(most).rposition(|byte| *byte == b'\n');
        let most = lines.map_or(most, |last| last + 1);
        let read = match self.source.read(&mut buffer[..most])? {
            0 => self.end.read(&mut buffer[..most])?,
            read => read,
        };
        self.left.store(left - read, Ordering::Relaxed);
        self.given += read as u64;
        Ok(read)
    }
}
